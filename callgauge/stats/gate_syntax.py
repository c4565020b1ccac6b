"""Defines the syntax of a gate (`no-worse:NAME=SIZE`), the verdicts, and the exit code of each verdict."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from math import isfinite
from typing import Literal

NOT_WORSE, WORSE, CANNOT_TELL = 0, 5, 6
"""Exit codes of a gate."""
Verdict = Literal["not worse", "worse", "cannot be told"]
EXIT_CODES: dict[Verdict, int] = {"not worse": NOT_WORSE, "worse": WORSE, "cannot be told": CANNOT_TELL}
_SYNTAX = re.compile(r"\s*no-worse(?::(?P<name>[\w-]+))?\s*=\s*(?P<size>\S+)\s*", re.ASCII)


class GateSyntaxError(ValueError):
    """Raised when the specification of a gate is invalid. The message shows the valid syntax."""


def read_gate_text(text: str, names: Collection[str], what: str, example: str) -> tuple[str | None, float]:
    """Return the name and the margin of a gate such as `no-worse=0.02`, `no-worse=2%` or
    `no-worse:right=0.02`.

    `names` holds the valid names. `what` is the noun that messages use for a name. `example` is a valid name.
    Raises GateSyntaxError.
    """
    matched = _SYNTAX.fullmatch(text)
    if matched is None:
        raise GateSyntaxError(f"invalid gate {text!r}; use no-worse=0.02 or no-worse:{example}=0.02")
    name, written = matched["name"], matched["size"]
    if name is not None and name not in names:
        raise GateSyntaxError(f"unknown {what} {name!r} in the gate; use one of {', '.join(names)}")
    try:
        size = float(written.removesuffix("%")) / (100 if written.endswith("%") else 1)
    except ValueError:
        raise GateSyntaxError(f"the margin of a gate is a number such as 0.02, not {written!r}") from None
    if not isfinite(size) or size <= 0:
        raise GateSyntaxError(f"the margin of a gate is above 0, not {written}")
    return name, size


def choose_worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the worst of several verdicts. Return "cannot be told" if there are no verdicts."""
    occurring = set(verdicts) or {"cannot be told"}
    order: tuple[Verdict, ...] = ("worse", "cannot be told", "not worse")
    return next(each for each in order if each in occurring)

"""Compares the arguments of a call with what is accepted, by the rules of BFCL.

Source of the rules: `ast_checker.py` of the Berkeley Function-Calling Leaderboard (ShishirPatil/gorilla).
Ours differ where docs/trials.md says so: texts are equal or not unless `is_loose`; numbers are compared
by value; null counts as left out; objects may hold objects.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from callgauge.checked_files.file_problems import quote_value

LEFT_OUT = ""
"""What stands among accepted values where the parameter may be left out."""
_IGNORED = re.compile(r"[ ,./\-_*^]")


def find_difference(
    sent: Mapping[str, Any], accepted: Mapping[str, Sequence[Any]], *, is_loose: bool
) -> str | None:
    """Return the first difference between arguments and accepted values as a clause; None where they fit."""
    for name, values in accepted.items():
        value = sent.get(name)
        if value is None and (LEFT_OUT in values or None in values):
            continue
        if name not in sent:
            return f"{name} is missing"
        if not any(_is_same(value, one, is_loose) for one in values):
            told = " or ".join(_show(one) for one in values[:3]) + (" or …" if len(values) > 3 else "")
            return f"{name} is {_show(value)}, not {told}"
    more = next((name for name, value in sent.items() if name not in accepted and value is not None), None)
    return f"{more} is sent, and is not expected" if more is not None else None


def _is_same(sent: Any, wanted: Any, is_loose: bool) -> bool:
    if isinstance(sent, bool) or isinstance(wanted, bool):
        return isinstance(sent, bool) and isinstance(wanted, bool) and sent == wanted
    if isinstance(sent, datetime) and isinstance(wanted, str):
        return sent == _read_time(wanted)
    if isinstance(sent, str) and isinstance(wanted, str):
        return sent == wanted or (is_loose and _standardise(sent) == _standardise(wanted))
    if isinstance(sent, list) and isinstance(wanted, list):
        pairs = zip(sent, wanted, strict=False)
        return len(sent) == len(wanted) and all(_is_same(one, other, is_loose) for one, other in pairs)
    if isinstance(sent, Mapping) and isinstance(wanted, Mapping):
        return _is_same_object(sent, wanted, is_loose)
    return bool(sent == wanted)


def _is_same_object(sent: Mapping[str, Any], wanted: Mapping[str, Any], is_loose: bool) -> bool:
    """Return True for equal objects, and where each field of `wanted` lists accepted values, as in BFCL."""
    if sent.keys() == wanted.keys() and all(_is_same(sent[name], wanted[name], is_loose) for name in sent):
        return True
    if not all(isinstance(values, list) and values for values in wanted.values()):
        return False
    return find_difference(sent, wanted, is_loose=is_loose) is None


def _read_time(text: str) -> datetime | None:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def _standardise(text: str) -> str:
    return _IGNORED.sub("", text).lower().replace("'", '"')


def _show(value: Any) -> str:
    return "left out" if value == LEFT_OUT and isinstance(value, str) else quote_value(value)

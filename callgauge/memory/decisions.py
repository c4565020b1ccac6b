"""Decisions: what a team chose, the reason, and the comparison on which the choice is based."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from callgauge.memory.memory_file import (
    MemoryFile,
    check_link,
    cut_name,
    cut_text,
    make_id,
    make_insert,
    require_text,
    write_now,
)

SELECT_DECISIONS = "SELECT id, title, reason, link, figures, by, at FROM decisions ORDER BY at DESC, id"


@dataclass(frozen=True, slots=True)
class FrozenSide:
    """One side of a saved comparison. The rate is `k` / `n`, with a 95 % interval; `total` counts all calls.

    `name` describes the side in words. `parameters` are the metric parameters that select the side's calls.
    Days have the form YYYY-MM-DD.
    """

    name: str
    k: float
    n: float
    total: int
    low: float | None = None
    high: float | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FrozenComparison:
    """A comparison of `of` with `against`, with the numbers at the time of the decision.

    `measure` is the name of a rate or of a trial measure. `sentence` is the verdict on the page.
    `difference`, `low` and `high` are the difference with its 95 % interval. They are None if there is no
    data. `method` says how the difference was computed. `run` is the id of the trial run, or empty for a
    comparison of logs.
    """

    measure: str
    sentence: str
    of: FrozenSide
    against: FrozenSide
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    method: str = ""
    run: str = ""


@dataclass(frozen=True, slots=True)
class RecordedDecision:
    """A decision. `figures` is None when this version of Callgauge cannot read the saved comparison.

    `link` is the address of the page on which the decision was recorded.
    """

    id: str
    title: str
    reason: str
    link: str
    figures: FrozenComparison | None
    by: str
    at: datetime


def read_decision(row: Sequence[Any]) -> RecordedDecision:
    key, title, reason, link, figures, by, at = row
    return RecordedDecision(key, title, reason, link, _read_figures(figures), by, datetime.fromisoformat(at))


def _read_figures(text: str) -> FrozenComparison | None:
    try:
        read = json.loads(text)
        newer, against = (FrozenSide(**read.pop(name)) for name in ("of", "against"))
        return FrozenComparison(of=newer, against=against, **read)
    # The row may come from an import or from another version of Callgauge.
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def record_decision(
    file: MemoryFile, title: str, reason: str, link: str, figures: FrozenComparison, *, by: str = ""
) -> None:
    """Save a decision. Raises ValueError for an empty title, or when the link is too long."""
    row = {
        "id": make_id(),
        "title": cut_text(require_text(title, "a decision needs a text: what was decided")),
        "reason": cut_text(reason.strip()),
        "link": check_link(link),
        "figures": json.dumps(asdict(figures), ensure_ascii=False, default=str),
        "by": cut_name(by),
        "at": write_now(),
    }
    file.write(make_insert("decisions", row))


def delete_decision(file: MemoryFile, decision: RecordedDecision) -> None:
    file.write(("DELETE FROM decisions WHERE id = ?", [(decision.id,)]))

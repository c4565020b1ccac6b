"""Alert rules: limits for the rate of a slice, or for a change of this rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from math import isfinite
from typing import Any, Literal, get_args

from callgauge.memory.kept_slices import KeptSlice, read_slice, write_slice
from callgauge.memory.memory_file import MemoryFile, cut_name, make_insert, require_text, write_day, write_now

RuleKind = Literal["above", "below", "changed"]
RULE_KINDS: tuple[RuleKind, ...] = get_args(RuleKind)
SELECT_RULES = (
    "SELECT name, rate, slice, kind, bound, muted_until, by, at FROM alert_rules ORDER BY name COLLATE NOCASE"
)


@dataclass(frozen=True, slots=True)
class AlertRule:
    """A rule. `kind` says whether the rule fires above `bound`, below `bound`, or when the rate changes.

    `bound` is a number from 0 to 1. A change rule fires when the change is at least `bound`; 0 means any
    change. `muted_until` is the last day on which the rule is hidden.
    """

    name: str
    rate: str
    kind: RuleKind
    bound: float
    by: str
    at: datetime
    slice: KeptSlice = field(default_factory=dict)
    muted_until: date | None = None

    def is_muted(self, today: date) -> bool:
        return self.muted_until is not None and today <= self.muted_until


def read_rule(row: Sequence[Any]) -> AlertRule:
    name, rate, slice_text, kind, bound, muted, by, at = row
    return AlertRule(
        name,
        rate,
        kind,
        bound,
        by,
        datetime.fromisoformat(at),
        read_slice(slice_text),
        date.fromisoformat(muted) if muted else None,
    )


def save_rule(
    file: MemoryFile,
    name: str,
    rate: str,
    kind: RuleKind,
    bound: float,
    kept_slice: KeptSlice | None = None,
    *,
    by: str = "",
) -> None:
    """Save a rule. A rule of the same name is replaced.

    Raises ValueError for an empty name, or when the bound is not from 0 to 1.
    """
    if not isfinite(bound) or not 0 <= bound <= 1:
        raise ValueError(f"the bound of a rule is a share from 0 to 1, not {bound}")
    row = {
        "name": cut_name(require_text(name, "a rule has a name")),
        "rate": rate,
        "slice": write_slice(kept_slice or {}),
        "kind": kind,
        "bound": bound,
        "muted_until": None,
        "by": cut_name(by),
        "at": write_now(),
    }
    file.write(make_insert("alert_rules", row, replaces=True))


def mute_rule(file: MemoryFile, name: str, until: date | None) -> None:
    """Hide a rule until the end of `day`. If `day` is None, show the rule again."""
    file.write(("UPDATE alert_rules SET muted_until = ? WHERE name = ?", [(write_day(until), name)]))


def delete_rule(file: MemoryFile, name: str) -> None:
    file.write(("DELETE FROM alert_rules WHERE name = ?", [(name,)]))

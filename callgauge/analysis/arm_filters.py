"""The two slices of a comparison, A and B: their filters, names, query parameters and URL keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, Literal
from urllib.parse import unquote

from callgauge.analysis import wording
from callgauge.memory import kept_slices
from ingest.time_ranges import read_range

Letter = Literal["A", "B"]
Days = tuple[date, date]

# These are the URL names of a slice's filters: a_model, b_model, …
PARAMETERS = kept_slices.PARAMETERS
_BY_CALL = ("tool", "mcp_server", "strategy", "harness_version")


@dataclass(frozen=True, slots=True)
class Arm:
    """One of the two slices of a comparison, A or B.

    `own` holds the filter values of this slice alone, by dimension. `shared` holds the metric parameters of
    both slices. A value in `own` replaces the value in `shared`.
    """

    letter: Letter
    own: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    days: Days | None = None
    shared: Mapping[str, Any] = field(default_factory=dict)

    def parameters(self) -> dict[str, Any]:
        parameters = dict(self.shared) | {
            PARAMETERS[name]: values for name, values in self.own.items() if values
        }
        return parameters | ({"from_day": self.days[0], "to_day": self.days[1]} if self.days else {})

    def add_prefix(self) -> dict[str, Any]:
        """Return the parameters under the names that a metric on two slices uses: a_models, b_models, …"""
        return {f"{self.letter.lower()}_{name}": value for name, value in self.parameters().items()}

    def split_by_call(self) -> list[str]:
        """Return the active filters that select single tool calls (such as the filter by tool), not whole
        turns.
        """
        parameters = self.parameters()
        return [wording.dimension(name) for name in _BY_CALL if parameters.get(PARAMETERS[name])]


def arm_query(letter: Letter, own: Mapping[str, Sequence[str]], days: Days | None = None) -> dict[str, str]:
    """Return the URL parameters that filter the slice `letter`, such as a_model and a_days."""
    query = {f"{letter.lower()}_{name}": join_values(values) for name, values in own.items() if values}
    return query | ({f"{letter.lower()}_days": join_days(days)} if days else {})


def join_values(values: Iterable[str]) -> str:
    """Return the values joined by commas for a URL: `falcon-3,heron`. A comma in a value becomes %2C."""
    return ",".join(value.replace("%", "%25").replace(",", "%2C") for value in values)


def split_values(text: str) -> list[str]:
    """Return the values that `join_values` joined."""
    return [unquote(part) for part in text.split(",") if part]


def join_days(days: Sequence[date]) -> str:
    """Return the days as a URL parameter, such as 2026-11-09_2026-11-15. A single day is 2026-11-09."""
    return "_".join(day.isoformat() for day in sorted(set(days)))


def read_days(text: str, first: date, last: date) -> Days:
    """Return the first and last day of a range in a link. The store has the days from `first` to `last`.

    Raises ValueError if the link contains no valid range, or if the store has none of the days.
    """
    days = read_range(text).resolve(last, datetime.now(UTC).date()) or (first, last)
    if days[-1] < first or days[0] > last:
        raise ValueError(text)
    return max(days[0], first), min(days[-1], last)


def name_arms(this_arm: Arm, other: Arm, labels: Mapping[str, Mapping[str, str]]) -> tuple[str, str]:
    """Return a name for each slice from the filters that differ between the slices.

    If the names are equal, each name gets the letter of the slice.
    """
    differing = [name for name in PARAMETERS if this_arm.own.get(name) != other.own.get(name)]
    first, second = (
        _name_arm(arm, differing, labels, this_arm.days != other.days) for arm in (this_arm, other)
    )
    if first == second:
        return f"A, {first}", f"B, {second}"
    return first, second


def _name_arm(
    arm: Arm, differing: Sequence[str], labels: Mapping[str, Mapping[str, str]], by_days: bool
) -> str:
    parts = []
    for name in differing:
        values = [labels.get(name, {}).get(value, value) for value in arm.own.get(name, ())]
        if values:
            parts.append(values[0] if len(values) == 1 else f"{values[0]} and {len(values) - 1} more")
    if by_days and arm.days:
        first, last = arm.days
        parts.append(f"{first}" if first == last else f"{first} to {last}")
    return " · ".join(parts) or "everything"


def do_overlap(arm: Arm, other: Arm) -> bool:
    """Return True when a tool call can be in both slices, so that the slices are not independent."""
    first, second = arm.parameters(), other.parameters()
    for parameter in PARAMETERS.values():
        values, others = first.get(parameter), second.get(parameter)
        if values and others and not set(values) & set(others):
            return False
    starts = [each["from_day"] for each in (first, second) if each.get("from_day")]
    ends = [each["to_day"] for each in (first, second) if each.get("to_day")]
    return not starts or not ends or max(starts) <= min(ends)

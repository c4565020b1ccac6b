"""The filters of questions, which are the same as in the pages' filter bar. A filter accepts values and
labels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import pandas as pd

from callgauge.analysis import wording
from callgauge.analysis.arm_filters import PARAMETERS
from callgauge.api.questions.answers import describe_days
from callgauge.api.questions.parameters import Parameter
from callgauge.api.questions.problems import ProblemError, refuse_name
from ingest.time_ranges import DAY_FORMS, PRESETS, RANGE_FORMS, read_day, read_range

Ask = Callable[..., pd.DataFrame]
Labels = Mapping[str, Mapping[str, str]]
"""The label of each value by dimension, the most used value first."""
_NAMED = {
    "model": "Only these models.",
    "prompt": "Only these prompts: an id, or name@version.",
    "tool": "Only these tools.",
    "mcp_server": "Only tools of these MCP servers; none: tools of no server.",
    "source": "Only logs of these sources.",
    "project": "Only sessions in these projects: a repository (owner/name) or a folder.",
    "branch": "Only sessions on these branches.",
    "sub_agent": "Only sessions of these kinds of sub-agents.",
    "environment": "Only sessions in these environments.",
    "run": "Only these trial runs. Without a run or a variant, trials are left out.",
    "arm": "Only these variants of trials.",
    "provider": "Only models served by these hosts.",
    "strategy": "tool_use (native function calling) or json_fallback.",
    "harness_version": "Only these versions of the harness.",
}
RARE = ("project", "branch", "sub_agent", "environment")
"""Dimensions that belong to sessions; the daily sums do not contain them."""
BAR = ("model", "provider", "prompt", "tool", "mcp_server", "source", *RARE, "run", "arm")
"""The dimensions of the pages' filter bar."""

DAYS = (
    Parameter(
        "days",
        "text",
        f"The days that count, in UTC: {RANGE_FORMS}. Without it: {PRESETS[0]} (the newest of the store).",
    ),
    Parameter("since", "text", f"The first day that counts: {DAY_FORMS}."),
    Parameter("until", "text", f"The last day that counts: {DAY_FORMS}."),
)
FILTERS = (*DAYS, *(Parameter(name, "texts", _NAMED[name]) for name in BAR))
"""The filter bar of the pages as parameters."""


@dataclass(frozen=True, slots=True)
class ChosenFilters:
    """The chosen filters.

    `parameters` are the metric parameters. `labels` has the labels of all values in the store. `newest` is
    the newest day with data, without any filter.
    """

    first: date | None
    last: date | None
    parameters: Mapping[str, Any]
    labels: Labels
    newest: date | None = None

    def describe_days(self) -> dict[str, str | None]:
        return describe_days((self.first, self.last))

    def describe_nothing(self) -> str:
        """Return the answer when no call matches. The answer mentions chosen days after the newest data."""
        is_after = self.first is not None and self.newest is not None and self.first > self.newest
        newest = f" The newest data is of {self.newest}, before these days." if is_after else ""
        return f"Nothing was counted with these filters.{newest}"

    def label(self, dimension: str, value: str) -> str:
        label_dimension = "prompt" if dimension == "prompt_name" else dimension
        return self.labels.get(label_dimension, {}).get(value, value)


def choose_filters(ask: Ask, parameters: Mapping[str, Any]) -> ChosenFilters:
    """Return the filters for these parameter values. Raises ProblemError for a value that no log contains."""
    runs, arms = parameters.get("run"), parameters.get("arm")
    labels = read_labels(ask("choices", runs=runs, arms=arms))
    extent = ask("extent", runs=runs, arms=arms).iloc[0]
    first, last = choose_days(parameters, extent.last_day, datetime.now(UTC).date())
    chosen: dict[str, Any] = {"from_day": first, "to_day": last}
    for name in BAR:
        chosen[PARAMETERS[name]] = find_values(name, parameters.get(name), labels)
    return ChosenFilters(first, last, chosen, labels, extent.last_day)


def choose_days(
    parameters: Mapping[str, Any], newest: date | None, today: date
) -> tuple[date | None, date | None]:
    """Return the first and last day for `days`, or for `since` and `until`. None means no limit."""
    text, since, until = (parameters.get(name) for name in ("days", "since", "until"))
    if newest is None and not (text or since or until):
        return None, None  # No call has a day, so a range of days would exclude all calls.
    if text and (since or until):
        raise ProblemError(400, "Give days, or since and until; not both.")
    try:
        if not (since or until):
            chosen = read_range(text or PRESETS[0], today)
            return chosen.resolve(newest or today, today) or (None, None)
        first = read_day(since, today) if since else None
        last = read_day(until, today) if until else max(newest or today, today)
    except ValueError as misread:
        raise ProblemError(400, f"{misread}.") from None
    if first and first > last:
        raise ProblemError(400, f"since is {first}, which is after {last}: no day is between them.")
    return first, last


def read_labels(choices: pd.DataFrame) -> Labels:
    """Return the labels from the rows of the metric `choices`."""
    return {
        name: dict(zip(rows.value, rows.label, strict=True))
        for name, rows in choices.groupby("dimension", sort=False)
        if isinstance(name, str)
    }


def find_values(name: str, texts: tuple[str, ...] | None, labels: Labels) -> tuple[str, ...] | None:
    """Return the values for `texts`, which are values or labels. Raises ProblemError for unknown items."""
    if not texts:
        return None
    by_value = labels.get(name, {})
    by_label: dict[str, list[str]] = {}
    for value, label in by_value.items():
        by_label.setdefault(label, []).append(value)
    found_values: list[str] = []
    for text in texts:
        if text in by_value:
            found_values.append(text)
        elif text in by_label:
            found_values += by_label[text]
        else:
            raise refuse_name(wording.dimension(name), text, {*by_value, *by_label})
    return tuple(dict.fromkeys(found_values))


def arm_parameters(letter: str) -> tuple[Parameter, ...]:
    """Return the parameters for one side of a comparison, such as a_model and a_days."""
    prefix = letter.lower()
    prefix_text = f"Side {letter}: "
    return (
        *(Parameter(f"{prefix}_{name}", "texts", prefix_text + _NAMED[name]) for name in PARAMETERS),
        Parameter(f"{prefix}_days", "text", f"{prefix_text}the days that count, written as days is."),
    )

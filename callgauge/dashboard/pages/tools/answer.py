"""Answers in one sentence which tool loses most calls, and at which parameter."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from callgauge.dashboard import wording
from callgauge.dashboard.measures.slices import Slice
from callgauge.dashboard.pages.tools.expected_loss import expected_loss
from callgauge.stats import ENOUGH, ENOUGH_SESSIONS

Row = Mapping[Hashable, Any]


def describe_worst(worst: Slice | None, rate: str, culprits: Sequence[Row] = ()) -> str:
    """Return the sentence on the tool with the largest expected loss. Contains log text.

    `worst`: its slice, None when no tool has enough calls and sessions. `rate`: the title of the rate.
    `culprits`: the rows of the metric `culprits` of this tool.
    """
    if worst is None:
        return (
            f"Too few sessions to say which tool is worst: none has {ENOUGH_SESSIONS} sessions and "
            f"{ENOUGH} measured calls."
        )
    share, noun = worst.share, worst.rate.noun
    if not expected_loss(worst):
        return f"No tool with enough sessions loses a {noun}: {rate.lower()}."
    figures = f"{share.k:,} of {wording.plural(share.n, noun)} ({wording.rate(share.k, share.n)})"
    name = wording.one_line(worst.name, 60)
    if worst.rate.name == "parse_error":
        return f"{name} loses most: {figures}{_describe_place(share.k, culprits)}."
    if worst.rate.is_good:
        return f"{name} loses most by {rate.lower()}: only {figures}."
    return f"{name} loses most by {rate.lower()}: {figures}."


def _describe_place(lost: int, culprits: Sequence[Row]) -> str:
    """Return the parameter at which most of the lost calls went wrong, worded to follow the figures."""
    by_parameter: dict[str, int] = {}
    for row in culprits:
        if row["severity"] == "error":
            by_parameter[row["parameter"]] = by_parameter.get(row["parameter"], 0) + row["calls"]
    if not by_parameter:
        return ""
    parameter, calls = max(by_parameter.items(), key=lambda pair: pair[1])
    place = f"at {wording.one_line(parameter, 40)}" if parameter else "in the text as a whole"
    return f", {'mostly' if 2 * calls >= lost else 'most often'} {place}"

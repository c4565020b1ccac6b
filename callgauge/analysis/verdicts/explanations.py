"""Explains each kind of verdict in a few sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from callgauge.stats.day_spread import LEAST_DAYS
from callgauge.stats.over_time.change_points import SHORTEST

VerdictKind = Literal["rank", "worst", "difference", "change", "choice"]
HOW_JUDGED: Mapping[VerdictKind, str] = {
    "rank": (
        "One is called the best where it is better than each of the others, each at 5 %. Else the "
        "sentence names those that may be the best: out are those that another beats at 5 % divided by "
        "the number of rivals. The places in the table also use pairs that are certain after Holm's "
        "correction for all pairs. What the others are compared with changes no rank."
    ),
    "worst": (
        "All pairs are compared, corrected for one another (Holm). A tool that is better than another is "
        "not the worst; where one is left, it is named. The table is in the order of the number of "
        "failures, which is the rate times all calls."
    ),
    "difference": (
        "Better or worse: the 95 % interval of the difference excludes 0, and p is below 5 % after Holm's "
        "correction for what is compared together. Equivalent: the whole interval is within the smallest "
        "difference of interest. Else there is no clear difference. The interval is wider where days "
        f"differ by more than their sessions explain; what ran on different days needs {LEAST_DAYS} days "
        "on one side. Where both did different work, the verdict is on the mix-adjusted difference."
    ),
    "change": (
        f"The days are split where this explains the counts best, at least {SHORTEST} days on each side. "
        "The split is a change where at most 1 % of random orders of the days have one as good. "
        "Neighbouring days may be alike, which the random orders allow for. The range contains the day "
        "of the change with 95 % confidence."
    ),
    "choice": (
        "A model is suggested if three things are proven: its parse errors and its turn success are worse by "
        "less than the smallest difference of interest, and its cost per successful turn is lower. For each, "
        "the whole mix-adjusted interval must show it. If more than two models may be cheaper, the "
        "confidence is higher than 95 %, so that a worse model is suggested for at most 5 % of the rows. "
        "Otherwise the current model is kept."
    ),
}
"""The explanations of a rank, the worst tool, a difference, a change on a trend chart, and a chosen model."""

"""Counts in, intervals, differences and verdicts out: thin over scipy; knows no page and no database."""

from dashboard.statistics.corrections import benjamini_hochberg, holm
from dashboard.statistics.differences import (
    Difference,
    bootstrapped,
    changed_share,
    difference,
    paired,
    sessions_needed,
)
from dashboard.statistics.intervals import ENOUGH, Interval, Share
from dashboard.statistics.repeats import PassK, pass_k

__all__ = [
    "ENOUGH",
    "Difference",
    "Interval",
    "PassK",
    "Share",
    "benjamini_hochberg",
    "bootstrapped",
    "changed_share",
    "difference",
    "holm",
    "paired",
    "pass_k",
    "sessions_needed",
]

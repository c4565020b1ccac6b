"""Counts in, intervals, differences and verdicts out: thin over scipy; knows no page and no database."""

from dashboard.statistics.corrections import benjamini_hochberg, holm
from dashboard.statistics.differences import Difference, difference, paired, sessions_needed
from dashboard.statistics.intervals import ENOUGH, Interval, Share, wilson

__all__ = [
    "ENOUGH",
    "Difference",
    "Interval",
    "Share",
    "benjamini_hochberg",
    "difference",
    "holm",
    "paired",
    "sessions_needed",
    "wilson",
]

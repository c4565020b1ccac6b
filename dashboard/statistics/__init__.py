"""Counts in, intervals, differences and verdicts out; knows no page and no database.

Thin over scipy.special: to import scipy.stats would take a second of every start, of server and replay.
"""

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

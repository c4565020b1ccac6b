"""Intervals, differences, corrections and change points of rates.

Uses scipy.special only: the import of scipy.stats would add a second to each start of server and replay.
"""

from callgauge.stats.corrections import benjamini_hochberg, holm
from callgauge.stats.differences import (
    Difference,
    bootstrap_interval,
    compare_paired,
    compare_rates,
    compare_same_calls,
    sessions_needed,
)
from callgauge.stats.intervals import ENOUGH, Interval, Share
from callgauge.stats.repeats import PassK, pass_k

__all__ = [
    "ENOUGH",
    "Difference",
    "Interval",
    "PassK",
    "Share",
    "benjamini_hochberg",
    "bootstrap_interval",
    "compare_paired",
    "compare_rates",
    "compare_same_calls",
    "holm",
    "pass_k",
    "sessions_needed",
]

"""Statistics of rates: uncertainty, differences, ranks, corrections, sample sizes and sequential tests."""

from callgauge.stats.corrections import benjamini_hochberg, holm
from callgauge.stats.differences import (
    Difference,
    RateRatio,
    bootstrap_interval,
    compare_estimates,
    compare_rates,
    compare_shares,
    divide_rates,
)
from callgauge.stats.intervals import Interval
from callgauge.stats.paired import compare_paired, compare_same_calls
from callgauge.stats.ranks import Ranking, rank_arms
from callgauge.stats.rates import (
    ENOUGH,
    ENOUGH_SESSIONS,
    ENOUGH_TO_COMPARE,
    Estimate,
    Share,
    relate_shares,
)
from callgauge.stats.repeats import PassK, pass_k
from callgauge.stats.sample_size import sessions_needed
from callgauge.stats.session_groups import (
    GROUPS,
    DayCounts,
    MixedRatio,
    compare_mixed_ratios,
    compare_ratios,
    place_in_groups,
    ratio_interval,
    read_days,
    sum_savings,
)
from callgauge.stats.standardisation import StandardisedDifference, standardise

__all__ = [
    "ENOUGH",
    "ENOUGH_SESSIONS",
    "ENOUGH_TO_COMPARE",
    "GROUPS",
    "DayCounts",
    "Difference",
    "Estimate",
    "Interval",
    "MixedRatio",
    "PassK",
    "Ranking",
    "RateRatio",
    "Share",
    "StandardisedDifference",
    "benjamini_hochberg",
    "bootstrap_interval",
    "compare_estimates",
    "compare_mixed_ratios",
    "compare_paired",
    "compare_rates",
    "compare_ratios",
    "compare_same_calls",
    "compare_shares",
    "divide_rates",
    "holm",
    "pass_k",
    "place_in_groups",
    "rank_arms",
    "ratio_interval",
    "read_days",
    "relate_shares",
    "sessions_needed",
    "standardise",
    "sum_savings",
]

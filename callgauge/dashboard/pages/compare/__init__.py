"""URL keys of the page Compare, which says whether one slice is better than another."""

from callgauge.analysis.arm_filters import PARAMETERS
from callgauge.dashboard.url_keys import PageUrlKeys

ARM_KEYS = tuple(f"{letter}_{name}" for letter in "ab" for name in (*PARAMETERS, "days"))
"""The URL keys that choose the two slices: `a_model`, `b_days` and so on."""
URL_KEYS = PageUrlKeys(
    place=(
        "rate",
        *ARM_KEYS,
        "broken_by",
        "group",
        "anew",
        "success",
    ),
    parts=("show",),
    kept=("smallest",),
)

"""URL keys of the page Models, which ranks models by rate and shows their cost and trend."""

from callgauge.dashboard.components.controls.rate_choice import baseline_key
from callgauge.dashboard.url_keys import PageUrlKeys

RANKED = ("model", "provider", "harness_version", "strategy", "source")
"""The dimensions that the page can rank."""
URL_KEYS = PageUrlKeys(
    place=("by", "rate", "all_rates", "least", "price_list", "public_rates", "ranking_thin"),
    parts=("view", "tab", "choice_by"),
    kept=("smallest", *map(baseline_key, RANKED)),
)

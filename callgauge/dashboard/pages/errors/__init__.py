"""URL keys of the page Errors, which shows error signatures and what retries cost."""

from callgauge.dashboard.url_keys import PageUrlKeys

URL_KEYS = PageUrlKeys(
    narrowing={"signature": "error signature"},
    place=(
        "signature_page", "stages", "traits", "status", "narrow",
        "by", "layer", "costs", "beside",
    ),
    parts=("tab",),
)  # fmt: skip

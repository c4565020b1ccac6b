"""URL keys of the page Tools, which ranks tools by failed calls and shows which parameters cause failures."""

from callgauge.dashboard.url_keys import PageUrlKeys

URL_KEYS = PageUrlKeys(
    place=(
        "rate",
        "by",
        "tool_open",
        "tool_page",
        "few_page",
        "invented",
        "unused",
        "few",
        "parameter",
        "shape",
        "all_rates",
        "models",
        "versions",
        "by_day",
        "def_before",
        "def_after",
    ),
    parts=("view",),
)

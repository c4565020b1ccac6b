"""The page Tools: which tools lose most calls, and at which parameter."""

from callgauge.dashboard.url_keys import PageUrlKeys

URL_KEYS = PageUrlKeys(
    place=("rate", "by", "tool_open", "tool_page", "culprit", "def_before", "def_after"),
)

"""URL keys of the page Prompts, which compares the versions of a prompt."""

from callgauge.dashboard.url_keys import PageUrlKeys

URL_KEYS = PageUrlKeys(
    place=("rate", "of", "version", "versus", "broken_by", "before", "after"),
    parts=("show",),
    kept=("smallest",),
)

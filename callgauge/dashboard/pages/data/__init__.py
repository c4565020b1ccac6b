"""The page Data: what was loaded and rejected, and what each source cannot tell."""

from callgauge.dashboard.url_keys import PageUrlKeys

URL_KEYS = PageUrlKeys(
    place=("rejects", "files", "refused", "copies", "changes", "reject", "changed", "before", "after"),
)

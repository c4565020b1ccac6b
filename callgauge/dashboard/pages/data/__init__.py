"""URL keys of the page Data, which shows loaded and unreadable data, and the contents of each source."""

from callgauge.dashboard.url_keys import PageUrlKeys

URL_KEYS = PageUrlKeys(
    place=(
        *(
            "lines",
            "no_logs",
            "formats",
            "inventory",
            "doubles",
            "versions",
            "names",
            "runs",
            "disagree",
        ),
        *("rejects", "files", "rejected", "foreign", "named", "copies", "changes", "trial_runs"),
        *("reject", "changed", "before", "after", "turn_page"),
    ),
)

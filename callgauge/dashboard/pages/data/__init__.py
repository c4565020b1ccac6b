"""URL keys of the page Data: loaded and unreadable data, and the limits of each source."""

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
        ),  # folds
        *("rejects", "files", "rejected", "foreign", "named", "copies", "changes", "trial_runs"),
        *("reject", "changed", "before", "after", "turn_page"),
    ),
)

"""URL keys of the page Calls, which lists all calls or shows one call in full."""

from callgauge.dashboard.url_keys import PageUrlKeys

URL_KEYS = PageUrlKeys(
    narrowing={
        "outcome": "outcome",
        "fault": "fault layer",
        "turns": "turns",
        "chain": "chain of attempts",
        "attempt": "attempt",
        "attempts": "length of the chain",
        "first_retry": "first retry",
        "code": "finding",
        "signature": "error signature",
        "q": "search",
    },
    place=("page", "order", "peek"),
    kept=("call",),
)

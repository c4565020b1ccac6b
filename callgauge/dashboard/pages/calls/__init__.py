"""URL keys of the page Calls, which lists all calls or shows one call in full."""

from callgauge.dashboard.url_keys import PageUrlKeys

URL_KEYS = PageUrlKeys(
    narrowing={
        "outcome": "outcome",
        "fault": "failure stage",
        "turns": "turns",
        "chain": "retry sequence",
        "attempt": "attempt",
        "attempts": "length of the retry sequence",
        "first_retry": "first retry",
        "code": "diagnostic",
        "signature": "error signature",
        "q": "search",
    },
    place=("page", "order", "peek"),
    kept=("call",),
)

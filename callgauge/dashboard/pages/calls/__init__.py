"""The page Calls: every call; one of them in full."""

from callgauge.dashboard.url_keys import PageUrlKeys

URL_KEYS = PageUrlKeys(
    narrowing={
        "outcome": "outcome",
        "fault": "fault layer",
        "turns": "turns",
        "code": "finding",
        "signature": "error signature",
        "q": "search",
    },
    place=("page",),
    kept=("call",),
)

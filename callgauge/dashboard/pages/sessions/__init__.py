"""URL keys of the page Sessions, which lists all sessions or shows one session as a timeline."""

from callgauge.dashboard.url_keys import PageUrlKeys

URL_KEYS = PageUrlKeys(
    narrowing={
        "chain": "retry sequence",
        "attempt": "attempt",
        "turns": "turns",
        "path_run": "run",
        "q": "search",
    },
    place=("session_page", "order"),
    kept=("session", "turn", "step", "call", "from", "file", "find", "wide"),
)

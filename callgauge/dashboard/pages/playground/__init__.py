"""URL keys of the page Playground, which parses pasted text and parses stored calls again."""

from callgauge.dashboard.url_keys import PageUrlKeys

URL_KEYS = PageUrlKeys(
    place=(
        *("laid_out", "steps", "others", "advice", "shapes"),
        *("moved_page", "flow", "rates", "codes", "picture"),
    ),
    kept=(
        *("tab", "p", "call", "example", "known", "mode", "input", "as", "look", "dialect", "which", "shape"),
        *(
            "nth",
            "replay_tool",
            "replay_against",
            "replay_policy",
            "refuse",
            "silent",
            "definition",
            "reading",
        ),
    ),
)

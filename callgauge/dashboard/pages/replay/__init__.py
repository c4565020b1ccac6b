"""URL keys of the page Replay, which parses stored calls again under other settings."""

from callgauge.dashboard.url_keys import PageUrlKeys

URL_KEYS = PageUrlKeys(
    place=("moved_page", "flow", "rates", "codes", "picture"),
    kept=(
        "replay_tool",
        "replay_against",
        "replay_policy",
        "refuse",
        "silent",
        "definition",
        "as",
        "reading",
    ),
)

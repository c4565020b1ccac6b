"""The page Replay: what other settings would change in stored calls."""

from callgauge.dashboard.url_keys import PageUrlKeys

URL_KEYS = PageUrlKeys(
    place=("moved_page",),
    kept=("replay_tool", "replay_against", "replay_policy", "refuse", "silent", "definition"),
)

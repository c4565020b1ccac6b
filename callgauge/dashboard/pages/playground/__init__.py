"""The page Playground: what the parser makes of a text and a definition."""

from callgauge.dashboard.url_keys import PageUrlKeys

URL_KEYS = PageUrlKeys(
    kept=("p", "call", "example", "known", "mode", "input", "look", "dialect", "which", "shape", "nth"),
)

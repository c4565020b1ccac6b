"""URL keys of the page Playground, which parses a pasted text with a tool definition."""

from callgauge.dashboard.url_keys import PageUrlKeys

URL_KEYS = PageUrlKeys(
    place=("laid_out", "steps", "others", "advice", "shapes"),
    kept=("p", "call", "example", "known", "mode", "input", "as", "look", "dialect", "which", "shape", "nth"),
)

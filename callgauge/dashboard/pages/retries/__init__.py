"""The page Retries: what happens after a fault, and what it costs."""

from callgauge.dashboard.url_keys import PageUrlKeys

URL_KEYS = PageUrlKeys(place=("layer", "turn_page"))

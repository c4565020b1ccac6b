"""The page Overview: what works how well, what changed, and where it goes wrong."""

from callgauge.dashboard.url_keys import PageUrlKeys

URL_KEYS = PageUrlKeys(place=("by",))

"""The page Models: which model makes the best calls, at what cost, and since when."""

from callgauge.dashboard.url_keys import PageUrlKeys

URL_KEYS = PageUrlKeys(place=("by", "rate", "against", "least"))

"""The page Prompts: what each version of a prompt changed."""

from callgauge.dashboard.url_keys import PageUrlKeys

URL_KEYS = PageUrlKeys(place=("rate", "of", "before", "after"))

"""URL keys of the page Decisions; `about` is the open tab."""

from callgauge.dashboard.url_keys import PageUrlKeys

URL_KEYS = PageUrlKeys(parts=("about",))

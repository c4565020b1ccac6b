"""URL keys of the page Decisions. The key `about` names the open tab."""

from callgauge.dashboard.url_keys import PageUrlKeys

URL_KEYS = PageUrlKeys(parts=("about",))

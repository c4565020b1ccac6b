"""URL keys of the page Memory, which lists what the team remembers; `about` is the open tab."""

from callgauge.dashboard.url_keys import PageUrlKeys

URL_KEYS = PageUrlKeys(place=("about",))

"""URL keys of the page Decisions, which lists decisions, notes, rules, views and baselines; `about` is the open tab."""

from callgauge.dashboard.url_keys import PageUrlKeys

URL_KEYS = PageUrlKeys(place=("about",))

"""URL keys of the page Retries, which shows the attempts after a fault and their cost."""

from callgauge.dashboard.url_keys import PageUrlKeys

URL_KEYS = PageUrlKeys(place=("by", "layer", "beside"))

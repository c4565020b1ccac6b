"""URL keys of the page Models, which ranks models by rate and shows their cost and trend."""

from callgauge.dashboard.url_keys import PageUrlKeys

URL_KEYS = PageUrlKeys(place=("by", "rate", "against", "least"), kept=("smallest",))

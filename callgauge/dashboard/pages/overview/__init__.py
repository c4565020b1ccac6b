"""URL keys of the page Overview, which shows the main rates, recent changes and failures."""

from callgauge.dashboard.url_keys import PageUrlKeys

URL_KEYS = PageUrlKeys(place=("rate", "found", "which_model_thin"), kept=("smallest", "baseline"))

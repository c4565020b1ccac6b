"""URL keys of the page Matrix, which shows one rate for each pair of model, prompt and tool."""

from callgauge.dashboard.components.controls.rate_choice import baseline_key
from callgauge.dashboard.url_keys import PageUrlKeys

URL_KEYS = PageUrlKeys(
    place=("cells", "rate"), kept=("smallest", baseline_key("model"), baseline_key("tool"))
)

"""URL keys of the page Errors, which groups faults by layer, code and signature."""

from callgauge.dashboard.url_keys import PageUrlKeys

URL_KEYS = PageUrlKeys(
    narrowing={"signature": "error signature"}, place=("signature_page", "rate", "traits", "status")
)

"""URL keys of the page Glossary, which explains the terms of all pages."""

from callgauge.dashboard.url_keys import PageUrlKeys

URL_KEYS = PageUrlKeys(parts=("about",))

"""URL keys of the page SQL, which runs a read-only query on the store."""

from callgauge.dashboard.url_keys import PageUrlKeys

URL_KEYS = PageUrlKeys(kept=("sql", "start", "table", "sql_page", "view", "x", "y", "series"))

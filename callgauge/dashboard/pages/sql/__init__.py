"""The page SQL: A person's SQL, read-only."""

from callgauge.dashboard.url_keys import PageUrlKeys

URL_KEYS = PageUrlKeys(kept=("sql", "start", "table", "sql_page", "view", "x", "y", "series"))

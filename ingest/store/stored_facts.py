"""The names under which all facts of a store are read, wherever its files hold them."""

from __future__ import annotations

from ingest.store.connection import Connection
from ingest.store.segments import FACT_TABLES


def view_stored_facts(con: Connection) -> None:
    """Make a view `stored_…` of each table of facts.

    Only what searches the whole store reads them: concerned sessions, whole days, checks.
    """
    for fact in FACT_TABLES:
        con.execute(f"CREATE TEMP VIEW IF NOT EXISTS stored_{fact} AS FROM {fact}")

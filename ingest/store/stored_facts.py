"""The names under which all facts of a store are read, wherever its files hold them."""

from __future__ import annotations

from ingest.store.connection import Connection

_FACTS = ("sessions", "turns", "tool_calls", "diagnostics")


def view_stored_facts(con: Connection) -> None:
    """Make the views `stored_sessions`, `stored_turns`, `stored_tool_calls` and `stored_diagnostics`.

    Only what searches the whole store reads them: concerned sessions, whole days, checks.
    """
    for fact in _FACTS:
        con.execute(f"CREATE TEMP VIEW IF NOT EXISTS stored_{fact} AS FROM {fact}")

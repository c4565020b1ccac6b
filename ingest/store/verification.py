"""Compares the file counts and the daily sums of a store with its rows."""

from __future__ import annotations

from ingest.store.connection import Connection
from ingest.store.scripts import run_script
from ingest.store.segments import view_stored_facts

_LISTED = 5


def compare_all_counts(con: Connection) -> str | None:
    """Return the differences in the whole store as a string. Return None when there are no differences."""
    view_stored_facts(con)
    return _compare_counts(con, "verify_all.sql")


def compare_changed_counts(con: Connection) -> str | None:
    """Return the differences in the files and days that a load changed. The result is like that of
    `compare_all_counts`.
    """
    return _compare_counts(con, "verify_changes.sql")


def _compare_counts(con: Connection, extent: str) -> str | None:
    run_script(con, extent)
    wrong = run_script(con, "verify.sql").fetchall()
    listed = (f"{what}: {expected} expected, {actual} found" for what, expected, actual in wrong[:_LISTED])
    return "; ".join(listed) or None

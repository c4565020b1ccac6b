"""Gives faulted calls the id of their fault's text (`signature_id`), see signatures.sql."""

from __future__ import annotations

from ingest.store.connection import Connection
from ingest.store.scripts import read_script

_OF_DAYS = "WHERE EXISTS (FROM touched_days t WHERE t.day IS NOT DISTINCT FROM tool_calls.day)"
_CONCERNED = "SEMI JOIN rows_after USING (file_id, source, session_id) WHERE true"
# What a call said whose texts were removed is gone, its id stays.
_UNSIGNED = """
    CREATE OR REPLACE TEMP VIEW unsigned_calls AS
    SELECT rowid AS row, fault_layer, signature_id, parse_error, harness_message, result_text
    FROM tool_calls {which}
        AND text_removed IS NULL AND (fault_layer IS NOT NULL OR signature_id IS NOT NULL)"""


def sign_concerned_calls(con: Connection) -> None:
    """Sign the calls of the concerned sessions, see concerned_facts.sql."""
    _sign_calls(con, _CONCERNED)


def sign_calls_of_days(con: Connection) -> None:
    """Sign the calls of the days in `touched_days`."""
    _sign_calls(con, _OF_DAYS)


def _sign_calls(con: Connection, which: str) -> None:
    con.execute(_UNSIGNED.format(which=which))
    if con.execute("SELECT EXISTS (FROM unsigned_calls)").fetchall() == [(True,)]:
        con.execute(read_script("signatures.sql"))

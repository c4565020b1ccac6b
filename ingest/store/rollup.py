"""Daily rollups: each script in `rollups` computes one table from the facts for the days in `touched_days`.

The counts of a rollup can be added up over days and over every other column of its key. A day can be NULL,
for calls without a time. `touched_days` (day) is a temporary table that the caller makes.
"""

from __future__ import annotations

import re
from pathlib import Path

from ingest.store.connection import Connection
from ingest.store.scripts import read_script

_SCRIPTS = Path(__file__).parent / "rollups"
_FACTS = "tool_calls|turns|sessions|diagnostics|step_texts"
AT_ONCE = 200_000  # calls whose days are summed up together: the groups of many more do not fit into memory

_UNFROZEN = "DELETE FROM touched_days WHERE day < (SELECT max(facts_before) FROM store_info)"
_MANY = "SELECT count(*) > ? FROM tool_calls"
_BATCHES = "SELECT DISTINCT batch FROM all_days ORDER BY batch"
_SOME_DAYS = "CREATE OR REPLACE TEMP TABLE touched_days AS SELECT day FROM all_days WHERE batch = ?"
_UNUSED = "DELETE FROM signatures WHERE signature_id NOT IN (SELECT signature_id FROM daily_errors)"


def roll_up(con: Connection) -> None:
    """Compute the rollups of the days in `touched_days` again.

    In a store with many calls the days are processed in batches. Days whose facts `callgauge retain` removed
    keep the sums that they have.
    """
    con.execute(_UNFROZEN)
    con.execute(read_script("session_group.sql"))
    scripts = _read_scripts()
    if con.execute(_MANY, [AT_ONCE]).fetchall() == [(True,)]:
        con.execute(read_script("rollup_batches.sql"), [AT_ONCE])
        for batch in con.execute(_BATCHES).fetchall():
            con.execute(_SOME_DAYS, batch)
            for script in scripts:
                con.execute(script)
    else:
        for script in scripts:
            con.execute(script)
    con.execute(_UNUSED)


def _read_scripts() -> list[str]:
    """Return the text of every rollup script, ordered by file name; the scripts are independent."""
    return [_read_all_facts(path.read_text("utf-8")) for path in sorted(_SCRIPTS.glob("*.sql"))]


def _read_all_facts(script: str) -> str:
    """Return a script that reads the facts of all files, see `BuildingSegments`."""
    named = re.sub(rf"\b(FROM|JOIN) ({_FACTS}) (?=[a-z]\b)", r"\1 stored_\2 ", script)
    return re.sub(rf"\b(FROM|JOIN) ({_FACTS})\b(?= *(\n|WHERE|SEMI|USING|\)))", r"\1 stored_\2 AS \2", named)

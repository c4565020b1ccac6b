"""Generates a store by SQL, with a given number of calls, 90 days and 15 calls per session.

The SQL scripts of the loader compute the daily sums from the generated rows, a few days at a time.
"""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import duckdb

from ingest.store.migrations import SCHEMA_VERSION
from ingest.store.settling.rollup import roll_up
from ingest.store.settling.settle import sign_calls_of_days

INGEST = Path(__file__).parents[2] / "ingest" / "store"
_A_DAY = Path(__file__).parent / "made_day.sql"
DAYS = 90
LAST = date(2026, 11, 21)
CALLS_A_SESSION = 15
_TOLD = """
    INSERT INTO ingest_runs BY NAME
        SELECT 1 AS run_id, now()::TIMESTAMP AS started_at, now()::TIMESTAMP AS finished_at,
        1 AS files_loaded, 0 AS files_rejected, 0 AS rejects;
    INSERT INTO files BY NAME
        SELECT 1 AS file_id, 1 AS run_id, 'made.jsonl' AS path, 'session_history' AS source,
        'loaded' AS status, 0 AS rejects;
    INSERT INTO prompts BY NAME SELECT prompt_id, split_part(prompt_id, '@', 1) AS name,
        split_part(prompt_id, '@', 2) AS version, 'You are ' || prompt_id AS text, prompt_id AS text_hash
        FROM (SELECT DISTINCT prompt_id FROM daily_turns);
    INSERT INTO tool_definitions BY NAME SELECT DISTINCT definition_id, tool, tool AS description,
        '{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}},"required":["path"]}'
        AS definition, 'log' AS origin FROM tool_calls;
"""


def make(path: Path, calls: int) -> None:
    """Write a store version with about this many calls to `path`, and a file `CURRENT` next to it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    sessions = max(1, calls // CALLS_A_SESSION // DAYS)
    with duckdb.connect(str(path)) as con:
        begin(con)
        for number in range(DAYS):
            day = LAST - timedelta(days=DAYS - 1 - number)
            make_day(con, day, number * sessions, sessions)
        sum_up(con)
        con.execute("CHECKPOINT")
    (path.parent / "CURRENT").write_text(path.name + "\n", encoding="utf-8")


def begin(con: duckdb.DuckDBPyConnection) -> None:
    """Create the tables of an empty store version."""
    con.execute("SET preserve_insertion_order = false; SET TimeZone = 'UTC'")
    con.execute((INGEST / "schema.sql").read_text("utf-8"))
    con.execute("CREATE TEMP TABLE touched_days (day DATE)")
    con.execute(
        "INSERT INTO store_info (schema_version, parser_version, created_at) "
        "VALUES (?, '3', now()::TIMESTAMP)",
        [SCHEMA_VERSION],
    )


def make_day(con: duckdb.DuckDBPyConnection, day: date, first: int, sessions: int, mix: str = "") -> None:
    """Insert the rows of one day. `mix` is SQL that changes the properties of the day's sessions."""
    values = {"day": day, "first": first, "sessions": sessions}
    for number, statement in enumerate(duckdb.extract_statements(_A_DAY.read_text("utf-8"))):
        con.execute(statement, {name: values[name] for name in statement.named_parameters})
        if number == 0 and mix:
            con.execute(mix)
    con.execute("INSERT INTO touched_days VALUES (?)", [day])


def sum_up(con: duckdb.DuckDBPyConnection) -> None:
    """Compute the error signatures, the daily sums and the tables of names."""
    sign_calls_of_days(con)
    roll_up(con)
    con.execute(_TOLD)

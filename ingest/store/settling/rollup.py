"""Keeps the daily sums: adds what a load changed, or sums up whole days.

What a load changed is the sums of the sessions that it concerns (`concerned.sql`), after it less before it.
Whole days are summed up where more changes: a migration, a new parser, other names of models. Both run the
scripts in `rollups` (`DAILY_TABLES`). Sums can be added up over days and every other column of their key.
A day can be NULL, for calls without a time. The sums of days whose facts `callgauge retain` removed stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ingest.store.connection import Connection
from ingest.store.daily_tables import DAILY_TABLES, DailyTable
from ingest.store.scripts import read_script
from ingest.store.segments import view_stored_facts

AT_ONCE = 200_000  # calls whose days are summed up together: the groups of many more do not fit into memory
HELD = 50_000  # calls of concerned sessions that are kept in memory for all scripts

_UNFROZEN = "DELETE FROM touched_days WHERE day < (SELECT max(facts_before) FROM store_info)"
_IS_EMPTY = "SELECT NOT EXISTS (FROM touched_days)"
_MANY = "SELECT count(*) > ? FROM counted_calls"
_BATCHES = "SELECT DISTINCT batch FROM all_days ORDER BY batch"
_SOME_DAYS = "CREATE OR REPLACE TEMP TABLE touched_days AS SELECT day FROM all_days WHERE batch = ?"
_UNUSED = "DELETE FROM signatures WHERE signature_id NOT IN (SELECT signature_id FROM stored_daily_errors)"

_TRIED = "SELECT (source, session_id) FROM tried_sessions"
_TEXT_REMOVED = "SELECT (source, session_id) FROM counted_turns WHERE text_removed"
_REMOVE_TRIALS = f"""
    DELETE FROM task_trials USING touched_days t
    WHERE task_trials.day IS NOT DISTINCT FROM t.day AND (source, session_id) NOT IN ({_TEXT_REMOVED})"""  # noqa: S608 - our own text
# A session that goes on on another day is counted on its first.
_REMOVE_TRIED = f"DELETE FROM task_trials WHERE (source, session_id) IN ({_TRIED})"  # noqa: S608 - our own text
_OF_CONCERNED = " AND (source, session_id) IN (SELECT (source, session_id) FROM concerned_sessions)"

_WHOLE_DAYS = "CREATE OR REPLACE TEMP TABLE whole_days AS FROM touched_days"
_CHANGED_DAYS = """
    CREATE OR REPLACE TEMP TABLE touched_days AS
    (SELECT day FROM counted_calls UNION SELECT day FROM counted_turns) EXCEPT FROM whole_days"""
_IS_SUMMED = """
    SELECT EXISTS (
        FROM (SELECT day FROM daily_calls UNION ALL SELECT day FROM daily_turns) d, touched_days t
        WHERE d.day IS NOT DISTINCT FROM t.day)"""
_IS_DAYLESS = "SELECT count(day) > 0, count(*) > count(day) FROM change"
_COLUMNS = "SELECT name FROM pragma_table_info(?)"
_HAS_BEFORE = "SELECT EXISTS (FROM rows_before) OR EXISTS (FROM resumed)"
_RESTORE_WHOLE_DAYS = "CREATE OR REPLACE TEMP TABLE touched_days AS FROM whole_days"


def roll_up(con: Connection) -> None:
    """Sum up the days in `touched_days` (day) anew, a temporary table that the caller makes."""
    view_stored_facts(con)
    for script in ("session_group.sql", "settling/summed_facts.sql", "settling/whole_days.sql"):
        con.execute(read_script(script))
    con.execute(_UNFROZEN)
    for _ in _some_days(con):
        for table in DAILY_TABLES:
            con.execute(table.delete_days())
            if _has_facts(con, table):
                con.execute(table.insert_days())
        _renew_trials(con, _REMOVE_TRIALS)
    con.execute(_UNUSED)


def _some_days(con: Connection) -> Iterator[None]:
    """Leave in `touched_days` as many days as fit into memory, until all had their turn."""
    if con.execute(_IS_EMPTY).fetchall() == [(True,)]:
        return
    if con.execute(_MANY, [AT_ONCE]).fetchall() == [(False,)]:
        yield
        return
    con.execute(read_script("settling/rollup_batches.sql"), [AT_ONCE])
    for batch in con.execute(_BATCHES).fetchall():
        con.execute(_SOME_DAYS, batch)
        yield


def _renew_trials(con: Connection, removal: str) -> None:
    con.execute(read_script("settling/tried_sessions.sql"))
    con.execute(removal)
    con.execute(_REMOVE_TRIED)
    con.execute(f"INSERT INTO task_trials BY NAME {read_script('rollups/trials.sql')}")
    con.execute("DROP TABLE tried_sessions")


def keep_facts(con: Connection, rows: str) -> None:
    """Keep what the sums need of sessions that a load is about to change, for `add_differences`.

    `rows` is the query for the file_id, source and session_id of their rows.
    """
    for script in ("settling/summed_facts.sql", "settling/before_tables.sql"):
        con.execute(read_script(script))
    con.execute(f"CREATE OR REPLACE TEMP TABLE kept_rows AS {rows}")
    con.execute(read_script("settling/before.sql"))


def add_differences(con: Connection) -> None:
    """Add what the concerned sessions have to the sums, less what they had before the load.

    Leaves out the days in `touched_days`: they are summed up whole.
    """
    (has_before,) = con.execute(_HAS_BEFORE).fetchall()[0]
    con.execute(read_script("session_group.sql"))
    if has_before:
        con.execute(read_script("settling/facts_with_before.sql"))
    con.execute(_WHOLE_DAYS)
    con.execute(_CHANGED_DAYS)
    con.execute(_UNFROZEN)
    con.execute("CREATE OR REPLACE TEMP TABLE changed_days AS FROM touched_days")
    _merge_changes(con, has_before=has_before)
    con.execute(_UNUSED)
    con.execute(_RESTORE_WHOLE_DAYS)


def _merge_changes(con: Connection, *, has_before: bool) -> None:
    if con.execute(_MANY, [HELD]).fetchall() == [(False,)]:
        _hold_counted_facts(con)
    (is_summed,) = con.execute(_IS_SUMMED).fetchall()[0]
    lost: set[DailyTable] = set()
    for _ in _some_days(con):
        for table in (table for table in DAILY_TABLES if _has_facts(con, table)):
            if is_summed:
                lost |= _merge_change(con, table, has_before=has_before)
            else:
                con.execute(table.insert_days())
        _renew_trials(con, _REMOVE_TRIALS + _OF_CONCERNED)
    if lost:
        _renew_extremes(con, lost)


def _has_facts(con: Connection, table: DailyTable) -> bool:
    """Return False where a table gets no rows: to plan its script takes ten times as long as to ask."""
    if table.counted is None:
        return True
    return con.execute(f"SELECT EXISTS (FROM {table.counted})").fetchall() == [(True,)]


def _hold_counted_facts(con: Connection) -> None:
    """Read the counted facts once for all scripts, into temporary tables."""
    for fact in ("sessions", "turns", "calls", "findings"):
        con.execute(f"CREATE OR REPLACE TEMP TABLE held_{fact} AS FROM counted_{fact}")
    for fact in ("sessions", "turns", "calls", "findings"):
        con.execute(f"CREATE OR REPLACE TEMP VIEW counted_{fact} AS FROM held_{fact}")


def _merge_change(con: Connection, table: DailyTable, *, has_before: bool) -> set[DailyTable]:
    """Merge the changes of a table into it; return it where an extreme may be lost, noted in `lost_…`."""
    con.execute(table.note_change(has_before=has_before))
    columns = [name for (name,) in con.execute(_COLUMNS, [table.name]).fetchall()]
    for dayless, is_there in enumerate(con.execute(_IS_DAYLESS).fetchall()[0]):
        if is_there:
            con.execute(table.merge_change(columns, has_before=has_before, dayless=bool(dayless)))
    if not has_before or not table.extremes:
        return set()
    if con.execute(table.find_lost()).fetchall() == [(False,)]:
        return set()
    con.execute(table.note_lost())
    return {table}


def _renew_extremes(con: Connection, tables: Iterable[DailyTable]) -> None:
    con.execute(read_script("settling/whole_days.sql"))
    for table in tables:
        con.execute(table.touch_lost_days())
        con.execute(table.renew_extremes())
        con.execute(f"DROP TABLE lost_{table.name}")

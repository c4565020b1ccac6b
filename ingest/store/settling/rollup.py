"""Updates the daily sums: adds the changes that a load made, or recomputes the sums of whole days.

A load's changes are the sums of the affected sessions (`concerned.sql`) after the load minus their sums
before the load. After larger changes (a migration, a new parser, other model names), the sums of whole days
are recomputed. Both methods execute the scripts in `rollups` (`DAILY_TABLES`). The day is NULL for calls
without a time. If `callgauge retain` removed the rows of a day, the sums of the day stay.

The scripts read temporary views. `counted_…` have the rows to count (`summed_facts.sql`). Their column
`is_before` is true for rows that `keep_facts` saved before the load. `calls_of_days` and `turns_of_days`
contain the days in `touched_days`, without duplicates.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from itertools import chain

from ingest.store.connection import Connection, has_rows
from ingest.store.daily_tables import DAILY_TABLES, DailyTable
from ingest.store.scripts import read_script, run_often, run_script
from ingest.store.segments import view_stored_facts

# number of calls whose days are added up together; the groups of many more calls do not fit into memory
AT_ONCE = 200_000
FEW_CALLS = 50_000  # with at most so many counted calls, temporary tables contain the rows for all scripts

_FROZEN = "touched_days WHERE day < (SELECT max(facts_before) FROM store_info)"
_UNFROZEN = f"DELETE FROM {_FROZEN}"  # noqa: S608 - our own text
_MANY = "SELECT count(*) > ? FROM counted_calls"
_BATCHES = "SELECT DISTINCT batch FROM all_days ORDER BY batch"
_SOME_DAYS = "CREATE OR REPLACE TEMP TABLE touched_days AS SELECT day FROM all_days WHERE batch = ?"
_UNUSED = "DELETE FROM signatures WHERE signature_id NOT IN (SELECT signature_id FROM stored_daily_errors)"

_FACTS = {"sessions": "sessions", "turns": "turns", "calls": "tool_calls", "findings": "diagnostics"}
"""The fact tables that are counted, by the word in the names of their views. Diagnostics must come after
calls.
"""
_OF_ROWS = "SEMI JOIN rows_after USING (file_id, source, session_id)"
_OF_CALLS = "SEMI JOIN (FROM counted_calls WHERE NOT is_before) USING (call_id, file_id)"
_COUNTED = "NOT duplicate"
_ON_DAYS = f"{_COUNTED} AND EXISTS (FROM touched_days t WHERE t.day IS NOT DISTINCT FROM f.day)"
_COUNT_AFTER = f"SELECT count(*) FROM tool_calls {_OF_ROWS}"  # noqa: S608 - our own text
_COUNT_BEFORE = "SELECT count(*) FROM calls_before"

_TRIED = "SELECT (source, session_id) FROM tried_sessions"
_TEXT_REMOVED = "SELECT (source, session_id) FROM counted_turns WHERE text_removed"
_REMOVE_TRIALS = f"""
    DELETE FROM task_trials USING touched_days t
    WHERE task_trials.day IS NOT DISTINCT FROM t.day AND (source, session_id) NOT IN ({_TEXT_REMOVED})"""  # noqa: S608 - our own text
# A session over several days counts on its first day.
_REMOVE_TRIED = f"DELETE FROM task_trials WHERE (source, session_id) IN ({_TRIED})"  # noqa: S608 - our own text
_OF_CONCERNED = " AND (source, session_id) IN (SELECT (source, session_id) FROM concerned_sessions)"
_TRIALS_OF_CONCERNED = "task_trials SEMI JOIN concerned_sessions USING (source, session_id)"

_WHOLE_DAYS = "CREATE OR REPLACE TEMP TABLE whole_days AS FROM touched_days"
_CHANGED_DAYS = """
    CREATE OR REPLACE TEMP TABLE touched_days AS
    (SELECT day FROM counted_calls UNION SELECT day FROM counted_turns) EXCEPT FROM whole_days"""
_ARE_DAYLESS = "SELECT DISTINCT day IS NULL AS dayless FROM touched_days ORDER BY dayless"
_DAYS_BETWEEN = """
    CREATE TEMP TABLE touched_days AS
    SELECT day FROM (SELECT day FROM stored_tool_calls UNION SELECT day FROM stored_turns)
    WHERE ($first::DATE IS NULL OR day >= $first::DATE) AND ($last::DATE IS NULL OR day <= $last::DATE)"""
_COLUMNS = " UNION ALL ".join(
    f"SELECT '{table.name}', list(name ORDER BY cid) FROM pragma_table_info('{table.name}')"  # noqa: S608 - our own names
    for table in DAILY_TABLES
)
_RESTORE_WHOLE_DAYS = "CREATE OR REPLACE TEMP TABLE touched_days AS FROM whole_days"


def roll_up(con: Connection) -> None:
    """Recompute the sums of the days in `touched_days` (day). The caller makes this temporary table."""
    view_stored_facts(con)
    _make_macros(con)
    _view_whole_store(con)
    con.execute(_UNFROZEN)
    are_few = con.execute(_MANY, [FEW_CALLS]).fetchall() == [(False,)]
    for _ in _some_days(con, are_few=are_few):
        _view_days(con, are_read=are_few)
        filled = _find_tables(con) if are_few else DAILY_TABLES
        for table in DAILY_TABLES:
            run_often(con, table.delete_days())
            if table in filled:
                run_often(con, table.insert_days())
        _renew_trials(con, _REMOVE_TRIALS, stored="task_trials")
    con.execute(_UNUSED)


def _some_days(con: Connection, *, are_few: bool) -> Iterator[None]:
    """Divide the days into groups that fit into memory. For each group, put its days into `touched_days` and
    yield.
    """
    if not has_rows(con, "touched_days"):
        return
    if are_few or con.execute(_MANY, [AT_ONCE]).fetchall() == [(False,)]:
        yield
        return
    run_script(con, "settling/rollup_batches.sql", [AT_ONCE])
    for batch in con.execute(_BATCHES).fetchall():
        con.execute(_SOME_DAYS, batch)
        yield


def _renew_trials(con: Connection, removal: str, *, stored: str) -> None:
    run_script(con, "settling/tried_sessions.sql")
    if has_rows(con, stored):
        con.execute(removal)
        con.execute(_REMOVE_TRIED)
    run_often(con, f"INSERT INTO task_trials BY NAME {read_script('rollups/trials.sql')}")
    con.execute("DROP TABLE tried_sessions")


def sum_facts(
    con: Connection, tables: Iterable[DailyTable], first_day: date | None, last_day: date | None
) -> None:
    """Fill empty tables of daily sums from the rows that `con` sees.

    The days are those from `first_day` to `last_day`. A bound of None is no bound.
    """
    view_stored_facts(con)
    _make_macros(con)
    _view_whole_store(con)
    con.execute(_DAYS_BETWEEN, {"first": first_day, "last": last_day})
    _view_days(con, are_read=False)
    for table in tables:
        run_often(con, table.insert_days())


# --- the views that the scripts read --------------------------------------------------------------


def _view_whole_store(con: Connection) -> None:
    for fact, table in _FACTS.items():
        rows = f"SELECT *, false AS is_before FROM summed_{fact}('stored_{table}')"  # noqa: S608 - our own names
        _make_view(con, f"counted_{fact}", rows, is_read=False)


def _view_concerned(con: Connection, *, has_before: bool, are_read: bool) -> None:
    for fact, table in _FACTS.items():
        chosen = _OF_CALLS if fact == "findings" else _OF_ROWS
        rows = f"SELECT *, false AS is_before FROM summed_{fact}('{table}') {chosen}"  # noqa: S608 - our own names
        if has_before:
            rows += f" UNION ALL BY NAME SELECT *, true AS is_before FROM {fact}_before"  # noqa: S608 - our own names
        _make_view(con, f"counted_{fact}", rows, is_read=are_read)


def _view_days(con: Connection, *, are_read: bool, is_every_day: bool = False) -> None:
    condition = _COUNTED if is_every_day else _ON_DAYS
    for fact in ("turns", "calls"):
        query = f"FROM counted_{fact} f WHERE {condition}"
        _make_view(con, f"{fact}_of_days", query, is_read=are_read and not is_every_day)


def _make_view(con: Connection, name: str, query: str, *, is_read: bool) -> None:
    """Make a view of a query.

    With `is_read`, the query is executed once, and the view reads a temporary table with its result.
    """
    table = f"CREATE OR REPLACE TEMP TABLE rows_of_{name} AS {query};" if is_read else ""
    rows = f"FROM rows_of_{name}" if is_read else query
    con.execute(f"{table} CREATE OR REPLACE TEMP VIEW {name} AS {rows}")


def _make_macros(con: Connection) -> None:
    for script in ("session_group.sql", "settling/summed_facts.sql"):
        run_script(con, script)


# --- changes by a load ----------------------------------------------------------------------------


def make_before_tables(con: Connection) -> None:
    """Make the empty temporary tables `…_before`, unless they exist. `keep_facts` fills them."""
    _make_macros(con)
    run_script(con, "settling/before_tables.sql")


def keep_facts(con: Connection, rows: str) -> None:
    """Save the rows of sessions before a load changes the rows. `add_differences` uses the saved rows.

    `rows` is the query for the file_id, source and session_id of these rows.
    """
    make_before_tables(con)
    con.execute(f"CREATE OR REPLACE TEMP TABLE kept_rows AS {rows}")
    run_script(con, "settling/before.sql")


def add_differences(con: Connection) -> None:
    """Add the rows of the affected sessions to the sums, and subtract the rows saved before the load.

    The table `rows_after` lists the affected sessions. Days in `touched_days` are skipped, because their sums
    are recomputed from all rows.
    """
    has_before = has_rows(con, "rows_before", "resumed")
    _make_macros(con)
    counting = (_COUNT_AFTER, _COUNT_BEFORE) if has_before else (_COUNT_AFTER,)
    are_few = sum(con.execute(query).fetchall()[0][0] for query in counting) <= FEW_CALLS
    _view_concerned(con, has_before=has_before, are_read=are_few)
    con.execute(_WHOLE_DAYS)
    con.execute(_CHANGED_DAYS)
    is_every_day = not has_rows(con, "whole_days", _FROZEN)
    if not is_every_day:
        con.execute(_UNFROZEN)
    con.execute("CREATE OR REPLACE TEMP TABLE changed_days AS FROM touched_days")
    _merge_changes(con, has_before=has_before, are_few=are_few, is_every_day=is_every_day)
    con.execute(_UNUSED)
    con.execute(_RESTORE_WHOLE_DAYS)


def _merge_changes(con: Connection, *, has_before: bool, are_few: bool, is_every_day: bool) -> None:
    touched = "SEMI JOIN touched_days t ON t.day IS NOT DISTINCT FROM d.day"
    is_summed = has_rows(con, *(f"{table} d {touched}" for table in ("daily_calls", "daily_turns")))
    columns = dict(con.execute(_COLUMNS).fetchall()) if is_summed else {}
    lost: set[DailyTable] = set()
    for _ in _some_days(con, are_few=are_few):
        _view_days(con, are_read=are_few, is_every_day=is_every_day and are_few)
        are_dayless = [dayless for (dayless,) in con.execute(_ARE_DAYLESS).fetchall()]
        for table in _find_tables(con) if are_few else DAILY_TABLES:
            if is_summed:
                lost |= _merge_change(
                    con, table, columns[table.name], are_dayless=are_dayless, has_before=has_before
                )
            else:
                run_often(con, table.insert_days())
        _renew_trials(con, _REMOVE_TRIALS + _OF_CONCERNED, stored=_TRIALS_OF_CONCERNED)
    if lost:
        _renew_extremes(con, lost)


def _find_tables(con: Connection) -> Sequence[DailyTable]:
    by_facts: dict[str, list[DailyTable]] = defaultdict(list)
    for table in DAILY_TABLES:
        if table.counted:
            by_facts[table.counted.facts].append(table)
    counts = (
        f"(SELECT {', '.join(table.counted.number for table in tables if table.counted)} FROM {facts})"  # noqa: S608
        for facts, tables in by_facts.items()
    )
    numbers = con.execute(f"FROM {', '.join(counts)}").fetchall()[0]
    empty = {table for table, number in zip(chain(*by_facts.values()), numbers, strict=True) if not number}
    return [table for table in DAILY_TABLES if table not in empty]


def _merge_change(
    con: Connection,
    table: DailyTable,
    columns: Sequence[str],
    *,
    are_dayless: Sequence[bool],
    has_before: bool,
) -> set[DailyTable]:
    """Merge the changes into a table with these columns.

    `are_dayless` tells whether `touched_days` has days (False) and the days of calls without a time (True).
    If smallest or largest values may be lost, return the table. The keys of these values are in `lost_…`.
    """
    rows = "change"
    if has_before or len(are_dayless) > 1:
        run_often(con, table.note_change(has_before=has_before))
    else:
        rows = f"({table.script()})"
    for dayless in are_dayless:
        run_often(con, table.merge_change(columns, rows, has_before=has_before, dayless=dayless))
    if not has_before or not table.extremes:
        return set()
    if con.execute(table.find_lost()).fetchall() == [(False,)]:
        return set()
    con.execute(table.note_lost())
    return {table}


def _renew_extremes(con: Connection, tables: Iterable[DailyTable]) -> None:
    _view_whole_store(con)
    _view_days(con, are_read=False)
    for table in tables:
        con.execute(table.touch_lost_days())
        con.execute(table.renew_extremes())
        con.execute(f"DROP TABLE lost_{table.name}")

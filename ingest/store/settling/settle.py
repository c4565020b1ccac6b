"""Completes the store file being built: executes the scripts on the new rows and updates the daily sums."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

import pyarrow as pa

from ingest.sessions.row_batches import Row
from ingest.store.connection import WAITS, Connection, has_rows
from ingest.store.daily_tables import DAILY_TABLES
from ingest.store.generation_file import GenerationBuilder
from ingest.store.scripts import run_script
from ingest.store.segments import TRIALS
from ingest.store.settling.alerts import decide_alerts
from ingest.store.settling.rollup import add_differences, keep_facts, make_before_tables, roll_up

_LATE = ("late_results", "turn_parts")
_FOLLOWING = "files WHERE follows IS NOT NULL AND run_id = {run_id:d}"
_OF_TRIALS = "sessions SEMI JOIN touched_sessions USING (source, session_id) WHERE trial_run IS NOT NULL"
# Planning a statement takes 1 to 5 ms even without rows, so scripts without input are skipped.
_SCRIPTS: tuple[tuple[str, Sequence[str]], ...] = (
    ("remove_repeated.sql", ("repeated_sessions", "repeated_turns", "removed_contents")),
    ("replaced.sql", ("replaced", "copies")),
    ("take_back.sql", _LATE),
    ("adopt_parts.sql", ("turns WHERE NOT begun",)),
    ("settle.sql", ()),
    ("copies.sql", ("copied_calls", "copied_turns", "copied_sessions")),
    ("late.sql", _LATE),
    ("trial_sessions.sql", (_OF_TRIALS,)),
    ("trial_runs.sql", ("trial_runs", "trial_looks")),
)
"""The scripts in their order. A script is skipped if it names tables and all of them are empty."""
_NEEDED = tuple(dict.fromkeys(("reread", *(table for _, needed in _SCRIPTS for table in needed))))
# With fewer calls, several threads save less than a second but take more total processor time.
_IS_LARGE = """
    SELECT (SELECT count(*) FROM tool_calls) + (SELECT coalesce(sum(calls), 0) FROM segments) > 200_000"""
_NEW_FILES = "INSERT INTO new_files SELECT file_id FROM files WHERE run_id = ?"
# rows of files whose reading resumes are left out
_NOT_RESUMED = "FROM rows_before ANTI JOIN resumed USING (file_id)"
_OTHERS = "stored_sessions ANTI JOIN concerned_sessions USING (source, session_id)"

MODEL_NAMES = """
    SELECT model_name FROM tool_calls WHERE model_name IS NOT NULL
    UNION SELECT model_name FROM turns WHERE model_name IS NOT NULL
    UNION SELECT unnest(model_names) FROM segments
    UNION
    SELECT model
    FROM (SELECT day, model FROM stored_daily_calls UNION ALL SELECT day, model FROM stored_daily_turns)
    WHERE model IS NOT NULL AND day < (SELECT max(facts_before) FROM store_info)"""
_RENAMED_BEFORE = """
    day < (SELECT max(facts_before) FROM store_info) AND model IN (SELECT model_name FROM model_aliases)"""
_RENAMED = "CREATE TEMP TABLE renamed AS SELECT unnest(?::VARCHAR[]) AS model_name"
_OF_RENAMED = """
    SELECT source, session_id FROM stored_tool_calls SEMI JOIN renamed USING (model_name)
    UNION SELECT source, session_id FROM stored_turns SEMI JOIN renamed USING (model_name)"""
_ALL_FILES = "SELECT file_id FROM files"
_CHANGED_FILES = "SELECT file_id FROM new_files UNION SELECT file_id FROM rows_before"
# Sums of days whose rows were removed cannot be recomputed, so the model names in them are changed directly.
_RENAME_SUMS = """
    UPDATE {table} t SET model = a.model FROM model_aliases a
    WHERE t.model = a.model_name AND t.day < (SELECT max(facts_before) FROM store_info)"""
_SUMS_OF_MODELS = (*(table.name for table in DAILY_TABLES if "model" in table.keys), TRIALS)

_ALL_DAYS = """
    INSERT INTO touched_days
    (SELECT day FROM stored_tool_calls UNION SELECT day FROM stored_turns) EXCEPT FROM touched_days"""
# In task_trials, a session counts on its first day, which may be none of the touched days.
_SUMMED_DAYS = """
    SELECT day FROM touched_days
    UNION SELECT day FROM stored_turns WHERE (source, session_id) IN (
        SELECT (source, session_id) FROM stored_turns SEMI JOIN touched_days USING (day))"""
_ROWS_AFTER = """
    CREATE OR REPLACE TEMP TABLE rows_after AS
    SELECT DISTINCT file_id, source, session_id
    FROM sessions SEMI JOIN concerned_sessions USING (source, session_id)"""
_CHANGED_DAYS = """
    SELECT day FROM tool_calls SEMI JOIN rows_after USING (file_id, source, session_id)
    UNION SELECT day FROM turns SEMI JOIN rows_after USING (file_id, source, session_id)
    UNION SELECT day FROM calls_before UNION SELECT day FROM turns_before"""

_OF_DAYS = "WHERE EXISTS (FROM touched_days t WHERE t.day IS NOT DISTINCT FROM tool_calls.day)"
_CONCERNED = "SEMI JOIN rows_after USING (file_id, source, session_id) WHERE true"
# A call without stored texts keeps its signature id, because the id cannot be computed again.
_UNSIGNED = """
    tool_calls {which}
        AND text_removed IS NULL AND (fault_layer IS NOT NULL OR signature_id IS NOT NULL)"""
_VIEW_UNSIGNED = """
    CREATE OR REPLACE TEMP VIEW unsigned_calls AS
    SELECT rowid AS row, fault_layer, signature_id, parse_error, harness_message, result_text
    FROM {unsigned}"""


def settle(building: GenerationBuilder, run_id: int | None = None, *, before: Sequence[str] = ()) -> None:
    """Remove the rows of replaced files, mark copies as duplicates, and join late results to their calls.

    `run_id` is the load that read the files, or None when no file was read. `before` names scripts that are
    executed when the affected sessions are known but no rows are removed yet. `late_arrivals` judges the
    turns of late results afterwards.
    """
    # the scripts and the adding up of days need the memory of the waiting rows
    building.make_room(WAITS // 4)
    if building.is_true(_IS_LARGE):
        building.use_all_cores()
    follows = run_id is not None and building.has_rows(_FOLLOWING.format(run_id=run_id))
    _find_concerned(building, run_id, follows=follows)
    if follows:
        _run_script(building, "succession.sql")
    for script in ("touched.sql", *before):
        _run_script(building, script)
    filled = building.find_filled(_NEEDED)
    if follows or "reread" in filled:
        _run_script(building, "known_rejects.sql")
    for script, needed in _SCRIPTS:
        # Scripts in `before` may have left rows in these tables, which must be emptied.
        if not needed or before or not filled.isdisjoint(needed):
            _run_script(building, script)
            filled = building.find_filled(_NEEDED)


def _find_concerned(building: GenerationBuilder, run_id: int | None, *, follows: bool) -> None:
    """Find the sessions that may change. Save the present share of these sessions in the sums."""
    with building.open_transaction("concerned.sql") as con:
        con.execute(_NEW_FILES, [run_id])
        for script in (*(("followed.sql",) if follows else ()), "concerned.sql"):
            run_script(con, script)
        if has_rows(con, _OTHERS):
            run_script(con, "latest_facts.sql")
            building.narrow_search()
            while run_script(con, "copies_elsewhere.sql").fetchall() != [(0,)]:
                building.narrow_search()
        run_script(con, "rows_before.sql")
    building.pull_sessions("SELECT source, session_id FROM concerned_sessions")
    if building.has_rows("rows_before"):
        with building.open_transaction("before.sql") as con:
            keep_facts(con, _NOT_RESUMED)


def _run_script(building: GenerationBuilder, name: str) -> None:
    with building.open_transaction(name) as con:
        run_script(con, name)


# --- models ---------------------------------------------------------------------------------------


def rename_models(building: GenerationBuilder, aliases: Sequence[Row]) -> None:
    """Apply new model aliases. `aliases` are rows of the table `model_aliases`.

    Call this between `settle` and `add_changes`, or before `sum_days`.
    """
    stored = building.fetch_rows("SELECT model_name, model, rule FROM model_aliases")
    values = itemgetter("model_name", "model", "rule")
    is_same = set(map(values, stored)) == set(map(values, aliases))
    if is_same and not aliases:
        return
    _pull_renamed(building, stored, aliases)
    with building.open_transaction("models") as con:
        if not is_same:
            con.execute("DELETE FROM model_aliases")
            if aliases:
                con.register("incoming", pa.Table.from_pylist(list(aliases)))
                con.execute("INSERT INTO model_aliases BY NAME FROM incoming")
                con.unregister("incoming")
        con.execute(f"CREATE TEMP TABLE renamed_files AS {_CHANGED_FILES if is_same else _ALL_FILES}")
        run_script(con, "count_models.sql")
    if not is_same and building.has_rows("store_info WHERE facts_before IS NOT NULL"):
        for table in ("daily_calls", "daily_turns", TRIALS):
            building.pull_sums(table, _RENAMED_BEFORE)
        with building.open_transaction("old models") as con:
            for table in _SUMS_OF_MODELS:
                con.execute(_RENAME_SUMS.format(table=table))


def _pull_renamed(building: GenerationBuilder, before: Sequence[Row], after: Sequence[Row]) -> None:
    """Move sessions to the main file if the aliases `after` change the model of their calls."""
    old, new = ({row["model_name"]: row["model"] for row in aliases} for aliases in (before, after))
    names = building.fetch_rows("SELECT DISTINCT unnest(model_names) AS name FROM segments")
    renamed = [row["name"] for row in names if old.get(row["name"]) != new.get(row["name"])]
    if renamed:
        with building.open_transaction("renamed models") as con:
            con.execute(_RENAMED, [renamed])
        building.pull_sessions(_OF_RENAMED)


# --- the daily sums -------------------------------------------------------------------------------


def add_changes(building: GenerationBuilder) -> None:
    """Add the rows of the affected sessions to the daily sums, and subtract the rows saved before `settle`.

    The sums of days in `touched_days` are recomputed from all rows. The alerts are decided last. Raises
    StoreError when counts of the affected files and days contradict each other.
    """
    _touch_migrated_days(building)
    with building.open_transaction("signatures.sql") as con:
        con.execute(_ROWS_AFTER)
        _sign_calls(con, _CONCERNED)
    if building.has_months:
        with building.open_transaction("changed days") as con:
            make_before_tables(con)
        building.pull_days(_CHANGED_DAYS)
    with building.open_transaction("rollups") as con:
        add_differences(con)
    if building.has_rows("touched_days"):
        sum_days(building)
    else:
        building.check_changed_counts()
        decide_alerts(building)


def sum_days(building: GenerationBuilder) -> None:
    """Recompute the sums of the days in `touched_days`, check the counts of the store, and decide its alerts.

    Raises StoreError when counts contradict each other.
    """
    building.use_all_cores()
    _touch_migrated_days(building)
    with building.open_transaction("signatures.sql") as con:
        sign_calls_of_days(con)
    building.pull_days(_SUMMED_DAYS)
    with building.open_transaction("rollups") as con:
        roll_up(con)
    building.check_counts()
    decide_alerts(building)


def _touch_migrated_days(building: GenerationBuilder) -> None:
    if building.has_migrated:
        with building.open_transaction("all_days") as con:
            con.execute(_ALL_DAYS)


# --- signatures -----------------------------------------------------------------------------------


def sign_calls_of_days(con: Connection) -> None:
    """Set the signature id of the failed calls on the days in `touched_days`. Uses signatures.sql."""
    _sign_calls(con, _OF_DAYS)


def _sign_calls(con: Connection, which: str) -> None:
    unsigned = _UNSIGNED.format(which=which)
    if has_rows(con, unsigned):
        con.execute(_VIEW_UNSIGNED.format(unsigned=unsigned))
        run_script(con, "signatures.sql")

"""Completes the generation being built: settles what a load brought, and brings the daily sums up to date."""

from __future__ import annotations

from collections.abc import Sequence

from ingest.store.connection import WAITS
from ingest.store.generation_file import GenerationBuilder
from ingest.store.scripts import read_script
from ingest.store.settling.reconciliation import FOLLOWING, SETTLING
from ingest.store.settling.rollup import add_differences, keep_facts, roll_up
from ingest.store.settling.signing import sign_calls_of_days, sign_concerned_calls

_ALL_DAYS = """
    INSERT INTO touched_days
    (SELECT day FROM stored_tool_calls UNION SELECT day FROM stored_turns) EXCEPT FROM touched_days"""
# The row of a session in task_trials stands on its first day, which may be another one.
_SUMMED_DAYS = """
    SELECT day FROM touched_days
    UNION SELECT day FROM stored_turns WHERE (source, session_id) IN (
        SELECT (source, session_id) FROM stored_turns SEMI JOIN touched_days USING (day))"""
_CHANGED_DAYS = """
    SELECT day FROM counted_calls UNION SELECT day FROM counted_turns
    UNION SELECT day FROM calls_before UNION SELECT day FROM turns_before"""
# Several threads take more processor time than one, and save less than a second where there are fewer calls.
_IS_LARGE = """
    SELECT (SELECT count(*) FROM tool_calls) + (SELECT coalesce(sum(calls), 0) FROM segments) > 200_000"""
_NEW_FILES = "INSERT INTO new_files SELECT file_id FROM files WHERE run_id = ?"
_NOT_RESUMED = "FROM rows_before ANTI JOIN resumed USING (file_id)"  # those are kept when they are read on
_OTHERS = "SELECT EXISTS (FROM stored_sessions ANTI JOIN concerned_sessions USING (source, session_id))"


def settle(building: GenerationBuilder, run_id: int | None = None, *, before: Sequence[str] = ()) -> None:
    """Remove the rows of replaced files, mark copies as duplicates, and join late results to their calls.

    `run_id` is the run whose files were read, None when nothing was. `before` names scripts that run when the
    concerned sessions are known and nothing is removed yet. The turns of late results are concluded
    afterwards, see `late_arrivals`.
    """
    building.make_room(WAITS // 4)  # which settling and summing up can use
    if building.is_true(_IS_LARGE):
        building.use_all_cores()
    follows = run_id is not None and building.is_true(FOLLOWING)
    _find_concerned(building, run_id, follows=follows)
    for script in (*(("succession.sql",) if follows else ()), "touched.sql", *before):
        _run_script(building, script)
    for script, needed in SETTLING:
        # Scripts of others may leave anything behind.
        if needed is None or before or building.is_true(needed):
            _run_script(building, script)


def _find_concerned(building: GenerationBuilder, run_id: int | None, *, follows: bool) -> None:
    """Find the sessions of which a fact may change, and keep what the sums hold of them."""
    with building.open_transaction("concerned.sql") as con:
        con.execute(_NEW_FILES, [run_id])
        for script in (*(("followed.sql",) if follows else ()), "concerned.sql"):
            con.execute(read_script(script))
        if con.execute(_OTHERS).fetchall() == [(True,)]:
            building.narrow_search()
            while con.execute(read_script("copies_elsewhere.sql")).fetchall() != [(0,)]:
                building.narrow_search()
        con.execute(read_script("rows_before.sql"))
    building.pull_sessions("SELECT source, session_id FROM concerned_sessions")
    if building.is_true("SELECT EXISTS (FROM rows_before)"):
        with building.open_transaction("before.sql") as con:
            keep_facts(con, _NOT_RESUMED)


def _run_script(building: GenerationBuilder, name: str) -> None:
    with building.open_transaction(name) as con:
        con.execute(read_script(name))


def add_changes(building: GenerationBuilder) -> None:
    """Add to the daily sums what the concerned sessions have by now, less what they had before `settle`.

    Days in `touched_days` are summed up whole. Raises StoreError when the counts of the files and days
    concerned disagree.
    """
    _touch_migrated_days(building)
    with building.open_transaction("signatures.sql") as con:
        for script in ("settling/summed_facts.sql", "settling/concerned_facts.sql"):
            con.execute(read_script(script))
        sign_concerned_calls(con)
    _pull_changed_days(building)
    with building.open_transaction("rollups") as con:
        add_differences(con)
    if building.is_true("SELECT EXISTS (FROM touched_days)"):
        sum_days(building)
    else:
        building.check_changed_counts()


def _pull_changed_days(building: GenerationBuilder) -> None:
    if building.has_months:
        with building.open_transaction("changed days") as con:
            con.execute(read_script("settling/before_tables.sql"))
        building.pull_days(_CHANGED_DAYS)


def sum_days(building: GenerationBuilder) -> None:
    """Sum up the days in `touched_days` whole, and check the counts of the whole generation.

    Raises StoreError when the counts disagree.
    """
    building.use_all_cores()
    _touch_migrated_days(building)
    with building.open_transaction("signatures.sql") as con:
        sign_calls_of_days(con)
    building.pull_days(_SUMMED_DAYS)
    with building.open_transaction("rollups") as con:
        roll_up(con)
    building.check_counts()


def _touch_migrated_days(building: GenerationBuilder) -> None:
    if building.has_migrated:
        with building.open_transaction("all_days") as con:
            con.execute(_ALL_DAYS)

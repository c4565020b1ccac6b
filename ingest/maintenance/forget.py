"""Removes sessions from a store and from older store files permanently.

The store keeps a hash of each removed session. So no load restores the session from a log that still exists.
The logs themselves are not changed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import msgspec

from ingest.errors import OptionError
from ingest.load_report import ForgetReport
from ingest.maintenance.transaction import change_copy, lock_published
from ingest.pipeline.planning.naming import read_naming
from ingest.sessions.results.failure_envelopes import FailureRules
from ingest.sessions.stored_text import shorten_name
from ingest.sessions.table_rows import session_hash
from ingest.store.generation_file import GenerationBuilder, utc_now
from ingest.store.generations import OnWrite, Patience, do_not_wait, ignore_write
from ingest.store.scripts import read_script
from ingest.store.settling.late_arrivals import conclude_late_turns
from ingest.store.settling.settle import add_changes, settle

_LEAVING_RUNS = """
    CREATE TEMP TABLE leaving_runs AS
    SELECT DISTINCT f.source, r.run FROM trial_runs r JOIN files f USING (file_id)
    WHERE run IN (SELECT trial_run FROM stored_sessions SEMI JOIN leaving USING (source, session_id))
        AND run NOT IN (
            SELECT trial_run FROM stored_sessions ANTI JOIN leaving USING (source, session_id)
            WHERE trial_run IS NOT NULL
        )"""
_SESSION_IDS = "SELECT DISTINCT session_id AS id FROM leaving"
_CALL_IDS = (
    "SELECT DISTINCT call_id AS id FROM stored_tool_calls SEMI JOIN leaving USING (source, session_id)"
)
_SESSION_END = "max(coalesce(ended_at, started_at))"
# The daily sums keep a row for each session with a task, even after the session's own rows were removed.
_BY_ID = """
    SELECT DISTINCT source, session_id FROM (FROM (SELECT source, session_id FROM stored_sessions)
    UNION SELECT source, session_id FROM stored_task_trials)
    WHERE session_id IN (SELECT unnest(?::VARCHAR[]))"""
_BEFORE = f"SELECT source, session_id FROM stored_sessions GROUP BY ALL HAVING {_SESSION_END} < ?::DATE"  # noqa: S608
_OF_USER = "SELECT DISTINCT source, session_id FROM stored_sessions WHERE user_name = ?"


OnLeaving = Callable[[Collection[str], Collection[str]], None]
"""Function that is called with the ids of the sessions and calls to delete, before the deletion."""


class SessionChoice(msgspec.Struct, frozen=True, kw_only=True):
    """The sessions to remove. Exactly one of the three fields must be set.

    `sessions` are ids of sessions. `before` chooses sessions whose last event is before this day (UTC).
    `user` chooses all sessions of this user.
    """

    sessions: Sequence[str] = ()
    before: date | None = None
    user: str | None = None

    def choice_query(self) -> tuple[str, list[Any]]:
        """Return an SQL query for source and id of the chosen sessions, and the query's parameters.

        Raises OptionError unless exactly one field of the choice is set.
        """
        named: list[tuple[str, list[Any]]] = []
        if self.sessions:
            named.append((_BY_ID, [list(map(shorten_name, self.sessions))]))
        if self.before is not None:
            named.append((_BEFORE, [self.before]))
        if self.user is not None:
            named.append((_OF_USER, [shorten_name(self.user)]))
        if len(named) != 1:
            raise OptionError("say what to forget with one of --session, --before and --user")
        return named[0]


def forget(
    store_dir: Path,
    whose: SessionChoice,
    *,
    dry_run: bool = False,
    on_leaving: OnLeaving = lambda _sessions, _calls: None,
    on_write: OnWrite = ignore_write,
    patience: Patience = do_not_wait,
) -> ForgetReport:
    """Remove sessions from the store permanently. `whose` chooses the sessions.

    With `dry_run`, the sessions are only counted. Trial runs without remaining sessions are also removed.
    Raises InputError, StoreError, StoreBusy or StoreVersionError. After an error, nothing is removed.
    """
    started = time.monotonic()
    query, values = whose.choice_query()
    failures = read_naming(store_dir.absolute()).failures
    generation = None
    with lock_published(store_dir, on_write, patience) as (folder, _), change_copy(folder) as building:
        with building.open_transaction("leaving") as con:
            con.execute(f"CREATE TEMP TABLE leaving AS {query}", values)
            con.execute(_LEAVING_RUNS)
        (counts,) = building.fetch_rows(read_script("forget_counts.sql"))
        if counts["sessions"]:
            on_leaving(*(_read_ids(building, query) for query in (_SESSION_IDS, _CALL_IDS)))
        if dry_run or not counts["sessions"]:
            building.abandon()
            folder.discard()
        else:
            _remove_sessions(building, failures)
            building.rewrite()
            generation = folder.publish(alone=True)
    if whose.before is None:
        counts["undated"] = 0
    return ForgetReport(**counts, generation=generation, seconds=time.monotonic() - started)


def _read_ids(building: GenerationBuilder, query: str) -> set[str]:
    return {row["id"] for row in building.fetch_rows(query)}


def _remove_sessions(building: GenerationBuilder, failures: FailureRules) -> None:
    # The plan and the analyses of a trial run are stored under the run's name, in place of a session id.
    leaving = building.fetch_rows("FROM leaving UNION SELECT source, run FROM leaving_runs")
    hashes = [session_hash(row["source"], row["session_id"]) for row in leaving]
    with building.open_transaction("forgotten") as con:
        con.execute("INSERT INTO forgotten SELECT unnest(?::VARCHAR[]), ?", [hashes, utc_now()])
        con.execute(
            "INSERT INTO touched_also "
            "SELECT DISTINCT file_id FROM stored_sessions SEMI JOIN leaving USING (source, session_id)"
        )
    building.pull_sums("task_trials", "(source, session_id) IN (FROM leaving)")
    settle(building, before=("leaving_rows.sql", "remove_sessions.sql", "forget.sql"))
    conclude_late_turns(building, failures)
    add_changes(building)

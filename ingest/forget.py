"""A store and whose sessions are to go in, a generation without a byte of them out; older ones are removed.

What went is remembered by its hash, so that no load brings it back from a log that is still there. The logs
themselves are not touched.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from ingest.errors import OptionError
from ingest.generations import OnWrite, Patience, ignore, none
from ingest.late import conclude_late_turns
from ingest.reports import ForgetReport
from ingest.revising import building_on, held
from ingest.rows import session_hash
from ingest.store import Building, utc_now
from ingest.texts import name_kept

_LAST_SIGN = "max(coalesce(ended_at, started_at))"
_BY_ID = "SELECT DISTINCT source, session_id FROM sessions WHERE session_id IN (SELECT unnest(?::VARCHAR[]))"
_BEFORE = f"SELECT source, session_id FROM sessions GROUP BY ALL HAVING {_LAST_SIGN} < ?::DATE"  # noqa: S608
_OF_USER = "SELECT DISTINCT source, session_id FROM sessions WHERE user_name = ?"

_COUNTS = """
    SELECT
        (SELECT count(*) FROM leaving) AS sessions,
        (SELECT count(*) FROM turns SEMI JOIN leaving USING (source, session_id)) AS turns,
        (SELECT count(*) FROM tool_calls SEMI JOIN leaving USING (source, session_id)) AS calls,
        (SELECT count(DISTINCT file_id) FROM sessions SEMI JOIN leaving USING (source, session_id)) AS files,
        (
            SELECT count(DISTINCT call_id) FROM tool_calls ANTI JOIN leaving USING (source, session_id)
            WHERE call_id IN (SELECT call_id FROM tool_calls SEMI JOIN leaving USING (source, session_id))
        ) AS elsewhere,
        (
            SELECT count(DISTINCT (source, session_id)) FROM sessions
            WHERE ended_at IS NULL AND started_at IS NULL
        ) AS undated"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Whose:
    """The sessions that are to go: by id, or those without a sign of life since a day (UTC), or a user's."""

    sessions: Sequence[str] = ()
    before: date | None = None
    user: str | None = None

    def query(self) -> tuple[str, list[Any]]:
        """The source and id of each. Raises OptionError unless exactly one is named."""
        named: list[tuple[str, list[Any]]] = []
        if self.sessions:
            named.append((_BY_ID, [list(map(name_kept, self.sessions))]))
        if self.before is not None:
            named.append((_BEFORE, [self.before]))
        if self.user is not None:
            named.append((_OF_USER, [name_kept(self.user)]))
        if len(named) != 1:
            raise OptionError("say what to forget with one of --session, --before and --user")
        return named[0]


def forget(
    store_dir: Path,
    whose: Whose,
    *,
    dry_run: bool = False,
    on_write: OnWrite = ignore,
    patience: Patience = none,
) -> ForgetReport:
    """Remove sessions from the store for good; a `dry_run` only counts them.

    Raises InputError, StoreError, StoreBusy or StoreVersionError, with nothing removed.
    """
    started = time.monotonic()
    query, values = whose.query()
    generation = None
    with held(store_dir, on_write, patience) as (folder, _), building_on(folder) as building:
        with building.writing("leaving") as con:
            con.execute(f"CREATE TEMP TABLE leaving AS {query}", values)
        (counts,) = building.ask(_COUNTS)
        if dry_run or not counts["sessions"]:
            building.abandon()
            folder.discard()
        else:
            _remove(building)
            building.rewrite()
            generation = folder.publish(alone=True)
    if whose.before is None:
        counts["undated"] = 0
    return ForgetReport(**counts, generation=generation, seconds=time.monotonic() - started)


def _remove(building: Building) -> None:
    leaving = building.ask("FROM leaving")
    hashes = [session_hash(row["source"], row["session_id"]) for row in leaving]
    with building.writing("forgotten") as con:
        con.execute("INSERT INTO forgotten SELECT unnest(?::VARCHAR[]), ?", [hashes, utc_now()])
        con.execute(
            "INSERT INTO touched_also "
            "SELECT DISTINCT file_id FROM sessions SEMI JOIN leaving USING (source, session_id)"
        )
    building.settle("forget.sql")
    conclude_late_turns(building)
    building.roll_up()

"""Removes content and rows that are older than a store's limits from the store file being built.

The limits are days in `store_info`. Loads also apply the limits, so that old logs restore nothing. Daily sums
stay. The sums of days before `facts_before` are never recomputed.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

import msgspec

from ingest.store.generation_file import GenerationBuilder
from ingest.store.scripts import read_script, run_script

_LIMITS = "CREATE OR REPLACE TEMP TABLE limits AS SELECT ?::DATE AS text_before, ?::DATE AS facts_before"
_CANDIDATES = "CREATE OR REPLACE TEMP TABLE candidates AS "
EVERYBODY = "SELECT DISTINCT source, session_id FROM stored_sessions"
TOUCHED = "FROM touched_sessions"
_REMOVAL = (
    "leaving_rows.sql", "remove_sessions.sql", "remove_facts.sql",
    "remove_texts.sql", "remove_shared_texts.sql",
)  # fmt: skip
# Selects the rows that remove_shared_texts.sql changes.
_TASK_TEXTS = """
    task_origin = 'first message' AND task_text IS NOT NULL
    AND ((source, session_id) IN (FROM leaving) OR (source, session_id) IN (FROM textless))"""
_KEY_TEXTS = """
    day < (SELECT text_before FROM limits)
    AND contains(replace(parameter, '["removed"]', ''), '["')"""
_STORED = "SELECT text_before, facts_before FROM store_info"
_REMEMBER = "UPDATE store_info SET text_before = ?, facts_before = ?"


class StoreLimits(msgspec.Struct, frozen=True):
    """The days (UTC) before which message content and rows are removed. The last event of a session counts.

    If a limit is None, nothing is removed for it.
    """

    text_before: date | None
    facts_before: date | None

    @property
    def is_set(self) -> bool:
        return self.text_before is not None or self.facts_before is not None


def stored_limits(building: GenerationBuilder) -> StoreLimits:
    """Return the limits that were last applied to a store."""
    (row,) = building.fetch_rows(_STORED)
    return StoreLimits(row["text_before"], row["facts_before"])


def find_old(building: GenerationBuilder, limits: StoreLimits, candidates: str) -> Mapping[str, int]:
    """Find data older than the limits. Return counts of this data by name (see `limit_counts.sql`).

    `candidates` is the query for source and id of the sessions to check.
    """
    with building.open_transaction("old sessions") as con:
        con.execute(_LIMITS, [limits.text_before, limits.facts_before])
        con.execute(_CANDIDATES + candidates)
        run_script(con, "old_sessions.sql")
    (counts,) = building.fetch_rows(read_script("limit_counts.sql"))
    return counts


def read_newest_day(building: GenerationBuilder) -> date | None:
    """Return the day of the newest event of `find_old`'s candidates, or None if no candidate has a time."""
    (row,) = building.fetch_rows("SELECT max(day) AS day FROM last_events")
    day: date | None = row["day"]
    return day


def is_anything_old(counts: Mapping[str, int]) -> bool:
    """Return True when the counts from `find_old` include data that must be removed."""
    return any(counts[name] for name in ("sessions_removed", "sessions_without_text", "quotes_removed"))


def remove_found(building: GenerationBuilder, limits: StoreLimits) -> None:
    """Remove the data that `find_old` found, and store the limits.

    Raises StoreError when counts in the store file contradict each other afterwards. The file still contains
    the bytes of deleted rows, so call `GenerationBuilder.rewrite` next.
    """
    building.pull_sessions("FROM leaving UNION FROM textless")
    building.pull_sums("task_trials", _TASK_TEXTS)
    building.pull_sums("daily_parameters", _KEY_TEXTS)
    for script in _REMOVAL:
        with building.open_transaction(script) as con:
            run_script(con, script)
    with building.open_transaction("limits") as con:
        con.execute(_REMEMBER, [limits.text_before, limits.facts_before])
    building.check_counts()


def hold_to_limits(building: GenerationBuilder) -> int:
    """Remove loaded data that is older than the store's limits. Return the number of affected sessions.

    Call this after the daily sums are computed, because the sums depend on the removed content.
    """
    limits = stored_limits(building)
    if not limits.is_set:
        return 0
    counts = find_old(building, limits, TOUCHED)
    if not is_anything_old(counts):
        return 0
    remove_found(building, limits)
    return counts["sessions_removed"] + counts["sessions_without_text"]

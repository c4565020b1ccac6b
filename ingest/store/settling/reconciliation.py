"""The SQL scripts that complete a load, in order, each with a query that tells whether it is needed.

Planning a statement takes one to five milliseconds even when no row is concerned, and most loads are small.
"""

from __future__ import annotations

COPIES = ("copied_calls", "copied_turns", "copied_sessions")  # what settle.sql found

_LATE = "SELECT EXISTS (FROM late_results) OR EXISTS (FROM turn_parts)"
_REREAD = "EXISTS (FROM retold_sessions) OR EXISTS (FROM retold_turns) OR EXISTS (FROM removed_contents)"
_OF_TRIALS = """
    SELECT EXISTS (
        FROM sessions SEMI JOIN touched_sessions USING (source, session_id) WHERE trial_run IS NOT NULL)"""
FOLLOWING = """
    SELECT EXISTS (FROM files WHERE follows IS NOT NULL AND run_id = (SELECT max(run_id) FROM ingest_runs))"""
SETTLING: tuple[tuple[str, str | None], ...] = (
    ("retold.sql", f"SELECT {_REREAD}"),
    ("replaced.sql", "SELECT EXISTS (FROM replaced) OR EXISTS (FROM copies)"),
    ("take_back.sql", _LATE),
    ("adopt_parts.sql", "SELECT EXISTS (FROM turns WHERE NOT begun)"),
    ("settle.sql", None),
    ("copies.sql", f"SELECT {' OR '.join(f'EXISTS (FROM {name})' for name in COPIES)}"),
    ("late.sql", _LATE),
    ("trial_sessions.sql", _OF_TRIALS),
    ("trial_runs.sql", "SELECT EXISTS (FROM trial_runs) OR EXISTS (FROM trial_looks)"),
)
"""Pairs of a script and the query that tells whether the script is needed; None = always."""

"""Filters by attributes that only sessions have: project, branch, sub-agent, environment.

The daily sums do not have these dimensions. So temporary views with the calls and turns of the chosen
sessions replace the tables that a metric uses, and the daily sums are computed from these views.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from ingest.store.daily_tables import DAILY_TABLES
from ingest.store.segments import TRIALS, Connection
from ingest.store.settling.rollup import sum_facts

SESSION_FILTERS: Mapping[str, str] = {
    "projects": "project",
    "branches": "branch",
    "sub_agents": "sub_agent",
    "environments": "environment",
}
"""The column of `sessions` for the parameter of each filter."""
_OF_SESSIONS = "FROM {whole} SEMI JOIN chosen_sessions USING (source, session_id)"
_VIEWS: Mapping[str, str] = {
    "sessions": _OF_SESSIONS,
    "turns": _OF_SESSIONS,
    "tool_calls": _OF_SESSIONS,
    "step_texts": _OF_SESSIONS,
    TRIALS: _OF_SESSIONS,
    "diagnostics": "FROM {whole} SEMI JOIN tool_calls USING (call_id, file_id)",
}


def read_session_filters(
    parameters: frozenset[str], arguments: Mapping[str, Any]
) -> dict[str, Sequence[str]]:
    """Return the chosen values by column. The result is empty if `parameters` has no session filters.

    Raises ValueError if a metric on two slices has different values for the slices.
    """
    sides = [
        {
            column: tuple(values)
            for name, column in SESSION_FILTERS.items()
            if (values := arguments.get(f"{prefix}{name}"))
        }
        for prefix in _list_prefixes(parameters)
    ]
    if any(side != sides[0] for side in sides):
        raise ValueError("the two slices have different projects, branches, sub-agents or environments")
    return dict(sides[0]) if sides else {}


def name_session_filters(parameters: frozenset[str]) -> frozenset[str]:
    """Return the names of the session filters of a metric with these `$names`."""
    return frozenset(f"{prefix}{name}" for prefix in _list_prefixes(parameters) for name in SESSION_FILTERS)


def _list_prefixes(parameters: frozenset[str]) -> tuple[str, ...]:
    """Return the prefixes of the filter parameters: two for a metric on two slices, none without filters."""
    return ("a_", "b_") if "a_sources" in parameters else ("",) if "sources" in parameters else ()


def narrow_to_sessions(
    cursor: Connection,
    sql: str,
    chosen: Mapping[str, Sequence[str]],
    first_day: date | None = None,
    last_day: date | None = None,
) -> None:
    """Restrict a cursor to the chosen sessions, in the tables that `sql` names.

    `chosen` holds the values by column of the table `sessions`. The daily sums cover the days from
    `first_day` to `last_day`. A day that is None is no limit.
    """
    ((catalog,),) = cursor.execute("SELECT current_database()").fetchall()
    whole = {name: f'"{catalog}".main.{name}' for name in _VIEWS}
    conditions = [f"list_contains(?, coalesce({column}, 'unknown'))" for column in chosen]
    cursor.execute(
        "CREATE TEMP TABLE chosen_sessions AS SELECT DISTINCT source, session_id "  # noqa: S608 - our own names
        f"FROM {whole['sessions']} WHERE NOT coalesce(duplicate, false) AND {' AND '.join(conditions)}",
        [list(values) for values in chosen.values()],
    )
    for name, rows in _VIEWS.items():
        cursor.execute(f"CREATE TEMP VIEW {name} AS {rows.format(whole=whole[name])}")
    sums = [table for table in DAILY_TABLES if re.search(rf"\b{table.name}\b", sql)]
    if sums:
        for table in sums:
            cursor.execute(f'CREATE TEMP TABLE {table.name} AS FROM "{catalog}".main.{table.name} LIMIT 0')
        sum_facts(cursor, sums, first_day, last_day)

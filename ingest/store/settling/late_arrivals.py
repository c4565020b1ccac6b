"""Joins the parts of turns that are spread over several files, and judges these turns again.

`late.sql` has already joined late results to their calls.
"""

from __future__ import annotations

from collections import defaultdict

import pyarrow as pa

from ingest.sessions.results.failure_envelopes import FailureRules
from ingest.sessions.row_batches import Row, to_arrow
from ingest.sessions.split_turns import Place, assign_calls, find_parts, join_parts, row_place
from ingest.store.generation_file import GenerationBuilder
from ingest.store.reassessment import reassess_turns
from ingest.store.scripts import run_script

_AT_ONCE = 1_000  # turns processed at a time
# the tables that list turns and sessions found in several files
_MAY_BE_LATE = ("late_turns", "copied_turns", "copied_sessions")

_OF_BATCH = "(SELECT turn_id FROM spread WHERE batch = ?)"
_CHANGED = (
    "steps", "calls", "faults", "retries", "input_tokens", "output_tokens", "model_latency_ms",
    "resent", "counted_steps", "counted_input", "counted_cached", "counted_cache_write", "counted_output",
    "provider", "model", "ended_at", "answer_text", "latency_ms", "stop_reason", "verdict_reason",
    "compensations", "cost", "recorded_status", "recorded_ok",
    "derived_ok", "derived_reason", "results_expected", "duplicate",
)  # fmt: skip
_KEEP = """
    INSERT INTO turn_parts BY NAME
    SELECT turns.* FROM turns JOIN incoming i USING (turn_id, file_id, line, byte_offset) WHERE i.is_part"""
_UPDATE = f"""
    UPDATE turns SET {", ".join(f"{name} = i.{name}" for name in _CHANGED)} FROM incoming i
    WHERE (turns.turn_id, turns.file_id, turns.line, turns.byte_offset)
        = (i.turn_id, i.file_id, i.line, i.byte_offset)"""  # noqa: S608 - our own names
_NOTE = "INSERT INTO late_turns SELECT turn_id FROM incoming EXCEPT FROM late_turns"


def conclude_late_turns(building: GenerationBuilder, failures: FailureRules) -> None:
    """Join turns that are spread over several files, and judge changed turns again.

    Call this after `settle`.
    """
    if not building.has_rows(*_MAY_BE_LATE):
        return
    with building.open_transaction("spread turns") as con:
        run_script(con, "spread_turns.sql", [_AT_ONCE])
    for row in building.fetch_rows("SELECT DISTINCT batch FROM spread ORDER BY batch"):
        _join_turns(building, row["batch"])
    with building.open_transaction("late turns") as con:
        run_script(con, "superseded_turns.sql")
        con.execute("CREATE TEMP TABLE wanted AS SELECT DISTINCT turn_id FROM late_turns")
    reassess_turns(building, failures)


def _join_turns(building: GenerationBuilder, batch: int) -> None:
    turns = building.fetch_rows(f"FROM turns WHERE turn_id IN {_OF_BATCH}", [batch])
    calls = building.fetch_rows(
        f"SELECT turn_id, call_id, file_id, line, byte_offset FROM tool_calls WHERE turn_id IN {_OF_BATCH}",  # noqa: S608
        [batch],
    )
    calls_of: dict[str, list[Row]] = defaultdict(list)
    for call in calls:
        calls_of[call["turn_id"]].append(call)
    rows_by_turn: dict[str, list[Row]] = defaultdict(list)
    for turn in turns:
        rows_by_turn[turn["turn_id"]].append(turn)
    changed = [row for turn_id, rows in rows_by_turn.items() for row in _join_rows(rows, calls_of[turn_id])]
    if not changed:
        return
    table, _ = to_arrow("turns", changed, building.schemas["turns"])
    is_part = pa.array([row["is_part"] for row in changed], pa.bool_())
    with building.open_transaction("turn parts") as con:
        con.register("incoming", table.append_column("is_part", is_part))
        for statement in (_KEEP, _UPDATE, _NOTE):
            con.execute(statement)
        con.unregister("incoming")


def _join_rows(rows: list[Row], calls: list[Row]) -> list[Row]:
    """Return all rows of a split turn. The first row combines the values of all parts."""
    ids: dict[Place, set[str]] = {
        row_place(row): {call["call_id"] for call in turn_calls}
        for row, turn_calls in assign_calls(rows, calls)
    }
    parts = find_parts(rows, ids)
    if len(parts) < 2:
        return []
    places = {row_place(part) for part in parts}
    others = [
        row | {"duplicate": True, "is_part": row_place(row) in places} for row in rows if row is not parts[0]
    ]
    return [join_parts(parts) | {"duplicate": False, "is_part": True}, *others]

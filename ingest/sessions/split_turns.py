"""Joins the rows of a turn that is spread over several files.

If a session continues in the next file, the first file has the beginning of the turn and the next file has
the end. Copies of a turn have the same tool calls, but parts of a turn have no tool call in common.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ingest.sessions.row_batches import Row
from ingest.sessions.turns import ConclusionReason

Place = tuple[int, int, int]

_ADDED = (
    "calls", "faults", "retries", "input_tokens", "output_tokens", "model_latency_ms",
    "resent", "counted_steps", "counted_input", "counted_cached", "counted_cache_write", "counted_output",
)  # fmt: skip
_LATEST = (
    "provider", "model", "ended_at", "answer_text", "latency_ms",
    "stop_reason", "verdict_reason", "compensations", "cost",
)  # fmt: skip
_OF_THE_END = ("recorded_status", "recorded_ok", "derived_ok", "derived_reason")


def row_place(row: Row) -> Place:
    """Return the position of a row in the logs: file id, line, byte offset."""
    return row["file_id"], row["line"] or 0, row["byte_offset"] or 0


def assign_calls(turns: Sequence[Row], calls: Sequence[Row]) -> list[tuple[Row, list[Row]]]:
    """Return the rows of one turn in file order. Each row comes with the calls that belong to it.

    If a file contains the turn twice, a call belongs to the last row that begins before the call.
    """
    ordered = sorted(turns, key=row_place)
    places = [row_place(row) for row in ordered]
    assigned: list[list[Row]] = [[] for _ in ordered]
    for call in calls if ordered else ():
        assigned[max(bisect_right(places, row_place(call)) - 1, 0)].append(call)
    return list(zip(ordered, assigned, strict=True))


def sort_parts(rows: Sequence[Row]) -> list[Row]:
    """Return the parts of a turn in order.

    Parts with the beginning of the turn come first. All parts are then ordered by step number and time.
    """
    return sorted(
        rows, key=lambda row: (not row["begun"], *_sort_key(row, "first_step", "ts"), row_place(row))
    )


def _sort_key(row: Row, *names: str) -> tuple[Any, ...]:
    return tuple(part for name in names for part in (row[name] is None, row[name] or 0))


def find_parts(rows: Sequence[Row], calls: Mapping[Place, Collection[str]]) -> list[Row]:
    """Return the rows of `turns` that are parts of one turn, in order.

    If the turn is not split, the list has fewer than two rows. `calls` maps the position of a row
    (`row_place`) to the ids of the row's calls.
    """
    begun = [row for row in rows if row["begun"]]
    if any(_has_verdict(row) for row in begun):
        return []
    fullest = sorted(begun, key=lambda row: (-(row["steps"] or 0), -(row["calls"] or 0), row_place(row)))
    ordered = [*fullest[:1], *sort_parts([row for row in rows if not row["begun"]])]
    parts, whole = ordered[:1], ordered[0]
    whole_ids = set(calls.get(row_place(whole), ()))
    for row in ordered[1:]:
        more = set(calls.get(row_place(row), ()))
        if not _has_verdict(whole) and not (whole_ids & more) and _can_follow(whole, whole_ids, row, more):
            parts.append(row)
            whole_ids |= more
            whole = join_parts(parts)
    return parts


def join_parts(parts: Sequence[Row]) -> Row:
    """Return a copy of the first part that combines the values of all parts."""
    whole = dict(parts[0])
    for part in parts[1:]:
        numbered = part["first_step"] is not None
        steps = [whole["steps"] or 0, part["steps"] or 0]
        whole["steps"] = max(steps) if numbered else sum(steps)
        for name in _ADDED:
            values = [row[name] for row in (whole, part) if row[name] is not None]
            whole[name] = sum(values) if values else None
        for name in _LATEST:
            whole[name] = part[name] if part[name] is not None else whole[name]
        whole.update({name: part[name] for name in _OF_THE_END})
        whole["results_expected"] = whole["results_expected"] or part["results_expected"]
    return whole


def _has_ended(row: Row) -> bool:
    return bool(row["derived_reason"] != ConclusionReason.NOT_ENDED)


def _has_verdict(row: Row) -> bool:
    """Return True when the log records whether the turn succeeded."""
    return row["recorded_status"] is not None or row["recorded_ok"] is not None


def _can_follow(whole: Row, whole_ids: Collection[str], row: Row, more: Collection[str]) -> bool:
    """Return True when `row` can continue `whole`.

    `row` is a part without the beginning of the turn. `whole` is the parts joined so far.
    """
    if not row["steps"] and not more:
        return _has_ended(row)
    if _has_ended(whole):
        return False
    if row["first_step"] is not None:
        return bool(row["first_step"] >= (whole["steps"] or 0) - 1)
    both_dated = whole["ts"] is not None and row["ts"] is not None
    return bool(whole_ids and more and both_dated and row["ts"] >= whole["ts"])

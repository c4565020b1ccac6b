"""The stored state of a large log in, its rows moved over to the reading that goes on from it."""

from __future__ import annotations

from collections import Counter

import orjson

from ingest.continuing import Unfinished, maker
from ingest.store import Building

_STATE = (
    "SELECT byte_offset, line, prefix, open_turns, state FROM unfinished WHERE file_id = ? AND made_by = ?"
)
_KEEP = "INSERT INTO unfinished VALUES (?, ?, ?, ?, ?, ?, ?)"

# All that the log told before the offset stays, under the new id; what its open turns told is told again.
_REOPENED = """
    CREATE TEMP TABLE reopened AS
    SELECT unnest(
        from_json(?, '[{"session_id": "VARCHAR", "turn": "INTEGER", "line": "BIGINT"}]'), recursive := true
    )"""
# A last line without its end may have been read, too: it is read again, and what it told goes.
_TAKEN_BACK = """
    (t.byte_offset >= $offset OR EXISTS (
        FROM reopened r WHERE r.session_id = t.session_id AND r.turn = t.turn AND t.line >= r.line))"""
_MOVE = {
    "diagnostics": f"""
        UPDATE diagnostics SET file_id = $new WHERE file_id = $old AND call_id NOT IN (
            SELECT call_id FROM tool_calls t WHERE file_id = $old AND {_TAKEN_BACK})""",  # noqa: S608
    "tool_calls": f"UPDATE tool_calls t SET file_id = $new WHERE file_id = $old AND NOT {_TAKEN_BACK}",  # noqa: S608
    "turns": f"UPDATE turns t SET file_id = $new WHERE file_id = $old AND NOT {_TAKEN_BACK}",  # noqa: S608
    **{
        table: f"UPDATE {table} SET file_id = $new WHERE file_id = $old AND byte_offset < $offset"  # noqa: S608
        for table in ("probes", "rejects", "late_results")
    },
}
# What a translator told only at the log's end it tells again, of the same place: one of the two is enough.
_TOLD_TWICE = {
    table: f"""
        DELETE FROM {table} WHERE file_id = $new AND byte_offset < $offset
            AND (byte_offset, coalesce({what}, '')) IN (
                SELECT (byte_offset, coalesce({what}, '')) FROM {table} WHERE file_id = $old)"""  # noqa: S608
    for table, what in (("probes", "error"), ("rejects", "reason"), ("late_results", "tool_call_id"))
}
_FOLLOW = (
    "UPDATE turn_parts SET file_id = $new WHERE file_id = $old",
    "UPDATE tool_calls SET result_file_id = $new WHERE result_file_id = $old",
)


def state_of(building: Building, file_id: int) -> Unfinished | None:
    """What it takes to read on in a file; None when there is nothing, or another version made it."""
    for row in building.ask(_STATE, [file_id, maker()]):
        return Unfinished(
            row["byte_offset"],
            row["line"],
            row["prefix"],
            tuple(map(tuple, orjson.loads(row["open_turns"]))),
            row["state"],
        )
    return None


def keep_state(building: Building, file_id: int, state: Unfinished) -> None:
    """Keep what it takes to read on in a file."""
    turns = orjson.dumps(state.open_turns).decode()
    with building.writing("state") as con:
        con.execute(_KEEP, [file_id, state.offset, state.line, state.prefix, maker(), turns, state.state])


def take_over(building: Building, old: int, new: int, state: Unfinished) -> Counter[str]:
    """Move the rows of the log's first part from file id `old` to `new`; returns how many there are by table.

    What is left under `old` is what the reading on has told anew.
    """
    opened = [dict(zip(("session_id", "turn", "line"), turn, strict=True)) for turn in state.open_turns]
    ids = {"old": old, "new": new}
    moved: Counter[str] = Counter()
    with building.writing("take over") as con:
        con.execute(_REOPENED, [orjson.dumps(opened).decode()])
        for table, statement in _TOLD_TWICE.items():
            row = con.execute(statement, ids | {"offset": state.offset}).fetchone()
            moved[table] -= int(row[0]) if row else 0
        for table, statement in _MOVE.items():
            given = ids | ({"offset": state.offset} if "$offset" in statement else {})
            row = con.execute(statement, given).fetchone()
            moved[table] += int(row[0]) if row else 0
        for statement in _FOLLOW:
            con.execute(statement, ids)
        con.execute("DROP TABLE reopened")
    return moved

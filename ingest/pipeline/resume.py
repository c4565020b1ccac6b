"""Stores what a later load needs to continue: checkpoints of large logs, sessions of earlier content.

A log that has grown gets a new file id. The rows from the log's first part also get the new id.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import orjson

from ingest.pipeline.reading.checkpoint import BY_PLACE, Checkpoint, state_version
from ingest.sessions.past_sessions import PastSession, PastSessions, PastTurn
from ingest.sessions.row_batches import Row
from ingest.store.generation_file import GenerationBuilder
from ingest.store.scripts import read_script
from ingest.store.settling.rollup import keep_facts

_Definition = tuple[str, str, str]  # name, description, definition as JSON
_PAST = 200_000  # largest number of turns; the sessions with the latest events are kept

_STATE = (
    "SELECT byte_offset, line, prefix, open_turns, state FROM unfinished WHERE file_id = ? AND made_by = ?"
)
_KEEP = "INSERT INTO unfinished VALUES (?, ?, ?, ?, ?, ?, ?)"

# Rows from before the offset get the new file id. Exceptions are rows that the resumed reading writes again.
# These are rows of turns that were open, and rows from an incomplete last line.
_REOPENED = """
    CREATE TEMP TABLE reopened AS
    SELECT unnest(from_json(?, '[{
        "session_id": "VARCHAR", "turn": "INTEGER", "line": "BIGINT",
        "table_name": "VARCHAR", "place": "BIGINT"
    }]'), recursive := true)"""
_TAKEN_BACK = """
    (t.byte_offset >= $offset
    OR EXISTS (FROM reopened r WHERE r.session_id = t.session_id AND r.turn = t.turn AND t.line >= r.line))"""
# A result without its call is also a reject. Both rows come from one row of `late_results`.
_TABLE_OF_REJECTS = "if(t.code = 'orphan_result', 'late_results', 'rejects')"
_MOVE = {
    "diagnostics": f"""
        UPDATE diagnostics SET file_id = $new WHERE file_id = $old AND call_id NOT IN (
            SELECT call_id FROM tool_calls t WHERE file_id = $old AND {_TAKEN_BACK})""",  # noqa: S608
    **{
        table: f"UPDATE {table} t SET file_id = $new WHERE file_id = $old AND NOT {_TAKEN_BACK}"  # noqa: S608
        for table in ("tool_calls", "step_texts", "turns")
    },
    **{
        table: f"""
        UPDATE {table} t SET file_id = $new WHERE file_id = $old AND byte_offset < $offset AND NOT EXISTS (
            FROM reopened r WHERE r.place = t.byte_offset AND r.table_name = {recorded_as})"""  # noqa: S608
        for table, recorded_as in (
            {table: f"'{table}'" for table in BY_PLACE} | {"rejects": _TABLE_OF_REJECTS}
        ).items()
    },
}
_ROWS_OF = "SELECT DISTINCT file_id, source, session_id FROM stored_sessions WHERE file_id ="
_KNOWN_REJECTS = """
    INSERT INTO known_rejects SELECT $new, byte_offset, code, NULL FROM rejects WHERE file_id = $old"""
_FOLLOW = (
    "UPDATE turn_parts SET file_id = $new WHERE file_id = $old",
    "UPDATE tool_calls SET result_file_id = $new WHERE result_file_id = $old",
)


def read_checkpoint(building: GenerationBuilder, file_id: int) -> Checkpoint | None:
    """Return the checkpoint at which the reading of a file can resume.

    Return None when there is no checkpoint, or when another `state_version` made it.
    """
    for row in building.fetch_rows(_STATE, [file_id, state_version()]):
        return Checkpoint(
            row["byte_offset"],
            row["line"],
            row["prefix"],
            row["state"],
            *(tuple(map(tuple, pairs)) for pairs in orjson.loads(row["open_turns"])),
        )
    return None


def read_past_sessions(building: GenerationBuilder, file_id: int) -> PastSessions:
    """Return the sessions of a file's present and earlier content. At most `_PAST` turns are returned."""
    rows = building.fetch_rows(read_script("past_turns.sql"), {"file_id": file_id, "most": _PAST})
    offered = _read_past_definitions(building, file_id)
    return {
        session_id: _make_past_session(list(turns), offered.get(session_id, []))
        for session_id, turns in groupby(rows, itemgetter("session_id"))
    }


def _make_past_session(rows: Sequence[Row], definitions: Sequence[_Definition]) -> PastSession:
    turns = (
        PastTurn(row["turn"], row["turn_id"], row["ts"], row["text_hash"], row["steps"], row["ended"])
        for row in rows
    )
    in_force = {name: rows[-1][name] for name in ("prompt_id", "prompt_hash", "provider", "model")}
    return PastSession(tuple(turns), definitions=tuple(definitions), **in_force)


def _read_past_definitions(building: GenerationBuilder, file_id: int) -> Mapping[str, list[_Definition]]:
    by_id: dict[str, _Definition] = {}
    by_session: dict[str, list[_Definition]] = defaultdict(list)
    for row in building.fetch_rows(read_script("past_definitions.sql"), {"file_id": file_id}):
        definition = (row["tool"], row["description"] or "", row["definition"])
        by_session[row["session_id"]].append(by_id.setdefault(row["definition_id"], definition))
    return by_session


def store_checkpoint(building: GenerationBuilder, file_id: int, state: Checkpoint) -> None:
    """Store the checkpoint at which a later load can resume reading a file."""
    open_turns = orjson.dumps([state.turns, state.places]).decode()
    with building.open_transaction("state") as con:
        con.execute(
            _KEEP, [file_id, state.offset, state.line, state.prefix, state_version(), open_turns, state.state]
        )


def move_rows(building: GenerationBuilder, old: int, new: int, state: Checkpoint) -> Counter[str]:
    """Replace the file id `old` by `new` in the rows of a log's first part. Return the number of rows by
    table.

    Rows that the resumed reading has written again keep `old`.
    """
    opened: list[dict[str, Any]] = [
        dict(zip(("session_id", "turn", "line"), turn, strict=True)) for turn in state.turns
    ]
    opened += [{"table_name": table, "place": place} for table, place in state.places]
    ids = {"old": old, "new": new}
    building.pull_files("SELECT ?::INTEGER AS file_id", [old])
    moved: Counter[str] = Counter()
    with building.open_transaction("take over") as con:
        con.execute("INSERT INTO resumed VALUES (?)", [old])
        keep_facts(con, f"{_ROWS_OF} {old:d}")
        con.execute(_KNOWN_REJECTS, ids)
        con.execute(_REOPENED, [orjson.dumps(opened).decode()])
        for table, statement in _MOVE.items():
            row = con.execute(statement, ids | {"offset": state.offset}).fetchone()
            moved[table] = int(row[0]) if row else 0
        for statement in _FOLLOW:
            con.execute(statement, ids)
        con.execute("DROP TABLE reopened")
    return moved

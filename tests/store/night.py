"""Makes small logs, and reads the stores into which they were loaded."""

# ruff: noqa: S608 - the queries are made of our own table names

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

from ingest.store.generations import published_generation
from ingest.store.reader import find_segments
from ingest.store.segments import connect_read_only

ROLLUPS = (
    "daily_calls", "daily_turns", "daily_tokens", "daily_codes", "daily_prompts", "daily_definitions",
    "daily_rates", "daily_chains", "daily_parallel", "daily_errors", "daily_parameters", "daily_traits",
    "task_trials", "signatures",
)  # fmt: skip
TABLES = (
    "ingest_runs", "files", "copies", "rejects", "sources", "codes",
    "sessions", "prompts", "tool_definitions", "tool_lists", "turns", "tool_calls", "diagnostics",
    "step_texts",
    "probes", "late_results",
    "turn_parts", "trial_runs", "trial_looks",
    "prompt_texts", "alerts", "alert_night", *ROLLUPS,
)  # fmt: skip
FACTS = (
    "sessions", "turns", "tool_calls", "diagnostics", "step_texts", "probes", "rejects", "late_results",
)  # fmt: skip
# columns with the times of a load; sessions also have a column `started_at`, with another meaning
CLOCK = ("started_at", "finished_at")


def session(
    name: str,
    *,
    turns: Sequence[int] = (2, 1),
    day: int = 1,
    raw: str = '{"path": "a.py"}',
    ended: bool = True,
) -> str:
    """Return a session history. Each number in `turns` makes a turn with this number of steps, and each step
    has one call.

    `raw` contains the raw arguments of every call. If `ended` is False, the last turn and the session have no
    end.
    """
    return "".join(json.dumps(record) + "\n" for record in _records(name, turns, day, raw, ended))


def _records(name: str, turns: Sequence[int], day: int, raw: str, ended: bool) -> Iterator[dict[str, Any]]:
    shared = {"ts": f"2026-11-{day:02d}T10:00:00.000Z", "sessionId": name}
    yield shared | {"type": "session_start", "content": "You write code.", "meta": {"mode": "once"}}
    for turn, calls in enumerate(turns, start=1):
        base = shared | {"turn": turn}
        yield base | {"type": "turn_start", "content": f"question {turn}"}
        for step in range(calls):
            yield from _call(base | {"step": step}, f"{name}-{turn}-{step}", raw)
        if turn < len(turns) or ended:
            yield base | {"step": calls, "type": "assistant", "content": "Done.", "meta": {}}
            yield base | {"step": calls, "type": "final", "content": "Done.", "meta": {}}
            yield base | {"type": "turn_end", "meta": {"status": "ok", "durationMs": 900}}
    if ended:
        yield shared | {"type": "session_end", "meta": {"durationMs": 1000}}


def _call(base: dict[str, Any], call_id: str, raw: str) -> Iterator[dict[str, Any]]:
    try:
        value, status = json.loads(raw), "success"
    except ValueError:
        value, status = raw, "input_unparsable"
    block = {"id": call_id, "name": "read", "input": value, "raw": raw}
    action = {"tools": ["read"], "action_ids": [call_id], "toolBlocks": [block], "parallel": False}
    result = {"tool": "read", "index": 0, "action_id": call_id, "phase": "result", "status": status}
    yield base | {"type": "assistant", "role": "assistant", "content": f"I read {call_id}.", "meta": {}}
    yield base | {"type": "action", "meta": action | {"phase": "dispatch"}}
    yield base | {"type": "observation", "content": "text of the file", "meta": result}


def claude_code_session(name: str) -> str:
    """Return a Claude Code session: a question, one call with its result, and an answer."""
    call = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a.py"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "text of the file"}
    messages: list[tuple[str, Any, str | None]] = [
        ("user", "What is in it?", None),
        ("assistant", [call], "tool_use"),
        ("user", [result], None),
        ("assistant", [{"type": "text", "text": "Text."}], "end_turn"),
    ]
    shared = {"sessionId": name, "version": "2.1.0", "isSidechain": False}
    records = []
    for number, (role, content, stop) in enumerate(messages):
        message: dict[str, Any] = {"role": role, "content": content}
        if stop:
            message |= {"id": f"m{number}", "model": "m", "stop_reason": stop}
        parent = f"{name}-{number - 1}" if number else None
        own = {"type": role, "uuid": f"{name}-{number}", "parentUuid": parent}
        own |= {"timestamp": f"2026-11-01T10:00:0{number}.000Z"}
        records.append(shared | own | {"message": message})
    return "".join(json.dumps(record) + "\n" for record in records)


def ask(store: Path, query: str) -> list[tuple[Any, ...]]:
    with reading(store) as con:
        return con.sql(query).fetchall()


@contextmanager
def reading(store: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    generation = published_generation(store)
    assert generation is not None, f"nothing is published in {store}"
    if find_segments(generation):
        with connect_read_only(generation, {}) as con:
            yield con
        return
    with opened(generation, "READ_ONLY") as con:
        yield con


@contextmanager
def opened(path: Path, mode: str = "READ_WRITE") -> Iterator[duckdb.DuckDBPyConnection]:
    quoted = str(path).replace("'", "''")
    with _instance().cursor() as con:
        con.execute(f"ATTACH '{quoted}' AS shown ({mode})")
        try:
            con.execute("USE shown")
            yield con
        finally:
            con.execute("USE memory")
            con.execute("DETACH shown")


@cache
def _instance() -> duckdb.DuckDBPyConnection:
    """Return the shared DuckDB instance, because starting an instance takes long."""
    return duckdb.connect()


def count(store: Path, table: str) -> int:
    return int(ask(store, f"SELECT count(*) FROM {table}")[0][0])


def contents(
    store: Path, tables: Sequence[str] = TABLES, without: Sequence[str] = ()
) -> dict[str, list[str]]:
    """Return every row of the database tables as sorted strings. The times of loads and the columns `without`
    are left out.
    """
    with reading(store) as con:
        return contents_by(con, tables, without)


def contents_by(
    con: duckdb.DuckDBPyConnection, tables: Sequence[str] = TABLES, without: Sequence[str] = ()
) -> dict[str, list[str]]:
    """Return the rows of an open store in the form that `contents` returns."""
    clock = {"ingest_runs": CLOCK}
    return {table: _rows(con, table, (*without, *clock.get(table, ()))) for table in tables}


def _rows(con: duckdb.DuckDBPyConnection, table: str, without: Sequence[str]) -> list[str]:
    cursor = con.execute(f"FROM {table}")
    names = [column for column, *_ in cursor.description or ()]
    kept = sorted((name, place) for place, name in enumerate(names) if name not in without)
    return sorted(repr(tuple(row[place] for _, place in kept)) for row in cursor.fetchall())


def rows_by_reference(store: Path) -> dict[str, list[str]]:
    """Return all rows, without ids and file positions that depend on the order in which logs are loaded."""
    return contents(store, FACTS, without=("file_id",))

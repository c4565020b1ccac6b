"""Publishes a store of invented rows. The store has the same tables and daily sums as after a real load."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import orjson

from ingest.store.migrations import SCHEMA_VERSION
from ingest.store.segments import view_stored_facts
from ingest.store.settling.alerts import write_alerts
from ingest.store.settling.rollup import roll_up
from ingest.store.settling.settle import sign_calls_of_days
from tests.analysis.rows import empty_tables, insert

HOSTILE = '<img src=x onerror="alert(1)">**bold** :red[x] $x$ =1+1'

Rows = Iterable[Mapping[str, Any]]


def publish(folder: Path, tables: Mapping[str, Rows], *, number: int = 1) -> Path:
    """Write the tables as store file `number` into `folder`, and make CURRENT name this file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"gen-{number:06d}.duckdb"
    made = _make_generation(orjson.dumps([(table, [*map(dict, rows)]) for table, rows in tables.items()]))
    shutil.copyfile(made, path)
    pointer = folder / "CURRENT.new"
    pointer.write_text(path.name + "\n", encoding="utf-8")
    pointer.replace(folder / "CURRENT")
    return path


@cache
def _made_generations() -> TemporaryDirectory[str]:
    return TemporaryDirectory()


def _make_generation(tables: bytes) -> Path:
    """Return a store file with these tables. The file is cached, because making it takes half a second."""
    path = Path(_made_generations().name) / f"{sha256(tables).hexdigest()}.duckdb"
    if not path.exists():
        begun = path.with_suffix(".begun")
        with empty_tables(str(begun)) as connection:
            connection.execute("SET threads = 1; BEGIN")
            insert(connection, "store_info", [{"schema_version": SCHEMA_VERSION, "parser_version": "1"}])
            for table, rows in orjson.loads(tables):
                insert(connection, table, rows)
            roll_up_all_days(connection)
            write_alerts(connection)
            connection.execute("COMMIT")
        begun.replace(path)
    return path


def roll_up_all_days(connection: duckdb.DuckDBPyConnection) -> None:
    """Compute the daily sums of all days from the rows, as a load does for changed days."""
    view_stored_facts(connection)
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE touched_days AS "
        "SELECT day FROM stored_tool_calls UNION SELECT day FROM stored_turns"
    )
    sign_calls_of_days(connection)
    roll_up(connection)


def a_call(number: int, **fields: Any) -> dict[str, Any]:
    """Return a clean call of `falcon-3`. `fields` replaces columns of the call."""
    raw = '{"path": "src/app.py", "limit": 20}'
    return {
        "call_id": f"c{number}",
        "session_id": "s1",
        "turn_id": "s1:1",
        "turn": 1,
        "step": number,
        "ordinal": 0,
        "ts": f"2026-11-20T10:{number // 60:02d}:{number % 60:02d}",
        "day": "2026-11-20",
        "source": "session_history",
        "model": "falcon-3",
        "prompt_id": "p1",
        "tool": "read_file",
        "strategy": "tool_use",
        "raw_arguments": raw,
        "args_source": "raw",
        "arguments": raw,
        "outcome": "clean",
        "syntax_seen": "full",
        "schema_seen": "full",
        "harness_verdict": "accepted",
        "result_status": "ok",
        "error_flag_source": "explicit",
        "result_text": "42 lines",
        "result_bytes": 8,
        "file_id": 1,
        "line": number,
        "byte_offset": 100 * number,
        "lossy": False,
        "duplicate": False,
    } | fields


def a_turn(number: int, **fields: Any) -> dict[str, Any]:
    return {
        "turn_id": f"s1:{number}",
        "session_id": "s1",
        "turn": number,
        "file_id": 1,
        "ts": "2026-11-20T10:00:00",
        "day": "2026-11-20",
        "source": "session_history",
        "model": "falcon-3",
        "prompt_id": "p1",
        "calls": 1,
        "faults": 0,
        "retries": 0,
        "recorded_ok": True,
        "derived_ok": True,
        "derived_reason": "ended_with_answer",
        "duplicate": False,
    } | fields


BROKEN = '{"path": "a" "limit": 20}'


def small_tables() -> dict[str, Rows]:
    """Return the tables of one load: 40 clean calls, a coerced call, a rejected call, a retry, and a hostile
    call.
    """
    refused = {
        "raw_arguments": BROKEN,
        "arguments": None,
        "outcome": "failed",
        "fault_layer": "syntax",
        "parse_error": "json_parse_error:expected a comma",
        "chain_id": "c41",
        "attempt": 1,
        "chain_outcome": "recovered",
    }
    retry = {"chain_id": "c41", "attempt": 2, "retry_kind": "changed", "chain_outcome": "recovered"}
    hostile = {
        "model": HOSTILE,
        "tool": HOSTILE,
        "prompt_id": None,
        "result_text": HOSTILE,
        "turn_id": "s1:2",
    }
    diagnostic_row = {"file_id": 1, "position": 0, "stage": "repair", "lossy": False, "path": "$"}
    return {
        "tool_calls": [
            *(a_call(number) for number in range(40)),
            a_call(40, outcome="coerced", parse_warning="string_literal_converted_to_integer:limit"),
            a_call(41, **refused),
            a_call(42, **retry),
            a_call(43, raw_arguments='{"note": "=HYPERLINK(1)"}', **hostile),
        ],
        "turns": [
            a_turn(1, retries=1, prompt_hash="a1b2c3"),
            a_turn(2, model=HOSTILE, prompt_id=None, derived_ok=False),
        ],
        "diagnostics": [
            diagnostic_row
            | {
                "call_id": "c41",
                "code": "json_parse_error",
                "severity": "error",
                "span_start": 13,
                "span_end": 20,
            },
            diagnostic_row
            | {
                "call_id": "c40",
                "code": "string_literal_converted_to_integer",
                "severity": "note",
                "path": "$.limit",
            },
        ],
        "codes": [
            {"code": "json_parse_error", "severity": "error", "stage": "repair", "summary": "Not JSON."}
        ],
        "prompts": [{"prompt_id": "p1", "name": "support", "version": "3"}],
        "prompt_texts": [
            {"prompt_id": "p1", "text_hash": "a1b2c3", "text": "Be kind."},
            {"prompt_id": "p1", "text_hash": "d4e5f6", "text": f"Be kind.\n{HOSTILE}"},
        ],
        "daily_prompts": [
            {
                "day": "2026-11-21",
                "source": "session_history",
                "prompt_id": "p1",
                "prompt_hash": "d4e5f6",
                "turns": 1,
                "first_ts": "2026-11-21T10:00:00",
            }
        ],
        "copies": [{"path": "/logs/b.jsonl", "file_id": 1}, {"path": "/logs/c.jsonl", "file_id": 1}],
        "sessions": [
            {"session_id": "s1", "file_id": 1, "source": "session_history", "calls": 44, "duplicate": False},
            {"session_id": "s1", "file_id": 3, "source": "session_history", "calls": 9, "duplicate": True},
        ],
        "sources": [{"source": "session_history", "title": "Session history", "cannot_tell": "Nothing."}],
        "files": [
            {
                "file_id": 1,
                "run_id": 1,
                "path": "a.jsonl",
                "source": "session_history",
                "status": "loaded",
                "privacy": "redacted:1a2b without_results",
                "calls": 44,
            },
            {
                "file_id": 2,
                "run_id": 1,
                "path": HOSTILE,
                "status": "rejected",
                "reason": "no format recognises it",
            },
        ],
        "rejects": [
            {
                "file_id": 1,
                "line": 7,
                "byte_offset": 70,
                "code": "not_json",
                "reason": "cut",
                "snippet": HOSTILE,
            }
        ],
        "ingest_runs": [
            {
                "run_id": 1,
                "started_at": "2026-11-21T02:59:00",
                "finished_at": "2026-11-21T03:00:00",
                "files_loaded": 1,
                "files_rejected": 1,
                "calls": 44,
            }
        ],
    }

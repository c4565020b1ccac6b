"""Opens a published store file without log content, through views in which only listed columns are unchanged.

All queries of pages, the command palette, exports, the SQL page and programs use this connection. A string
column that is not listed here is NULL, so a new column is hidden until a developer lists it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb

from ingest.store.segments import connect_views

ALIAS = "with_texts"
"""The name of the store file's database in such a connection; a person's SQL may not use it."""
# These tables contain no log text, only our own words and names: formats, codes, loads, alerts.
_WHOLE = frozenset(
    {
        "alert_night",
        "alerts",
        "codes",
        "copies",
        "file_members",
        "forgotten",
        "ingest_runs",
        "model_aliases",
        "segments",
        "sources",
        "store_info",
        "trial_looks",
    }
)
# These columns contain ids, names, and words from a fixed list.
_SHOWN = frozenset(
    {
        *("arm", "args_source", "call_id", "capabilities", "chain_id", "chain_outcome", "code", "cut"),
        *("definition", "definition_id", "definition_origin", "derived_reason", "description", "ended"),
        *("error_flag_source", "example", "fault_layer", "harness", "harness_verdict", "harness_version"),
        *("label", "model", "model_name", "model_source", "name", "origin", "outcome", "parent_session_id"),
        *("parser_version", "probe_id", "prompt_hash", "prompt_id", "provider", "rate", "repeat_no"),
        *("result_fault_layer", "result_status", "retry_kind", "retry_of", "run", "sampling", "schema_seen"),
        *("schema_told", "session_id", "severity", "signature_id", "simulated", "source", "stage", "state"),
        *("strategy", "syntax_seen", "syntax_told", "task_origin", "text_hash", "tool", "tool_call_id"),
        *("trait", "trial_run", "turn_id", "version", "worst_severity"),
        # These columns describe MCP servers, lists of tools, and sessions.
        *("branch", "environment", "mcp_server", "project", "sub_agent", "tool_list"),
        # These columns describe files.
        *("archive", "archive_seen", "fingerprint", "foreign_kind", "head", "lacks", "path", "path_facts"),
        *("privacy", "refused_by", "status", "tools_hash"),
        # These columns describe trial plans.
        *("arms", "definitions", "endpoints", "hashes", "prices", "primary_measure", "question", "reference"),
        *("secondary", "task_groups", "task_order", "versions"),
    }
)
# this expression keeps only the code from a text `code:detail`
_CODE = "nullif(regexp_extract({0}, '^[a-z_]+'), '')"
_WORD = "nullif(regexp_extract({0}, '^[\\w.:-]{{1,40}}$'), '')"
_TASK = "if(trial_run IS NULL, left(md5({0}), 16), left({0}, 1000000))"
_NOT_SHOWN = "if({0} IS NULL, NULL, 'not shown')"
_SIGNATURE = f"""
    coalesce(if(fault_layer IN ('syntax', 'schema'), {_CODE}, NULL), 'text not shown')
    || ' (' || left(signature_id, 8) || ')'
"""
# Where a text exists, pages show these placeholders. No branch returns the column itself, because stats() and
# EXPLAIN reveal the minimum and maximum of an expression.
_INSTEAD = {
    "daily_parameters.parameter": "if(code = 'unknown_parameter', '', regexp_extract({0}, '^[A-Za-z_]\\w*'))",
    "diagnostics.path": "if(code = 'unknown_parameter', '$', regexp_extract({0}, '^\\$(\\.[A-Za-z_]\\w*)?'))",
    "files.reason": _NOT_SHOWN,
    "probes.error": _NOT_SHOWN,
    "rejects.reason": "'not shown'",
    "sessions.task": _TASK,
    "signatures.text": _SIGNATURE,
    "task_trials.task": _TASK,
    "tool_calls.parse_error": _CODE,
    "tool_calls.parse_warning": _CODE,
    "turns.recorded_status": _WORD,
    "turns.stop_reason": _WORD,
    "turn_parts.recorded_status": _WORD,
    "turn_parts.stop_reason": _WORD,
}  # fmt: skip


def connect_without_texts(
    path: Path, config: dict[str, str | bool | int | float | list[str]]
) -> duckdb.DuckDBPyConnection:
    """Return a connection to the store file at `path` without log content. Raises duckdb.Error."""
    return connect_views(path, config, ALIAS, select=_select_columns)


def _select_columns(table: str, columns: Sequence[tuple[str, str]]) -> str:
    return ", ".join(_select_column(table, column, kind) for column, kind in columns)


def _select_column(table: str, column: str, kind: str) -> str:
    quoted = f'"{column}"'
    instead = _INSTEAD.get(f"{table}.{column}")
    if instead is not None:
        return f"{instead.format(quoted)} AS {quoted}"
    is_shown = kind != "BLOB" and ("VARCHAR" not in kind or column in _SHOWN)
    if is_shown or table in _WHOLE:
        return quoted
    return f"NULL::{kind} AS {quoted}"

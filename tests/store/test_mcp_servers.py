"""Tests the MCP server of a call."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.maintenance.reparse import reparse
from ingest.pipeline.load import load
from ingest.sessions.table_rows import find_mcp_server
from ingest.store.migrations import SCHEMA_VERSION
from tests.store.night import ask, opened, session
from tests.store.older import make_older
from tests.store.sealed_months import seal_everything

SERVERS = "SELECT tool, mcp_server, count(*) FROM tool_calls GROUP BY ALL ORDER BY ALL"
SUMMED = "SELECT tool, mcp_server, sum(calls)::BIGINT FROM daily_calls GROUP BY ALL ORDER BY ALL"
NAMED = [("mcp__files__read", "files", 3), ("read", None, 3)]


def night(logs: Path) -> None:
    (logs / "a.jsonl").write_text(
        session("a", raw="]") + session("b", raw="]").replace('"read"', '"mcp__files__read"')
    )


@pytest.mark.parametrize(
    ("tool", "server"),
    [
        ("mcp__linear-server__create_issue", "linear-server"),
        ("mcp__plugin_docs_context7__query-docs", "plugin_docs_context7"),
        ("mcp__codex_apps__github__create_pull_request", "codex_apps"),
        ("mcp__files__", None),
        ("mcp__files", None),
        ("my_mcp__files__read", None),
        ("read", None),
        (None, None),
    ],
)
def test_the_server_is_the_first_part_of_the_name(tool: str | None, server: str | None) -> None:
    assert find_mcp_server(tool) == server


def test_calls_and_every_sum_of_tools_know_the_server(logs: Path, store: Path) -> None:
    night(logs)
    load([logs], store)
    assert ask(store, SERVERS) == NAMED
    assert ask(store, SUMMED) == NAMED
    for table in ("codes", "chains", "errors", "parameters", "rates", "traits"):
        query = f"SELECT DISTINCT mcp_server FROM daily_{table} WHERE tool LIKE 'mcp%'"  # noqa: S608 - our own names
        assert ask(store, query) == [("files",)], table


@pytest.mark.thorough
def test_reparse_keeps_the_server(logs: Path, store: Path) -> None:
    night(logs)
    load([logs], store)
    reparse(store, everything=True)
    assert ask(store, SERVERS) == NAMED


@pytest.mark.thorough
@pytest.mark.parametrize("are_sealed", [False, True])
def test_a_store_of_the_version_before_gets_the_servers(
    logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch, are_sealed: bool
) -> None:
    night(logs)
    if are_sealed:
        seal_everything(monkeypatch)
    load([logs], store)
    make_older(store, 10)
    for segment in store.glob("seg-*.duckdb"):
        _forget_servers(segment)
    load([logs], store)
    assert ask(store, "SELECT schema_version FROM store_info") == [(SCHEMA_VERSION,)]
    assert ask(store, SERVERS) == NAMED
    assert ask(store, SUMMED) == NAMED


def _forget_servers(segment: Path) -> None:
    """Change the schema of a segment to that of version 10."""
    with opened(segment) as con:
        query = "SELECT table_name FROM duckdb_columns() WHERE column_name = 'mcp_server'"
        for (table,) in con.execute(query).fetchall():
            columns = "* EXCLUDE (mcp_server)"
            con.execute(f"CREATE TABLE older AS SELECT {columns} FROM {table}")  # noqa: S608 - our own names
            con.execute(f"DROP TABLE {table}")
            con.execute(f"ALTER TABLE older RENAME TO {table}")

"""Tests a store that is served without content. Metrics, SQL, pages and files must contain no log content."""

# ruff: noqa: S608 - the SQL is our own

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from callgauge.analysis.metrics import answer_metric, metrics
from callgauge.analysis.metrics.masked_store import ALIAS
from callgauge.analysis.metrics.masked_store import _select_column as select_column
from callgauge.analysis.metrics.published_store import open_generation
from callgauge.analysis.sandbox.child import open_locked_down
from callgauge.analysis.sandbox.query_runs import SqlError, run
from callgauge.analysis.sandbox.statement import StatementRefusedError, allow_statement
from callgauge.dashboard import viewer
from callgauge.dashboard.pages import PAGES
from callgauge.serving.identity import LOCAL_USER, NETWORK_USER, User
from callgauge.serving.settings import TEXTS_VARIABLE
from tests.analysis.store_fixture import publish, small_tables
from tests.dashboard.conftest import opened, page_text

PLANTED = "planted words of a person"
PAGE = {entry.name: entry.file for entry in PAGES}
# Every text column of a store must be in this list, or must be declared as visible. This includes new
# columns.
HIDDEN = {
    "diagnostics": {"found", "became", "detail"},
    "late_results": {"harness_message", "result_text"},
    "prompt_texts": {"text"},
    "prompts": {"text"},
    "rejects": {"snippet"},
    "sessions": {"user_name"},
    "step_texts": {"text"},
    "task_trials": {"task_text"},
    "tool_calls": {
        *("tool_sent", "raw_arguments", "arguments", "own_arguments", "rejected", "harness_message"),
        *("refused_by_harness", "result_text"),
    },
    "turn_parts": {"user_text", "answer_text", "verdict_reason"},
    "turns": {"user_text", "answer_text", "verdict_reason"},
    "unfinished": {"prefix", "made_by", "open_turns", "state"},
}


@pytest.fixture(scope="module")
def generation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store file that has a marker word in every text column of the database."""
    path = publish(tmp_path_factory.mktemp("masked") / "store", small_tables())
    with duckdb.connect(str(path)) as connection:
        for table, column in connection.execute(
            "SELECT table_name, column_name FROM duckdb_columns() "
            "WHERE NOT internal AND data_type = 'VARCHAR' AND column_name <> 'arguments' ORDER BY ALL"
        ).fetchall():
            if column in HIDDEN.get(table, ()) or f"{table}.{column}" in (
                *("files.reason", "probes.error", "rejects.reason", "sessions.task", "signatures.text"),
                *("task_trials.task", "tool_calls.parse_error", "tool_calls.parse_warning"),
                *("turns.recorded_status", "turns.stop_reason"),
            ):
                before = "coded:" if column.startswith("parse_") else ""
                connection.execute(f'UPDATE "{table}" SET "{column}" = ?', [f"{before}{PLANTED}"])
    return path


@pytest.fixture
def without_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TEXTS_VARIABLE, "no")


@pytest.fixture(scope="module")
def connection(generation: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    made = open_locked_down(generation, threads=1, memory="256MB", texts=False)
    yield made
    made.close()


def test_every_column_of_text_is_decided_on(connection: duckdb.DuckDBPyConnection) -> None:
    texts_of_table: dict[str, set[str]] = {}
    for table, column, kind in connection.execute(
        "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE database_name = ?", [ALIAS]
    ).fetchall():
        if select_column(table, column, kind).startswith("NULL::"):
            texts_of_table.setdefault(table, set()).add(column)
    assert texts_of_table == HIDDEN


@pytest.mark.usefixtures("without_texts")
def test_no_metric_answers_with_a_text(generation: Path) -> None:
    with open_generation(generation, texts=False) as masked:
        answers = {name: answer_metric(masked, name, {}).to_csv() for name in metrics()}
        for name in ("calls", "session_find", "turn_texts"):
            answers[f"{name}, searched"] = answer_metric(
                masked, name, {"text": PLANTED, "q": PLANTED, "search": PLANTED}
            ).to_csv()
    assert not [name for name, answer in answers.items() if PLANTED in answer]
    assert "read_file" in answers["signatures"]


TRIES = (
    f"FROM {ALIAS}.tool_calls",
    f"FROM {ALIAS}.main.tool_calls",
    f'SELECT raw_arguments FROM "{ALIAS.upper()}"."main"."tool_calls"',
    f"SUMMARIZE {ALIAS}.tool_calls",
    f"DESCRIBE {ALIAS}.tool_calls",
    f"FROM pragma_storage_info('{ALIAS}.tool_calls')",
    f"FROM query_table('{ALIAS}.tool_calls')",
    f"FROM query('FROM {ALIAS}.tool_calls')",
    f"WITH a AS (FROM {ALIAS}.turns) FROM a",
    f"SELECT (SELECT max(raw_arguments) FROM {ALIAS}.tool_calls)",
    f"EXPLAIN ANALYZE SELECT * FROM {ALIAS}.tool_calls",
    f"PIVOT {ALIAS}.tool_calls ON outcome IN ('clean') USING max(raw_arguments)",
    f"USE {ALIAS}",
    f"SET search_path = '{ALIAS}'",
)


@pytest.mark.parametrize("sql", TRIES)
def test_sql_cannot_name_the_tables_behind_the_views(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    with pytest.raises(StatementRefusedError):
        allow_statement(connection, sql)


@pytest.mark.thorough
def test_statistics_tell_no_text(connection: duckdb.DuckDBPyConnection) -> None:
    """DuckDB's statistics of a column would reveal values. Some columns are hidden only in some rows."""
    query = "SELECT table_name, column_name FROM duckdb_columns() WHERE schema_name = 'main' AND NOT internal"
    for table, column in connection.execute(f"{query} AND database_name <> '{ALIAS}'").fetchall():
        sql = f'SELECT DISTINCT stats("{column}") FROM "{table}"'
        rows = connection.execute(allow_statement(connection, sql)).fetchall()
        assert PLANTED[:8] not in str(rows), (table, column)


def test_sql_answers_without_texts(connection: duckdb.DuckDBPyConnection) -> None:
    for sql in (
        "FROM tool_calls",
        "FROM main.turns",
        "SUMMARIZE tool_calls",
        "SELECT stats(raw_arguments), stats(parse_error) FROM tool_calls",
        "FROM duckdb_views()",
        f"FROM tool_calls WHERE contains(parse_error, '{PLANTED[:5]}')",
    ):
        assert PLANTED not in str(connection.sql(allow_statement(connection, sql)).fetchall())


@pytest.mark.thorough
@pytest.mark.usefixtures("without_texts")
def test_the_process_of_a_query_opens_no_texts(generation: Path) -> None:
    with pytest.raises(SqlError, match="alone"):
        run(generation, TRIES[0], texts=False)
    answer = run(
        generation,
        "SELECT raw_arguments, parse_error FROM tool_calls WHERE parse_error = 'coded'",
        texts=False,
    )
    assert {tuple(row.values()) for row in answer.table.to_pylist()} == {(None, "coded")}


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("may", [LOCAL_USER, User("bob", "viewer", may_write=True), NETWORK_USER])
def test_files_with_texts_and_sql_are_an_admins(
    small: Path, monkeypatch: pytest.MonkeyPatch, may: User
) -> None:
    monkeypatch.setattr(viewer, "read_headers", lambda _: may)
    for page, has_texts in (("models", False), ("calls", True), ("errors", True)):
        app = opened(PAGE[page])
        refused = "Files with texts are for admins." in page_text(app)
        assert refused is (has_texts and not may.is_admin), page
        assert bool(app.get("download_button")) is not refused, page
    sql = page_text(opened(PAGE["sql"]))
    assert ("SQL is for admins" in sql) is not may.is_admin


@pytest.mark.usefixtures("without_texts", "small")
def test_without_texts_nobody_takes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "so it makes no file with content" in page_text(opened(PAGE["calls"]))
    replay = opened(PAGE["playground"], tab="stored")
    assert "parsing calls again needs their raw text" in page_text(replay)
    assert "replay_run" not in {button.key for button in replay.button}
    assert "Nothing to parse yet" in page_text(opened(PAGE["playground"]))
    assert "Content is hidden" in page_text(opened(PAGE["errors"]))
    assert "Content is hidden" not in page_text(opened(PAGE["models"]))


@pytest.mark.usefixtures("without_texts", "small")
def test_a_call_says_that_its_texts_are_not_shown_and_nothing_of_what_they_hold() -> None:
    words = page_text(opened(PAGE["calls"], call="c41"))
    assert words.count("served without content") >= 2
    for untrue in ("The log kept no text", "the text is not an object", "they are the same"):
        assert untrue not in words

"""Tests that a user's SQL query reads only tables of the store. DuckDB's settings and our own check both stop
every attack.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import TypeVar

import duckdb
import pandas as pd
import pytest

from callgauge.analysis.sandbox import query_runs
from callgauge.analysis.sandbox.child import _ORPHANED as ORPHANED
from callgauge.analysis.sandbox.child import _describe_error, open_locked_down
from callgauge.analysis.sandbox.query_runs import QueryLimits, SandboxBusyError, SqlError, run
from callgauge.analysis.sandbox.statement import StatementRefusedError, allow_statement
from tests.analysis.store_fixture import publish, small_tables

T = TypeVar("T")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def generation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish(tmp_path_factory.mktemp("sandbox") / "store", small_tables())


@pytest.fixture(scope="module")
def connection(generation: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    made = open_locked_down(generation, threads=1, memory="256MB")
    yield made
    made.close()


# Statements that read or write outside the store, or that change it. DuckDB's own restrictions reject each of
# them.
LEAVES_THE_STORE = (
    "FROM read_csv('/etc/passwd')",
    "FROM read_csv_auto('/etc/passwd')",
    "FROM sniff_csv('/etc/passwd')",
    "FROM read_text('/etc/passwd')",
    "FROM read_blob('/etc/passwd')",
    "FROM read_json('/etc/passwd')",
    "FROM read_ndjson_objects('/etc/passwd')",
    "FROM read_parquet('/etc/passwd')",
    "FROM parquet_metadata('/etc/passwd')",
    "FROM parquet_schema('/etc/passwd')",
    "FROM parquet_scan('https://example.com/x.parquet')",
    "FROM read_csv('https://example.com/x.csv')",
    "FROM read_csv('s3://bucket/x.csv')",
    "FROM read_duckdb('/etc/passwd')",
    "FROM glob('/*')",
    "FROM '/etc/passwd'",
    "FROM 'x.csv'",
    "FROM '*.parquet'",
    'FROM "https://example.com/x.parquet"',
    "SELECT * FROM codes, (SELECT content FROM read_text('/etc/passwd'))",
    "WITH a AS (FROM read_text('/etc/passwd')) FROM a",
    "SELECT (SELECT content FROM read_text('/etc/passwd'))",
    "DESCRIBE SELECT * FROM read_csv('/etc/passwd')",
    "SUMMARIZE FROM 'x.csv'",
    "EXPLAIN ANALYZE FROM read_text('/etc/passwd')",
    "EXPLAIN FROM read_text('/etc/passwd')",
    "COPY codes TO '/tmp/x.csv'",
    "COPY (SELECT 1) TO '/tmp/x.parquet' (FORMAT parquet)",
    "COPY codes FROM '/etc/passwd'",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '/tmp/x.csv'",
    "EXPORT DATABASE '/tmp/x'",
    "IMPORT DATABASE '/tmp/x'",
    "ATTACH '/tmp/x.duckdb'",
    "ATTACH 'https://example.com/x.duckdb'",
    "INSTALL httpfs",
    "FORCE INSTALL httpfs",
    "INSTALL httpfs FROM 'https://example.com'",
    "LOAD httpfs",
    "LOAD '/tmp/x.duckdb_extension'",
    "SET memory_limit = '100GB'",
    "SET GLOBAL threads = 100",
    "SET enable_external_access = true",
    "RESET memory_limit",
    "RESET lock_configuration",
    "PRAGMA memory_limit = '100GB'",
    "PRAGMA enable_profiling",
    "PRAGMA enable_logging",
    "CALL enable_logging()",
    "FROM enable_logging(storage := 'file', storage_path := '/tmp')",
    "FROM enable_profiling(format := 'json', save_location := '/tmp/x')",
    "SELECT getenv('HOME')",
    "INSERT INTO codes VALUES (1, 1, 1, 1, 1, 1)",
    "UPDATE codes SET code = 'x'",
    "DELETE FROM codes",
    "TRUNCATE codes",
    "MERGE INTO codes USING codes AS o ON true WHEN MATCHED THEN DELETE",
    "WITH x AS (INSERT INTO codes (code) VALUES ('x') RETURNING code) FROM x",
    "WITH x AS (DELETE FROM codes RETURNING code) FROM x",
    "EXPLAIN ANALYZE DELETE FROM codes",
    "DROP TABLE codes",
    "ALTER TABLE codes ADD COLUMN x INT",
    "CREATE TABLE x (a INT)",
    "CREATE VIEW x AS SELECT 1",
    "CREATE MACRO x() AS 1",
    "CREATE SEQUENCE x",
    "CREATE TYPE x AS ENUM ('a')",
    "CREATE SECRET (TYPE s3)",
    "CREATE PERSISTENT SECRET x (TYPE s3)",
    "FROM query('COPY (SELECT 1) TO ''/tmp/x''')",
    "FROM query('FROM read_text(''/etc/passwd'')')",
    "FROM json_execute_serialized_sql(json_serialize_sql('FROM read_text(''/etc/passwd'')'))",
    "FROM python_map_function((FROM codes))",
    "FROM pandas_scan(1)",
    "FROM arrow_scan(1, 2, 3)",
    "FROM a_frame",
    "FROM sys",
)
# DuckDB's restrictions do not stop most of these statements, so our own check of the statement must reject
# them.
REFUSED_BY_KIND = (
    "FROM query('SELECT 1')",
    "FROM query_table('codes')",
    "FROM duckdb_settings()",
    "FROM DUCKDB_SETTINGS()",
    "FROM duckdb_secrets()",
    "FROM duckdb_databases()",
    "FROM duckdb_databases",
    'FROM main."DuckDB_Databases"',
    "FROM system.main.duckdb_databases",
    "FROM pragma_database_list",
    "FROM pg_settings",
    "FROM pg_catalog.pg_settings",
    "FROM duckdb_extensions()",
    "FROM duckdb_logs",
    "FROM duckdb_temporary_files()",
    "FROM duckdb_variables()",
    "FROM pragma_user_agent()",
    "FROM pragma_platform()",
    "FROM truncate_duckdb_logs()",
    "FROM checkpoint()",
    "FROM force_checkpoint()",
    "SELECT current_setting('allowed_paths')",
    "SELECT CURRENT_SETTING('allowed_paths')",
    "SELECT write_log('x')",
    "SHOW allowed_paths",
    "FROM (SHOW allowed_paths)",
    "CREATE TEMP TABLE x AS SELECT 1",
    "CREATE TEMP MACRO x() AS 1",
    "PREPARE x AS SELECT 1",
    "EXECUTE x",
    "DEALLOCATE x",
    "PRAGMA database_list",
    "PRAGMA version",
    "CALL pragma_version()",
    "USE main",
    "SET VARIABLE x = 1",
    "CHECKPOINT",
    "VACUUM",
    "ANALYZE",
    "DETACH temp",
    "BEGIN",
    "COMMENT ON TABLE codes IS 'x'",
    "SELECT 1; SELECT 2",
    "SELECT 1; DROP TABLE codes",
    "SELECT $a",
    "SELECT ?",
    "PIVOT codes ON stage USING count(*)",
    "EXPLAIN (FORMAT json) SELECT 1",
    "EXPLAIN EXPLAIN SELECT 1",
    "EXPLAIN SELECT 1; SELECT 2",
    "EXPLAIN",
    "EXPLAIN ANALYZE",
    "",
    "-- nothing",
    "help me",
)
FINE = (
    "SELECT 1 AS a, 2 AS a",
    "FROM codes;",
    "/* a note */ SELECT count(*) FROM tool_calls -- and another",
    "VALUES (1), (2)",
    "TABLE codes",
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 5) FROM t",
    "DESCRIBE codes",
    "SUMMARIZE tool_calls",
    "SHOW TABLES",
    "SHOW ALL TABLES",
    "EXPLAIN SELECT 1",
    "explain analyze\nSELECT count(*) FROM codes",
    "PIVOT codes ON stage IN ('repair') USING count(*)",
    "SELECT list_transform([1, 2], lambda x: x + 1), unnest(range(3)), json_extract('{}', '$.a')",
    "FROM information_schema.columns",
    "FROM duckdb_tables()",
    "FROM pragma_table_info('codes')",
    "SELECT 'COPY x TO y; DROP TABLE codes; FROM read_csv()' AS words",
)

a_frame = pd.DataFrame({"secret": [1]})  # DuckDB's Python API could read this variable as a table


@pytest.mark.parametrize("sql", [*LEAVES_THE_STORE, *REFUSED_BY_KIND])
def test_what_is_no_question_to_the_store_never_reaches_it(
    connection: duckdb.DuckDBPyConnection, sql: str
) -> None:
    with pytest.raises((StatementRefusedError, duckdb.Error)):
        connection.sql(allow_statement(connection, sql)).fetchall()


@pytest.mark.parametrize("sql", LEAVES_THE_STORE)
def test_duckdb_refuses_by_itself_what_leaves_the_store(
    connection: duckdb.DuckDBPyConnection, sql: str
) -> None:
    with pytest.raises(duckdb.Error):
        connection.cursor().execute(sql).fetchall()


@pytest.mark.parametrize("sql", FINE)
def test_a_question_to_the_store_runs(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    assert connection.sql(allow_statement(connection, sql)).fetchall()


def refusal(generation: Path, sql: str, limits: QueryLimits = query_runs.LIMITS) -> str:
    with pytest.raises(SqlError) as refused:
        run(generation, sql, limits, texts=True)
    return str(refused.value)


def test_a_result_has_names_types_and_values(generation: Path) -> None:
    result = run(
        generation,
        "SELECT 1 AS a, 'x' AS a, NULL AS b, [1.5] AS c, {'d': DATE '2026-01-02'} AS e",
        texts=True,
    )
    assert result.table.column_names == ["a", "a (2)", "b", "c", "e"]
    assert [str(value) for value in result.read_rows(0, 5)[0]] == [
        "1",
        "x",
        "None",
        "[Decimal('1.5')]",
        str({"d": date(2026, 1, 2)}),
    ]
    assert (result.rows, result.counted) == (1, True)


def test_every_type_of_duckdb_arrives(generation: Path) -> None:
    result = run(generation, "FROM test_all_types()", texts=True)
    assert len(result.read_rows(0, 50)) == 3
    assert len(result.to_frame()) == 3
    assert run(generation, "SELECT INTERVAL '1 month 2 days'", texts=True).read_rows(0, 1) == [
        ["1 months 2 days 0 seconds"]
    ]


def test_rows_beyond_the_bound_are_counted_but_not_kept(generation: Path) -> None:
    result = run(generation, "FROM range(25000)", QueryLimits(rows=10), texts=True)
    assert (len(result.table), result.rows, result.counted) == (10, 25_000, True)
    endless = run(generation, "FROM range(1000000000000)", QueryLimits(rows=10, counting=0.1), texts=True)
    assert (len(endless.table), endless.counted) == (10, False)


def test_bytes_beyond_the_bound_are_not_kept(generation: Path) -> None:
    result = run(
        generation, "SELECT repeat('x', 1000) FROM range(100)", QueryLimits(bytes=50_000), texts=True
    )
    assert 0 < len(result.table) < 50
    assert result.rows == 100
    assert "The first row alone" in refusal(
        generation, "SELECT repeat('x', 100000)", QueryLimits(bytes=50_000)
    )


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    "sql",
    [
        # DuckDB needs 16 s to interrupt this query
        "SELECT levenshtein(repeat('a', 60000), repeat('b', 60000))",
        "SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range * b.range % 7 = 3",
        "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t",
        "SELECT sleep_ms(60000)",
    ],
)
def test_a_query_without_end_is_ended(generation: Path, sql: str) -> None:
    began = time.monotonic()
    assert "Stopped after 1.5 seconds" in refusal(generation, sql, QueryLimits(seconds=1.5))
    assert time.monotonic() - began < 40


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT repeat('x', 1000000000)",
        "SELECT repeat('x', 1000000) FROM range(100000)",
        "SELECT string_agg(repeat('x', 1000000), '') FROM range(100000)",
        "SELECT list_reduce(range(100000000), lambda a, b: a + b)",
    ],
)
def test_memory_is_bounded(generation: Path, sql: str) -> None:
    # The time limit is long, so that even a slow machine reaches the memory limit first.
    patient = QueryLimits(seconds=120)
    assert re.search("[Mm]emory", refusal(generation, sql, patient))


@pytest.mark.thorough
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT " + "(" * 40_000 + "1" + ")" * 40_000,
        "FROM " + "(FROM " * 12_000 + "codes" + ")" * 12_000,
        "SELECT " + "[" * 40_000,
        "SELECT 1" + "::INT" * 19_000,
    ],
)
def test_a_text_that_is_nested_without_end_harms_no_other(generation: Path, sql: str) -> None:
    assert refusal(generation, sql, QueryLimits(seconds=5))
    assert run(generation, "SELECT 1", texts=True).rows == 1


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT '" + "x" * 1_000_000 + "'", "1,000,009 characters"),
        ("SELECT '\ud800'", "half of a character"),
        ("SELECT '\0'", "NUL"),
    ],
)
def test_a_text_that_is_no_sql_text_is_not_even_sent(generation: Path, sql: str, message: str) -> None:
    assert message in refusal(generation, sql)


def test_a_process_that_dies_is_a_sentence(generation: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_runs, "_COMMAND", [sys.executable, "-c", "import os; os.kill(os.getpid(), 11)"])
    assert "nested too deeply" in refusal(generation, "SELECT 1")


@pytest.mark.thorough
def test_no_more_queries_run_at_once_than_the_machine_bears(generation: Path) -> None:
    slow = [
        threading.Thread(target=refusal, args=(generation, "SELECT sleep_ms(60000)", QueryLimits(seconds=8)))
        for _ in range(query_runs.AT_ONCE)
    ]
    for thread in slow:
        thread.start()
    time.sleep(0.5)
    try:
        with pytest.raises(SandboxBusyError, match="are running; try again"):
            run(generation, "SELECT 1", QueryLimits(waiting=0.1), texts=True)
    finally:
        for thread in slow:
            thread.join()
    assert run(generation, "SELECT 1", texts=True).rows == 1


@pytest.mark.parametrize(
    "sql",
    [
        "FROM duckdb_tables()",
        "FROM duckdb_views",
        "FROM duckdb_functions()",
        "FROM duckdb_schemas",
        "FROM duckdb_constraints()",
        "FROM information_schema.schemata",
        "FROM information_schema.tables",
        "FROM sqlite_master",
        "FROM pragma_storage_info('codes')",
        "FROM pragma_version()",
        "SHOW DATABASES",
        "SHOW ALL TABLES",
        "SELECT current_database(), current_schemas(true), current_user, current_query()",
        "EXPLAIN ANALYZE FROM codes",
    ],
)
def test_nothing_that_may_be_asked_names_a_place_of_this_machine(
    connection: duckdb.DuckDBPyConnection, generation: Path, sql: str
) -> None:
    answer = str(connection.sql(allow_statement(connection, sql)).fetchall())
    assert str(generation.parent) not in answer
    assert str(Path.home()) not in answer


def test_a_refusal_names_no_place_of_this_machine(generation: Path) -> None:
    assert str(generation.parent) not in refusal(generation, f"FROM nothing_like('{generation}')")


def test_a_generation_that_is_gone_is_a_sentence(tmp_path: Path) -> None:
    assert "loaded again" in refusal(tmp_path / "gen-1.duckdb", "SELECT 1")


ASKING = """
import sys
from pathlib import Path
from callgauge.analysis.sandbox.query_runs import QueryLimits, run
print("asking", flush=True)
run(Path(sys.argv[1]), "SELECT count(*) FROM range(1000000) a, range(1000000) b",
    QueryLimits(seconds=300), texts=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="children are found in /proc")
def test_a_query_ends_with_the_server_that_asked_it(generation: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", ASKING, str(generation)], stdout=subprocess.PIPE, cwd=ROOT
    ) as server:
        assert server.stdout is not None
        server.stdout.readline()
        child = wait_for(lambda: next(iter(children_of(server.pid)), None))
        wait_for(lambda: "sandbox.child" in command_of(child))
        server.kill()
    wait_for(lambda: not command_of(child))


@pytest.mark.skipif(sys.platform != "linux", reason="children are found in /proc")
def test_a_query_ends_when_nobody_waits_at_its_input(generation: Path) -> None:
    """The query must end when the standard input closes, even if the kernel does not send a signal."""
    request = {
        "generation": str(generation),
        "sql": "SELECT count(*) FROM range(1000000) a, range(1000000) b",
        "rows": 1,
        "bytes": 1000,
        "counting": 1,
        "seconds": 300,
        "threads": 1,
        "texts": True,
        "memory": "256MB",
        "address_space": 10**9,
    }
    with subprocess.Popen(
        query_runs._COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    ) as child:
        assert child.stdin is not None
        child.stdin.write(json.dumps(request).encode() + b"\n")
        child.stdin.flush()
        wait_for(lambda: has_bound(child.pid))
        child.stdin.close()
        assert child.wait(60) == ORPHANED


def has_bound(pid: int) -> bool:
    line = next(line for line in limits_of(pid).splitlines() if line.startswith("Max cpu time"))
    return "unlimited" not in line.split("seconds")[0].split()[3]


def limits_of(pid: int) -> str:
    return Path(f"/proc/{pid}/limits").read_text()


def children_of(pid: int) -> list[int]:
    children: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        children += map(int, (task / "children").read_text().split())
    return children


def command_of(pid: int | None) -> str:
    """Return the command line of a process. Return "" if the process has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def wait_for(find: Callable[[], T]) -> T:
    """Call `find` until its result is true, and return the result. Fail if this takes too long."""
    for _ in range(1200):
        if result := find():
            return result
        time.sleep(0.05)
    pytest.fail("it did not happen")


def test_an_error_of_duckdb_itself_shows_no_path() -> None:
    trace = "INTERNAL Error: Attempted to access index\n\nStack Trace:\n/opt/venv/lib/duckdb.so(+0x1)"
    for problem in (duckdb.InternalException(trace), duckdb.FatalException(trace)):
        message = _describe_error(problem, "/srv/store/gen-1.duckdb")
        assert "/" not in message
        assert "an error of its own" in message

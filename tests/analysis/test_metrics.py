"""Tests each metric on the rows in `tests/cases/metrics/*.json`. The option `--accept` rewrites the expected
results.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any, cast

import duckdb
import numpy as np
import pytest

from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.metrics import (
    MetricError,
    answer_metric,
    filter_clauses,
    include_filters,
    include_tables,
    include_values,
    metrics,
)
from tests.analysis.rows import empty_tables, insert
from tests.analysis.store_fixture import a_call, a_turn, publish, small_tables
from tests.conftest import CASES, write_cases

FOLDER = CASES / "metrics"
METRICS = Path(__file__).parents[2] / "callgauge" / "analysis" / "metrics"
CASE_FILES = sorted(FOLDER.glob("*.json"))
COUNTS_DELETED_ROWS = {"store_tables"}  # DuckDB's estimated row counts include deleted rows


@pytest.fixture(scope="module")
def empty() -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a database of empty tables, which all tests share."""
    with empty_tables() as connection:
        yield connection


def rows_of(connection: duckdb.DuckDBPyConnection, metric: str, case: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the result as JSON values. If the case lists `columns`, return only these columns."""
    for table, rows in case["given"].items():
        insert(connection, table, rows)
    try:
        parameters = {name: typed(value) for name, value in case.get("asked", {}).items()}
        answer = answer_metric(connection, metric, parameters)
    finally:
        for table in case["given"]:
            connection.execute(f"TRUNCATE {table}")
    columns = case.get("columns", list(answer.columns))
    return [{column: plain(row[column]) for column in columns} for row in answer.to_dict("records")]


def typed(value: Any) -> Any:
    try:
        return date.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        return value


def plain(value: Any) -> Any:
    if isinstance(value, list | np.ndarray):
        return [plain(each) for each in value]
    return value.isoformat() if isinstance(value, date | datetime) else value


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("path", CASE_FILES, ids=lambda path: path.stem)
def test_a_metric_gives_the_rows_that_its_cases_expect(
    empty: duckdb.DuckDBPyConnection, path: Path, accept: bool
) -> None:
    cases = json.loads(path.read_text(encoding="utf-8"))
    for case in cases:
        if path.stem in COUNTS_DELETED_ROWS:
            with empty_tables() as connection:
                rows = rows_of(connection, path.stem, case)
        else:
            rows = rows_of(empty, path.stem, case)
        if accept:
            case["expect"] = rows
        assert rows == case["expect"], case["name"]
    if accept:
        write_cases(path, cases)


def test_every_metric_has_cases() -> None:
    assert {path.stem for path in CASE_FILES} == set(metrics())


@pytest.mark.parametrize("name", metrics())
def test_every_metric_says_what_it_asks_and_in_which_unit(name: str) -> None:
    metric = metrics()[name]
    assert metric.title
    assert metric.question.endswith("?")
    assert metric.unit


@pytest.mark.parametrize("name", metrics())
def test_the_columns_that_a_metric_explains_are_columns_of_its_answer(
    empty: duckdb.DuckDBPyConnection, name: str
) -> None:
    rows = answer_metric(empty, name, {"limit": 1, "offset": 0})
    assert set(metrics()[name].columns) <= set(rows.columns)


def test_a_store_without_the_table_gives_one_sentence() -> None:
    with empty_tables() as connection:
        connection.execute("DROP TABLE files")
        with pytest.raises(MetricError, match="could not answer") as refused:
            answer_metric(connection, "last_load", {})
    assert "\n" not in str(refused.value)


def test_a_damaged_file_is_not_named_to_who_asks() -> None:
    class Damaged:
        def cursor(self) -> Any:
            raise duckdb.IOException("IO Error: Could not read from file /srv/team/store/gen-000001.duckdb")

    with pytest.raises(MetricError, match="the server's log has the reason") as refused:
        answer_metric(cast("duckdb.DuckDBPyConnection", Damaged()), "last_load", {})
    assert "/srv" not in str(refused.value)


def test_the_list_behind_each_fault_layer_holds_as_many_calls_as_its_row_counts(tmp_path: Path) -> None:
    variants = [
        {"syntax_seen": coverage, "schema_seen": fits, "result_status": status, "fault_layer": layer}
        for coverage in ("full", "failures", "none")
        for fits in ("full", "failures", "none")
        for status in ("ok", "denied", "unknown", "missing", None)
        for layer in (None, "schema", "execution")
    ]
    calls = [a_call(number, **each) for number, each in enumerate(variants)]
    path = publish(tmp_path, small_tables() | {"tool_calls": calls})
    with duckdb.connect(str(path), read_only=True) as connection:
        for row in answer_metric(connection, "fault_layers", {}).to_dict("records"):
            listed = answer_metric(connection, "calls", {"fault": row["layer"], "limit": 500, "offset": 0})
            assert len(listed) == row["calls"], row["layer"]


@pytest.mark.thorough
def test_the_sessions_that_a_bootstrap_draws_hold_what_the_daily_sums_hold(tmp_path: Path) -> None:
    variants = [
        {"syntax_seen": coverage, "schema_seen": fits, "outcome": outcome, "fault_layer": layer}
        | {"tools_offered": layer is None, "result_status": "ok" if layer else None, "session_id": f"s{end}"}
        | {"attempt": 1 if layer else None, "chain_outcome": end, "turn_id": f"s1:{1 + (layer is None)}"}
        | {
            "parse_error": {"schema": "unknown_tool", "syntax": "json_parse_error:end of text"}.get(
                str(layer)
            )
        }
        for coverage in ("full", "failures", "none")
        for fits in ("full", "none")
        for outcome in ("clean", "coerced", "repaired", "failed")
        for layer in (None, "emission", "syntax", "schema", "tool_rejected", "execution", "refused")
        for end in ("recovered", "abandoned", None)
    ]
    calls = [a_call(number, **each) for number, each in enumerate(variants)]
    turns = [
        a_turn(1, retries=1),
        a_turn(2, recorded_ok=None),
        a_turn(3, derived_ok=False, session_id="s2", calls=0),
    ]
    path = publish(tmp_path, small_tables() | {"tool_calls": calls, "turns": turns})
    with duckdb.connect(str(path), read_only=True) as connection:
        for filters in ({}, {"tools": ["read_file"]}):
            sums = answer_metric(connection, "slices", {"rates": list(RATES)} | filters).set_index("rate")
            assert set(sums.index) == set(RATES)
            for rate in RATES:
                rows = answer_metric(connection, "session_counts", {"rate": rate} | filters)
                k, n = ((rows[column] * rows.sessions).sum() for column in ("k", "n"))
                assert (k, n) == (sums.loc[rate, "k"], sums.loc[rate, "n"]), (rate, filters)
                assert rows.sessions.sum() == sums.loc[rate, "sessions"], (rate, filters)


def test_a_filter_clause_is_written_once_and_included() -> None:
    sql = "SELECT 1 FROM t\nWHERE {filters: days, sources} AND {filters a_: models}"
    assert include_filters(sql).splitlines()[1:] == [
        "WHERE ($from_day IS NULL OR day >= $from_day) AND ($to_day IS NULL OR day <= $to_day)",
        (
            "  AND ($sources IS NULL OR list_contains($sources, source))"
            " AND ($a_models IS NULL OR list_contains($a_models, coalesce(model, 'unknown')))"
        ),
    ]
    with pytest.raises(KeyError, match="no_such"):
        include_filters("WHERE {filters: no_such}")


def test_no_metric_writes_a_filter_clause_out() -> None:
    for name, clause in filter_clauses().items():
        for path in METRICS.glob("*.sql"):
            assert clause not in path.read_text(encoding="utf-8"), f"{path.name} writes out the filter {name}"


def test_the_value_of_a_named_dimension_is_written_once_and_included() -> None:
    lines = include_values("SELECT {value: by} AS slice,\n{value: second} AS other").splitlines()
    assert lines[0] == "SELECT coalesce(CASE coalesce($by, 'all')"
    assert [line for line in lines if line.endswith(" AS slice,")]
    assert [line for line in lines if "$" in line] == [
        "SELECT coalesce(CASE coalesce($by, 'all')",
        "coalesce(CASE coalesce($second, 'all')",
    ]
    written = re.compile(r"WHEN 'harness_version' THEN harness_version\b.*\bELSE 'all'")
    for path in METRICS.glob("*.sql"):
        assert not written.search(path.read_text(encoding="utf-8")), f"{path.name} writes out a dimension"


def test_the_sums_by_groups_of_sessions_are_written_once_and_included() -> None:
    sql = include_tables("WITH chosen AS (…), by_day AS (…), {days: rate}, {groups: rate, slice} SELECT 1")
    assert "FROM by_day GROUP BY ALL" in sql
    assert "JOIN numbered USING (rate, slice)" in sql
    assert "{" not in sql.replace("{'id': id, 'k': k, 'n': n}", "")


@pytest.mark.parametrize("path", CASE_FILES, ids=lambda path: path.stem)
def test_what_the_groups_of_sessions_hold_adds_up_to_the_counts_beside_them(path: Path) -> None:
    for case in json.loads(path.read_text(encoding="utf-8")):
        for row in case["expect"]:
            for name in ("k", "n") if "day_k" in row else ():
                assert sum(row[f"day_{name}"]) <= row[name], (case["name"], name)
            lists = {name.removeprefix("group_"): row[name] for name in row if name.startswith("group_")}
            ids = lists.pop("ids", [])
            assert ids == sorted(set(ids)), case["name"]
            for name, numbers in lists.items():
                assert (len(numbers), sum(numbers)) == (len(ids), row[name]), (case["name"], name)


@pytest.mark.thorough
def test_every_dimension_of_a_slice_is_one_of_a_stratum(tmp_path: Path) -> None:
    path = publish(tmp_path, small_tables())
    dimensions = (
        "model", "provider", "prompt", "prompt_name", "tool", "definition", "strategy", "source",
        "harness_version", "day",
    )  # fmt: skip
    with duckdb.connect(str(path), read_only=True) as connection:
        for dimension in dimensions:
            slices = answer_metric(connection, "slices", {"rates": ["parse_error"], "by": dimension})
            assert len(slices), dimension
            expected = sorted(zip(slices["slice"], slices.k, slices.n, slices.group_n, strict=True))
            for place, column in (
                ("by", "arm"),
                ("first", "first"),
                ("second", "second"),
                ("third", "third"),
            ):
                strata = answer_metric(connection, "strata", {"rates": ["parse_error"], place: dimension})
                rows = sorted(zip(strata[column], strata.k, strata.n, strata.group_n, strict=True))
                assert rows == expected, (dimension, place)

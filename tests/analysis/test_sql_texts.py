"""Tests the example queries of the SQL page."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgauge.analysis.metrics import metrics
from callgauge.analysis.queries import queries
from callgauge.analysis.sandbox.child import open_locked_down
from callgauge.analysis.sandbox.statement import allow_statement
from callgauge.analysis.texts.sql_literals import fill_parameters, write_literal
from tests.analysis.store_fixture import HOSTILE, publish, small_tables

NASTY = "O'Brien\n-- \u202e\x00\u200b$models '' \\' ; DROP TABLE codes"


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    generation = publish(tmp_path_factory.mktemp("texts") / "store", small_tables())
    with open_locked_down(generation, threads=1, memory="256MB") as made:
        yield made


@pytest.mark.parametrize("name", queries())
def test_a_shipped_query_says_what_it_asks_and_runs(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    query = queries()[name]
    assert query.title
    assert query.question.endswith("?")
    assert connection.sql(allow_statement(connection, query.sql)).columns


@pytest.mark.thorough(quick=30)
@pytest.mark.parametrize("name", metrics())
def test_the_sql_of_every_metric_runs_with_its_parameters_filled_in(
    connection: duckdb.DuckDBPyConnection, name: str
) -> None:
    parameters = {
        "from_day": date(2026, 11, 20),
        "models": ("falcon-3", HOSTILE, NASTY),
        "limit": 5,
        "offset": 0,
    }
    for values in ({}, parameters):
        sql = fill_parameters(metrics()[name], values)
        assert connection.sql(allow_statement(connection, sql)).columns


def test_a_filled_metric_gives_what_the_metric_gives(connection: duckdb.DuckDBPyConnection) -> None:
    parameters = {"models": (HOSTILE,), "limit": 5, "offset": 0}
    rows = connection.sql(
        allow_statement(connection, fill_parameters(metrics()["calls"], parameters))
    ).fetchall()
    assert [row[0] for row in rows] == ["c43"]


def test_a_filled_metric_says_what_was_asked() -> None:
    sql = fill_parameters(metrics()["coverage"], {"models": ("a",), "not_a_parameter": 1})
    assert sql.startswith("-- title: ")
    assert "-- with models as asked there; NULL means all\n" in sql
    assert "['a']" in sql


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "NULL"),
        (True, "true"),
        (3, "3"),
        (0.5, "0.5"),
        ("it's", "'it''s'"),
        ("", "''"),
        ("a b", "'a b'"),
        ("a\nb", "('a' || chr(10) || 'b')"),
        ("\u202e", "chr(8238)"),
        (date(2026, 1, 2), "DATE '2026-01-02'"),
        (datetime(2026, 1, 2, 3, 4, 5), "TIMESTAMP '2026-01-02 03:04:05'"),  # noqa: DTZ001 - UTC, as stored
        (("a", None), "['a', NULL]"),
    ],
)
def test_a_value_as_a_literal(value: Any, written: str) -> None:
    assert write_literal(value) == written


def test_what_no_filter_holds_has_no_literal() -> None:
    with pytest.raises(TypeError, match="no literal for a dict"):
        write_literal({})


@pytest.mark.thorough
@given(st.text())
def test_a_text_comes_back_from_its_literal_and_nothing_in_it_is_invisible(text: str) -> None:
    written = write_literal(text)
    row = duckdb.execute(f"SELECT {written}").fetchone()
    assert row == (text,)
    assert written.isprintable()

"""Tests that the SQL page executes the query in the page's address, or says why it does not."""

from __future__ import annotations

import threading
from io import BytesIO
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from streamlit.testing.v1 import AppTest

from callgauge.analysis.export import to_csv, to_parquet
from callgauge.analysis.sandbox import query_runs
from callgauge.analysis.sandbox.query_runs import run
from callgauge.analysis.texts.url_texts import pack_text, unpack_text
from callgauge.dashboard.pages.sql.table_notes import read_table_notes
from tests.analysis.rows import empty_tables
from tests.analysis.store_fixture import HOSTILE
from tests.dashboard.conftest import opened, page_text
from tests.dashboard.sheets import sheet_of, sheets, texts

SQL = "callgauge/dashboard/pages/sql/page.py"
ROWS = "Rows of the result"


def query_page(sql: str, **more: str) -> AppTest:
    return opened(SQL, sql=pack_text(sql), **more)


def test_an_empty_page_offers_queries_and_shows_the_tables(small: Path) -> None:
    app = opened(SQL)
    assert "Nothing asked yet" in page_text(app)
    assert "Calls by day and model" in texts(sheets(app)["Queries to begin with"], 0)
    assert "call_id" in texts(sheets(app)["Columns of tool_calls"], 0)
    assert "the denominators of the rates" in page_text(app)


def test_a_link_runs_what_it_carries(small: Path) -> None:
    app = query_page(
        "SELECT call_id, outcome, 12345 AS number, NULL AS nothing FROM tool_calls WHERE call_id = 'c41'"
    )
    (row,) = sheet_of(app, ROWS)
    assert row["call_id"]["href"].startswith("calls?call=c41")
    assert (row["outcome"]["text"], row["number"]["text"]) == ("failed", "12,345")
    assert (row["nothing"]["text"], row["nothing"]["pale"]) == ("NULL", True)
    assert "1 row ·" in page_text(app)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("DROP TABLE codes", "DROP is not allowed. This page only reads"),
        ("FROM read_csv('/etc/passwd')", "read_csv() is not allowed"),
        ("FROM no_such_table", "Table with name no_such_table does not exist"),
        ("SELECT 1 WHERE false", "The query gives no rows."),
    ],
)
def test_what_gives_no_rows_is_a_sentence(small: Path, sql: str, words: str) -> None:
    assert words in page_text(query_page(sql))


def test_a_damaged_link_is_a_sentence(small: Path) -> None:
    assert "The link is damaged" in page_text(opened(SQL, sql="?!"))


def test_a_metric_is_one_click_away(small: Path) -> None:
    app = opened(SQL, start="metric:coverage")
    assert sheet_of(app, ROWS)
    assert app.selectbox(key="start").value == "metric:coverage"


@pytest.mark.thorough
def test_a_long_result_comes_in_pages(small: Path) -> None:
    first = query_page("SELECT range AS n FROM range(120)")
    assert [row["n"]["text"] for row in sheet_of(first, ROWS)][:2] == ["0", "1"]
    assert "120 rows ·" in page_text(first)
    last = query_page("SELECT range AS n FROM range(120)", sql_page="3")
    assert sheet_of(last, ROWS)[0]["n"]["text"] == "100"
    beyond = query_page("SELECT range AS n FROM range(120)", sql_page="99")
    assert len(sheet_of(beyond, ROWS)) == 20


def test_rows_that_are_not_kept_are_said_to_be(small: Path) -> None:
    text = page_text(query_page("FROM range(25000)"))
    assert "25,000 rows; the first 10,000 are kept here and in an export" in text


def test_text_of_a_log_stays_text_and_long_values_say_how_long_they_are(small: Path) -> None:
    app = query_page("SELECT tool, repeat('x', 5000) AS long FROM tool_calls WHERE call_id = 'c43'")
    (row,) = sheet_of(app, ROWS)
    assert row["tool"]["text"] == HOSTILE
    assert row["long"]["sub"] == "… 5,000 characters; the export has them"
    assert HOSTILE not in page_text(app)


EVIL = f"=1\u202e\u200b\x1b[31m {HOSTILE}"


@pytest.mark.thorough
def test_a_hostile_column_is_text_in_the_table_the_chart_and_the_files(small: Path) -> None:
    name = EVIL.replace('"', '""')
    sql = f'SELECT tool AS "{name}", 1 AS "{name} 2", [tool] AS many FROM tool_calls LIMIT 5'  # noqa: S608
    app = query_page(sql)
    table = sheets(app)[ROWS]
    assert "\u202e" not in str(table["columns"])
    assert "⟨U+202E⟩" in str(table["columns"])
    drawn = query_page(sql, view="bar")
    figure = drawn.get("plotly_chart")[0].proto.spec
    for shown in (figure, str(drawn.selectbox(key="x").options)):
        assert "\u202e" not in shown
        assert "\\u202e" not in shown
    assert "<img" not in figure


def test_a_result_with_hostile_names_and_values_is_taken_away_safely(small: Path) -> None:
    result = run(
        small / "gen-000001.duckdb",
        "SELECT tool, '=1+1' AS \"=1+1\", ['=1+1'] AS many FROM tool_calls WHERE call_id = 'c43'",
        texts=True,
    )
    lines = to_csv(result.to_frame()).decode().splitlines()
    assert lines[0] == "tool,'=1+1,many"
    assert ",'=1+1," in lines[1]
    assert pq.read_table(BytesIO(to_parquet(result.to_frame()))).to_pylist()[0]["tool"] == HOSTILE


def test_a_result_of_every_type_can_be_taken_away(small: Path) -> None:
    rows = run(small / "gen-000001.duckdb", "FROM test_all_types()", texts=True).to_frame()
    assert to_csv(rows).count(b"\n") >= 4
    assert pq.read_table(BytesIO(to_parquet(rows))).num_rows == 3


def test_a_value_of_ten_megabytes_is_not_sent(small: Path) -> None:
    app = query_page("SELECT repeat('<b>', 3500000) AS huge, ['<i>'] AS some")
    (row,) = sheet_of(app, ROWS)
    assert len(row["huge"]["text"]) == 300
    assert row["huge"]["sub"] == "… 10,500,000 characters; the export has them"
    assert row["some"]["text"] == '["<i>"]'


def test_the_result_is_drawn(small: Path) -> None:
    sql = "SELECT model, count(*) AS calls FROM tool_calls GROUP BY model ORDER BY calls DESC"
    app = query_page(sql, view="bar")
    assert app.get("plotly_chart")
    assert (app.selectbox(key="x").value, app.selectbox(key="y").value) == ("model", "calls")
    assert ROWS not in sheets(app)


def test_a_page_is_turned_without_asking_again(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = query_page("SELECT range AS n FROM range(120)")

    def never(*_: object) -> None:
        raise AssertionError("asked again")

    monkeypatch.setattr(query_runs, "_run_child", never)
    app.selectbox(key="table").select("codes").run()
    assert not app.exception
    assert sheet_of(app, ROWS)


def test_a_card_opens_its_sql_as_it_was_asked(small: Path) -> None:
    app = opened("callgauge/dashboard/pages/overview/page.py", model="falcon-3")
    doors = [link.proto for link in app.get("page_link") if "Open in SQL" in link.proto.label]
    assert doors
    carried = [unpack_text(door.query_string.split("sql=")[1].split("&")[0], 100_000) for door in doors]
    assert any("['falcon-3']" in sql for sql in carried)
    assert not any("$models" in sql for sql in carried)


def test_a_busy_server_is_a_sentence(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_runs, "LIMITS", query_runs.QueryLimits(waiting=0.05))
    monkeypatch.setattr(query_runs, "_SLOTS", threading.BoundedSemaphore(1))
    with query_runs._SLOTS:
        assert "queries of others are running" in page_text(query_page("SELECT 1"))


def test_every_table_of_the_store_is_described_by_its_schema() -> None:
    with empty_tables() as connection:
        names = {name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    assert set(read_table_notes()) == names
    assert "the denominators of the rates" in read_table_notes()["tool_calls"]
    assert read_table_notes()["daily_chains"].startswith("Retry sequences")

"""Tests the Share dialog: a link that contains all settings, Markdown, and one HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from callgauge.analysis.measures.trend_lines import Level, Mark, TrendChart, make_trend_chart
from callgauge.analysis.measures.trends import DayRate
from callgauge.dashboard import viewer
from callgauge.dashboard.components.sharing import share
from callgauge.dashboard.components.trend.trend_document import convert_trend
from callgauge.dashboard.pages import PAGES, PageEntry
from callgauge.dashboard.pages.sql.query_charts import plot_result
from callgauge.dashboard.plain_charts import read_figure
from callgauge.documents.document import Chart, Document
from callgauge.documents.html_page import write_html
from callgauge.serving.identity import NETWORK_USER
from callgauge.serving.settings import TEXTS_VARIABLE
from callgauge.stats import Interval
from tests.analysis.session_shares import fill_sessions, of_sessions
from tests.analysis.store_fixture import BROKEN, publish
from tests.dashboard.conftest import opened, page_text
from tests.dashboard.sheets import calls, over_days

PAGE = {entry.name: entry.file for entry in PAGES}


class Handed:
    """The content of the Share dialog: links by label, Markdown, and the HTML report."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.links: dict[str, str] = {}
        self.markdown = ""
        self.document: Document | None = None
        make = share.make_document

        def note(*arguments: object, **more: object) -> Document:
            self.document = make(*arguments, **more)  # type: ignore[arg-type]
            return self.document

        monkeypatch.setattr(share, "copy_link", lambda _, label, path: self.links.update({label: path}))
        monkeypatch.setattr(share, "copy_text", lambda _, __, text: setattr(self, "markdown", text))
        monkeypatch.setattr(share, "make_document", note)

    def open(self, page: str, /, **query: str) -> AppTest:
        self.links.clear()
        return opened(page, {"share": True}, **query)

    @property
    def report(self) -> str:
        assert self.document is not None
        return write_html(self.document)

    @property
    def query(self) -> dict[str, str]:
        """Return the query of the shared link, in which the days are fixed."""
        pairs = parse_qs(urlsplit(self.links["Copy link"]).query)
        return {key: values[0] for key, values in pairs.items()}


@pytest.fixture
def handed(monkeypatch: pytest.MonkeyPatch) -> Handed:
    return Handed(monkeypatch)


def models_on(first: str, bad: Sequence[int], days: int) -> list[dict[str, object]]:
    names = ("egret", "heron")
    return [
        call
        for name, wrong in zip(names, bad, strict=True)
        for call in over_days(calls(120 - wrong, wrong, model=f"{name}", source=f"from {first}"), first, days)
    ]


@pytest.mark.thorough
def test_a_link_with_fixed_days_shows_the_same_after_the_next_load(store: Path, handed: Handed) -> None:
    before = models_on("2026-11-01", (4, 60), 10)
    publish(store, {"tool_calls": before})
    handed.open(PAGE["models"])
    query, answer = handed.query, handed.document and handed.document.answer
    assert query["days"] == "2026-10-14 to 2026-11-10"
    assert query["rate"] == "parse_error"
    assert query["smallest"] == "2"
    publish(store, {"tool_calls": [*before, *models_on("2026-11-20", (110, 2), 10)]}, number=2)
    handed.open(PAGE["models"])
    assert handed.document is not None
    assert handed.document.answer != answer, "the new load turns the ranking round"
    handed.open(PAGE["models"], **query)
    assert handed.document.answer == answer
    assert handed.query == query


def test_the_other_link_moves_with_the_days(small: Path, handed: Handed) -> None:
    handed.open(PAGE["models"])
    assert "days=28+days" in handed.links["Copy link to the last 28 days"]
    handed.open(PAGE["models"], days="2026-11-21")
    assert list(handed.links) == ["Copy link"], "dates do not move"


def test_a_default_that_a_link_names_stays_in_the_address(small: Path) -> None:
    app = opened(PAGE["prompts"], rate="parse_error", smallest="2")
    assert app.query_params["rate"] == "parse_error"
    assert app.query_params["smallest"] == "2"
    assert "rate" not in opened(PAGE["prompts"]).query_params


@pytest.mark.thorough(quick=4)
@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.name)
def test_every_page_can_be_shared(small: Path, handed: Handed, entry: PageEntry) -> None:
    app = handed.open(entry.file)
    assert "Copy link" in handed.links
    assert handed.document is not None
    assert handed.document.answer
    assert handed.markdown.startswith("**")
    assert f"{entry.title} in Callgauge" in handed.markdown
    assert any(download.key == "share_report" for download in app.get("download_button"))
    for table in handed.document.tables:
        for row in table.rows:
            for cell in row:
                assert len(row) == len(table.columns)
                assert "<script" not in cell.text or "&lt;script" in handed.report
    assert "<img" not in handed.report


def test_a_report_holds_the_figures_of_the_tables_and_how_they_are_counted(
    few_of_many: Path, handed: Handed
) -> None:
    handed.open(PAGE["models"])
    for text in ("egret", "3 / 303", "falcon", "40 / 300", "How this is counted", "<svg", "Parse errors"):
        assert text in handed.report
    assert "3 / 303" in handed.markdown
    assert "http:" not in handed.report, "without a browser nothing says where the server is"


def test_a_viewer_gets_no_table_of_texts_and_no_file_but_the_reason(
    small: Path, handed: Handed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(viewer, "read_headers", lambda _: NETWORK_USER)
    app = handed.open(PAGE["errors"])
    assert "Files with texts are for admins." in page_text(app)
    assert not [download for download in app.get("download_button") if download.key == "share_report"]
    assert handed.document is not None
    assert not handed.document.parts
    assert "|" not in handed.markdown
    assert "Errors in Callgauge" in handed.markdown
    handed.open(PAGE["models"])
    assert handed.document.tables, "a page of numbers is for everybody"


def test_hidden_texts_are_in_no_report(small: Path, handed: Handed, monkeypatch: pytest.MonkeyPatch) -> None:
    text = BROKEN[:12]
    handed.open(PAGE["calls"], call="c41")
    shown = handed.report
    monkeypatch.setenv(TEXTS_VARIABLE, "no")
    handed.open(PAGE["calls"], call="c41")
    assert "c41" not in shown or "Calls" in shown
    for page in ("calls", "errors", "prompts", "sessions"):
        handed.open(PAGE[page])
        assert handed.document is not None
        assert text not in handed.report
        assert "Be kind" not in handed.report


def test_files_are_named_after_the_page_the_slice_and_the_days(small: Path, handed: Handed) -> None:
    app = handed.open(PAGE["models"], model="falcon-3", days="2026-11-21")
    names = {download.key: download.proto.url.rpartition("/")[2] for download in app.get("download_button")}
    assert "share_report" in names
    assert handed.document is not None
    assert handed.document.settings["Days"] == "2026-11-21"
    assert handed.document.settings["Model"] == "falcon-3"


DAY = date(2026, 11, 20)


def trend_of(rates: dict[str, Sequence[int]], **more: Any) -> TrendChart:
    """Return a chart of several series. A series has k hits in 100 calls on each day from DAY on."""
    points = [
        DayRate(DAY + timedelta(days=place), name, of_sessions(fill_sessions(k, 100, 100)))
        for name, series in rates.items()
        for place, k in enumerate(series)
    ]
    return make_trend_chart(points, {name: place for place, name in enumerate(rates)}, title="Errors", **more)


def test_a_trend_becomes_one_chart_with_its_lines_marks_and_levels() -> None:
    mark = Mark("A", DAY + timedelta(days=1), DAY + timedelta(days=1), DAY + timedelta(days=2))
    levels = [Level("goal <5%", 0.05), Level("baseline 3%", 0.03, Interval(0.02, 0.04))]
    (chart,) = convert_trend(
        trend_of({"a": (2, 4, 9), "b": (1, 1, 1)}, marks=[mark], levels=levels), "By day"
    )
    assert (chart.title, chart.words) == ("Errors", "By day")
    assert [(line.name, line.colour) for line in chart.series] == [
        ("goal <5%", 0), ("baseline 3%", 0), ("a", 1), ("b", 2),
    ]  # fmt: skip
    assert [point.y for point in chart.series[2].points] == [0.02, 0.04, 0.09]
    assert {point.y for point in chart.series[0].points} == {0.05}
    day = DAY.toordinal()
    assert [(band.axis, band.low, band.high) for band in chart.bands] == [
        ("x", day + 0.5, day + 0.5), ("x", day + 0.5, day + 1.5), ("y", 0.02, 0.04),
    ]  # fmt: skip
    assert [(text.text, text.x) for text in chart.texts] == [("A", day + 0.5)]
    assert chart.x.ticks == [(day, "20 Nov"), (day + 1, "21 Nov"), (day + 2, "22 Nov")]
    assert all(label.endswith("%") for _, label in chart.y.ticks)


def test_a_single_line_keeps_its_intervals_its_gaps_and_the_days_that_are_not_complete() -> None:
    days = (0, 1, 5, 6)
    points = [
        DayRate(DAY + timedelta(days=day), "a", of_sessions(fill_sessions(4, 100, 100))) for day in days
    ]
    trend = make_trend_chart(points, {"a": 0}, last_whole=DAY + timedelta(days=5))
    (chart,) = convert_trend(trend, "")
    whole, partial = chart.series
    assert [point.y for point in whole.points] == [0.04, 0.04, None, 0.04]
    assert all(point.low is not None and not point.is_hollow for point in whole.points if point.y)
    assert (partial.line, partial.in_legend) == ("dotted", False)
    assert [point.is_hollow for point in partial.points] == [False, True]


def test_each_panel_of_a_trend_becomes_a_chart_on_the_same_scale() -> None:
    names = [f"model-{number}" for number in range(4)]
    mark = Mark("A", DAY, DAY, DAY, ("model-2",))
    charts = convert_trend(trend_of({name: (3, place) for place, name in enumerate(names)}, marks=[mark]), "")
    assert [chart.title for chart in charts] == [f"Errors: {name}" for name in names]
    assert [[line.name for line in chart.series] for chart in charts] == [
        ["all together", name] for name in names
    ]
    assert len({(chart.y.low, chart.y.high) for chart in charts}) == 1
    assert [len(chart.texts) for chart in charts] == [0, 0, 1, 0]


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("page", "query", "names"),
    [
        ("models", {}, ["egret", "heron"]),
        ("overview", {}, ["egret", "heron"]),
        ("prompts", {"show": "days"}, ["p1"]),
    ],
)
def test_the_report_draws_the_trend_with_the_names_of_its_lines(
    store: Path, handed: Handed, page: str, query: dict[str, str], names: list[str]
) -> None:
    publish(store, {"tool_calls": models_on("2026-11-01", (4, 60), 10)})
    handed.open(PAGE[page], **query)
    assert handed.document is not None
    (chart,) = [part for part in handed.document.parts if isinstance(part, Chart)]
    assert [line.name for line in chart.series] == names
    figure = handed.report.partition("<figure>")[2].partition("</figure>")[0]
    assert figure.startswith("<h2>Parse errors by day")
    assert figure.count('class="line solid"') >= len(names)
    assert all(name in figure for name in names)


def test_the_figure_of_a_query_becomes_a_chart() -> None:
    days = [DAY, DAY + timedelta(days=1)]
    figure = plot_result("bar", "calls", days, [3, 4]).figure
    assert figure is not None
    chart = read_figure(figure, "calls by day")
    assert [(point.x, point.y) for point in chart.series[0].points] == [(0, 3), (1, 4)]
    assert chart.series[0].is_bar
    assert chart.y.low == 0

"""Tests that a document contains all figures, needs no other file, and escapes log content."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest

from callgauge.documents.document import (
    Chart,
    ChartAxis,
    ChartBand,
    ChartPoint,
    ChartSeries,
    ChartText,
    Document,
    DocumentCell,
    DocumentColumn,
    DocumentTable,
    Method,
)
from callgauge.documents.html_page import write_html
from callgauge.documents.markdown import MOST_ROWS, write_markdown
from callgauge.documents.svg import draw_chart, draw_legend

EVIL = "<script>alert(1)</script>|`c`[x](http://evil.test) **b** @team \u202egnp\x1b[31m\n# h | --- |"
ALLOWED = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "main",
        "p",
        "h1",
        "h2",
        "h3",
        "dl",
        "div",
        "dt",
        "dd",
    ),
    *(
        "figure",
        "svg",
        "g",
        "path",
        "circle",
        "rect",
        "line",
        "text",
        "ul",
        "li",
        "table",
        "thead",
        "tbody",
        "tr",
    ),
    *("th", "td", "span", "code", "section", "strong", "footer", "a"),
}


class _Page(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        assert not any(name.startswith("on") for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


def a_chart(name: str = "falcon-3", *heights: float | None) -> Chart:
    points = [
        ChartPoint(place, height, 0.0, 0.2, is_hollow=not place) for place, height in enumerate(heights)
    ]
    return Chart(
        f"Rate of {name}",
        f"Rate of {name} by day",
        [ChartSeries(name, points, 1), ChartSeries("others", points, line="dashed")],
        ChartAxis(0, 3, [(0, "Nov 1"), (2, name)], "Day"),
        ChartAxis(0, 0.2, [(0, "0%"), (0.1, "10%")], "Share"),
        [ChartBand("y", 0.05, 0.08), ChartBand("x", 1.5, 1.5)],
        [ChartText(name, 1.5, 0.2)],
    )


def a_document(text: str = "falcon-3", rows: int = 2) -> Document:
    columns = [DocumentColumn("Model"), DocumentColumn("Calls", is_number=True), DocumentColumn(text)]
    cells = [
        DocumentCell(text, is_code=True),
        DocumentCell("1,234"),
        DocumentCell("4.3%", "191 / 4,420", estimate=0.2, low=0.1, high=0.4),
    ]
    return Document(
        "Models",
        f"{text} is the best: 4.3% against 6.8%.",
        {"Days": "2026-11-01 to 2026-11-28", "Model": text},
        [DocumentTable(f"Rates of {text}", columns, [cells] * rows), a_chart(text, 0.1, None, 0.05, 0.15)],
        [Method("How often does it happen?", ["A call is `failed` where **both** say so."])],
        "https://gauge.example.com/models?days=2026-11-01+to+2026-11-28&model=a%28b%29",
        datetime(2026, 11, 29, 9, 10, tzinfo=UTC),
        "Data of 2026-11-28.",
    )


def test_a_file_holds_the_sentence_the_figures_the_method_and_the_link() -> None:
    page = _Page(write_html(a_document()))
    for text in (
        "falcon-3 is the best: 4.3% against 6.8%.",
        *("1,234", "4.3%", "191 / 4,420", "Nov 1", "10%", "A call is ", "failed", "Data of 2026-11-28."),
        *("Made 2026-11-29 09:10 UTC", "2026-11-01 to 2026-11-28"),
    ):
        assert text in page.text
    assert page.links == ["https://gauge.example.com/models?days=2026-11-01+to+2026-11-28&model=a%28b%29"]
    assert {"table", "svg", "strong", "code"} <= page.tags


@pytest.mark.parametrize("text", ["falcon-3", EVIL])
def test_a_file_needs_nothing_but_itself(text: str) -> None:
    written = write_html(a_document(text))
    page = _Page(written)
    assert page.tags - ALLOWED == set()
    assert "url(" not in written
    assert "@import" not in written
    assert "default-src 'none'" in written
    assert "prefers-color-scheme: dark" in written
    assert "@media print" in written
    assert "\x1b" not in written
    assert "\u202e" not in written


def test_markdown_is_the_sentence_the_first_table_what_was_chosen_and_the_link() -> None:
    assert write_markdown(a_document()) == (
        "**falcon-3 is the best: 4.3% against 6.8%.**\n\n"
        "| Model | Calls | falcon-3 |\n| --- | --: | --- |\n"
        "| falcon-3 | 1,234 | 4.3% (191 / 4,420) |\n| falcon-3 | 1,234 | 4.3% (191 / 4,420) |\n\n"
        "Days: 2026-11-01 to 2026-11-28 · Model: falcon-3\n\n"
        "[Models in Callgauge](https://gauge.example.com/models?days=2026-11-01+to+2026-11-28&model=a%28b%29)\n"
    )


def test_a_hostile_name_makes_no_cell_no_code_no_link_and_no_mention() -> None:
    written = write_markdown(a_document(EVIL))
    table = [line for line in written.splitlines() if line.startswith("|")]
    assert len(table) == 4, "a line break would end the row"
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {4}
    assert not re.search(r"(?<!\\)[<`\[]", written.rsplit("\n[", 1)[0])
    assert "@team" not in written
    assert "http://evil" not in written
    assert "\u202e" not in written


def test_of_a_long_table_markdown_says_how_many_rows_it_leaves_out() -> None:
    written = write_markdown(a_document(rows=MOST_ROWS + 5))
    assert written.count("| falcon-3 | 1,234") == MOST_ROWS
    assert "5 more rows are behind the link." in written


def test_a_chart_is_well_formed_and_breaks_its_line_where_nothing_is_known() -> None:
    drawn = draw_chart(a_chart(EVIL, 0.1, None, 0.05, 0.15))
    root = ET.fromstring(drawn)  # noqa: S314 - our own text
    assert root.tag == "svg"
    lines = [node.get("d", "") for node in root.iter("path") if "line" in (node.get("class") or "")]
    assert [line.count("M") for line in lines] == [2, 2]
    assert sum("hollow" in (node.get("class") or "") for node in root.iter("circle")) == 2
    assert "nan" not in drawn.lower()


def test_what_is_beyond_the_scale_is_drawn_at_its_edge() -> None:
    root = ET.fromstring(draw_chart(a_chart("a", 9.0, -9.0)))  # noqa: S314 - our own text
    heights = {float(node.get("cy", "0")) for node in root.iter("circle")}
    assert heights == {26.0, 250.0}


def test_a_single_series_has_no_legend() -> None:
    chart = a_chart("a", 0.1)
    assert draw_legend(chart).count("<li") == 2
    alone = Chart(chart.title, chart.words, chart.series[:1], chart.x, chart.y)
    assert draw_legend(alone) == ""

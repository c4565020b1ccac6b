"""Tests the downloadable file of a card. The file has the rows and cells of the card's table in the same
order, with full names.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from callgauge.analysis.measures.comparisons import compare_pairs
from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.measures.slices import Slice
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.difference_cells import difference_cell, verdict_cell
from callgauge.dashboard.components.slice_table import part_cell, rate_cell, share_cell
from callgauge.dashboard.components.table import Cell, Column, Table, choose_decimals
from callgauge.stats import Share
from tests.analysis.store_fixture import publish, small_tables
from tests.dashboard.conftest import COUNTING, opened
from tests.dashboard.sheets import sheets

Files = dict[str, Callable[[], bytes]]


def a_slice(name: str, k: int, n: int, total: int | None = None) -> Slice:
    return Slice(RATES["parse_error"], name, "all", Share(k, n, n), total or n)


def frame_of(columns: list[Column], rows: list[list[Cell]]) -> dict[Any, list[Any]]:
    columns_by_name: dict[Any, list[Any]] = Table("t", "A table", columns, rows).to_frame().to_dict("list")
    return columns_by_name


def test_a_rate_is_its_figures_as_plain_numbers() -> None:
    columns_by_name = frame_of(
        [Column("Needed repair", "rate")], [[rate_cell(a_slice("a", 13, 200, 250), None)]]
    )
    low, high = columns_by_name.pop("Needed repair low")[0], columns_by_name.pop("Needed repair high")[0]
    assert columns_by_name == {
        "Needed repair rate": [0.065], "Needed repair k": [13],
        "Needed repair n": [200], "Needed repair sessions": [200],
        "Needed repair unmeasured": [50],
    }  # fmt: skip
    assert 0.03 < low < 0.065 < high < 0.11


def test_an_unmeasured_rate_is_empty_and_says_how_much_is_not_known() -> None:
    cells = [
        rate_cell(a_slice("a", 0, 0, 7), None),
        rate_cell(None, None),
        rate_cell(a_slice("b", 1, 9), None),
    ]
    columns_by_name = frame_of([Column("Needed repair", "rate")], [[cell] for cell in cells])
    assert columns_by_name["Needed repair rate"] == [None, None, 1 / 9]
    assert columns_by_name["Needed repair unmeasured"] == [7, None, 0]


def test_a_difference_and_its_verdict_are_numbers_and_words() -> None:
    (comparison,) = compare_pairs([(a_slice("b", 90, 400), a_slice("a", 10, 400))])
    columns_by_name = frame_of(
        [Column("Difference", "rate"), Column("Verdict", "tight")],
        [[difference_cell(comparison, 0.3), verdict_cell(comparison, 0.02)]],
    )
    assert columns_by_name["Difference"] == [pytest.approx(0.2)]
    assert 0.1 < columns_by_name["Difference low"][0] < 0.2 < columns_by_name["Difference high"][0]
    assert columns_by_name["Verdict"] == ["Worse"]
    assert columns_by_name["Verdict p"][0] < 0.001
    assert columns_by_name["Verdict in words"][0].startswith("b is worse (parse errors): 22.5% vs 2.5%")


def test_other_cells_are_their_number_or_their_whole_text() -> None:
    long = "a name of many letters" * 9
    columns_by_name = frame_of(
        [
            Column("Tool", "name"),
            Column("Calls", "number"),
            Column("Tokens", "number"),
            Column("Seen", "tight"),
        ],
        [
            [
                Cell("a name…", order=long),
                Cell("1,234"),
                Cell("1.2k", order=1234.5),
                Cell("Monday", sub="Friday"),
            ],
            [Cell("b"), Cell("–"), Cell("−0.5"), Cell("–")],
        ],
    )
    assert columns_by_name["Tool"] == [long, "b"]
    assert columns_by_name["Calls"] == [1234, None]
    assert columns_by_name["Tokens"] == [1234.5, -0.5]
    assert columns_by_name["Seen"] == ["Monday", None]
    assert columns_by_name["Seen detail"] == ["Friday", None]


def test_what_a_column_is_sorted_by_is_not_its_value() -> None:
    cells = [Cell("1–2", order=-1.002), Cell("−3.5", order=3.5), Cell("1.2M", order=1_234_567)]
    assert frame_of([Column("Rank", "number")], [[cell] for cell in cells])["Rank"] == [
        "1–2",
        -3.5,
        1_234_567,
    ]


def test_columns_of_the_same_title_both_stay() -> None:
    assert list(frame_of([Column("a"), Column("a")], [[Cell("1"), Cell("2")]])) == ["a", "a (2)"]


def decimals_of(*counts: tuple[int, int]) -> int:
    cells = [share_cell(Share(k, n, n), None) for k, n in counts]
    return choose_decimals([cell.percentages for cell in cells if cell.percentages])


def test_a_column_has_one_number_of_decimals() -> None:
    assert decimals_of((0, 200), (13, 200), (1, 9)) == 1
    assert decimals_of((1, 3), (5, 9)) == 0  # the width of the interval makes a third digit meaningless
    assert decimals_of((1, 44)) == 1  # 2% would be rounded too much
    assert decimals_of((3, 1000), (0, 50)) == 2
    assert decimals_of((0, 50)) == 1


def test_a_share_that_is_not_nothing_never_reads_as_nothing() -> None:
    cell = part_cell(1, 10_000)
    assert cell.text == "<0.1%"
    assert part_cell(9_999, 10_000).text == ">99.9%"
    assert (part_cell(0, 10).text, part_cell(10, 10).text, part_cell(0, 0).text) == ("0.0%", "100.0%", "–")


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> Files:
    """Return the function that makes each downloadable file, by file name."""
    offered: Files = {}

    def note(_label: str, name: str, _mime: str, made: Callable[[], bytes]) -> None:
        assert name not in offered, f"{name} is offered twice"
        offered[name] = made

    monkeypatch.setattr(cards, "_draw_download_button", note)
    return offered


def read(file: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(file.decode())))


def written(text: str) -> str:
    return text.lstrip("'")


@pytest.mark.thorough(quick=5)
@pytest.mark.parametrize("page", COUNTING)
def test_on_every_page_the_file_has_the_rows_of_the_table(small: Path, files: Files, page: str) -> None:
    drawn = sheets(opened(page))
    by_key = {sheet["key"]: sheet for sheet in drawn.values()}
    for key, table in by_key.items():
        if f"{key}.csv" not in files:
            continue
        rows = read(files[f"{key}.csv"]())
        assert len(rows) == len(table["rows"])
        assert len(pd.read_parquet(BytesIO(files[f"{key}.parquet"]()))) == len(rows)
        for row, cells in zip(rows, table["rows"], strict=True):
            for column, cell in zip(table["columns"], cells, strict=True):
                check_cell(column["full"] or column["title"], cell, row)


# Matches a number with a unit. This pattern does not use the code that the test checks.
AMOUNT = re.compile(
    r"[<>]?[$€£]?[-+−]?\d[\d,.]* ?(%|ms|s|min|h|d|B|kB|MB|GB|k|M|G)( \d+ (s|min|h))?"
    r"|<?[$€£][\d,.]+|[\d,]+ / [\d,]+|\d+="
)
OTHER_VIEWS: list[tuple[str, dict[str, str]]] = [
    ("calls", {"call": "c41"}),
    ("sessions", {"session": "s1"}),
    ("errors", {"traits": "1"}),
    ("tools", {"tool": "read_file"}),
    ("data", {"tab": "nights"}),
]


def page_of(name: str) -> str:
    return next(file for file in COUNTING if f"/{name}/" in file)


@pytest.fixture
def measured(store: Path) -> Path:
    """Return the small store, with durations for calls and replies."""
    tables = small_tables()
    times = {"model_latency_ms": 2_400.0, "result_bytes": 2_100}
    calls = enumerate(tables["tool_calls"])
    tables["tool_calls"] = [{**call, **times, "latency_ms": 383.0 + number} for number, call in calls]
    publish(store, tables)
    return store


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("page", "query"),
    [(page, {}) for page in COUNTING] + [(page_of(name), query) for name, query in OTHER_VIEWS],
)
def test_no_file_holds_numbers_as_texts(
    measured: Path, monkeypatch: pytest.MonkeyPatch, page: str, query: dict[str, str]
) -> None:
    drawn: list[Table] = []

    def note(_title: str, tables: Sequence[Table], *_others: object) -> None:
        drawn.extend(tables)

    monkeypatch.setattr(cards, "_draw_menu", note)
    opened(page, **query)
    for table in drawn:
        for title, values in table.to_frame().items():
            texts = [value for value in values if isinstance(value, str)]
            amounts = [text for text in texts if AMOUNT.fullmatch(text)]
            assert 2 * len(amounts) <= len(texts) or not amounts, f"{table.caption}, {title}: {amounts[:3]}"


def check_cell(title: str, cell: dict[str, Any], row: dict[str, str]) -> None:
    """Check that the file's row has the cell's rate (k of n), its difference with interval, or its string."""
    name = written(title)
    amount = {unit: row[f"{name} {unit}"] for unit in ("ms", "share", "bytes") if row.get(f"{name} {unit}")}
    if f"{name} k" in row and f"{name} rate" not in row:
        assert cell["text"] in ("–", "", f"{int(row[f'{name} k']):,} / {int(row[f'{name} n']):,}")
    elif amount:
        (number,) = amount.values()
        assert float(number) >= 0
        assert re.fullmatch(AMOUNT, cell["text"])
    elif f"{name} k" in row:
        if not row[f"{name} rate"]:
            counts = f"{int(row[f'{name} k']):,} / {int(row[f'{name} n']):,}" if row[f"{name} n"] else "–"
            assert cell["text"] in ("–", "", counts)
            return
        rate, k, n = (float(row[f"{name} {suffix}"]) for suffix in ("rate", "k", "n"))
        assert k == pytest.approx(rate * n)
        assert cell["sub"] is None or cell["sub"].startswith(f"{k:,.0f} / {n:,.0f}")
        assert float(cell["text"].strip("%<>")) == pytest.approx(100 * rate, abs=0.5)
    elif f"{name} low" in row and row[name]:
        assert float(row[f"{name} low"]) <= float(row[name]) <= float(row[f"{name} high"])
        assert float(cell["text"].replace("−", "-")) == pytest.approx(100 * float(row[name]), abs=0.06)
    elif isinstance(cell["order"], str):
        assert written(row[name]) == written(cell["order"])
    elif name in row and cell["order"] is None and not cell["bars"]:
        if not row[name]:
            assert not re.search(r"\d", cell["text"])
            return
        if re.match(r"\d{4}-\d\d-\d\d", cell["text"]):
            assert row[name].startswith(cell["text"])
            return
        if "…" in cell["text"]:
            assert written(row[name]).startswith(cell["text"].partition("…")[0])
            return
        number = cell["text"].replace(",", "").replace("−", "-").rstrip("%")
        assert written(row[name]) in (cell["text"], number) or float(row[name]) == float(number)


def test_the_sums_stay_an_option(small: Path, files: Files) -> None:
    opened("callgauge/dashboard/pages/errors/page.py", traits="1")
    assert read(files["traits_sums.csv"]())


def test_amounts_become_numbers_with_their_unit_in_the_title() -> None:
    columns_by_name = frame_of(
        [
            Column("Took", "number"), Column("Chance", "tight"), Column("Cost", "number"),
            Column("Size", "tight"), Column("Turns", "number"), Column("Tool", "name"),
        ],
        [
            [Cell("383 ms"), Cell("97%"), Cell("$0.14"), Cell("2.1 kB"), Cell("12 / 40"), Cell("97%")],
            [Cell("4 min 12 s"), Cell("<0.1%"), Cell("CHF 1,012.50"), Cell("310 B"), Cell("–"), Cell("5 s")],
            [Cell("–"), Cell(">99.9%", sub="33.1%"), Cell("–"), Cell("–"), Cell("0 / 7"), Cell("$1")],
        ],
    )  # fmt: skip
    assert columns_by_name == {
        "Took ms": [383, 252_000, None],
        "Chance share": [0.97, 0.001, 0.999],
        "Chance detail share": [None, None, 0.331],
        "Cost": [0.14, 1012.5, None],
        "Cost currency": ["USD", "CHF", None],
        "Size bytes": [2100, 310, None],
        "Turns k": [12, None, 0],
        "Turns n": [40, None, 7],
        "Tool": ["97%", "5 s", "$1"],
    }, "names of a log stay as they are, whatever they look like"


def test_an_amount_of_money_keeps_its_own_digits_and_says_its_currency() -> None:
    cell = Cell("€0.14", values={"": 0.1397, "calls": 3})
    assert frame_of([Column("Cost", "number")], [[cell]]) == {
        "Cost": [0.1397], "Cost calls": [3], "Cost currency": ["EUR"],
    }  # fmt: skip

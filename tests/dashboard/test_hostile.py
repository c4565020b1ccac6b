"""Tests a store in which every field is an attack. Exported files must be safe, and pages must not send too
much data.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest
import streamlit as st
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from callgauge.analysis.metrics.published_store import published_generation
from callgauge.analysis.texts.url_texts import pack_text
from callgauge.analysis.wording import in_sheet
from callgauge.dashboard.pages import PAGES
from tests.dashboard.conftest import FILES, opened
from tests.dashboard.hostile_log import LONG, MARK, hostile, publish_hostile

MOST = 1_000_000  # bytes that a page may send at most
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


@dataclass(slots=True)
class Walk:
    """The number of bytes that each page sent, and the files that each page offered."""

    sent: dict[str, int] = field(default_factory=dict)
    files: dict[tuple[str, str], bytes] = field(default_factory=dict)

    def of_kind(self, ending: str) -> dict[tuple[str, str], bytes]:
        return {place: made for place, made in self.files.items() if place[1].endswith(ending)}


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory, runs_all: bool) -> Iterator[Walk]:
    """Open every page and each of the page's views once, and make each offered file.

    Ordinary tests open a third of the pages and views.
    """
    store = publish_hostile(tmp_path_factory.mktemp("hostile"))
    done = Walk()
    offered: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CALLGAUGE_STORE", str(store))
        patch.setattr(st, "download_button", _noting(st.download_button, offered))
        patch.setattr(LocalScriptRunner, "forward_msgs", _weighing(LocalScriptRunner.forward_msgs, done.sent))
        for page, query in places(store)[:: 1 if runs_all else 3]:
            st.cache_data.clear()
            offered.clear()
            app = opened(page, **query)
            assert not app.error, (page, query)
            place = f"{page} {query}"
            done.sent[place] = done.sent.pop("")
            done.files |= {(place, name): made() for name, made in offered.items()}
        yield done


def places(store: Path) -> list[tuple[str, dict[str, str]]]:
    with duckdb.connect(str(published_generation(str(store))), read_only=True) as connection:
        calls = connection.execute("SELECT call_id, signature_id FROM tool_calls ORDER BY line").fetchall()
        long = connection.execute(
            "SELECT call_id, session_id FROM tool_calls ORDER BY length(raw_arguments) DESC LIMIT 3"
        ).fetchall()
    signature = next(signature for _, signature in calls if signature)
    page = {entry.name: entry.file for entry in PAGES}
    shown = [calls[0][0], calls[1][0], *(call for call, _ in long)]
    return [
        *((file, {}) for file in FILES),
        *((page["calls"], {"call": call}) for call in shown),
        *((page["playground"], {"call": call}) for call in shown),
        (page["sessions"], {"session": long[0][1]}),
        (page["sessions"], {"session": long[0][1], "find": "hacked"}),
        (page["sessions"], {"session": f"{hostile('session')} 0"}),
        (page["tools"], {"tool_open": hostile("tool")}),
        (page["sql"], {"sql": pack_text('SELECT *, 1 AS "=1+1" FROM tool_calls')}),
        (page["playground"], {"tab": "stored", "replay_tool": hostile("tool")}),
        (page["errors"], {"signature": signature}),
        (page["errors"], {"tab": "retries"}),
        (page["errors"], {"stages": "1", "traits": "1"}),
        (page["data"], {"changed": f"tool:session_history:{hostile('tool')}"}),
        (page["data"], {"changed": f"prompt:session_history:{hostile('prompt')}"}),
        (page["calls"], {"q": MARK, "model": "no such"}),
    ]


def _noting(real: Callable[..., Any], offered: dict[str, Any]) -> Callable[..., Any]:
    def button(label: str, data: Any, file_name: str, *rest: Any, **more: Any) -> Any:
        offered[file_name] = data if callable(data) else lambda: _bytes(data)
        return real(label, data, file_name, *rest, **more)

    return button


def _bytes(data: Any) -> bytes:
    return data.encode() if isinstance(data, str) else bytes(data)


def _weighing(real: Callable[..., Any], sent: dict[str, int]) -> Callable[..., Any]:
    def messages(runner: Any) -> Any:
        made = real(runner)
        sent[""] = sum(message.ByteSize() for message in made)
        return made

    return messages


def _records(made: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(made.decode(), newline="")))


def test_no_cell_of_any_csv_is_a_formula(walk: Walk, runs_all: bool) -> None:
    files = walk.of_kind(".csv")
    assert len({name for _, name in files}) > (15 if runs_all else 5)
    for place, made in files.items():
        for row in csv.reader(io.StringIO(made.decode(), newline="")):
            assert not [cell for cell in row if cell.lstrip().startswith(FORMULA) and not _is_number(cell)], (
                place
            )


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def test_parquet_keeps_the_text_as_it_is(walk: Walk, runs_all: bool) -> None:
    compared = set()
    for (place, name), made in walk.of_kind(".parquet").items():
        table = pq.read_table(io.BytesIO(made)).to_pylist()
        cells = _records(walk.files[place, name.removesuffix("parquet") + "csv"])
        for row, record in zip(table, cells, strict=True):
            for column, value in row.items():
                if isinstance(value, str):
                    assert record[in_sheet(column)] == in_sheet(value), (name, column)
                if isinstance(value, str) and value.startswith(FORMULA) and MARK in value:
                    compared.add((name, column))
    assert len(compared) > (15 if runs_all else 5), compared


def test_each_line_of_what_is_taken_away_as_json_lines_is_json(walk: Walk) -> None:
    for made in [*walk.of_kind(".jsonl").values(), *walk.of_kind(".json").values()]:
        text = made.decode()
        for part in [text] if text.startswith(("[", "{\n")) else text.splitlines():
            json.loads(part)


def test_what_a_page_sends_is_bounded_though_a_value_is_ten_megabytes(walk: Walk) -> None:
    assert LONG == 10_000_000
    assert not {place: sent for place, sent in walk.sent.items() if sent > MOST}

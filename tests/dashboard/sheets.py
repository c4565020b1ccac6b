"""Reads the tables of an opened page, and makes tool calls to fill a page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import date, timedelta
from typing import Any

from streamlit.testing.v1 import AppTest

from callgauge.dashboard.components.table import Cell
from tests.analysis.store_fixture import a_call

# These are the defaults of a cell's fields. The page does not send fields that have their default.
PLAIN = {**asdict(Cell("")), "marks": []}
BAD = {"outcome": "failed", "fault_layer": "syntax", "parse_error": "json_parse_error:x", "arguments": None}


def sheets(app: AppTest) -> dict[str, dict[str, Any]]:
    """Return the tables of the page by caption, as the table component receives them."""
    blocks = [json.loads(block.proto.json) for block in app.get("bidi_component") if block.proto.json]
    drawn = [sheet for sheet in blocks if "caption" in sheet]
    for sheet in drawn:
        sheet["rows"] = [[{**PLAIN, **cell} for cell in row] for row in sheet["rows"]]
    return {sheet["caption"]: sheet for sheet in drawn}


def texts(table: dict[str, Any], column: int) -> list[str]:
    return [row[column]["text"] for row in table["rows"]]


def sheet_of(app: AppTest, caption: str) -> list[dict[str, dict[str, Any]]]:
    """Return the rows of the table with this `caption`. Each row maps column titles to cells."""
    drawn = sheets(app)
    assert caption in drawn, f"no table “{caption}”: {list(drawn)}"
    titles = [column["title"] for column in drawn[caption]["columns"]]
    return [dict(zip(titles, row, strict=True)) for row in drawn[caption]["rows"]]


def here_links(app: AppTest) -> dict[str, str | None]:
    """Return the URLs of the links to other views of the page by label, or None for a label without link."""
    blocks = [json.loads(block.proto.json) for block in app.get("bidi_component") if block.proto.json]
    return {element["label"]: element["href"] for element in blocks if "arrives" in element}


def calls(good: int, bad: int, **fields: Any) -> list[dict[str, Any]]:
    """Return this number of tool calls, each in its own session. The bad calls have a syntax error."""
    key = "/".join(str(value) for value in fields.values())
    return [
        a_call(
            number, call_id=f"{key}:{number}", session_id=f"{key}:{number}", **(BAD if number < bad else {})
        )
        | fields
        for number in range(good + bad)
    ]


def over_days(several: Sequence[dict[str, Any]], first: str, days: int = 5) -> list[dict[str, Any]]:
    """Spread the tool calls evenly over this number of days, from `first` on. Return them."""
    begin = date.fromisoformat(first)
    return [
        call | {"day": (begin + timedelta(number % days)).isoformat()} for number, call in enumerate(several)
    ]

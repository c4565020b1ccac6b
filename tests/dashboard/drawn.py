"""A page opened without a browser in, its tables out: by their caption, as the component gets them."""

from __future__ import annotations

import json
from typing import Any

from streamlit.testing.v1 import AppTest


def sheets(app: AppTest) -> dict[str, dict[str, Any]]:
    """The tables of the page by their caption."""
    found = [json.loads(element.proto.json) for element in app.get("bidi_component")]
    return {one["caption"]: one for one in found if "caption" in one}


def texts(table: dict[str, Any], column: int) -> list[str]:
    return [row[column]["text"] for row in table["rows"]]

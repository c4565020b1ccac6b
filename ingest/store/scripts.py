"""Reads the SQL scripts in this module's folder."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent


@cache
def read_script(name: str) -> str:
    """Return the text of an SQL script: one statement, or several statements without parameters."""
    return (_FOLDER / name).read_text("utf-8")

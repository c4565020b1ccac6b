"""Reads the SQL scripts that lie beside this module."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent


@cache
def read_script(name: str) -> str:
    """Return the text of a script: one statement, or several where none has parameters."""
    return (_FOLDER / name).read_text("utf-8")

"""Names of scripts and styles in this folder in, their text out, read once: every table asks anew."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent


@cache
def source(*names: str) -> str:
    """The files one after the other: a component is one script and one style."""
    return "".join((_FOLDER / name).read_text(encoding="utf-8") for name in names)

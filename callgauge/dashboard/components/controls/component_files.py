"""Reads the scripts and styles of components, with a cache, since every table needs them."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def read_source(beside: str, *names: str) -> str:
    """Return the joined text of files; their names are relative to the module `beside` (its `__file__`)."""
    return "".join((Path(beside).parent / name).read_text(encoding="utf-8") for name in names)

"""Paths of the page scripts."""

from __future__ import annotations

from pathlib import Path

_PAGES = Path(__file__).parent / "pages"


def page_file(name: str) -> str:
    """Return the absolute path of a page script."""
    return str(_PAGES / name / "page.py")

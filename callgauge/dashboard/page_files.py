"""Paths of the page scripts, by which links name a page."""

from __future__ import annotations

from pathlib import Path

_PAGES = Path(__file__).parent / "pages"


def page_file(name: str) -> str:
    """Return the absolute path of a page's script; a relative one would depend on who serves the pages."""
    return str(_PAGES / name / "page.py")

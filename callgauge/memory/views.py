"""Saved views: the addresses of pages with their filters, each under a name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from callgauge.memory.memory_file import (
    MemoryFile,
    check_link,
    cut_name,
    make_insert,
    require_text,
    write_now,
)

SELECT_VIEWS = "SELECT name, owner, page, query, shared, at FROM views ORDER BY name COLLATE NOCASE, owner"


@dataclass(frozen=True, slots=True)
class SavedView:
    """A page with its filters. `page` is the page's name in the URL. `query` is the URL's query string.

    Views with `shared` are visible to the whole team. Other views are visible only to their owner. An owner
    cannot use a name twice.
    """

    name: str
    owner: str
    page: str
    query: str
    shared: bool
    at: datetime


def read_view(row: Sequence[Any]) -> SavedView:
    name, owner, page, query, shared, at = row
    return SavedView(name, owner, page, query, bool(shared), datetime.fromisoformat(at))


def save_view(
    file: MemoryFile, name: str, page: str, query: str, *, owner: str = "", shared: bool = True
) -> None:
    """Save an address under a name.

    Raises ValueError for an empty name or an address that is too long. Raises MemoryProblemError when the
    owner already uses the name.
    """
    row = {
        "name": cut_name(require_text(name, "a view has a name")),
        "owner": cut_name(owner),
        "page": page,
        "query": check_link(query),
        "shared": int(shared),
        "at": write_now(),
    }
    file.write(make_insert("views", row))


def rename_view(file: MemoryFile, view: SavedView, name: str) -> None:
    """Rename a view. Raises ValueError for an empty name, and MemoryProblemError when the owner already uses
    the name.
    """
    new_name = cut_name(require_text(name, "a view has a name"))
    file.write(
        ("UPDATE views SET name = ? WHERE owner = ? AND name = ?", [(new_name, view.owner, view.name)])
    )


def share_view(file: MemoryFile, view: SavedView, *, shared: bool) -> None:
    """Show a view to the whole team, or only to its owner."""
    file.write(
        ("UPDATE views SET shared = ? WHERE owner = ? AND name = ?", [(int(shared), view.owner, view.name)])
    )


def delete_view(file: MemoryFile, view: SavedView) -> None:
    file.write(("DELETE FROM views WHERE owner = ? AND name = ?", [(view.owner, view.name)]))

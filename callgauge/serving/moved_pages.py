"""Redirects requests for renamed or merged pages to their new addresses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

Query = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class MovedPage:
    """The new address of a page.

    `to` is the new page. `renamed` maps old URL keys to new keys. `values` maps old values of these keys to
    new values. `added` contains keys and values to add to the new URL; a renamed key replaces an added key.
    """

    to: str
    added: Mapping[str, str] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)


MOVED: Mapping[str, MovedPage] = {
    "memory": MovedPage("decisions"),
    "matrix": MovedPage(
        "models",
        {"view": "prompt"},
        {"cells": "view"},
        {"model.prompt": "prompt", "model.tool": "tool", "tool.prompt": "tool", "model.provider": "host"},
    ),
    "retries": MovedPage("errors", {"tab": "retries"}),
    "replay": MovedPage("playground", {"tab": "stored"}),
}
"""Maps the old name of a page in the URL to its new address."""


def find_page(name: str, query: Query) -> tuple[str, Query]:
    """Return the current name and query of a page, given the name and query in an old link."""
    moved = MOVED.get(name)
    if moved is None:
        return name, query
    renamed = {
        moved.renamed[key]: moved.values.get(value, value) for key, value in query if key in moved.renamed
    }
    set_ = {**moved.added, **renamed}
    unchanged = [(key, value) for key, value in query if key not in moved.renamed and key not in set_]
    return moved.to, [*unchanged, *set_.items()]


class MovedPages:
    """Redirects requests for moved pages, so that old links work. The new address keeps the query."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = scope["path"].rstrip("/").rpartition("/")[2] if scope["type"] == "http" else ""
        if name in MOVED and "text/html" in Headers(scope=scope).get("accept", ""):
            text = scope["query_string"].decode("latin-1")
            to, query = find_page(name, parse_qsl(text, keep_blank_values=True))
            # The address is relative, because a proxy may serve the dashboard below a path.
            address = f"{to}?{urlencode(query)}" if query else to
            await RedirectResponse(address, status_code=308)(scope, receive, send)
            return
        await self._app(scope, receive, send)

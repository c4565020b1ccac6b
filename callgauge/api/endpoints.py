"""Mount /api/v1 and /mcp on the web server. Their modules are imported at the first request."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

if TYPE_CHECKING:
    from callgauge.api.questions.store_access import SharedStore


def program_routes() -> list[BaseRoute]:
    """Return the routes through which programs read the served store."""
    shared: list[SharedStore] = []

    def open_store() -> SharedStore:
        from callgauge.api.questions.store_access import SharedStore

        if not shared:
            folder = os.environ.get("CALLGAUGE_STORE")
            shared.append(SharedStore(Path(folder) if folder else None))
        return shared[0]

    def make_api() -> ASGIApp:
        from callgauge.api.routes import make_application

        return make_application(open_store())

    def make_mcp() -> ASGIApp:
        from callgauge.api.mcp_server import McpEndpoint

        return McpEndpoint(open_store())

    return [Mount("/api/v1", app=LateApp(make_api)), Route("/mcp", endpoint=LateApp(make_mcp))]


class LateApp:
    """Creates an ASGI application at the first request, because importing its modules takes a second."""

    def __init__(self, make: Callable[[], ASGIApp]) -> None:
        self._make = make
        self._made: ASGIApp | None = None
        self._making: asyncio.Lock | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._making = self._making or asyncio.Lock()
        async with self._making:
            if self._made is None:
                self._made = await asyncio.to_thread(self._make)
        await self._made(scope, receive, send)

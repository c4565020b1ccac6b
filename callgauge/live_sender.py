"""Sends the live requests of the playground to a model, by the gateway."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from callgauge.dashboard.components.shell.live_requests import LiveReply, LiveRequest
from callgauge.gateway import ChatMessage, ChatRequest, Endpoint, NoReplyError
from callgauge.gateway.read_calls import read_past_messages
from lenient import ToolCatalog, ToolDefinition

_TIMEOUT = 60.0  # seconds; somebody waits
_AT_ONCE = 4


class LiveModels:
    """Sends the requests of the dashboard to one endpoint."""

    def __init__(self, url: str, wire: str, key: str, models: Sequence[str]) -> None:
        self._url, self._wire, self._key = url, wire, key
        self.models = tuple(models)
        self.endpoint = self._open().name

    def send(self, request: LiveRequest, times: int) -> list[LiveReply]:
        """Send the request so many times, four at once; the replies in no particular order of time."""
        return asyncio.run(self._send_all(request, times))

    def _open(self) -> Endpoint:
        return Endpoint(
            self._url, wire=self._wire, key=self._key, concurrency=_AT_ONCE, timeout=_TIMEOUT, attempts=2
        )

    async def _send_all(self, request: LiveRequest, times: int) -> list[LiveReply]:
        definitions = tuple(ToolDefinition.from_anthropic(tool) for tool in request.tools)
        catalog = ToolCatalog.from_definitions(definitions)
        messages: tuple[ChatMessage, ...] = tuple(read_past_messages(request.messages, catalog))
        asked = ChatRequest(request.model, messages, definitions)
        async with self._open() as endpoint:
            return list(await asyncio.gather(*(_send_one(endpoint, asked) for _ in range(times))))


async def _send_one(endpoint: Endpoint, asked: ChatRequest) -> LiveReply:
    try:
        reply = await endpoint.ask(asked)
    except NoReplyError as told:
        return LiveReply(error=str(told))
    calls = tuple((call.name, call.raw) for call in reply.calls)
    if reply.refused is not None:
        raw = reply.refused_call.raw if reply.refused_call is not None else ""
        calls = ((reply.refused_call.name if reply.refused_call else "", raw),)
    return LiveReply(calls, reply.text, reply.seconds, reply.tokens.read, reply.tokens.written)

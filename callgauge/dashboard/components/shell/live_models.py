"""Sends requests from the playground to a model, if the environment names an endpoint and a key.

CALLGAUGE_LIVE_ENDPOINT is the address (`https://api.openai.com/v1`). CALLGAUGE_LIVE_KEY is the API key.
CALLGAUGE_LIVE_WIRE is the API (default: openai-chat). CALLGAUGE_LIVE_MODELS holds comma-separated model
names.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from callgauge.dashboard.components.shell.live_requests import LiveReply, LiveRequest
from lenient import ToolCatalog, ToolDefinition

if TYPE_CHECKING:
    from callgauge.dashboard.components.shell.live_requests import LiveSender
    from callgauge.gateway import ChatRequest, Endpoint

_TIMEOUT = 60.0  # seconds; short, because a person waits for the reply
_AT_ONCE = 4


class LiveModels:
    """Sends live requests to one endpoint. Raises ValueError when the address or the API is invalid."""

    def __init__(self, url: str, wire: str, key: str, models: Sequence[str]) -> None:
        self._url, self._wire, self._key = url, wire, key
        self.models = tuple(models)
        self.endpoint = self._open().name

    def send(self, request: LiveRequest, times: int) -> list[LiveReply]:
        """Send the request `times` times, four requests at once.

        The order of the replies is arbitrary.
        """
        return asyncio.run(self._send_all(request, times))

    def _open(self) -> Endpoint:
        from callgauge.gateway import Endpoint

        return Endpoint(
            self._url, wire=self._wire, key=self._key, concurrency=_AT_ONCE, timeout=_TIMEOUT, attempts=2
        )

    async def _send_all(self, request: LiveRequest, times: int) -> list[LiveReply]:
        from callgauge.gateway import ChatRequest
        from callgauge.gateway.read_calls import read_past_messages

        definitions = tuple(ToolDefinition.from_anthropic(tool) for tool in request.tools)
        catalog = ToolCatalog.from_definitions(definitions)
        messages = tuple(read_past_messages(request.messages, catalog))
        chat_request = ChatRequest(request.model, messages, definitions)
        async with self._open() as endpoint:
            return list(await asyncio.gather(*(_send_one(endpoint, chat_request) for _ in range(times))))


async def _send_one(endpoint: Endpoint, request: ChatRequest) -> LiveReply:
    from callgauge.gateway import NoReplyError

    try:
        reply = await endpoint.ask(request)
    except NoReplyError as error:
        return LiveReply(error=str(error))
    calls = tuple((call.name, call.raw) for call in reply.calls)
    if reply.refused is not None:
        refused = reply.refused_call
        calls = ((refused.name, refused.raw) if refused is not None else ("", ""),)
    return LiveReply(calls, reply.text, reply.seconds, reply.tokens.read, reply.tokens.written)


def find_live_models(environment: Mapping[str, str] | None = None) -> LiveSender | None:
    """Return an object that sends live requests. Return None when no endpoint is configured."""
    variables = os.environ if environment is None else environment
    url, key = variables.get("CALLGAUGE_LIVE_ENDPOINT"), variables.get("CALLGAUGE_LIVE_KEY")
    if not url or not key:
        return None
    names = variables.get("CALLGAUGE_LIVE_MODELS", "").split(",")
    models = [name.strip() for name in names if name.strip()]
    try:
        return LiveModels(url, variables.get("CALLGAUGE_LIVE_WIRE", "openai-chat"), key, models)
    except ValueError:
        return None

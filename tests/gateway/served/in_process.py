"""Provides an endpoint that calls a scripted model in this process, without a socket or a thread."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import httpx2

from callgauge.gateway import Endpoint
from tests.event_loops import run
from tests.gateway.served.brain import Asked, Brain
from tests.gateway.served.dressed import read_asked, write_emitted

T = TypeVar("T")


class BrainEndpoint(Endpoint):
    """An endpoint that calls a scripted model. `asked` contains the requests in order."""

    def __init__(self, brain: Brain, wire: str = "openai-chat", **options: Any) -> None:
        self.asked: list[Asked] = []

        def answer(request: httpx2.Request) -> httpx2.Response:
            path = request.url.raw_path.decode()
            model_request = read_asked(
                path.removeprefix("/v1"), dict(request.headers), json.loads(request.content)
            )
            self.asked.append(model_request)
            emitted = brain(model_request)
            if emitted.status != 200:
                body = emitted.body if isinstance(emitted.body, bytes) else json.dumps(emitted.body).encode()
                return httpx2.Response(emitted.status, content=body, headers=dict(emitted.headers))
            content, kind = write_emitted(model_request, emitted)
            headers = {"content-type": kind, **emitted.headers}
            return httpx2.Response(200, content=content[: emitted.cut], headers=headers)

        options = {"key": "sk-canary-7f3a", "first_wait": 0.0, "attempts": 3, **options}
        super().__init__(
            "http://models.test/v1", wire=wire, transport=httpx2.MockTransport(answer), **options
        )


def ask_with(endpoint: Endpoint, asking: Callable[[Endpoint], Coroutine[Any, Any, T]]) -> T:

    async def inside() -> T:
        async with endpoint:
            return await asking(endpoint)

    return run(inside())

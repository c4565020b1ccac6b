"""Tests one conversation with a real model server on this machine, if there is one."""

from __future__ import annotations

import os

import httpx2
import pytest

from callgauge.gateway import Endpoint, Gateway, Turn, tool
from tests.event_loops import run

# These are the default addresses of Ollama, llama-server, vLLM and LM Studio.
USUAL = (
    "http://127.0.0.1:11434/v1",
    "http://127.0.0.1:8080/v1",
    "http://127.0.0.1:8000/v1",
    "http://127.0.0.1:1234/v1",
)


def find_server() -> tuple[str, str] | None:
    """Return the address and the first model of a local server that offers OpenAI's chat API."""
    named = os.environ.get("CALLGAUGE_TEST_ENDPOINT")
    for url in (named,) if named else USUAL:
        try:
            models = httpx2.get(f"{url}/models", timeout=1).json()["data"]
        except (httpx2.HTTPError, ValueError, KeyError, TypeError):
            continue
        if models:
            return url, str(models[0]["id"])
    return None


@tool
def add_numbers(first: int, second: int) -> int:
    """Add two numbers."""
    return first + second


def test_a_real_server_holds_a_conversation() -> None:
    server = find_server()
    if server is None:
        pytest.skip("no local model server listens here (CALLGAUGE_TEST_ENDPOINT names one)")
    url, model = server

    async def hold() -> Turn:
        async with Gateway(Endpoint(url, timeout=300), [add_numbers], model=model) as gateway:
            return await gateway.run("What is 17 and 25 added? Use the tool.")

    turn = run(hold())
    assert turn.status in ("ok", "error", "max_steps", "prompt_limit")
    assert turn.steps
    assert all(call.result.status for call in turn.calls)

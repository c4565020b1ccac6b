"""Tests that a load of recorded traffic gives the same calls as session logs of the same conversations."""

from __future__ import annotations

import asyncio
from pathlib import Path

import duckdb
import pytest

from callgauge.gateway import Capabilities, Endpoint, Gateway, Prompt, tool
from callgauge.recorder import ExchangeLog
from callgauge.recorder.exchange import PassingExchange
from ingest.pipeline.load import load
from ingest.store.generations import published_generation
from tests.event_loops import run
from tests.gateway.served.brain import Asked, Emitted
from tests.gateway.served.server import serve_model
from tests.recorder.serving import ask, recording
from tests.recorder.test_recorder import REPLY, REQUEST, answer_reply

NATIVE = Capabilities(
    supports_tool_use=True,
    supports_parallel_tools=True,
    allows_midturn_system=False,
    keeps_argument_text=True,
)
RAW = (
    '{"customer": "Acme", "limit": 3}',
    "{'customer': 'Acmé', 'limit': 3}",
    '{"customer": "多少", "limit": "4"}',
    '{"limit": 3}',
    '{"customer": "Acme", "lim',
)
CALLS = """
SELECT tool, raw_arguments, args_source, outcome, parse_error, parse_warning FROM tool_calls
WHERE NOT duplicate ORDER BY ALL
"""


@tool
def search_orders(customer: str, limit: int = 10) -> str:
    """Orders of a customer."""
    return f"{customer} has {limit} orders."


def slip(request: Asked) -> Emitted:
    """Make the tool call whose number the user sends. After the result of the call, answer."""
    if request.last.role != "user" or "was not run" in request.last.text:
        return Emitted("All done.")
    return Emitted("Let me see.", [("search_orders", RAW[int(request.user)])])


def read_calls(logs: Path, store: Path) -> list[tuple[object, ...]]:
    report = load([logs], store)
    assert report.rejects == 0, report
    generation = published_generation(store)
    assert generation is not None
    with duckdb.connect(str(generation), read_only=True) as opened:
        return opened.execute(CALLS).fetchall()


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "anthropic"])
def test_the_recorders_log_shows_the_calls_of_the_session_logs(wire: str, tmp_path: Path) -> None:
    async def scene() -> None:
        with serve_model(slip) as served:
            target = served.url.removesuffix("/v1")
            async with recording(tmp_path / "recorded", answer_reply, target=target) as recorded:
                for number in range(len(RAW)):
                    endpoint = Endpoint(f"http://127.0.0.1:{recorded.port}/v1", wire=wire, key="k" * 20)
                    asking = Gateway(
                        endpoint,
                        [search_orders],
                        "m",
                        Prompt("You help."),
                        capabilities=NATIVE,
                        log=tmp_path / "sessions",
                        session_id=f"s{number}",
                    )
                    async with asking as gateway:
                        await gateway.run(str(number))

    run(scene())
    calls = read_calls(tmp_path / "sessions", tmp_path / "store-of-sessions")
    assert len(calls) == len(RAW)
    assert {outcome for _, _, _, outcome, *_ in calls} == {"clean", "coerced", "repaired", "failed"}
    assert read_calls(tmp_path / "recorded", tmp_path / "store-of-recorded") == calls


def test_headers_name_session_prompt_and_task(tmp_path: Path) -> None:
    async def scene() -> None:
        async with recording(tmp_path / "logs", answer_reply) as recorded:
            await ask(
                recorded.port, REQUEST,
                x_callgauge_session="run-7", x_callgauge_prompt="fixer@12", x_callgauge_task="issue 4",
            )  # fmt: skip
        assert not any(name.startswith("x-callgauge") for name in recorded.received[0].headers)

    run(scene())
    load([tmp_path / "logs"], tmp_path / "store")
    with duckdb.connect(str(published_generation(tmp_path / "store")), read_only=True) as opened:
        assert opened.execute("SELECT session_id, task FROM sessions").fetchall() == [("run-7", "issue 4")]
        assert opened.execute("SELECT prompt_id FROM turns").fetchall() == [("fixer@12",)]


def test_a_body_that_was_cut_is_one_reject_that_says_what_keeps_more(tmp_path: Path) -> None:
    async def scene() -> None:
        log = ExchangeLog(tmp_path / "logs", "test", PassingExchange.free)
        async with recording(tmp_path / "logs", answer_reply, log=log, most_body=len(REPLY) - 5) as recorded:
            await ask(recorded.port, REQUEST)
            await asyncio.sleep(0)
        async with recording(tmp_path / "logs", answer_reply) as recorded:
            await ask(recorded.port, REQUEST)

    run(scene())
    report = load([tmp_path / "logs"], tmp_path / "store")
    assert report.rejects == 1
    with duckdb.connect(str(published_generation(tmp_path / "store")), read_only=True) as opened:
        [(reason,)] = opened.execute("SELECT reason FROM rejects").fetchall()
    assert "the recorder cut response" in reason
    assert "--most-mb" in reason

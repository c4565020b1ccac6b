"""Tests that a load reads all lines of the gateway's logs, and counts the scripted faults."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from callgauge.analysis.metrics.published_store import read_store
from callgauge.gateway import (
    Capabilities,
    Executor,
    Gateway,
    Prompt,
    Toolbox,
    ToolRejected,
    Turn,
    tool,
)
from ingest.pipeline.load import load
from ingest.store.generations import published_generation
from tests.event_loops import run
from tests.gateway.served.brain import Asked, Brain, Emitted
from tests.gateway.served.in_process import BrainEndpoint

UNKNOWN_WRITER = Capabilities(supports_tool_use=True, supports_parallel_tools=True)
NATIVE = replace(UNKNOWN_WRITER, keeps_argument_text=True)
TEXT_ONLY = Capabilities(supports_tool_use=False)


@tool
def search_orders(customer: str, limit: int = 10) -> str:
    """Orders of a customer."""
    if limit > 100:
        raise ToolRejected("limit_out_of_range", "limit must be between 1 and 100.")
    if customer == "nobody":
        raise LookupError("no such customer")
    return f"{customer} has {limit} orders."


# Maps the faulty raw arguments of a session's first call to the outcome and the failure stage in the store.
KINDS: dict[str, tuple[str, str, str | None]] = {
    "clean": ('{"customer": "Acme", "limit": 3}', "clean", None),
    "coerced": ('{"customer": "Acme", "limit": "3"}', "coerced", None),
    "repaired": ("{'customer': 'Acme', 'limit': 3}", "repaired", None),
    "no JSON": ("我想查询一下", "failed", "syntax"),
    "missing": ('{"limit": 3}', "failed", "schema"),
    "rejected": ('{"customer": "Acme", "limit": 500}', "clean", "tool_rejected"),
    "broken tool": ('{"customer": "nobody"}', "clean", "execution"),
}
GOOD = KINDS["clean"][0]
TIMES = 3  # sessions of each kind of arguments


def spoiling(raw: str, *, as_text: bool) -> Brain:
    """Return a model that sends this call first, a valid call after an error, and then an answer."""
    sent = 0

    def brain(request: Asked) -> Emitted:
        nonlocal sent
        sent += 1
        good = "has 3 orders" in request.last.text
        if good or sent > 2:
            return Emitted("All done.")
        now = raw if sent == 1 else GOOD
        if not as_text:
            return Emitted("Let me see.", [("search_orders", now)])
        return Emitted(f'```json\n{{"tool": "search_orders", "input": {now}}}\n```')

    return brain


async def hold_session(folder: Path, wire: str, kind: str, number: int, capabilities: Capabilities) -> Turn:
    as_text = capabilities.supports_tool_use is False
    endpoint = BrainEndpoint(spoiling(KINDS[kind][0], as_text=as_text), wire)
    name = f"{wire}-{kind}-{number}-{as_text}".replace(" ", "_")
    async with Gateway(
        endpoint,
        [search_orders],
        model=f"scripted-{wire}",
        prompt=Prompt("You help.", "agent", "1"),
        capabilities=capabilities,
        log=folder,
        session_id=name,
    ) as gateway:
        return await gateway.run("How many orders has Acme?")


def load_logs(folder: Path, store: Path) -> duckdb.DuckDBPyConnection:
    report = load([folder], store)
    assert (report.rejects, report.rejected) == (0, ())
    generation = published_generation(store)
    assert generation is not None
    return duckdb.connect(str(generation), read_only=True)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "anthropic"])
def test_the_store_counts_what_the_models_were_scripted_to_do(wire: str, tmp_path: Path) -> None:
    folder = tmp_path / "logs"

    async def hold_all() -> list[Turn]:
        return await asyncio.gather(
            *(hold_session(folder, wire, kind, n, NATIVE) for kind in KINDS for n in range(TIMES))
        )

    turns = run(hold_all())
    assert all(turn.status == "ok" for turn in turns)
    connection = load_logs(folder, tmp_path / "store")
    rows = connection.execute(
        "SELECT outcome, fault_layer, count(*) FROM tool_calls WHERE step = 0 GROUP BY ALL"
    ).fetchall()
    expected = Counter((outcome, layer) for _, outcome, layer in KINDS.values() for _ in range(TIMES))
    assert {(outcome, layer): count for outcome, layer, count in rows} == dict(expected)
    assert connection.execute("SELECT DISTINCT model, strategy, args_source FROM tool_calls").fetchall() == [
        (f"scripted-{wire}", "tool_use", "raw")
    ]
    retried = connection.execute(
        "SELECT count(*) FROM tool_calls WHERE step = 1 AND outcome = 'clean' AND fault_layer IS NULL"
    ).fetchone()
    faults = sum(layer is not None for _, _, layer in KINDS.values())
    assert retried == (TIMES * faults,)
    ended = "SELECT count(*) FROM turns WHERE recorded_ok AND derived_ok"
    assert connection.execute(ended).fetchone() == (TIMES * len(KINDS),)


def test_a_text_whose_writer_is_unknown_is_never_clean_and_its_failures_count(tmp_path: Path) -> None:
    folder = tmp_path / "logs"

    async def hold_all() -> list[Turn]:
        kinds = [(kind, n) for kind in KINDS for n in range(TIMES)]
        return await asyncio.gather(
            *(hold_session(folder, "openai-chat", kind, n, UNKNOWN_WRITER) for kind, n in kinds)
        )

    run(hold_all())
    connection = load_logs(folder, tmp_path / "store")
    rows = connection.execute(
        "SELECT outcome, fault_layer, args_source, syntax_seen, raw_arguments, count(*) FROM tool_calls "
        "WHERE step = 0 GROUP BY ALL"
    ).fetchall()
    [(calls,)] = connection.execute("SELECT count(*) FROM tool_calls").fetchall()
    expected = {
        (
            outcome if outcome in ("failed", "coerced") else "unmeasured",
            layer,
            "unattributed",
            "failures",
            raw,
            TIMES,
        )
        for raw, outcome, layer in KINDS.values()
    }
    assert set(rows) == expected
    with read_store(tmp_path / "store", texts=True) as reader:
        rates = ("parse_error", "mended", "repaired")
        counts = {row.rate: (row.k, row.n) for row in reader.ask("slices", rates=rates).itertuples()}
    assert counts == {"parse_error": (2 * TIMES, calls), "mended": (0, 0), "repaired": (0, 0)}


def test_calls_of_the_fallback_are_counted_as_such(tmp_path: Path) -> None:
    folder = tmp_path / "logs"

    async def hold_all() -> list[Turn]:
        kinds = ("clean", "coerced", "missing", "rejected")
        return [await hold_session(folder, "openai-chat", kind, 0, TEXT_ONLY) for kind in kinds]

    run(hold_all())
    connection = load_logs(folder, tmp_path / "store")
    rows = connection.execute(
        "SELECT outcome, fault_layer FROM tool_calls WHERE step = 0 AND strategy = 'json_fallback'"
    ).fetchall()
    assert Counter(rows) == Counter(
        [("clean", None), ("coerced", None), ("failed", "schema"), ("clean", "tool_rejected")]
    )


def test_what_a_server_could_not_parse_is_a_syntax_fault_of_the_model(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    error = {"error": "error parsing tool call: raw='{\"customer\": ', err=unexpected end of JSON input"}
    emitted = iter([Emitted(status=500, body=error), Emitted("", [("search_orders", GOOD)])])
    endpoint = BrainEndpoint(lambda _: next(emitted, Emitted("All done.")))

    async def hold() -> Turn:
        async with Gateway(endpoint, [search_orders], model="m", capabilities=NATIVE, log=folder) as gateway:
            return await gateway.run("Go.")

    assert run(hold()).status == "ok"
    connection = load_logs(folder, tmp_path / "store")
    faults = connection.execute("SELECT raw_arguments, fault_layer FROM tool_calls ORDER BY step").fetchall()
    assert faults == [('{"customer": ', "syntax"), (GOOD, None)]


def test_a_key_stands_nowhere_in_a_log(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    echo = Emitted(status=401, body={"error": {"message": "Incorrect API key: sk-canary-7f3a"}})

    async def hold() -> Turn:
        async with Gateway(BrainEndpoint(lambda _: echo), [search_orders], model="m", log=folder) as gateway:
            return await gateway.run("Go.")

    turn = run(hold())
    assert "sk-canary" not in turn.answer
    for path in folder.iterdir():
        assert "sk-canary" not in path.read_text(encoding="utf-8")
        for line in path.read_text(encoding="utf-8").splitlines():
            assert isinstance(json.loads(line), dict)


def test_a_tool_added_between_turns_is_offered_run_and_known_to_the_store(tmp_path: Path) -> None:
    @tool
    def double(number: int) -> int:
        return 2 * number

    emitted = iter([Emitted("Hello."), Emitted(calls=[("double", '{"number": 4}')])])
    endpoint = BrainEndpoint(lambda _: next(emitted, Emitted("All done.")))
    executor = Executor(Toolbox([search_orders]))

    async def hold() -> Turn:
        async with Gateway(
            endpoint, executor, model="m", capabilities=NATIVE, log=tmp_path / "logs"
        ) as gateway:
            await gateway.run("Hello.")
            executor.toolbox = executor.toolbox.add(double)
            return await gateway.run("Double it.")

    assert run(hold()).calls[0].result.text == "8"
    assert [len(request.body["tools"]) for request in endpoint.asked] == [1, 2, 2]
    cursor = load_logs(tmp_path / "logs", tmp_path / "store").execute(
        "SELECT tool, outcome, fault_layer FROM tool_calls"
    )
    assert cursor.fetchall() == [("double", "clean", None)]

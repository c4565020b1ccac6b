"""Tests ten kinds of models with each of the four APIs. The faults have scripted rates, and the store must
count them exactly.

A seed determines what a model does in each task.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import pytest

from callgauge.gateway import WIRES, Capabilities, Gateway, Probe, Prompt, Turn, probe_model, tool
from ingest.pipeline.load import load
from ingest.store.generations import published_generation
from tests.event_loops import run
from tests.gateway.served.brain import Asked, Emitted
from tests.gateway.served.in_process import BrainEndpoint

TASKS = 8  # sessions per variant
GOOD = '{"customer": "Acme", "limit": 3}'
# Maps the name of a fault to the arguments that the model writes, and to the outcome and failure stage in the
# store.
FAULTS: dict[str, tuple[str, str, str | None]] = {
    "clean": (GOOD, "clean", None),
    "repaired": ("{'customer': 'Acme', 'limit': 3}", "repaired", None),
    "coerced": ('{"customer": "Acme", "limit": "3"}', "coerced", None),
    "no JSON": ("我想查询一下", "failed", "syntax"),
    "missing": ('{"limit": 3}', "failed", "schema"),
}
REPORT = [("report_number", '{"number": 7}'), ("report_number", '{"number": 8}')]
Counts = Counter[tuple[str, str | None]]  # (outcome, failure stage) → count
CLEAN: Counts = Counter([("clean", None)])
OVERLOADED = {"error": {"message": "overloaded"}}
LEAK = f'<tool_call>{{"name": "search_orders", "arguments": {GOOD}}}</tool_call>'
OLLAMA = {"error": "error parsing tool call: raw='{\"customer\": ', err=unexpected end of JSON input"}
BAD_AMONG = [("search_orders", GOOD), ("search_orders", '{"customer": "A", "limit": '), ("nope", "{}")]
SYNTAX: Counts = Counter([("failed", "syntax")])


@tool
def search_orders(customer: str, limit: int = 10) -> str:
    """Orders of a customer."""
    return f"{customer} has {limit} orders."


def draw(kind: str, task: int) -> random.Random:
    return random.Random(f"{kind}/{task}")


def draw_fault(kind: str, task: int, rate: float) -> str:
    """Return the fault of a task's first tool call: with probability `rate` one of four faults, else none."""
    dice = draw(kind, task)
    return dice.choice([name for name in FAULTS if name != "clean"]) if dice.random() < rate else "clean"


def is_hit(kind: str, task: int, rate: float) -> bool:
    return draw(kind, task).random() < rate


@dataclass(frozen=True)
class Kind:
    """A kind of model.

    `first` is the first reply to a task. If `runs` is false, the call in this reply is not executed, and a
    valid call follows. The answer is last. `counts` are the expected counts of a task's calls in the store.
    `refuses` means that the server rejects tools. `network` means that the response fails.
    """

    first: Callable[[str, int], Emitted]
    counts: Callable[[str, int], Counts]
    runs: Callable[[str, int], bool] = lambda _wire, _task: True
    refuses: Callable[[Asked], Emitted | None] = lambda _asked: None
    network: Callable[[int], Emitted | None] = lambda _task: None
    makes_parallel: bool = True
    is_text: bool = False


def one_call(fault: str) -> Emitted:
    return Emitted("Let me see.", [("search_orders", FAULTS[fault][0])])


def count_fault(fault: str) -> Counts:
    """Count a first call with this fault. If the call was not executed, also count the valid call that
    follows.
    """
    _, outcome, layer = FAULTS[fault]
    return Counter([(outcome, layer)]) + (Counter() if layer is None else CLEAN)


def count_native_fault(wire: str, fault: str) -> Counts:
    """Count a native first call with this fault. Gemini's API reports invalid JSON as a malformed call."""
    if wire == "gemini" and fault == "repaired":
        return Counter([("repaired", "syntax")]) + CLEAN
    return count_fault(fault)


def as_block(fault: str) -> Emitted:
    return Emitted(f'```json\n{{"tool": "search_orders", "input": {FAULTS[fault][0]}}}\n```')


def no_tools(request: Asked) -> Emitted | None:
    if not request.has_tools:
        return None
    return Emitted(status=400, body={"error": {"message": f"{request.model} does not support tools"}})


def ignores_tools(request: Asked) -> Emitted | None:
    return Emitted("I cannot use tools here.") if request.has_tools else None


def sloppy_fault(task: int) -> str:
    return draw_fault("sloppy", task, 0.5)


def text_fault(task: int) -> str:
    return draw_fault("notools", task, 0.5)


def leaks_in(task: int) -> bool:
    return is_hit("leaks", task, 0.5)


def fails_in(task: int) -> bool:
    return is_hit("ollama", task, 0.4)


def count_bad_among(wire: str, _task: int) -> Counts:
    """Count the three calls of a reply: a valid call, a truncated call that loses data, and a call of an
    unknown tool.
    """
    if wire == "gemini":  # if one call of a reply is malformed, Gemini's API drops all calls of the reply
        return Counter([("repaired", "syntax")]) + CLEAN
    return CLEAN + Counter([("repaired", "schema"), ("failed", "schema")])


def seen_on(wire: str, kind: Kind, counts: Counts) -> Counts:
    """Return the measurable outcomes. Gemini sends decoded objects, so the syntax cannot be measured."""
    visible: Counts = Counter()
    for (outcome, layer), count in counts.items():
        is_hidden = wire == "gemini" and not kind.is_text and outcome in ("clean", "coerced")
        visible["unmeasured" if is_hidden else outcome, layer] += count
    return visible


KINDS = {
    "sloppy": Kind(
        lambda _wire, task: one_call(sloppy_fault(task)),
        lambda wire, task: count_native_fault(wire, sloppy_fault(task)),
        lambda wire, task: sum(count_native_fault(wire, sloppy_fault(task)).values()) == 1,
    ),
    "notools": Kind(
        lambda _wire, task: as_block(text_fault(task)),
        lambda _wire, task: count_fault(text_fault(task)),
        lambda _wire, task: sum(count_fault(text_fault(task)).values()) == 1,
        refuses=no_tools,
        is_text=True,
    ),
    "ignores": Kind(
        lambda _wire, _task: as_block("clean"),
        lambda _wire, _task: CLEAN,
        refuses=ignores_tools,
        is_text=True,
    ),
    "flaky": Kind(
        lambda _wire, _task: one_call("clean"),
        lambda _wire, _task: CLEAN,
        network=lambda task: (
            Emitted(status=draw("status", task).choice([429, 500, 503]), body=OVERLOADED)
            if is_hit("flaky", task, 0.5)
            else None
        ),
    ),
    "cutting": Kind(
        lambda _wire, _task: one_call("clean"),
        lambda _wire, _task: CLEAN,
        network=lambda task: Emitted("hello there " * 3, cut=40) if is_hit("cutting", task, 0.5) else None,
    ),
    "bad one among parallel": Kind(
        lambda _wire, _task: Emitted("", BAD_AMONG), count_bad_among, lambda wire, _task: wire != "gemini"
    ),
    "serial": Kind(
        lambda _wire, _task: Emitted("", [("search_orders", GOOD)] * 2),
        lambda _wire, _task: CLEAN + CLEAN,
        makes_parallel=False,
    ),
    "leaks": Kind(
        lambda _wire, task: Emitted(LEAK) if leaks_in(task) else one_call("clean"),
        lambda _wire, task: CLEAN + (Counter([("unmeasured", "emission")]) if leaks_in(task) else Counter()),
        lambda _wire, task: not leaks_in(task),
    ),
    "one id for all": Kind(
        lambda _wire, _task: Emitted("", [("search_orders", GOOD)] * 2, ids=["call_1", "call_1"]),
        lambda _wire, _task: CLEAN + CLEAN,
    ),
    "ollama": Kind(
        lambda _wire, task: Emitted(status=500, body=OLLAMA) if fails_in(task) else one_call("clean"),
        lambda _wire, task: CLEAN + (SYNTAX if fails_in(task) else Counter()),
        lambda _wire, task: not fails_in(task),
    ),
}
ARMS = [(wire, name) for wire in WIRES for name in KINDS]


@dataclass
class Model:
    """The scripted model of one variant. Remembers its replies in each task."""

    wire: str
    kind: Kind
    replies: Counter[int] = field(default_factory=Counter)
    failed: set[int] = field(default_factory=set)

    def __call__(self, request: Asked) -> Emitted:
        refusal = self.kind.refuses(request)
        if refusal is not None:
            return refusal
        if "Report" in request.user:
            if request.last.role == "tool":
                return Emitted("Done.")
            both = "both" in request.user and self.kind.makes_parallel
            return Emitted("", REPORT if both else REPORT[:1])
        if not request.user.startswith("Task"):
            return Emitted("Two.")
        return self.answer_task(int(request.user.split()[1]))

    def answer_task(self, task: int) -> Emitted:
        broken = self.kind.network(task)
        if broken is not None and task not in self.failed:
            self.failed.add(task)
            return broken
        self.replies[task] += 1
        if self.replies[task] == 1:
            return self.kind.first(self.wire, task)
        if self.replies[task] == 2 and not self.kind.runs(self.wire, task):
            return as_block("clean") if self.kind.is_text else one_call("clean")
        return Emitted("All done.")


@dataclass
class FinishedArm:
    """One variant after all its conversations."""

    probe: Probe
    turns: list[Turn]
    endpoint: BrainEndpoint


async def hold_arm(folder: Path, wire: str, name: str) -> FinishedArm:
    endpoint = BrainEndpoint(Model(wire, KINDS[name]), wire)
    async with endpoint:
        probe = await probe_model(endpoint, name)
        turns = [await hold_session(endpoint, folder, probe, wire, name, task) for task in range(TASKS)]
    return FinishedArm(probe, turns, endpoint)


async def hold_session(
    endpoint: BrainEndpoint, folder: Path, probe: Probe, wire: str, name: str, task: int
) -> Turn:
    gateway = Gateway(
        endpoint,
        [search_orders],
        name,
        Prompt("You help.", "agent", "1"),
        Capabilities(keeps_argument_text=True),
        probe=probe,
        log=folder,
        session_id=f"{wire}-{name}-{task}".replace(" ", "_"),
        meta={"task": f"task {task}", "trial": {"run": "matrix", "arm": f"{wire}/{name}", "repeat": 0}},
    )
    return await gateway.run(f"Task {task} : how many orders has Acme?")


@pytest.fixture(scope="module")
def matrix(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[dict[tuple[str, str], FinishedArm], duckdb.DuckDBPyConnection]:
    folder, store = tmp_path_factory.mktemp("logs"), tmp_path_factory.mktemp("stores") / "store"

    async def hold_all() -> dict[tuple[str, str], FinishedArm]:
        return {arm: await hold_arm(folder, *arm) for arm in ARMS}

    arms = run(hold_all())
    report = load([folder], store)
    assert (report.rejects, report.rejected) == (0, ())
    generation = published_generation(store)
    assert generation is not None
    return arms, duckdb.connect(str(generation), read_only=True)


@pytest.mark.parametrize(("wire", "name"), ARMS)
def test_the_store_counts_what_an_arm_was_scripted_for(
    wire: str, name: str, matrix: tuple[dict[tuple[str, str], FinishedArm], duckdb.DuckDBPyConnection]
) -> None:
    arms, connection = matrix
    kind = KINDS[name]
    arm = arms[wire, name]
    assert [turn.status for turn in arm.turns] == ["ok"] * TASKS
    assert arm.probe.ok is (not kind.is_text)
    assert arm.probe.capabilities.supports_parallel_tools is (None if kind.is_text else kind.makes_parallel)
    counted = connection.execute(
        "SELECT outcome, fault_layer, count(*) FROM tool_calls JOIN sessions USING (session_id) "
        "WHERE sessions.arm = ? AND tool_calls.model = ? AND strategy = ? GROUP BY ALL",
        [f"{wire}/{name}", name, "json_fallback" if kind.is_text else "tool_use"],
    ).fetchall()
    scripted: Counts = sum((kind.counts(wire, task) for task in range(TASKS)), Counter())
    assert {(outcome, layer): count for outcome, layer, count in counted} == seen_on(wire, kind, scripted)
    totals = connection.execute(
        "SELECT count(*), count(*) FILTER (turns.resent = 1), count(*) FILTER (recorded_ok), "
        "count(DISTINCT probe_id), count(DISTINCT task) "
        "FROM turns JOIN sessions USING (session_id) JOIN probes USING (session_id) WHERE sessions.arm = ?",
        [f"{wire}/{name}"],
    ).fetchone()
    again = sum(kind.network(task) is not None for task in range(TASKS))
    assert totals == (TASKS, again, TASKS, 1, TASKS)


def test_the_scripts_have_every_fault_in_some_tasks_and_not_in_others() -> None:
    assert {sloppy_fault(task) for task in range(TASKS)} | {text_fault(task) for task in range(TASKS)} == set(
        FAULTS
    )
    for kind in ("flaky", "cutting"):
        hit = sum(KINDS[kind].network(task) is not None for task in range(TASKS))
        assert 0 < hit < TASKS
    for is_in in (leaks_in, fails_in):
        assert 0 < sum(map(is_in, range(TASKS))) < TASKS


def test_calls_of_a_serial_model_go_back_one_by_one(
    matrix: tuple[dict[tuple[str, str], FinishedArm], duckdb.DuckDBPyConnection],
) -> None:
    arms, _ = matrix
    for wire in WIRES:
        last = arms[wire, "serial"].endpoint.asked[-1]
        rounds = [
            (message.role, len(message.calls))
            for message in last.messages
            if message.calls or message.role == "tool"
        ]
        assert rounds == [("assistant", 1), ("tool", 0)] * 2
    request = arms["openai-chat", "serial"].endpoint.asked[-1]
    assert request.body["parallel_tool_calls"] is False
    assert arms["anthropic", "serial"].endpoint.asked[-1].body["tool_choice"]["disable_parallel_tool_use"]


def test_no_id_stands_twice_in_a_request(
    matrix: tuple[dict[tuple[str, str], FinishedArm], duckdb.DuckDBPyConnection],
) -> None:
    arms, connection = matrix
    for request in arms["openai-chat", "one id for all"].endpoint.asked:
        ids = [call["id"] for message in request.messages for call in message.calls]
        assert len(ids) == len(set(ids))
    question = "SELECT count(tool_call_id), count(DISTINCT session_id || ' ' || tool_call_id) FROM tool_calls"
    [(all_of_them, different)] = connection.execute(question).fetchall()
    assert all_of_them == different

"""Tests the counts in a trial run's records. For any model, a load of the session logs gives the same."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from callgauge.analysis.measures.trials import make_trials
from callgauge.analysis.metrics.published_store import read_store
from callgauge.trials.planning.plan import MeasurePlan, Plan, RunPlan, TrialArm
from callgauge.trials.running.run import RunEnd
from callgauge.trials.verdicts.measures import MEASURES, count_tasks
from ingest.pipeline.load import load
from lenient import Policy
from tests.gateway.served.brain import Asked, Emitted
from tests.store.night import ask
from tests.trials.made_plan import KNOWN, chance, city_of, go, make_plan, make_tasks

_TURNS = """
    SELECT t.arm, s.task, s.repeat_no::INT, t.recorded_status AS status, t.recorded_ok AS ok,
           t.verdict_reason AS why,
           t.input_tokens, t.output_tokens, t.counted_cached AS cached, t.cost
    FROM turns AS t JOIN sessions AS s USING (session_id) WHERE NOT t.duplicate AND t.arm IS NOT NULL
"""
_CALLS = """
    SELECT c.arm, s.task, s.repeat_no::INT, count(*)::INT,
           count(*) FILTER (c.fault_layer IN ('syntax', 'schema'))::INT,
           count(*) FILTER (c.outcome IN ('coerced', 'repaired'))::INT,
           count(*) FILTER (c.simulated = 'miss')::INT
    FROM tool_calls AS c JOIN sessions AS s USING (session_id) WHERE NOT c.duplicate GROUP BY ALL
"""


def wild_brain(request: Asked) -> Emitted:
    """Show every kind of behaviour of a model, chosen by the task and the step."""
    city = city_of(request)
    step = sum(message.role == "assistant" for message in request.messages)
    good = json.dumps({"city": city})
    kinds: list[Emitted] = [
        Emitted(calls=[("get_weather", good)]),
        Emitted(calls=[("get_weather", good[:-1] + ",}")]),
        Emitted(calls=[("get_weather", json.dumps({"city": city, "days": "3"}))]),
        Emitted(calls=[("get_weather", json.dumps({"town": city}))]),
        Emitted(calls=[("get_weather", "the weather, please")]),
        Emitted(calls=[("get_wether", good)]),
        Emitted(
            calls=[("get_weather", good), ("get_weather", '{"city": 5, "days": "x"}'), ("get_weather", "")]
        ),
        Emitted(text=f'<tool_call>{{"name": "get_weather", "arguments": {good}}}</tool_call>'),
        Emitted(text=f'```json\n{{"tool": "get_weather", "arguments": {good}}}\n```'),
        Emitted(
            status=400,
            body={"error": {"code": "tool_use_failed", "failed_generation": f"get_weather({good}"}},
        ),
        Emitted(
            status=500, body={"error": f"error parsing tool call: raw='{good[:-2]}', err=unexpected end"}
        ),
        Emitted(calls=[("get_weather", good)], cut=90),
        Emitted(calls=[("get_weather", good)], stop="length"),
        Emitted("I have no idea.", stop="refusal"),
        Emitted(status=400, body={"error": "maximum context length exceeded"}),
    ]
    if step >= 2 or chance("end", request.model, city, step) < 0.2:
        return Emitted(f"It is so in {city}.")
    return kinds[int(chance("kind", request.model, city, step) * len(kinds))]


def wild_plan(folder: Path, wire: str) -> Plan:
    plan = make_plan(folder, arms=("m",), measure=MeasurePlan("refused", 0.1, looks=1))
    arms = (
        TrialArm("safe", "m", "p", "d", policy=Policy.SAFE),
        TrialArm("strict", "m", None, "d", policy=Policy.STRICT, compensations=0),
        TrialArm("lenient", "m", "p", "d", policy=Policy.LENIENT, compensations=2),
        TrialArm("text", "m", "p", "d", "json_fallback"),
    )
    endpoints = {"local": replace(plan.endpoints["local"], wire=wire)}
    return replace(plan, arms=arms, endpoints=endpoints, tools={}, run=RunPlan(repeats=2, max_steps=4))


def wild_tasks() -> Any:
    return tuple(
        replace(task, answers=()) if number % 3 == 0 else task for number, task in enumerate(make_tasks(40))
    )


@pytest.fixture(params=["openai-chat", "openai-responses", "anthropic", "gemini"])
def loaded(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[RunEnd, Path]:
    end = go(wild_plan(tmp_path, request.param), wild_tasks(), tmp_path / "r.1", wild_brain)
    assert end.reason == "done"
    store = tmp_path / "store"
    report = load([tmp_path / "r.1"], store)
    assert (report.rejects, report.rejected) == (0, ())
    return end, store


@pytest.mark.thorough(quick=1)
def test_the_ledger_equals_what_a_load_finds(loaded: tuple[RunEnd, Path]) -> None:
    end, store = loaded
    calls = {tuple(row[:3]): row[3:] for row in ask(store, _CALLS)}
    turns = {tuple(row[:3]): row[3:] for row in ask(store, _TURNS)}
    assert len(turns) == len(end.outcomes) == 320
    for outcome in end.outcomes:
        key = (outcome.arm, outcome.task, outcome.repeat)
        counts = calls.get(key, (0, 0, 0, 0))
        assert (outcome.calls, outcome.refused, outcome.mended, outcome.misses) == tuple(counts), key
        status, ok, why, read, written, cached, cost = turns[key]
        if outcome.status == "no_reply":
            assert status == "error"
        else:
            assert (outcome.status, outcome.right) == (status, ok), key
            assert outcome.why == (why if ok is False else None), key
        assert ((outcome.input_tokens or 0), (outcome.output_tokens or 0)) == ((read or 0), (written or 0)), (
            key
        )
        assert (outcome.cached_tokens or 0) == (cached or 0), key
        assert outcome.cost == pytest.approx(cost) if outcome.cost is not None else cost is None, key
    totals = [
        sum(getattr(outcome, name) for outcome in end.outcomes)
        for name in ("calls", "refused", "mended", "misses")
    ]
    assert min(totals) > 20, "the model does everything often enough for a test"


def test_repairs_are_not_measured_where_the_server_may_have_rewritten_the_arguments(tmp_path: Path) -> None:
    """Repairs must count as not measured, because the server may have made them. Calls of the fallback are
    measured.
    """
    plan = make_plan(tmp_path, arms=("m",), measure=MeasurePlan("refused", 0.1, looks=1))
    plan = replace(
        plan,
        arms=(TrialArm("native", "m", None, "d"), TrialArm("text", "m", None, "d", "json_fallback")),
        models={"m": replace(plan.models["m"], capabilities=replace(KNOWN, keeps_argument_text=None))},
    )

    def brain(request: Asked) -> Emitted:
        if any(message.role == "assistant" for message in request.messages):
            return Emitted("It is warm.")
        call = json.dumps({"city": city_of(request)})
        is_text = not request.has_tools
        return (
            Emitted(text=f'{{"tool": "get_weather", "arguments": {call[:-1]},}}}}')
            if is_text
            else Emitted(calls=[("get_weather", call)])
        )

    end = go(plan, make_tasks(3), tmp_path / "r.1", brain)
    assert {(outcome.arm, outcome.mended, outcome.calls) for outcome in end.outcomes} == {
        ("native", None, 1),
        ("text", 1, 1),
    }
    counts = count_tasks(end.outcomes, MEASURES["mended"])
    assert {arm: sum(task.measured for task in tasks.values()) for arm, tasks in counts.items()} == {
        "native": 0,
        "text": 3,
    }
    store = tmp_path / "store"
    load([tmp_path / "r.1"], store)
    with read_store(store, texts=True) as reader:
        trials = make_trials(reader.ask("trial_results", run=end.run))
    assert {(trial.arm, trial.mended) for trial in trials} == {("native", None), ("text", 1)}

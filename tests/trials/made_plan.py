"""Makes plans, tasks and scripted models for tests of trial runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from callgauge.gateway import Capabilities, ChatMessage, Endpoint, RecordedAnswer
from callgauge.trials.planning.plan import (
    Budget,
    EndpointPlan,
    MeasurePlan,
    ModelPlan,
    Plan,
    PromptPlan,
    RunPlan,
    TokenPrice,
    ToolSource,
    TrialArm,
)
from callgauge.trials.planning.task import Expectation, ExpectedCall, Task
from callgauge.trials.running.run import RunEnd, run_trial
from lenient import Policy, ToolCatalog
from tests.event_loops import run
from tests.gateway.served.brain import Asked, Brain, Emitted
from tests.gateway.served.in_process import BrainEndpoint

WEATHER = {
    "name": "get_weather",
    "description": "The weather of a city.",
    "input_schema": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
        "additionalProperties": False,
    },
}
KNOWN = Capabilities(
    supports_tool_use=True,
    supports_parallel_tools=True,
    takes_tool_results=True,
    tool_id_pattern=r"call_[A-Za-z0-9_-]+",
    allows_midturn_system=True,
    keeps_argument_text=True,
)


UNKNOWN = Capabilities()


def make_plan(folder: Path, *, arms: Sequence[str] = ("careful", "sloppy"), **changes: Any) -> Plan:
    """Return a plan with one endpoint. Each variant has its own model, which has the variant's name."""
    price = TokenPrice(input=1.0, output=4.0, cached=0.5)
    models = {name: ModelPlan(name, "local", name, {"max_tokens": 100}, price, KNOWN) for name in arms}
    plan = Plan(
        path=folder / "plan.toml",
        name="careful or sloppy",
        question="Which model?",
        measure=MeasurePlan("refused", 0.1, reference=arms[0], looks=2),
        run=RunPlan(seed=3),
        budget=Budget(),
        endpoints={"local": EndpointPlan("local", "openai-chat", "http://models.test/v1")},
        models=models,
        prompts={"p": PromptPlan("p", "You answer.", "agent", "1")},
        definitions={"d": ToolCatalog.load([WEATHER])},
        tools={"get_weather": ToolSource("recorded", default="sunny")},
        servers={},
        arms=tuple(TrialArm(name, name, "p", "d", policy=Policy.SAFE) for name in arms),
        tasks_path=folder / "tasks.jsonl",
        text='name = "careful or sloppy"\n',
    )
    return replace(plan, **changes)


def make_tasks(number: int) -> tuple[Task, ...]:
    return tuple(
        Task(
            f"task-{place}",
            (ChatMessage("user", f"How is the weather in City{place}?"),),
            expect=Expectation(calls=(ExpectedCall("get_weather", {"city": (f"City{place}",)}),)),
            answers=(RecordedAnswer("get_weather", f"rain in City{place}", {"city": f"City{place}"}),),
        )
        for place in range(number)
    )


def city_of(request: Asked) -> str:
    return request.user.rpartition(" ")[2].rstrip("?")


def chance(*parts: object) -> float:
    """Return a number from 0 to 1 that depends only on the arguments."""
    digest = hashlib.sha256(repr(parts).encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def weather_brain(
    rates: Mapping[str, float] | None = None, broken: str = '{"town": 7}'
) -> Callable[[Asked], Emitted]:
    """Return a model that requests the weather once, and then answers. Some of its tool calls have the
    arguments `broken`.
    """

    def brain(request: Asked) -> Emitted:
        results = [message for message in request.messages if message.role == "tool"]
        if results and ("rain" in results[-1].text or "sunny" in results[-1].text):
            return Emitted(f"It says: {results[-1].text}")
        city = city_of(request)
        is_first = not results and request.last.role == "user" and len(request.messages) <= 2
        if is_first and chance(request.model, city) < (rates or {}).get(request.model, 0.0):
            return Emitted(calls=[("get_weather", broken)])
        return Emitted(calls=[("get_weather", json.dumps({"city": city}))])

    return brain


def opened_by(brain: Brain, **options: Any) -> Callable[[EndpointPlan], Endpoint]:
    return lambda endpoint: BrainEndpoint(brain, endpoint.wire, concurrency=endpoint.concurrency, **options)


def go(plan: Plan, tasks: tuple[Task, ...], folder: Path, brain: Brain | None = None, **words: Any) -> RunEnd:
    words.setdefault("opened", opened_by(brain or weather_brain({"sloppy": 0.7})))
    return run(run_trial(plan, tasks, folder, **words))

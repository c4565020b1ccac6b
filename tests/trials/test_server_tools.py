"""Tests tools of MCP servers in trials."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from callgauge.gateway import ChatMessage, Executor, McpServerError, Toolbox, ToolContext, ToolResult
from callgauge.trials.planning.plan import (
    Budget,
    MeasurePlan,
    Plan,
    RunPlan,
    ServerPlan,
    ToolSource,
    TrialArm,
)
from callgauge.trials.planning.task import Task
from callgauge.trials.running.run_files import RunError
from callgauge.trials.running.trial_tools import SERVERS_OWN, add_server_definitions, open_server_tools
from lenient import Policy, ToolCatalog, ToolDefinition, parse_arguments
from tests.event_loops import run
from tests.gateway.served.brain import Asked, Emitted
from tests.trials import made_plan

pytest.importorskip("mcp", reason="the extra callgauge[mcp] is not installed")
RAW_SERVER = Path(__file__).parents[1] / "gateway" / "served" / "raw_mcp_server.py"
OTHERS = ToolDefinition.from_json_schema(name="other", schema={"type": "object", "properties": {}})
SHORT = ToolDefinition.from_json_schema(
    name="echo",
    description="The arm's own.",
    schema={
        "type": "object",
        "properties": {"text": {"type": "string", "maxLength": 3}},
        "required": ["text"],
    },
)


def make_plan(
    tmp_path: Path, kind: str = "plain", tools: Mapping[str, ToolSource] | None = None, **changes: Any
) -> Plan:
    command = (sys.executable, str(RAW_SERVER), kind)
    options: dict[str, Any] = {
        "path": tmp_path / "plan.toml",
        "name": "p",
        "question": "",
        "measure": MeasurePlan("refused", 0.05),
        "run": RunPlan(),
        "budget": Budget(),
        "endpoints": {},
        "models": {},
        "prompts": {},
        "definitions": {},
        "tools": tools or {"echo": ToolSource("server", "files"), "other": ToolSource("recorded")},
        "servers": {"files": ServerPlan("files", command)},
        "arms": (TrialArm("a", "m", None, None),),
        "tasks_path": tmp_path / "tasks.jsonl",
    }
    return Plan(**(options | changes))


def call(plan: Plan, arm: TrialArm, *raws: str) -> list[ToolResult]:
    async def inside() -> list[ToolResult]:
        definitions = plan.definitions[arm.definitions or ""]
        async with open_server_tools(plan, arm, definitions) as tools:
            box = Toolbox(tools)
            assert [tool.name for tool in tools] == ["echo"]
            return [
                await Executor(box).execute(
                    ToolContext(parse_arguments(raw, box.catalog, tool_name="echo", tool_call_id="c"))
                )
                for raw in raws
            ]

    return run(inside())


def test_the_arms_definition_and_policy_judge_and_the_server_answers(tmp_path: Path) -> None:
    arm = TrialArm("short", "m", None, "short", policy=Policy.STRICT)
    plan = make_plan(
        tmp_path, definitions={"short": ToolCatalog.from_definitions([SHORT, OTHERS])}, arms=(arm,)
    )
    good, long, mended = call(plan, arm, '{"text": "hi"}', '{"text": "hello"}', "{'text': 'hi'}")
    assert (good.status, good.text) == ("success", "said hi")
    assert (long.status, mended.status) == ("input_invalid", "input_invalid")


def test_arms_without_definitions_have_those_that_the_server_lists(tmp_path: Path) -> None:
    named = TrialArm("short", "m", None, "short")
    plan = make_plan(
        tmp_path,
        definitions={"short": ToolCatalog.from_definitions([SHORT])},
        arms=(TrialArm("a", "m", None, None), named),
    )
    filled = run(add_server_definitions(plan))
    assert [arm.definitions for arm in filled.arms] == [SERVERS_OWN, "short"]
    assert [definition.name for definition in filled.definitions[SERVERS_OWN]] == ["echo"]
    assert filled.definitions["short"] is plan.definitions["short"]
    [result] = call(filled, filled.arms[0], '{"text": "hello"}')
    assert result.text == "said hello"


def test_a_plan_whose_arms_all_have_definitions_opens_no_server(tmp_path: Path) -> None:
    arm = TrialArm("short", "m", None, "short")
    plan = make_plan(
        tmp_path, "quits", definitions={"short": ToolCatalog.from_definitions([SHORT])}, arms=(arm,)
    )
    assert run(add_server_definitions(plan)) is plan
    without = make_plan(tmp_path, "quits", tools={"other": ToolSource("recorded")})
    assert run(add_server_definitions(without)) is without


def test_a_tool_that_the_server_does_not_have_is_named(tmp_path: Path) -> None:
    plan = make_plan(tmp_path, tools={"search": ToolSource("server", "files")})
    with pytest.raises(
        McpServerError, match=r"tools\.search: MCP server files has no such tool; it has echo"
    ):
        run(add_server_definitions(plan))


def test_what_a_trial_leaves_in_a_server_does_not_reach_the_next(tmp_path: Path) -> None:
    arm = TrialArm("short", "m", None, "short")
    plan = make_plan(tmp_path, definitions={"short": ToolCatalog.from_definitions([SHORT])}, arms=(arm,))
    first = call(plan, arm, '{"text": "n"}', '{"text": "n"}')
    second = call(plan, arm, '{"text": "n"}')
    assert [answer.text for answer in (*first, *second)] == ["call 1", "call 2", "call 1"]


def test_a_run_asks_its_models_with_the_tools_of_the_server(tmp_path: Path) -> None:
    def brain(request: Asked) -> Emitted:
        if request.last.role == "tool":
            return Emitted(f"It {request.last.text}")
        return Emitted("", [("echo", '{"text": "n"}')])

    server = ServerPlan("files", (sys.executable, str(RAW_SERVER), "plain"))
    arms = (TrialArm("careful", "careful", "p", None), TrialArm("sloppy", "sloppy", "p", None))
    plan = made_plan.make_plan(
        tmp_path, arms=("careful", "sloppy"), tools={"echo": ToolSource("server", "files")},
        servers={"files": server}, definitions={},
    )  # fmt: skip
    plan = replace(plan, arms=arms)
    tasks = (Task("t1", (ChatMessage("user", "Go."),)), Task("t2", (ChatMessage("user", "Go."),)))
    end = made_plan.go(plan, tasks, tmp_path / "run", brain)
    assert [(outcome.status, outcome.calls, outcome.refused) for outcome in end.outcomes] == [
        ("ok", 1, 0)
    ] * 4
    logs = sorted((tmp_path / "run" / "sessions").rglob("*.jsonl"))
    results = [
        event["content"]
        for path in logs
        for event in map(json.loads, path.read_text(encoding="utf-8").splitlines())
        if event["type"] == "observation"
    ]
    assert results == ["call 1"] * 4, "every trial has its server for itself"


def test_a_run_whose_server_cannot_be_used_asks_nothing(tmp_path: Path) -> None:
    server = ServerPlan("files", ("no-such-command-7f3a",))
    plan = made_plan.make_plan(
        tmp_path, tools={"echo": ToolSource("server", "files")}, servers={"files": server}, definitions={}
    )
    plan = replace(plan, arms=tuple(replace(arm, definitions=None) for arm in plan.arms))
    with pytest.raises(RunError, match="MCP server files: command not found: no-such-command-7f3a"):
        made_plan.go(plan, (Task("t1", (ChatMessage("user", "Go."),)),), tmp_path / "run")

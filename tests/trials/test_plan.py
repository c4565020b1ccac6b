"""Tests the plan of a trial."""

from __future__ import annotations

import json
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgauge.checked_files.file_problems import Mistake
from callgauge.checked_files.toml_file import find_key_lines
from callgauge.trials.planning.plan import Plan, PlanError, ServerPlan, TokenPrice, ToolSource
from callgauge.trials.planning.plan_fields import PLAN as PLAN_TABLE
from callgauge.trials.planning.plan_fields import plan_schema
from callgauge.trials.planning.plan_file import read_plan
from callgauge.trials.planning.trial_files import read_plan_and_tasks
from lenient import Policy
from tests.conftest import CASES
from tests.trials.plan_files import PLAN, TASK, write_plan

MISTAKES = json.loads((CASES / "trials" / "plan_mistakes.json").read_text(encoding="utf-8"))
SCHEMA = jsonschema.Draft7Validator(plan_schema())


def problems_of(path: Path) -> list[str]:
    with pytest.raises(PlanError) as error:
        read_plan_and_tasks(path)
    return [
        str(problem)
        .replace(str(path.parent), "DIR")
        .removeprefix("DIR/plan.toml:")
        .strip()
        .removeprefix("DIR/")
        for problem in error.value.problems
    ]


def read_arms(tmp_path: Path, arms: str, run: str = "") -> Plan:
    text = PLAN[: PLAN.index("[arms]")].replace('reference = "old"\n', "") + arms
    text = text.replace("compensations = 1\n", run) if run else text
    return read_plan(write_plan(tmp_path, text=text))


def test_a_plan_is_read_with_all_that_it_names(tmp_path: Path) -> None:
    plan = read_plan(write_plan(tmp_path))
    assert (plan.name, plan.measure.primary, plan.measure.smallest) == (
        "orders: old or new definition", "refused", 0.05,
    )  # fmt: skip
    assert (plan.run.repeats, plan.run.timeout, plan.run.takes_lossy) == (2, 60.0, False)
    assert (plan.budget.cost, plan.budget.tokens, plan.budget.minutes) == (5.0, 2_000_000, 60.0)
    assert plan.endpoints["local"].key_variable == "LOCAL_KEY"
    assert plan.models["qwen"].sampling == {"temperature": 0.7, "max_tokens": 1024}
    assert plan.models["qwen"].price == TokenPrice(0.1, 0.4, 0.02)
    assert plan.models["qwen"].capabilities.supports_parallel_tools is False
    assert (plan.prompts["agent-12"].text, plan.prompts["agent-12"].name) == ("You are an agent.", "agent")
    assert list(plan.definitions["new"].tools) == ["search_orders", "get_weather"]
    assert plan.tools == {
        "search_orders": ToolSource("recorded", default="no orders"),
        "get_weather": ToolSource("server", "files"),
    }
    assert plan.servers == {"files": ServerPlan("files", ("mcp-server", "data"), None, ("HOME",))}
    assert [arm.name for arm in plan.arms] == ["old", "new"]
    assert plan.reference.name == "old"
    assert (plan.tasks_path, plan.text) == (tmp_path / "tasks.jsonl", PLAN)


@pytest.mark.parametrize("case", MISTAKES, ids=[case["name"] for case in MISTAKES])
def test_every_mistake_is_told_with_its_line_and_what_to_do(tmp_path: Path, case: dict[str, Any]) -> None:
    changed = {"text": ""} if case["replace"] == "all" else {"replace": case["replace"]}
    assert sorted(problems_of(write_plan(tmp_path, **changed))) == sorted(case["told"])


@pytest.mark.parametrize(
    "case", [mistake for mistake in MISTAKES if "syntax" not in mistake], ids=lambda case: str(case["name"])
)
def test_an_editor_refuses_by_the_schema_what_the_reader_refuses_in_a_value(case: dict[str, Any]) -> None:
    text = PLAN
    for old, new in () if case["replace"] == "all" else case["replace"]:
        text = text.replace(old, new, 1)
    document = tomllib.loads("" if case["replace"] == "all" else text)
    mistakes: list[Mistake] = []
    PLAN_TABLE.read(document, (), mistakes)
    assert (SCHEMA.is_valid(document), not mistakes) == (not case["by_schema"], not case["by_schema"])


def test_the_schema_is_one_and_takes_the_whole_plan() -> None:
    jsonschema.Draft7Validator.check_schema(plan_schema())
    SCHEMA.validate(tomllib.loads(PLAN))


def test_problems_come_in_the_order_of_the_file(tmp_path: Path) -> None:
    problems = problems_of(write_plan(tmp_path, [["looks = 5", "looks = 0"], ["seed = 7", "sed = 7"]]))
    assert [problem.split(":")[0] for problem in problems] == ["8", "14"]


def test_arms_are_the_product_of_what_is_listed_and_named_after_what_differs(tmp_path: Path) -> None:
    plan = read_arms(
        tmp_path,
        'definitions = ["old", "new"]\n'.join(["[arms]\n", 'strategy = ["auto", "json_fallback"]\n']),
        'compensations = [0, 1]\naccept = ["safe"]\ntemplate = true\n'.replace('accept = ["safe"]\n', ""),
    )
    assert [arm.name for arm in plan.arms] == [
        "old+auto+compensations-0", "old+auto+compensations-1",
        "old+json_fallback+compensations-0", "old+json_fallback+compensations-1",
        "new+auto+compensations-0", "new+auto+compensations-1",
        "new+json_fallback+compensations-0", "new+json_fallback+compensations-1",
    ]  # fmt: skip
    assert plan.reference.name == "old+auto+compensations-0"


def test_without_arms_all_that_the_plan_has_is_combined(tmp_path: Path) -> None:
    assert [(arm.prompt, arm.definitions) for arm in read_arms(tmp_path, "").arms] == [
        ("agent-12", "old"), ("agent-12", "new"),
    ]  # fmt: skip


def test_single_arms_take_what_they_do_not_say_from_the_run(tmp_path: Path) -> None:
    plan = read_arms(
        tmp_path,
        '[[arms.only]]\nmodel = "qwen"\n[[arms.only]]\nname = "bare"\nmodel = "qwen"\ntemplate = false\n'
        'accept = "strict"\ncompensations = 0\ndefinitions = "new"\n',
    )
    first, second = plan.arms
    assert (first.name, first.prompt, first.definitions, first.policy) == (
        "no-definitions+compensations-1+safe+template", None, None, Policy.SAFE,
    )  # fmt: skip
    assert (second.name, second.compensations, second.policy, second.adds_template) == (
        "bare", 0, Policy.STRICT, False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arms", "problem"),
    [
        (
            '[arms]\nmodels = ["qwen"]\n[[arms.only]]\nmodel = "qwen"\n',
            "62: arms: both single variants and combinations; leave out models, or [[arms.only]]",
        ),
        (
            '[[arms.only]]\nname = "A"\nmodel = "qwen"\n[[arms.only]]\nname = "a"\nmodel = "qwen"\n',
            '63: arms.only[0].name: two variants are called "A" (ignoring case); give each another `name`',
        ),
        (
            '[[arms.only]]\nname = "con"\nmodel = "qwen"\n',
            (
                '63: arms.only[0].name: "con" is not a valid folder name on every system; '
                "give the variant another name"
            ),
        ),
        (
            '[[arms.only]]\nmodel = "qwen"\nprompt = "agent-13"\n',
            '64: arms.only[0].prompt: [prompts] has no "agent-13"; did you mean "agent-12"?',
        ),
    ],
)
def test_arms_that_cannot_be_told_apart_or_be_folders_are_mistakes(
    tmp_path: Path, arms: str, problem: str
) -> None:
    text = PLAN[: PLAN.index("[arms]")].replace('reference = "old"\n', "") + arms
    assert problems_of(write_plan(tmp_path, text=text))[0] == problem


def test_a_list_in_the_run_makes_arms_and_single_arms_do_not_take_it(tmp_path: Path) -> None:
    text = PLAN[: PLAN.index("[arms]")].replace('reference = "old"\n', "")
    text = text.replace("compensations = 1", "compensations = [0, 1]") + '[[arms.only]]\nmodel = "qwen"\n'
    assert problems_of(write_plan(tmp_path, text=text)) == [
        (
            "15: run.compensations: a list makes variants, but [[arms.only]] lists them; "
            "write one value there, and `compensations` in the variants that differ"
        )
    ]


def test_a_model_without_a_price_takes_that_of_our_list_as_of_the_day(tmp_path: Path) -> None:
    text = PLAN.replace("price = { input = 0.10, output = 0.40, cached = 0.02 }\n", "")
    path = write_plan(tmp_path, text=text.replace("qwen3-8b", "openai/gpt-5-mini-2025-08-07"))
    price = read_plan(path, date(2026, 1, 1)).models["qwen"].price
    assert price is not None
    assert (price.input, price.output) == (0.25, 2.0)
    assert price.source == "Callgauge's list, gpt-5-mini from 2025-08-07"
    with pytest.raises(PlanError, match="has no price"):
        read_plan(path, date(2020, 1, 1))


def test_names_of_tools_are_held_against_every_arms_definitions(tmp_path: Path) -> None:
    text = PLAN.replace('server = "files"', 'answers = "recorded"').replace(
        "[tools.get_weather]", "[tools.weather]"
    )
    text = text[: text.index("[servers.files]")] + text[text.index("[tasks]") :]
    task = {
        **TASK, "tools": ["search_orders", "get_weather"],
        "answers": [{"tool": "serch_orders", "result": ""}],
    }  # fmt: skip
    assert problems_of(write_plan(tmp_path, text=text, tasks=[task])) == [
        (
            'tasks.jsonl:1: tools: with the definitions "old" it offers no tool "get_weather"; '
            "known: search_orders"
        ),
        (
            'tasks.jsonl:1: answers: with the definitions "old" it offers no tool "serch_orders"; '
            'did you mean "search_orders"?'
        ),
        '53: tools.weather: no definition has this name; did you mean "get_weather"?',
    ]


def test_what_is_right_must_be_said_by_some_task(tmp_path: Path) -> None:
    problems = problems_of(write_plan(tmp_path, tasks=[{"id": "a", "input": "Hello"}]))
    assert problems == [
        (
            '10: measure.secondary: it names "right", but no task of DIR/tasks.jsonl has an `expect`; '
            "add `expect` to tasks"
        )
    ]


def test_mistakes_in_tasks_are_told_by_the_plan(tmp_path: Path) -> None:
    problems = problems_of(write_plan(tmp_path, tasks=[{"id": "a", "input": 1}, TASK, TASK]))
    assert [problem.split(": ")[:2] for problem in problems] == [
        ["tasks.jsonl:1", "input"],
        ["tasks.jsonl:3", "id"],
    ]


@pytest.mark.parametrize("path", [".", "gone.toml"])
def test_a_plan_that_is_no_file_is_told(tmp_path: Path, path: str) -> None:
    with pytest.raises(PlanError, match=r"cannot be read: .*; name a plan"):
        read_plan(tmp_path / path)


def test_a_nest_without_end_is_no_plan(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text("a = " + "[" * 100_000, encoding="utf-8")
    with pytest.raises(PlanError, match=r"nested too deeply|invalid TOML"):
        read_plan(tmp_path / "plan.toml")


NAMES = st.from_regex(r"[A-Za-z0-9_-]{1,4}", fullmatch=True) | st.text(max_size=3)
VALUES = st.recursive(
    st.integers(-9, 9) | st.booleans() | st.text(max_size=6) | st.just('a\n[b]\n#\'"""c'),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


def write_toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        quoted = (
            json.dumps(value).replace("\\ud", "\\uFFFD\\ud") if not value.isprintable() else json.dumps(value)
        )
        return f'"""\n{quoted[1:-1]}"""' if "\n" in value else quoted
    if isinstance(value, list):
        return "[\n" + "".join(f"  {write_toml(item)}, # ] }}\n" for item in value) + "]"
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(f"{json.dumps(key)} = {write_toml(member)}" for key, member in value.items())
            + "}"
        )
    return str(value)


def paths_of(value: Any, path: tuple[Any, ...] = ()) -> set[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return {path} - {()} | {inner for key, member in items for inner in paths_of(member, (*path, key))}


@given(st.dictionaries(NAMES, VALUES, max_size=4), st.dictionaries(NAMES, VALUES, max_size=3), NAMES)
def test_the_line_of_every_key_is_known_and_holds_it(top: Any, table: Any, name: str) -> None:
    lines = [f"{json.dumps(key)} = {write_toml(value)}" for key, value in top.items()]
    head = json.dumps(name + "!")
    for opened in (f"[{head}.x]", f"[[{head}.many]]", f"[[{head}.many]]"):
        lines += [f"  {opened} # [no]"] + [
            f"{json.dumps(key)}.y = {write_toml(value)}" for key, value in table.items()
        ]
    text = "\n".join(lines)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    key_lines = find_key_lines(text)
    assert key_lines.keys() == paths_of(document)
    for path, line in key_lines.items():
        key = path[-1]
        if isinstance(key, str):
            assert json.dumps(key) in text.split("\n")[line - 1] or key in "xy" or key == "many"

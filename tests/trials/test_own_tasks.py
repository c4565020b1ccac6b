"""Tests tasks that are made from stored tool calls."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from callgauge.analysis.testsets import REASONS
from callgauge.analysis.testsets.cases import MOST_EARLIER
from callgauge.analysis.testsets.trial_package import (
    TrialPackage,
    gather_tasks,
    make_package,
    name_package,
    write_tasks,
)
from callgauge.analysis.testsets.trial_tasks import TEXT_KEPT, TrialTask
from callgauge.gateway import RecordedAnswer
from callgauge.trials.planning.plan import Plan
from callgauge.trials.planning.task import Task
from callgauge.trials.planning.task_file import read_tasks
from callgauge.trials.planning.trial_files import read_plan_and_tasks
from ingest.sessions import stored_text
from lenient import ToolDefinition
from tests.analysis.store_fixture import HOSTILE, a_turn
from tests.trials.stored_failures import (
    BROKEN,
    FAILED,
    PROMPT,
    Rows,
    ask_store,
    call,
    definition,
    store_tables,
    the_calls,
)

CUT = "x" * TEXT_KEPT + "…"
# The description lists the only allowed values. So the check suggests an enum.
DOUBTFUL: dict[str, Any] = {
    "properties": {"path": {"type": "string", "description": "The mode, one of: fast, exact, fuzzy."}}
}


def gathered(
    folder: Path, ids: Sequence[str] = ("c2",), *, takes_cut: bool = False, **tables: Any
) -> tuple[list[TrialTask], Counter[str]]:
    left_out: Counter[str] = Counter()
    ask = ask_store(folder / "store", store_tables(**tables))
    return gather_tasks(ids, ask, left_out, takes_cut=takes_cut), left_out


def read_back(folder: Path, tasks: Sequence[TrialTask]) -> tuple[Task, ...]:
    """Write the tasks to a file that has only these tasks. Return the tasks as a trial reads them."""
    (folder / "tasks.jsonl").write_bytes(write_tasks(tasks))
    return read_tasks(folder / "tasks.jsonl")


def unpacked(folder: Path, package: TrialPackage) -> tuple[Plan, tuple[Task, ...]]:
    with zipfile.ZipFile(BytesIO(package.to_zip())) as archive:
        archive.extractall(folder / "plan")
    return read_plan_and_tasks(folder / "plan" / "plan.toml")


def test_a_task_is_the_turn_up_to_the_call(tmp_path: Path) -> None:
    tasks, left_out = gathered(tmp_path)
    [task] = read_back(tmp_path, tasks)
    assert not left_out
    assert [(message.role, message.text) for message in task.messages] == [
        ("system", PROMPT),
        ("user", "Read a, please."),
        ("assistant", "I look around first."),
        ("tool", "a b"),
    ]
    assert [(made.name, made.raw) for made in task.messages[2].calls] == [("list", '{"path": "."}')]
    assert task.tools == ("read_file", "list")
    assert [definition["name"] for definition in task.definitions] == ["read_file", "list"]
    assert (task.group, task.origin) == ("s1", "c2")
    assert task.id.startswith("read_file-")


def test_nothing_is_expected_and_the_attempt_that_worked_is_a_suggestion(tmp_path: Path) -> None:
    tasks, _ = gathered(tmp_path)
    [task] = read_back(tmp_path, tasks)
    assert task.expect is None
    assert task.suggested is not None
    [suggested] = task.suggested.calls
    assert (suggested.tool, suggested.accepted) == ("read_file", {"path": ("a",), "limit": (20,)})
    (tmp_path / "expected.jsonl").write_bytes(write_tasks(tasks, expects_corrected=True))
    [expecting] = read_tasks(tmp_path / "expected.jsonl")
    assert (expecting.expect, expecting.suggested) == (task.suggested, None)


def test_the_tools_answer_what_the_log_says_they_did(tmp_path: Path) -> None:
    tasks, _ = gathered(tmp_path)
    [task] = read_back(tmp_path, tasks)
    assert task.answers == (
        RecordedAnswer("read_file", "42 lines", {"path": "src/app.py", "limit": 20}),
        RecordedAnswer("read_file", "42 lines", {"path": "a", "limit": 20}),
        RecordedAnswer("list", "a b", {"path": "."}),
    )


def one_answer(number: int, arguments: dict[str, Any], result: str, **fields: Any) -> dict[str, Any]:
    text = json.dumps(arguments)
    return call(number, raw_arguments=text, arguments=text, result_text=result, **fields)


def test_of_two_results_for_the_same_arguments_the_one_after_the_failure_is_given(tmp_path: Path) -> None:
    calls = [
        one_answer(1, {"path": "a"}, "before"),
        one_answer(2, {"path": "b"}, "older"),
        one_answer(3, {"path": "b"}, "newer"),
        call(4, **FAILED),
        one_answer(5, {"path": "a"}, "after"),
        one_answer(6, {"path": "a", "limit": 5}, "five lines"),
        one_answer(7, {}, "for any arguments"),
        one_answer(8, {"path": "c"}, "not one", fault_layer="tool_rejected", result_status="error"),
        one_answer(9, {"path": "d"}, "broke", fault_layer="execution", result_status="error"),
        one_answer(10, {"path": "e"}, "unjudged", result_status="unknown"),
        one_answer(11, {"path": "f"}, "you may not", fault_layer="refused", result_status="denied"),
        one_answer(12, {"path": "g"}, CUT),
        one_answer(13, {"path": "h"}, "of a tool without a definition", tool="x", definition_id=None),
    ]
    tasks, _ = gathered(tmp_path, ["c4"], calls=calls)
    assert [
        (dict(answer["when"]), answer["result"], answer.get("status")) for answer in tasks[0].answers
    ] == [
        ({"path": "a", "limit": 5}, "five lines", None),
        ({"path": "a"}, "after", None),
        ({"path": "c"}, "not one", "tool_rejected"),
        ({"path": "d"}, "broke", "execution_failed"),
        ({"path": "e"}, "unjudged", None),
        ({"path": "b"}, "newer", None),
    ]
    assert len(read_back(tmp_path, tasks)[0].answers) == 6


def test_a_result_of_a_tool_without_parameters_fits_any_arguments(tmp_path: Path) -> None:
    plain = {"definition_id": "d-now", "tool": "now", "description": "", "definition": '{"type": "object"}'}
    calls = [one_answer(1, {}, "noon", tool="now", definition_id="d-now"), call(2, **FAILED)]
    tasks, _ = gathered(tmp_path, calls=calls, definitions=[definition(), plain])
    assert read_back(tmp_path, tasks)[0].answers == (RecordedAnswer("now", "noon"),)


def test_an_earlier_call_that_was_broken_stands_in_the_history_as_text(tmp_path: Path) -> None:
    calls = [call(1, **FAILED), call(2, **FAILED)]
    tasks, _ = gathered(tmp_path, calls=calls, texts=[])
    assert [json.loads(line)["input"][2]["tool_calls"][0]["function"]["arguments"]
            for line in write_tasks(tasks).splitlines()] == [BROKEN]  # fmt: skip
    [task] = read_back(tmp_path, tasks)
    assert all(not message.calls or json.loads(message.calls[0].raw) for message in task.messages)
    assert any("The arguments are no JSON." in message.text for message in task.messages)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("reason", "changed"),
    [
        (
            "definition",
            {"calls": [call(2, definition_id=None, **FAILED)], "definitions": [definition("list")]},
        ),
        ("definition", {"calls": [call(2, definition_id="d-none", **FAILED)]}),
        ("user", {"user": None}),
        ("user", {"user": ""}),
        ("cut", {"user": CUT}),
        ("cut", {"calls": [call(1, result_text=CUT), call(2, **FAILED)]}),
        ("cut", {"texts": [{"turn_id": "s1:1", "step": 1, "file_id": 1, "text": CUT}]}),
        ("result", {"calls": [call(1, result_text=None), call(2, **FAILED)]}),
        ("history", {"calls": [call(1, raw_arguments=None, args_source="missing"), call(2, **FAILED)]}),
        ("history", {"calls": [call(1, args_source="truncated"), call(2, **FAILED)]}),
        ("untold", {"calls": [call(2, **FAILED)]}),
    ],
)
def test_what_the_store_lacks_is_a_reason_and_never_made_up(
    tmp_path: Path, reason: str, changed: dict[str, Any]
) -> None:
    tasks, left_out = gathered(tmp_path, **changed)
    assert (tasks, left_out) == ([], {reason: 1})
    assert reason in REASONS


def test_a_turn_with_too_many_calls_before_is_left_out(tmp_path: Path) -> None:
    calls = [call(number) for number in range(MOST_EARLIER + 2)]
    assert gathered(tmp_path, [f"c{MOST_EARLIER + 1}"], calls=calls)[1] == {"long": 1}


def test_the_store_keeps_as_many_characters_as_the_tasks_think() -> None:
    assert stored_text.TEXT_KEPT == TEXT_KEPT
    assert stored_text.cut_text("x" * (TEXT_KEPT + 1)) == CUT


def test_cut_texts_are_taken_when_asked_for_and_said(tmp_path: Path) -> None:
    calls = [call(1, result_text=CUT), call(2, **FAILED)]
    tasks, left_out = gathered(tmp_path, calls=calls, takes_cut=True)
    assert not left_out
    assert [answer["result"] for answer in tasks[0].answers] == [CUT]
    assert any("the first 2,000 characters" in note for note in make_package(tasks).notes)


def test_a_hole_between_two_texts_of_the_model_is_said(tmp_path: Path) -> None:
    calls = [one_answer(3, {"path": "a"}, "A."), call(4, **FAILED)]
    texts = [{"turn_id": "s1:1", "step": step, "file_id": 1, "text": "Hm."} for step in (1, 3)]
    tasks, _ = gathered(tmp_path, ["c4"], calls=calls, texts=texts)
    [note] = make_package(tasks).notes
    assert note.startswith("In 1 of 1 tasks the model speaks twice in a row")


def test_two_calls_of_one_step_are_one_task(tmp_path: Path) -> None:
    tasks, left_out = gathered(tmp_path, ["c2", "c3"])
    assert ([task.origin for task in tasks], left_out) == (["c2"], {"step": 1})


def test_a_tool_that_was_not_offered_needs_no_definition_but_others_do(tmp_path: Path) -> None:
    invented = call(2, tool="read_fiel", definition_id=None, tools_offered=True, **FAILED)
    calls = [*the_calls()[:1], invented, call(3, tool="list", definition_id="d-list")]
    tasks, _ = gathered(tmp_path, calls=calls)
    assert [[tool.name for tool in task.tools] for task in tasks] == [["list"]]
    assert gathered(tmp_path / "alone", calls=[invented], texts=[])[1] == {"definition": 1}


def test_a_call_without_text_is_a_task_all_the_same(tmp_path: Path) -> None:
    lost = {
        **FAILED,
        "raw_arguments": None,
        "args_source": "missing",
        "fault_layer": "emission",
        "tool": None,
    }
    calls = [*the_calls()[:1], call(2, **lost)]
    tasks, _ = gathered(tmp_path, calls=calls)
    [task] = read_back(tmp_path, tasks)
    assert (task.id.split("-")[0], task.tools, task.suggested) == ("no", ("read_file", "list"), None)


def test_definitions_may_be_given_where_the_logs_have_none(tmp_path: Path) -> None:
    calls = [row | {"definition_id": None} for row in the_calls()]
    ask = ask_store(tmp_path / "store", store_tables(calls))
    definitions = [
        ToolDefinition.from_json_schema(name="read_file", schema={"type": "object"}, description="")
    ]
    left_out: Counter[str] = Counter()
    tasks = gather_tasks(["c2"], ask, left_out, given=definitions)
    assert ([[tool.name for tool in task.tools] for task in tasks], left_out) == ([["read_file"]], {})


def test_fewer_tools_than_the_model_had_are_said(tmp_path: Path) -> None:
    turns = [a_turn(1, user_text="Read a, please.", prompt_hash="h", offered_tools=7)]
    tasks, _ = gathered(tmp_path, turns=turns)
    [note] = make_package(tasks).notes
    assert note.startswith("1 of 1 tasks offer fewer tools than the log's models had")


# --- the plan


def test_a_plan_has_the_model_the_prompt_and_the_definitions_of_the_calls(tmp_path: Path) -> None:
    tasks, _ = gathered(tmp_path)
    package = make_package(tasks)
    plan, [task] = unpacked(tmp_path, package)
    assert [model.model for model in plan.models.values()] == ["falcon-3"]
    [prompt] = plan.prompts.values()
    assert (prompt.text, prompt.name, prompt.version) == (PROMPT, "support", "3")
    [arm] = plan.arms
    assert [tool.name for tool in plan.definitions[arm.definitions or ""]] == ["read_file", "list"]
    assert (plan.measure.primary, plan.endpoints["mine"].key_variable) == ("refused", "CALLGAUGE_TRIAL_KEY")
    assert [message.role for message in task.messages] == ["user", "assistant", "tool"]
    assert task.definitions == ()
    assert package.to_zip() == make_package(tasks).to_zip()
    assert name_package(tasks) == "trial-read_file-1.zip"


def two_sessions(**second: Any) -> Rows:
    other = {"session_id": "s2", "turn_id": "s2:1", "call_id": "other"}
    return [*the_calls(), call(2, **FAILED) | other | second]


def other_turn(**fields: Any) -> Rows:
    turns = [a_turn(1, user_text="Read a, please.", prompt_hash="h")]
    other = a_turn(1, user_text="Read b.", prompt_hash="h", turn_id="s2:1", session_id="s2")
    return [*turns, other | fields]


def test_tasks_of_several_prompts_hold_their_own(tmp_path: Path) -> None:
    prompts = (("p1", PROMPT), ("p2", "Be quick."))
    tasks, _ = gathered(
        tmp_path, ["c2", "other"], calls=two_sessions(), turns=other_turn(prompt_id="p2"), prompts=prompts
    )
    plan, read = unpacked(tmp_path, make_package(tasks))
    assert (plan.prompts, [arm.prompt for arm in plan.arms]) == ({}, [None])
    assert sorted(task.messages[0].text for task in read) == [PROMPT, "Be quick."]


def test_a_second_arm_has_the_edits_of_the_lint(tmp_path: Path) -> None:
    tasks, _ = gathered(tmp_path, definitions=[definition(**DOUBTFUL), definition("list")])
    package = make_package(tasks)
    plan, _ = unpacked(tmp_path, package)
    assert [arm.name for arm in plan.arms] == ["as-it-was", "edited"]
    was, edited = (plan.definitions[name].get("read_file") for name in ("as-it-was", "edited"))
    assert was is not None
    assert edited is not None
    assert "enum" not in was.to_json_schema()["properties"]["path"]
    assert edited.to_json_schema()["properties"]["path"]["enum"] == ["fast", "exact", "fuzzy"]
    assert (
        b'read_file $.path: {"enum": ["fast", "exact", "fuzzy"]} (enum_in_prose)'
        in package.files["plan.toml"]
    )


def test_a_chosen_definition_is_the_second_variant(tmp_path: Path) -> None:
    tasks, _ = gathered(tmp_path, definitions=[definition(), definition("list")])
    schema = {"type": "object", "properties": {"path": {"type": ["string", "integer"]}}}
    chosen = json.dumps({"name": "read_file", "description": "Read.", "input_schema": schema})
    plan, _ = unpacked(tmp_path, make_package(tasks, edited_tool=chosen))
    assert [arm.name for arm in plan.arms] == ["as-it-was", "edited"]
    was, edited = (plan.definitions[name].get("read_file") for name in ("as-it-was", "edited"))
    assert was is not None
    assert edited is not None
    assert was.to_json_schema()["properties"]["path"]["type"] == "string"
    assert edited.to_json_schema()["properties"]["path"]["type"] == ["string", "integer"]


def test_a_task_with_another_version_of_a_tool_brings_its_own(tmp_path: Path) -> None:
    newer = definition(definition_id="d-new", required=["path", "limit"])
    calls = [*two_sessions(definition_id="d-new"), call(9, session_id="s3", turn_id="s3:1", **FAILED)]
    turns = [*other_turn(), a_turn(1, user_text="c", prompt_hash="h", turn_id="s3:1", session_id="s3")]
    tasks, _ = gathered(
        tmp_path, ["c2", "other", "c9"], calls=calls, turns=turns,
        definitions=[definition(), definition("list"), newer],
    )  # fmt: skip
    _, read = unpacked(tmp_path, make_package(tasks))
    own = {task.origin: [definition["name"] for definition in task.definitions] for task in read}
    assert own == {"c2": [], "other": ["read_file"], "c9": []}


def test_where_definitions_are_compared_a_task_of_another_version_is_left_out(tmp_path: Path) -> None:
    newer = definition(definition_id="d-new", required=["limit"], **DOUBTFUL)
    calls = [*two_sessions(definition_id="d-new"), call(9, session_id="s3", turn_id="s3:1", **FAILED)]
    turns = [*other_turn(), a_turn(1, user_text="c", prompt_hash="h", turn_id="s3:1", session_id="s3")]
    tasks, _ = gathered(
        tmp_path, ["c2", "other", "c9"], calls=calls, turns=turns,
        definitions=[definition(**DOUBTFUL), definition("list"), newer],
    )  # fmt: skip
    package = make_package(tasks)
    assert (package.tasks, package.left_out) == (2, {"version": 1})
    assert [task.origin for task in unpacked(tmp_path, package)[1]] == ["c9", "c2"]


def test_several_models_are_the_arms(tmp_path: Path) -> None:
    tasks, _ = gathered(tmp_path, ["c2", "other"], calls=two_sessions(model="falcon 3"), turns=other_turn())
    plan, _ = unpacked(tmp_path, make_package(tasks))
    assert sorted(model.model for model in plan.models.values()) == ["falcon 3", "falcon-3"]
    assert len({arm.name for arm in plan.arms}) == 2


def test_calls_that_no_parser_refused_are_measured_by_their_turns(tmp_path: Path) -> None:
    calls = [call(2, fault_layer="execution", result_status="error")]
    tasks, _ = gathered(tmp_path, calls=calls, texts=[])
    assert unpacked(tmp_path, make_package(tasks))[0].measure.primary == "turn_ok"


def test_without_tasks_there_are_no_files() -> None:
    package = make_package([], Counter(user=3))
    assert (package.files, package.tasks, package.left_out) == ({}, 0, {"user": 3})


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("text", [HOSTILE, '"""\n[arms]\nx = 1', "a\x7f\u2028b\\", "..", "𝓧 \ud83d"])
def test_hostile_names_and_texts_stay_what_they_are(tmp_path: Path, text: str) -> None:
    whole = text.encode("utf-8", "replace").decode()
    hostile = definition("read_file", definition_id="d-odd", **DOUBTFUL) | {"tool": whole}
    calls = [call(2, tool=whole, model=whole, definition_id="d-odd", **FAILED)]
    prompts = [("p1", whole)]
    tasks, left_out = gathered(
        tmp_path, calls=calls, texts=[], definitions=[hostile], prompts=prompts, user=whole
    )
    assert not left_out
    plan, [task] = unpacked(tmp_path, make_package(tasks))
    assert [model.model for model in plan.models.values()] == [whole]
    assert [prompt.text for prompt in plan.prompts.values()] == [whole]
    assert (task.tools, task.messages[0].text) == ((whole,), whole)
    assert [path.parent.name for path in tmp_path.rglob("*.toml")] == ["plan"]

"""Tests tasks of BFCL, Inspect, K2-Vendor-Verifier and promptfoo."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from callgauge.analysis.testsets import make_case_file
from callgauge.analysis.testsets.shapes import SHAPES
from callgauge.analysis.testsets.trial_package import gather_tasks, write_tasks
from callgauge.gateway import ChatMessage
from callgauge.trials.planning.foreign_tasks import FOREIGN_FORMATS, find_format
from callgauge.trials.planning.plan_file import read_plan
from callgauge.trials.planning.task import Expectation, ExpectedCall, Task, TaskError
from callgauge.trials.planning.task_file import read_tasks
from callgauge.trials.planning.trial_files import read_plan_and_tasks
from tests.trials.stored_failures import RIGHT, ask_store, call, store_tables, the_calls

TOOL = {
    "name": "get_weather",
    "description": "The weather.",
    "parameters": {"type": "object", "properties": {}},
}
ASKED = {"role": "user", "content": "Paris?"}


def saved(folder: Path, name: str, content: Any) -> Path:
    """Write a file. A string is written unchanged, and a list is written as JSON Lines."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = content if isinstance(content, str) else "".join(json.dumps(line) + "\n" for line in content)
    path.write_text(lines, encoding="utf-8")
    return path


def only(folder: Path, name: str, content: Any, form: str | None = None) -> Task:
    [task] = read_tasks(saved(folder, name, content), form)
    return task


def refusal(folder: Path, name: str, content: Any, form: str | None = None) -> str:
    with pytest.raises(TaskError) as refused:
        read_tasks(saved(folder, name, content), form)
    return str(refused.value).removeprefix(f"{folder / name}")


# --- BFCL


def entry(**fields: Any) -> dict[str, Any]:
    function = {
        "name": "geo.find",
        "description": "Finds.",
        "parameters": {
            "type": "dict",
            "properties": {
                "place": {"type": "string"},
                "scale": {"type": "float", "default": 1.0},
                "type": {"type": "any"},
                "corners": {"type": "tuple", "items": {"type": "float"}},
            },
            "required": ["place"],
        },
    }
    return {"id": "simple_python_0", "question": [[ASKED]], "function": [function]} | fields


def test_an_entry_has_json_schema_types_and_a_name_that_every_provider_takes(tmp_path: Path) -> None:
    task = only(tmp_path, "BFCL_v4_simple_python.json", [entry()])
    assert (task.id, task.messages, task.expect) == (
        "simple_python_0",
        (ChatMessage("user", "Paris?"),),
        None,
    )
    [tool] = task.definitions
    assert (tool["name"], tool["parameters"]["type"]) == ("geo_find", "object")
    assert tool["parameters"]["properties"] == {
        "place": {"type": "string"},
        "scale": {"type": "number", "default": 1.0},
        "type": {},
        "corners": {"type": "array", "items": {"type": "number"}},
    }


@pytest.mark.parametrize("place", ["possible_answer/BFCL.json", "possible_answer_BFCL.json"])
def test_answers_stand_beside_the_entries(tmp_path: Path, place: str) -> None:
    truth = [{"geo.find": {"place": ["Paris", "paris"], "scale": [2.0, ""]}}]
    saved(tmp_path, place, [{"id": "simple_python_0", "ground_truth": truth}])
    [task, unknown] = read_tasks(saved(tmp_path, "BFCL.json", [entry(), entry(id="multiple_1")]))
    accepted = {"place": ("Paris", "paris"), "scale": (2.0, "")}
    assert task.expect == Expectation(calls=(ExpectedCall("geo_find", accepted),), is_loose=True)
    assert unknown.expect is None


def test_objects_among_accepted_values_stand_for_all_their_readings(tmp_path: Path) -> None:
    truth = {"f": {"where": [{"city": ["Paris", "Lyon"], "zip": ["", "1"]}], "list": [[{"a": [1, 2]}], [3]]}}
    saved(tmp_path, "possible_answer_B.json", [{"id": "simple_0", "ground_truth": [truth]}])
    expect = only(tmp_path, "B.json", [entry(id="simple_0")]).expect
    assert expect is not None
    assert expect.calls[0].accepted == {
        "where": (
            {"city": "Paris"}, {"city": "Paris", "zip": "1"}, {"city": "Lyon"}, {"city": "Lyon", "zip": "1"},
        ),
        "list": ([{"a": 1}], [{"a": 2}], [3]),
    }  # fmt: skip


def test_an_irrelevant_question_expects_no_call(tmp_path: Path) -> None:
    for name in ("irrelevance_3", "live_irrelevance_0-0-0"):
        assert only(tmp_path, "B.json", [entry(id=name)]).expect == Expectation(no_call=True)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        (
            {"question": [[ASKED], [ASKED]]},
            "an entry of several turns is played against BFCL's simulated APIs",
        ),
        ({"id": "simple_java_4"}, "its answers are literals of Java"),
        ({"id": "simple_javascript_4"}, "its answers are literals of Javascript"),
        ({"question": "Paris?"}, "question or function is not a list"),
        ({"question": [[]]}, "the messages are not a list, or an empty one"),
        ({"function": [{"description": "x"}]}, "a function has no name"),
    ],
)
def test_an_entry_that_cannot_be_a_task_is_named_by_its_line(
    tmp_path: Path, fields: dict[str, Any], why: str
) -> None:
    message = refusal(tmp_path, "B.json", [entry(id="simple_0"), entry(id="simple_1") | fields])
    assert message.startswith(f":2: {why}")
    assert message.count("\n") == 0


@pytest.mark.parametrize(
    ("truth", "why"),
    [
        ([{"f": {"a": 1}}], "the ground truth of f has no list of values for each parameter"),
        ([{"f": {}, "g": {}}], "a ground truth is not of the form {function: {parameter: [values]}}"),
        (
            [{"f": {"a": [{str(n): list(range(9)) for n in range(9)}]}}],
            "an accepted object has more than 1,000 values",
        ),
    ],
)
def test_a_ground_truth_that_cannot_be_read_is_said(tmp_path: Path, truth: Any, why: str) -> None:
    saved(tmp_path, "possible_answer_B.json", [{"id": "simple_0", "ground_truth": truth}])
    message = refusal(tmp_path, "B.json", [entry(id="simple_0")])
    assert message.startswith(":1: ")
    assert why in message


def test_a_broken_file_of_answers_is_named(tmp_path: Path) -> None:
    saved(tmp_path, "possible_answer_B.json", '{"id": "simple_0"}\n{"id": \n')
    message = refusal(tmp_path, "B.json", [entry(id="simple_0")])
    assert "possible_answer_B.json:3: this is not JSON" in message


# --- Inspect


def test_a_sample_asks_for_its_target_in_the_answer(tmp_path: Path) -> None:
    sample = {"id": 7, "input": "Capital of France?", "target": "Paris"}
    task = only(tmp_path, "s.jsonl", [sample])
    assert (task.id, task.messages) == ("7", (ChatMessage("user", "Capital of France?"),))
    assert task.expect == Expectation(answer_contains=("Paris",))
    either = only(tmp_path, "s.jsonl", [sample | {"target": ["Paris", "a.b"]}]).expect
    assert either == Expectation(answer_matches=r"(?i:Paris|a\.b)")


def test_samples_in_a_list_have_their_lines(tmp_path: Path) -> None:
    text = '[\n {"input": "a", "target": ""},\n\n {"input": "b", "metadata": {}}\n]\n'
    tasks = read_tasks(saved(tmp_path, "s.json", text))
    assert [task.id for task in tasks] == ["line-2", "line-4"]
    assert [task.expect for task in tasks] == [None, None]


def test_a_calls_text_that_inspect_could_not_parse_is_taken_from_its_error(tmp_path: Path) -> None:
    quoted = 'Error parsing the following tool call arguments:\n\n{"a": \n\nError details: eof'
    history = [
        ASKED,
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "Hm."}],
            "tool_calls": [
                {"id": "x", "function": "f", "arguments": {"a": 1}},
                {"id": "y", "function": "f", "arguments": {}, "parse_error": quoted},
            ],
        },
        {"role": "tool", "tool_call_id": "x", "function": "f", "content": "one"},
        {"role": "tool", "tool_call_id": "y", "function": "f", "content": "what?"},
    ]
    task = only(tmp_path, "s.jsonl", [{"input": history, "target": ""}])
    assert next(call.raw for message in task.messages for call in message.calls) == '{"a": 1}'
    assert any('{"a": ' in message.text for message in task.messages if message.role == "assistant")


def test_a_table_of_samples_has_the_line_where_each_row_begins(tmp_path: Path) -> None:
    text = 'id,input,target\na,"two\nlines",yes\n,b,\n'
    tasks = read_tasks(saved(tmp_path, "s.csv", text))
    assert [(task.id, task.messages[0].text) for task in tasks] == [("a", "two\nlines"), ("line-4", "b")]
    assert refusal(tmp_path, "s.csv", "input,target\na,b\nc,d,e\n").startswith(":3: the row has more cells")
    assert refusal(tmp_path, "s.csv", 'input,target\na,"b').startswith(":2: this is not CSV")


@pytest.mark.parametrize("name", ["choices", "sandbox", "files", "setup"])
def test_a_sample_that_needs_inspect_itself_is_refused(tmp_path: Path, name: str) -> None:
    message = refusal(tmp_path, "s.jsonl", [{"input": "a", "target": "b", name: ["x"]}])
    assert message.startswith(f":1: a sample with {name} needs Inspect itself")


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    wrong = [
        {"input": [ASKED, {"role": "assistant", "content": "Yes."}], "target": ""},
        {"input": [{"role": "user", "content": [{"type": "image", "image": "x"}]}], "target": ""},
        {"input": 3, "target": ""},
        {"input": [{"role": "robot"}], "target": ""},
        {"input": "a", "target": {"b": 1}},
        {"input": "a", "metadata": "no"},
        {"input": [ASKED, {"role": "tool", "tool_call_id": "z", "content": "r"}], "target": ""},
        {"input": [ASKED, {"role": "assistant", "tool_calls": [{"id": "x"}]}, ASKED], "target": ""},
        {"target": "b"},
    ]
    lines = refusal(tmp_path, "s.jsonl", [{"input": "good", "target": ""}, *wrong]).splitlines()
    assert [line.partition(".jsonl:")[2].split(": ")[0] or line[1:].split(": ")[0] for line in lines] == [
        str(n) for n in range(2, 11)
    ]


# --- K2-Vendor-Verifier


def test_a_request_body_is_its_messages_and_tools(tmp_path: Path) -> None:
    calls = [{"function": {"name": "get_weather", "arguments": "{}"}, "type": "function"}]
    body = {
        "model": "kimi-k2",
        "temperature": 0.6,
        "messages": [
            {"role": "system", "content": "Help."},
            ASKED,
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "content": "rain"},
        ],
        "tools": [{"type": "function", "function": TOOL}],
    }
    task = only(tmp_path, "samples.jsonl", [body])
    assert (task.id, task.expect) == ("line-1", None)
    assert [message.role for message in task.messages] == ["system", "user", "assistant", "tool"]
    assert [definition["function"]["name"] for definition in task.definitions] == ["get_weather"]
    message = refusal(tmp_path, "samples.jsonl", [body | {"tool_choice": "required"}])
    assert message.startswith(":1: tool_choice is neither auto nor left out")
    assert refusal(tmp_path, "samples.jsonl", [body | {"tools": "x"}]).startswith(
        ":1: tools is not a list of definitions"
    )


# --- promptfoo

CONFIG = """
prompts:
  - 'Answer in {{ language }}: {{question}}'
providers:
  - id: openai:gpt-5-mini
    config:
      tools: [{type: function, function: {name: get_weather, parameters: {type: object}}}]
defaultTest:
  vars: {language: French}
  assert:
    - type: is-valid-openai-tools-call
tests:
  - description: one
    vars: {question: Weather}
    assert:
      - {type: tool-call-f1, value: [get_weather]}
      - {type: icontains, value: rain}
      - {type: contains, value: a.b}
      - {type: regex, value: "\\\\d+"}

  - vars: {question: Hello, language: English}
    assert: [{type: equals, value: Hello.}]
"""


def test_a_config_gives_each_test_the_rendered_prompt_and_what_it_asserts(tmp_path: Path) -> None:
    first, second = read_tasks(saved(tmp_path, "promptfooconfig.yaml", CONFIG))
    assert [task.messages[0].text for task in (first, second)] == [
        "Answer in French: Weather",
        "Answer in English: Hello",
    ]
    assert [definition["function"]["name"] for definition in first.definitions] == ["get_weather"]
    assert first.expect == Expectation(
        calls=(ExpectedCall("get_weather", takes_any=True),),
        answer_contains=("rain",),
        answer_matches=r"^(?=[\s\S]*(?:a\.b))(?=[\s\S]*(?:\d+))",
    )
    assert (first.id, second.id) == ("test-1", "test-2")
    assert second.expect == Expectation(answer_equals="Hello.")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("type: equals", "type: llm-rubric", ":21: the assertion 'llm-rubric' is not read"),
        ("type: equals", "type: not-contains", ":21: the assertion 'not-contains' is not read"),
        ("{question: Hello,", "{", ":21: the prompt asks for question, which is not among the vars"),
        ("question: Hello,", "question: [a, b],", ":21: vars.question has several values"),
        ("{{question}}", "{{question | upper}}", ":13: the prompt has a template other than"),
        ("{{question}}'", "{{question}}'\n  - more", ": the config has 2 prompts; keep one here"),
        ("'Answer in {{ language }}: {{question}}'", "file://ask.py", ": the prompt file://ask.py is code"),
        ("'Answer in {{ language }}: {{question}}'", "file://no.txt", "no.txt: it cannot be read"),
        (
            "  - vars: {question: Hello, language: English}",
            "  - file://more.yaml\n  - vars: {}",
            "tests is not a list",
        ),
        ("prompts:", "prompts: [", "this is not YAML"),
    ],
)
def test_what_promptfoo_does_and_a_task_cannot_is_refused(
    tmp_path: Path, old: str, new: str, why: str
) -> None:
    assert old in CONFIG
    assert why in refusal(tmp_path, "promptfooconfig.yaml", CONFIG.replace(old, new))


def test_a_prompt_may_be_a_file_with_messages(tmp_path: Path) -> None:
    messages = [{"role": "system", "content": "Help."}, {"role": "user", "content": "{{question}}"}]
    saved(tmp_path, "ask.json", json.dumps(messages))
    config = {"prompts": ["file://ask.json"], "tests": [{"vars": {"question": "Why?"}}]}
    path = saved(tmp_path, "config.json", json.dumps(config))
    [task] = read_tasks(path)
    assert [(message.role, message.text) for message in task.messages] == [
        ("system", "Help."),
        ("user", "Why?"),
    ]


# --- recognising, and hostile files


@pytest.mark.parametrize(
    ("form", "name", "content"),
    [
        ("bfcl", "x.json", [entry()]),
        ("inspect", "x.jsonl", [{"input": "a", "target": "b"}]),
        ("k2vv", "x.jsonl", [{"messages": [ASKED], "tools": [TOOL]}]),
        ("promptfoo", "x.jsonl", [{"vars": {"messages": "Hello?"}}]),
        ("promptfoo", "x.yml", CONFIG),
        ("inspect", "x.csv", "input,target\na,b\n"),
        (None, "x.jsonl", [{"id": "a", "input": "b", "tools": []}]),
        (None, "x.jsonl", ""),
        (None, "x.jsonl", "not JSON"),
        (None, "x.json", [[1]]),
    ],
)
def test_a_file_is_known_by_its_content(tmp_path: Path, form: str | None, name: str, content: Any) -> None:
    path = saved(tmp_path, name, content)
    assert find_format(path) == form
    if form is not None:
        assert read_tasks(path)


@pytest.mark.parametrize("form", FOREIGN_FORMATS)
@pytest.mark.parametrize(
    "content",
    [
        "", "[", "[1]", "{}", "[{}]", "[{} {}]", '{"a": ', "[" * 100_000, "a: b: c", "- 1", "\x00", "[]x",
        "{}\n[]",
    ],
)  # fmt: skip
def test_no_file_breaks_a_reader(tmp_path: Path, form: str, content: str) -> None:
    refusal(tmp_path, "tasks", content, form)


def test_bytes_that_are_no_text_are_named_by_line(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_bytes(b'{"question": 1}\n\xff')
    with pytest.raises(TaskError, match=":2: the text is not UTF-8"):
        read_tasks(tmp_path / "t.json", "bfcl")
    with pytest.raises(TaskError, match="cannot be read"):
        read_tasks(tmp_path / "none.json", "bfcl")


def test_a_plan_names_such_a_file_and_its_format(tmp_path: Path) -> None:
    saved(tmp_path, "data.json", [entry()])
    plan = """
        name = "n"
        question = "q"
        measure = { primary = "refused", smallest = 0.1 }
        endpoints.mine = { url = "http://127.0.0.1:8080/v1" }
        models.m = { endpoint = "mine", model = "m" }
        tasks = { file = "data.json"FORMAT }
    """.replace("        ", "")
    path = saved(tmp_path, "plan.toml", plan.replace("FORMAT", ""))
    assert [task.id for task in read_plan_and_tasks(path)[1]] == ["simple_python_0"]
    saved(tmp_path, "plan.toml", plan.replace("FORMAT", ', format = "bfcl"'))
    assert read_plan(path).tasks_format == "bfcl"
    saved(tmp_path, "plan.toml", plan.replace("FORMAT", ', format = "csv"'))
    with pytest.raises(Exception, match=r"tasks\.format"):
        read_plan(path)


# --- what we export ourselves


@pytest.mark.parametrize("shape", FOREIGN_FORMATS)
def test_our_own_exports_are_the_same_tasks_again(tmp_path: Path, shape: str) -> None:
    nested = '{"path": {"a": [{"b": 1}], "c": [1, 2]}}'
    calls = [*the_calls(), call(5, step=5, raw_arguments=nested, arguments=nested)]
    ask = ask_store(tmp_path / "store", store_tables(calls))
    ids = ["c2", "c5"]
    saved(tmp_path, "own.jsonl", write_tasks(gather_tasks(ids, ask, Counter())).decode())
    own = sorted(read_tasks(tmp_path / "own.jsonl"), key=lambda task: task.origin or "")
    path = saved(tmp_path, SHAPES[shape].name, make_case_file(shape, ids, ask).data.decode())
    if shape == "bfcl":
        answers = make_case_file("bfcl_answers", ids, ask)
        assert answers.lines == 2
        saved(tmp_path, SHAPES["bfcl_answers"].name, answers.data.decode())
    foreign = sorted(read_tasks(path), key=lambda task: len(task.messages))
    assert find_format(path) == shape
    assert [task.messages for task in foreign] == [task.messages for task in own]
    for theirs, ours in zip(foreign, own, strict=True):
        assert sorted(map(_tool_name, theirs.definitions)) == sorted(map(_tool_name, ours.definitions))
    if shape == "bfcl":
        assert [task.expect and task.expect.calls[0].accepted for task in foreign] == [
            {name: (value,) for name, value in json.loads(text).items()} for text in (RIGHT, nested)
        ]
    if shape == "inspect":
        assert foreign[0].suggested == own[0].suggested
        assert (foreign[0].id, foreign[0].group) == ("c2", "s1")
    if shape == "promptfoo":
        expected = ExpectedCall("read_file", {name: (value,) for name, value in json.loads(RIGHT).items()})
        assert foreign[0].expect == Expectation(calls=(expected,), allows_more=True)


def _tool_name(definition: Any) -> str:
    return str(definition.get("function", definition)["name"])

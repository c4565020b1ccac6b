"""Tests trial tasks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgauge.checked_files.file_problems import Mistake
from callgauge.gateway import Call, ChatMessage, RecordedAnswer
from callgauge.trials.planning.safe_names import make_file_stem
from callgauge.trials.planning.task import Expectation, ExpectedCall, Task, TaskError
from callgauge.trials.planning.task_fields import task_schema
from callgauge.trials.planning.task_file import read_task, read_tasks, write_tasks
from tests.conftest import CASES
from tests.trials.made_turns import TOOLS

MISTAKES = json.loads((CASES / "trials" / "task_mistakes.json").read_text(encoding="utf-8"))
SCHEMA = jsonschema.Draft7Validator(task_schema())
PAST = [
    {"role": "system", "content": "Be short."},
    {"role": "user", "content": [{"text": "What did"}, {"type": "text", "text": "Acme order?"}]},
    {
        "role": "assistant",
        "tool_calls": [
            {"id": "c1", "function": {"name": "search_orders", "arguments": '{"customer":"Acme"}'}},
            {"id": "c2", "type": "function", "function": {"name": "get_weather", "arguments": "Rome"}},
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "two pumps"},
    {"role": "tool", "tool_call_id": "c2", "content": "no"},
]  # fmt: skip
FULL = {
    "id": "orders/1 (Zürich)",
    "input": PAST,
    "tools": ["search_orders"],
    "definitions": TOOLS[:2],
    "expect": {
        "calls": ["get_weather", {"search_orders": {"customer": ["Acme", 3], "limit": ["", 10]}}],
        "ordered": True,
        "more": True,
        "loose": True,
        "not_called": ["book"],
        "answer": {"contains": ["pumps"], "regex": "two|2", "equals": ""},
        "check": "own.checks:pumps",
    },
    "answers": [
        {
            "tool": "search_orders",
            "when": {"customer": "Acme"},
            "result": {"n": 2},
            "status": "tool_rejected",
        },
        {"tool": "search_orders", "result": "none"},
    ],
    "group": "acme",
    "origin": "session 12, call 3",
}


def write_lines(tmp_path: Path, *tasks: Any) -> Path:
    path = tmp_path / "tasks.jsonl"
    path.write_text("".join(json.dumps(task) + "\n" for task in tasks), encoding="utf-8")
    return path


def test_a_task_is_read_with_all_that_it_says(tmp_path: Path) -> None:
    (task,) = read_tasks(write_lines(tmp_path, FULL))
    assert (task.id, task.tools, task.group, task.origin) == (
        "orders/1 (Zürich)", ("search_orders",), "acme", "session 12, call 3",
    )  # fmt: skip
    assert [(message.role, message.text) for message in task.messages] == [
        ("system", "Be short."),
        ("user", "What did\nAcme order?"),
        (
            "assistant",
            "[tool_use parse error] json_parse_error:no_object_found; raw: Rome",
        ),
        ("tool", "two pumps"),
        ("user", "no"),
    ]
    assert task.messages[2].calls == (Call("c1", "search_orders", '{"customer":"Acme"}'),)
    assert task.expect == Expectation(
        calls=(
            ExpectedCall("get_weather", takes_any=True),
            ExpectedCall("search_orders", {"customer": ("Acme", 3), "limit": ("", 10)}),
        ),
        is_ordered=True,
        allows_more=True,
        is_loose=True,
        not_called=("book",),
        answer_contains=("pumps",),
        answer_matches="two|2",
        answer_equals="",
        check="own.checks:pumps",
    )
    assert task.answers == (
        RecordedAnswer("search_orders", '{"n":2}', {"customer": "Acme"}, "tool_rejected"),
        RecordedAnswer("search_orders", "none"),
    )


def test_a_text_is_the_users_message_and_a_mark_and_blank_lines_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text('\ufeff\n{"id": "a", "input": "Hello", "tools": []}\r\n\n', encoding="utf-8")
    assert read_tasks(path) == (Task("a", (ChatMessage("user", "Hello"),), tools=()),)


@pytest.mark.parametrize("case", MISTAKES, ids=[case["name"] for case in MISTAKES])
def test_every_mistake_is_told_with_its_line(tmp_path: Path, case: dict[str, Any]) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text("\n".join(case["lines"]), encoding="utf-8")
    with pytest.raises(TaskError) as error:
        read_tasks(path)
    problems = [str(problem).removeprefix(f"{path}:").strip() for problem in error.value.problems]
    assert problems == case["told"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b'{"id": "a", "input": "caf\xe9"}',
            "it is not UTF-8 text: byte 0xe9 in line 1; name a file of tasks",
        ),
        (b'{"id": "a", "input": "\\ud800"}', ":1: invalid JSON"),
        (b"\x00" * 9, ":1: invalid JSON"),
        (b'{"id": "a", "input": ' + b"[" * 5000, ":1: invalid JSON"),
    ],
)
def test_bytes_that_are_no_tasks_are_told(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(content)
    with pytest.raises(TaskError) as error:
        read_tasks(path)
    assert message in str(error.value)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(
        TaskError, match=r"it cannot be read: no such file or directory; name a file of tasks"
    ):
        read_tasks(tmp_path / "gone.jsonl")


def test_many_problems_are_counted_and_the_first_ones_told(tmp_path: Path) -> None:
    with pytest.raises(TaskError) as error:
        read_tasks(write_lines(tmp_path, *[{"id": str(number), "input": 1} for number in range(70)]))
    lines = str(error.value).split("\n")
    assert (len(lines), lines[-1], len(error.value.problems)) == (51, "… and 20 more", 70)


def test_tasks_that_are_written_are_read_again_the_same(tmp_path: Path) -> None:
    small = {"id": "b", "input": "Hello", "expect": {"no_call": True}}
    tasks = read_tasks(write_lines(tmp_path, FULL, small, {"id": "c", "input": "x", "tools": []}))
    write_tasks(tmp_path / "again.jsonl", tasks)
    assert read_tasks(tmp_path / "again.jsonl") == tasks
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["again.jsonl", "tasks.jsonl"]


def test_what_cannot_be_written_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = write_lines(tmp_path, FULL)
    before = path.read_bytes()
    broken = Task("b", (ChatMessage("user", "\ud800"),))
    with pytest.raises(TypeError):
        write_tasks(path, [broken])
    assert path.read_bytes() == before


def test_the_schema_is_one_and_takes_what_the_reader_takes(tmp_path: Path) -> None:
    jsonschema.Draft7Validator.check_schema(task_schema())
    SCHEMA.validate(FULL)
    for line in (17, {"id": "a"}, {**FULL, "expect": {"calls": [{"f": {"n": 3}}]}}, {**FULL, "more": 1}):
        mistakes: list[Mistake] = []
        assert read_task(line, mistakes) is None
        assert mistakes
        assert not SCHEMA.is_valid(line)


@given(st.text() | st.from_regex(r"[a-z0-9._-]{1,90}", fullmatch=True), st.text())
def test_the_stem_of_a_file_is_safe_and_another_for_every_id(task_id: str, other: str) -> None:
    stem = make_file_stem(task_id)
    assert stem == stem.lower()
    assert 0 < len(stem) <= 80
    assert set(stem) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-~")
    assert stem[0] not in "._-~"
    assert stem[-1] != "."
    assert (make_file_stem(other) == stem) == (task_id == other)


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("orders-1.b_2", "orders-1.b_2"),
        ("Orders", "orders~"),
        ("orders", "orders"),
        ("../../etc/passwd", "etc-passwd~"),
        ("con", "con~"),
        ("lpt1.txt", "lpt1-txt~"),
        ("Zürich 北京", "z-rich~"),
        ("", "x~"),
        ("a" * 200, "a" * 48 + "~"),
    ],
)
def test_a_stem_keeps_what_is_readable_of_an_id(name: str, stem: str) -> None:
    made = make_file_stem(name)
    assert made == stem or (stem.endswith("~") and made.startswith(stem) and len(made) == len(stem) + 12)

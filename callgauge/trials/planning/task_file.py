"""Reads and writes task files. One error lists every mistake in a file.

Callgauge's own task files are JSON Lines. `foreign_tasks` reads the files of other evaluation programs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from callgauge.checked_files.field_types import UNREAD
from callgauge.checked_files.file_problems import (
    KeyPath,
    Mistake,
    Problem,
    quote_value,
    read_text,
    write_key,
)
from callgauge.gateway import ChatMessage, RecordedAnswer
from callgauge.gateway.read_calls import read_past_messages
from callgauge.trials.planning.foreign_tasks import (
    OWN_FORMAT,
    ForeignTaskError,
    find_format,
    read_foreign_tasks,
)
from callgauge.trials.planning.task import Expectation, ExpectedCall, Task, TaskError
from callgauge.trials.planning.task_fields import TASK
from lenient import ToolCatalog, ToolDefinitionError

_MOST_BYTES = 1 << 30
_NEXT_STEP = "write one task a line, as docs/trials.md shows it"


def read_tasks(path: str | Path, form: str | None = None) -> tuple[Task, ...]:
    """Return the tasks of a file, in order. Raises TaskError, which lists all mistakes.

    `form` is `callgauge` (JSON Lines) or one of FOREIGN_FORMATS. If `form` is None, the format is found from
    the file's content.
    """
    return tuple(task for _, task in read_numbered_tasks(Path(path), form))


def read_numbered_tasks(path: Path, form: str | None = None) -> list[tuple[int, Task]]:
    """Return the tasks of a file with their line numbers. Raises TaskError, which lists all mistakes."""
    form = form or find_format(path) or OWN_FORMAT
    lines = _read_own_lines(path) if form == OWN_FORMAT else _read_foreign_lines(path, form)
    tasks: list[tuple[int, Task]] = []
    problems: list[Problem] = []
    first_lines: dict[str, int] = {}
    for number, task, mistakes in lines:
        if task is not None:
            if task.id in first_lines:
                what = f"{quote_value(task.id)} is already the id in line {first_lines[task.id]}"
                mistakes.append(Mistake(("id",), what, "give each task an id of its own"))
            first_lines.setdefault(task.id, number)
            tasks.append((number, task))
        problems += [
            Problem(path, number, write_key(mistake.key), mistake.what, mistake.advice)
            for mistake in mistakes
        ]
    if not tasks and not problems:
        problems.append(Problem(path, None, "", "it contains no task", _NEXT_STEP))
    if problems:
        raise TaskError(problems)
    return tasks


_ReadTask = tuple[int, Task | None, list[Mistake]]
"""The line number of a task, the task (or None), and its mistakes."""


def _read_own_lines(path: Path) -> Iterator[_ReadTask]:
    try:
        text = read_text(path, _MOST_BYTES)
    except ValueError as problem:
        raise TaskError([Problem(path, None, "", f"it {problem}", "name a file of tasks")]) from None
    if text.lstrip()[:1] == "[":
        what = "this is a list, not one task a line"
        raise TaskError([Problem(path, 1, "", what, f"write it as lines: jq -c '.[]' {path.name}")])
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            mistakes: list[Mistake] = []
            yield number, _read_line(line, mistakes), mistakes


def _read_foreign_lines(path: Path, form: str) -> Iterator[_ReadTask]:
    try:
        readers = read_foreign_tasks(path, form)
    except ForeignTaskError as problem:
        raise TaskError([Problem(path, problem.line, "", problem.message, problem.advice)]) from None
    for number, read in readers:
        mistakes: list[Mistake] = []
        try:
            yield number, read_task(read(), mistakes), mistakes
        except ForeignTaskError as problem:
            yield number, None, [Mistake((), problem.message, problem.advice)]


def _read_line(line: str, mistakes: list[Mistake]) -> Task | None:
    try:
        decoded = orjson.loads(line)
    except orjson.JSONDecodeError as problem:
        what = f"invalid JSON: {problem.msg} in column {problem.colno}"
        mistakes.append(Mistake((), what, _NEXT_STEP))
        return None
    except UnicodeEncodeError:
        mistakes.append(Mistake((), "this contains half a character", _NEXT_STEP))
        return None
    return read_task(decoded, mistakes)


def read_task(decoded: Any, mistakes: list[Mistake]) -> Task | None:
    """Return the task of a parsed line. After a mistake, return None and append the mistake to `mistakes`."""
    mistakes_before = len(mistakes)
    read = TASK.read(decoded, (), mistakes)
    if read is UNREAD:
        return None
    catalog = ToolCatalog()
    definitions = read["definitions"]
    if definitions:
        try:
            catalog = ToolCatalog.load(list(definitions))
        except ToolDefinitionError as problem:
            advice = "write definitions as a provider takes them"
            mistakes.append(Mistake(("definitions",), str(problem).rstrip("."), advice))
    messages = _read_messages(read["input"], catalog, mistakes)
    expect = _read_expectation("expect", read["expect"], mistakes)
    suggested = _read_expectation("suggested", read["suggested"], mistakes)
    answers = tuple(_read_answers(read["answers"] or (), mistakes))
    if len(mistakes) > mistakes_before:
        return None
    return Task(
        id=read["id"],
        messages=messages,
        tools=read["tools"],
        definitions=tuple(definitions),
        expect=expect,
        suggested=suggested,
        answers=answers,
        group=read["group"],
        origin=read["origin"],
    )


def _read_messages(task_input: Any, catalog: ToolCatalog, mistakes: list[Mistake]) -> tuple[ChatMessage, ...]:
    if task_input is UNREAD:
        return ()
    if isinstance(task_input, str):
        return (ChatMessage("user", task_input),)
    mistakes_before = len(mistakes)
    mistakes += _find_broken_history(task_input)
    return () if len(mistakes) > mistakes_before else tuple(read_past_messages(task_input, catalog))


def _find_broken_history(messages: Sequence[Mapping[str, Any]]) -> Iterator[Mistake]:
    """Yield the messages that a server would reject.

    Every tool result needs a tool call before it. The last message must not come from the model.
    """
    waiting: set[str] = set()
    for place, message in enumerate(messages):
        key: KeyPath = ("input", place)
        role, calls = message["role"], message["tool_calls"]
        if role == "tool":
            if message["tool_call_id"] not in waiting:
                call_id = quote_value(message["tool_call_id"])
                what = f"is the result of {call_id}, which no message before it calls"
                yield Mistake((*key, "tool_call_id"), what, "name the id of the call that it answers")
            waiting.discard(message["tool_call_id"])
            continue
        if calls and role != "assistant":
            yield Mistake((*key, "tool_calls"), f"a message of the {role} calls tools", "leave them out")
        waiting = {call["id"] for call in calls}
        if len(waiting) < len(calls):
            yield Mistake((*key, "tool_calls"), "two calls have the same id", "give each an id of its own")
        if not calls and not message["content"] and role != "system":
            yield Mistake((*key, "content"), "the message is empty", "write the text of the message")
    if messages[-1]["role"] not in ("user", "tool"):
        what = f"the last message is of the role {messages[-1]['role']}"
        yield Mistake(("input", len(messages) - 1), what, "end with the user's, or with a tool's result")


def _read_expectation(
    name: str, fields: Mapping[str, Any] | None, mistakes: list[Mistake]
) -> Expectation | None:
    if not fields:
        return None
    answer = fields["answer"] or {"contains": (), "regex": None, "equals": None}
    if UNREAD in (*fields.values(), *answer.values()):
        return None
    calls = tuple(
        ExpectedCall(tool, accepted or {}, takes_any=accepted is None) for tool, accepted in fields["calls"]
    )
    expect = Expectation(
        calls=calls,
        is_ordered=fields["ordered"],
        allows_more=fields["more"],
        is_loose=fields["loose"],
        no_call=fields["no_call"],
        not_called=fields["not_called"],
        answer_contains=answer["contains"],
        answer_matches=answer["regex"],
        answer_equals=answer["equals"],
        check=fields["check"],
    )
    mistakes += _find_contradictions(name, expect)
    return expect


def _find_contradictions(name: str, expect: Expectation) -> Iterator[Mistake]:
    key: KeyPath = (name,)
    expectations = (
        expect.calls, expect.no_call, expect.not_called, expect.answer_contains, expect.answer_matches,
        expect.answer_equals is not None, expect.check,
    )  # fmt: skip
    if not any(expectations):
        yield Mistake(
            key, "expects nothing", "name calls, no_call, not_called, answer or check, or leave it out"
        )
    if expect.no_call and expect.calls:
        yield Mistake((*key, "no_call"), "calls are expected, too", "leave one of the two out")
    if not expect.calls and (expect.is_ordered or expect.allows_more or expect.is_loose):
        yield Mistake(key, "`ordered`, `more` and `loose` say how `calls` are compared", "add `calls`")
    both = sorted({call.tool for call in expect.calls} & set(expect.not_called))
    if both:
        yield Mistake((*key, "not_called"), f"{', '.join(both)} is expected, too", "leave it out here")
    if expect.answer_matches is not None:
        try:
            re.compile(expect.answer_matches)
        except (re.error, OverflowError, RecursionError) as problem:
            what = f"{quote_value(expect.answer_matches)} is not a regular expression: {problem}"
            yield Mistake((*key, "answer", "regex"), what, "write one as Python reads it")


def _read_answers(answers: Iterable[Mapping[str, Any]], mistakes: list[Mistake]) -> Iterator[RecordedAnswer]:
    for_any: set[str] = set()
    for place, answer in enumerate(answers):
        if UNREAD in answer.values():
            continue
        if answer["tool"] in for_any:
            what = f"is never given: an answer of {answer['tool']} before it fits any arguments"
            mistakes.append(Mistake(("answers", place), what, "put the one without `when` last"))
        if not answer["when"]:
            for_any.add(answer["tool"])
        result = answer["result"]
        text = result if isinstance(result, str) else orjson.dumps(result).decode()
        yield RecordedAnswer(answer["tool"], text, answer["when"] or {}, answer["status"])


def write_tasks(path: str | Path, tasks: Iterable[Task]) -> None:
    """Write tasks as JSON Lines, which `read_tasks` can read again. Replaces the file atomically."""
    target = Path(path)
    part = target.with_name(target.name + ".part")
    part.write_bytes(b"".join(task_line(task) for task in tasks))
    part.replace(target)


def task_line(task: Task) -> bytes:
    """Return a task as one line of a task file, with the line break."""
    fields = {
        "id": task.id,
        "input": _write_messages(task.messages),
        "tools": list(task.tools) if task.tools is not None else None,
        "definitions": list(task.definitions),
        "expect": _write_expectation(task.expect) if task.expect is not None else None,
        "suggested": _write_expectation(task.suggested) if task.suggested is not None else None,
        "answers": [_write_answer(answer) for answer in task.answers],
        "group": task.group,
        "origin": task.origin,
    }
    set_fields = {
        name: value for name, value in fields.items() if value is not None and (value or name == "tools")
    }
    return orjson.dumps(set_fields, option=orjson.OPT_APPEND_NEWLINE)


def _write_messages(messages: Sequence[ChatMessage]) -> Any:
    if len(messages) == 1 and messages[0].role == "user" and messages[0].text.strip():
        return messages[0].text
    return [_write_message(message) for message in messages]


def _write_message(message: ChatMessage) -> dict[str, Any]:
    fields: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.calls:
        fields["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.raw}}
            for call in message.calls
        ]
    if message.role == "tool":
        fields |= {"tool_call_id": message.call_id} | ({"name": message.name} if message.name else {})
    return fields


def _write_expectation(expect: Expectation) -> dict[str, Any]:
    answer = {
        "contains": list(expect.answer_contains),
        "regex": expect.answer_matches,
        "equals": expect.answer_equals,
    }
    fields: dict[str, Any] = {
        "calls": [
            call.tool
            if call.takes_any
            else {call.tool: {name: list(vs) for name, vs in call.accepted.items()}}
            for call in expect.calls
        ],
        "ordered": expect.is_ordered,
        "more": expect.allows_more,
        "loose": expect.is_loose,
        "no_call": expect.no_call,
        "not_called": list(expect.not_called),
        "answer": {name: value for name, value in answer.items() if value is not None and value != []},
        "check": expect.check,
    }
    return {name: value for name, value in fields.items() if value}


def _write_answer(answer: RecordedAnswer) -> dict[str, Any]:
    fields: dict[str, Any] = {"tool": answer.tool, "result": answer.result}
    if answer.when:
        fields["when"] = dict(answer.when)
    return fields | ({"status": answer.status} if answer.status != "success" else {})

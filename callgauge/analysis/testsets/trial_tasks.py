"""Makes trial tasks from stored tool calls: the messages before a call, and the recorded results of the
tools.

docs/trials.md describes a task line. If the store lacks a message, a result or a definition, or has only its
beginning, a reason is reported and no task is made.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callgauge.analysis.testsets.cases import (
    MOST_EARLIER,
    Message,
    NotExportedError,
    Row,
    make_messages,
)
from lenient import ToolDefinition

TEXT_KEPT = 2_000
"""The number of characters that the store keeps of a message or a result (`ingest.sessions.stored_text`)."""
_STATUS = {"ok": "success", "unknown": "success"}  # the status of a result without an error
_NOT_RUN = ("emission", "syntax", "schema", "refused")


@dataclass(frozen=True, slots=True)
class StoredPrompt:
    """A stored system prompt, with name and version if the log contains them."""

    text: str
    name: str | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True)
class TrialTask:
    """A task without definitions and prompt, which several tasks may share.

    `tool` is the tool that the failed call names, or None. `corrected` holds the arguments of the later
    successful attempt. `offered` is the number of offered tools according to the log, or None. `is_cut` is
    True if the store has only the beginning of a message or a result.
    """

    id: str
    origin: str
    group: str
    messages: tuple[Message, ...]
    prompt: StoredPrompt | None
    tools: tuple[ToolDefinition, ...]
    tool: str | None
    answers: tuple[Mapping[str, Any], ...]
    corrected: Mapping[str, Any] | None
    model: str | None
    provider: str | None
    fault_layer: str | None
    offered: int | None
    is_cut: bool = False


def make_trial_task(
    row: Row,
    turn: Sequence[Row],
    answers: Sequence[Row],
    session_definitions: Mapping[str, str],
    defined: Callable[[str], ToolDefinition | None],
    *,
    given: Sequence[ToolDefinition] = (),
    takes_cut: bool = False,
) -> TrialTask:
    """Return the task of a row of `testset_calls`. Raises NotExportedError.

    `given` holds additional definitions, which are always offered. If `takes_cut` is True, messages and
    results may be cut in the store. `turn` and `answers` are the turn's rows of `testset_steps` and
    `turn_answers`. `session_definitions` holds the ids of the session's definitions by tool. `defined`
    returns the definition with an id, or None.
    """
    if not row["user_text"]:
        raise NotExportedError("user")
    if row["earlier"] > MOST_EARLIER:
        raise NotExportedError("long")
    earlier = [step for step in turn if step["step"] < row["step"]]
    tools = _find_tools(row, turn, session_definitions, defined, given)
    _require_results(earlier)
    messages = [message for message in make_messages(row, earlier) if message["role"] != "system"]
    if messages[-1]["role"] == "assistant":
        raise NotExportedError("untold")
    is_cut = _is_cut_anywhere(row, earlier)
    if is_cut and not takes_cut:
        raise NotExportedError("cut")
    return TrialTask(
        id=name_task(row["tool"], row["call_id"]),
        origin=row["call_id"],
        group=row["session_id"],
        messages=tuple(messages),
        prompt=StoredPrompt(row["prompt"], row["prompt_name"], row["prompt_version"])
        if row["prompt"]
        else None,
        tools=tools,
        tool=row["tool"],
        answers=tuple(
            _list_answers(answers, row["step"], {tool.name: tool for tool in tools}, takes_cut=takes_cut)
        ),
        corrected=_decode_object(row["corrected"]),
        model=row["model"],
        provider=row["provider"],
        fault_layer=row["fault_layer"],
        offered=row["offered_tools"],
        is_cut=is_cut,
    )


def write_task_line(
    task: TrialTask, *, with_tools: Iterable[str], with_prompt: bool, expects_corrected: bool = False
) -> dict[str, Any]:
    """Return the task as a line of a task file.

    `with_tools` holds the tools whose definitions are in the task itself. The plan contains all other
    definitions. If `with_prompt` is True, the system prompt is the first message. The later successful
    attempt becomes a suggestion or the expected result.
    """
    own = set(with_tools)
    system = [{"role": "system", "content": task.prompt.text}] if with_prompt and task.prompt else []
    line: dict[str, Any] = {
        "id": task.id,
        "input": [*system, *task.messages],
        "tools": [tool.name for tool in task.tools],
    }
    definitions = [tool.to_anthropic(defaults=True) for tool in task.tools if tool.name in own]
    if definitions:
        line["definitions"] = definitions
    if task.corrected is not None and task.tool is not None:
        accepted = {name: [value] for name, value in task.corrected.items()}
        expected = {"calls": [{task.tool: accepted}], "more": True}  # the turn continued after this call
        line["expect" if expects_corrected else "suggested"] = expected
    if task.answers:
        line["answers"] = [dict(answer) for answer in task.answers]
    return line | {"group": task.group, "origin": task.origin}


def name_task(tool: str | None, call_id: str) -> str:
    """Return the id of the task of a call: the tool and a hash of the call's id.

    The id is a safe file name.
    """
    word = re.sub(r"[^a-zA-Z0-9_-]+", "-", tool or "no-tool").strip("-")[:40] or "tool"
    return f"{word}-{hashlib.sha256(call_id.encode('utf-8', 'surrogatepass')).hexdigest()[:10]}"


def _require_results(earlier: Sequence[Row]) -> None:
    for step in earlier:
        if _is_text(step):
            continue
        if step["raw_arguments"] is None or step["tool"] is None or step["args_source"] == "truncated":
            raise NotExportedError("history")
        if step["result_text"] is None:
            raise NotExportedError("result")


def _is_cut_anywhere(row: Row, earlier: Sequence[Row]) -> bool:
    texts = [
        row["user_text"],
        *(step["text"] for step in earlier),
        *(step["result_text"] for step in earlier),
    ]
    return any(map(_is_cut, texts))


def _is_text(step: Row) -> bool:
    return step["tool"] is None and step["raw_arguments"] is None and step["text"] is not None


def _is_cut(text: str | None) -> bool:
    return text is not None and len(text) == TEXT_KEPT + 1 and text.endswith("…")


def _find_tools(
    row: Row,
    turn: Sequence[Row],
    session_definitions: Mapping[str, str],
    defined: Callable[[str], ToolDefinition | None],
    extra_definitions: Sequence[ToolDefinition],
) -> tuple[ToolDefinition, ...]:
    """Return the definitions of the tools of the call, then of the turn, then of the session.

    A tool that was not offered gets no definition.
    """
    ids = [row["definition_id"], *(step["definition_id"] for step in turn), *session_definitions.values()]
    tools: dict[str, ToolDefinition] = {}
    for definition_id in filter(None, dict.fromkeys(ids)):
        stored = defined(definition_id)
        if stored is not None:
            tools.setdefault(stored.name, stored)
    for definition in extra_definitions:
        tools.setdefault(definition.name, definition)
    was_offered = row["tool"] is not None and not row["tools_offered"]
    if not tools or (was_offered and row["tool"] not in tools):
        raise NotExportedError("definition")
    return tuple(tools.values())


def _list_answers(
    answers: Sequence[Row], failed_step: int, tools: Mapping[str, ToolDefinition], *, takes_cut: bool
) -> list[dict[str, Any]]:
    """Return the recorded results of the tools, in the order in which a trial tries them.

    If two results have the same arguments, the result of the failed step or of a later step is used, because
    the trial begins at the failed step. Results that require more arguments come first, because a result that
    requires fewer arguments would match, too.
    """
    later = [answer for answer in answers if answer["step"] >= failed_step]
    before = [answer for answer in answers if answer["step"] < failed_step]
    lines_by_answer: dict[tuple[str, str], dict[str, Any]] = {}
    for answer in [*later, *reversed(before)]:
        if answer["tool"] not in tools:
            continue  # the tool is not offered
        when = _decode_object(answer["arguments"])
        if answer["fault_layer"] in _NOT_RUN or when is None:
            continue
        if _is_cut(answer["result_text"]) and not takes_cut:
            continue
        if not when and tools[answer["tool"]].parameters:
            continue  # the answer would match any arguments
        line = {"tool": answer["tool"], "when": when, "result": answer["result_text"]}
        status = _name_status(answer)
        if status != "success":
            line["status"] = status
        lines_by_answer.setdefault((answer["tool"], json.dumps(when, sort_keys=True)), line)
    return sorted(lines_by_answer.values(), key=lambda line: -len(line["when"]))


def _name_status(answer: Row) -> str:
    if answer["fault_layer"] == "tool_rejected":
        return "tool_rejected"
    return (
        "execution_failed"
        if answer["fault_layer"]
        else _STATUS.get(answer["result_status"], "execution_failed")
    )


def _decode_object(text: str | None) -> dict[str, Any] | None:
    try:
        value = json.loads(text) if text is not None else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None

"""AgentDojo runs: one JSON document for each attempt at a task, with or without a prompt injection.

**Files.** AgentDojo (github.com/ethz-spylab/agentdojo) writes
`runs/<pipeline>/<suite>/<user_task>/<attack>/<injection>.json`. These notes are based on its source code and
on six runs of DRIFT, a defence built on AgentDojo. DRIFT keeps the messages as `conversations`.

**Fields.** `{suite_name, pipeline_name, user_task_id, injection_task_id, attack_type, messages, error,
utility, security, duration}`. A message has `role` and `content` (text, or blocks `{type: text, content}`). A
call is `{function, args, id}`; `function` is the tool's name. A result has `tool_call_id` and `error`, which
is null for a successful call. A run is a session of one turn.

**Rules.**
- `error` marks every exception. `Invalid tool …` and `ValidationError: …` (for the input schema) are schema
  failures. Any other `…Error` is an execution failure.
- The verdict is `utility`: whether the user's task was done. `security` is not read. It is about the attack,
  not about the turn.
- The pipeline's name is the model's name, followed by the name of a defence. The defence is stored with the
  name of the agent program.
- If calls are written as text (`<function_call>…`, `<function=…>`), the strategy is `json_fallback`.
- DRIFT denies calls with a user message (`[CALL ERROR] The function calling of … has been refused`). Denied
  calls appear only in that message. They count as calls without arguments, and the message begins no turn.

**Not in the log.** The model's own argument text, tool definitions and tokens per reply.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ingest.decoding.fields import read_objects, read_text, read_time
from ingest.events import Event, FaultLayer, SessionSeen, Strategy
from ingest.formats.conversations.result_layers import PASSED, failed_flag, find_layer
from ingest.formats.conversations.session_per_record import SessionPerRecord
from ingest.formats.conversations.trial_messages import TrialMessages
from ingest.formats.provider_messages.chat_messages import ResultFlag
from ingest.log_format import About, Record, Source, Translator
from lenient.regex import compile_regex

SOURCE = Source(
    name="agentdojo",
    title="AgentDojo runs",
    raw_arguments="no",
    argument_failures="partly: arguments that the input schema rejected, and unknown tools",
    error_flag="yes: error",
    definitions="no: supply them with --tools",
    system_prompt="partly: where the run has a system message",
    model="yes: from the pipeline's name",
    turn_end="yes: utility",
    cannot_tell="Arguments that could not be parsed: such a reply has no tool call. "
    "The log records whether an attack succeeded; that is not the success of the turn.",
)

_MESSAGES = ("messages", "conversations")
_DEFENCES = ("tool_filter", "transformers_pi_detector", "spotlighting_with_delimiting", "repeat_user_prompt")
_AS_TEXT = compile_regex(r"<function[_-]call>|<function=")
_REFUSAL = compile_regex(r"\[CALL ERROR\] The function calling of (.{1,20000}?) has been refused", re.DOTALL)
_REFUSED_NAME = compile_regex(r"'name\\?': \\?'([^'\\]{1,200})\\?'")
_FAULTS = (
    (FaultLayer.SCHEMA, compile_regex(r"Invalid tool .{1,200} provided\.|ToolNotFoundError")),
    (FaultLayer.SCHEMA, compile_regex(r"ValidationError: \d{1,9} validation errors? for Input schema for ")),
    (FaultLayer.TOOL_REJECTED, compile_regex(r"ValidationError: ")),
)


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(map(_is_ours, head))


def _is_ours(value: Mapping[str, Any]) -> bool:
    named = {"suite_name", "pipeline_name", "user_task_id"} <= value.keys()
    return named and any(isinstance(value.get(key), list) for key in _MESSAGES)


def translator(about: About) -> Translator:
    return SessionPerRecord(about, _take_run)


def _take_run(record: Record, session_id: str) -> Iterator[Event]:
    run = record.value
    messages = [message for key in _MESSAGES for message in read_objects(run.get(key))]
    model, defence = _split_pipeline(read_text(run.get("pipeline_name")))
    ts = read_time(run.get("evaluation_timestamp"))
    yield SessionSeen(
        session_id=session_id,
        where=record.where,
        ts=ts,
        harness=f"agentdojo/{defence}" if defence else "agentdojo",
        harness_version=read_text(run.get("agentdojo_package_version"))
        or read_text(run.get("benchmark_version")),
        task=_name_task(run),
        model=model,
    )
    as_text = any(_AS_TEXT.search(_join_text(message)) for message in messages)
    trial = TrialMessages(
        session_id,
        record,
        flag=_read_flag,
        when=lambda _message: ts,
        strategy=Strategy.JSON_FALLBACK if as_text else Strategy.TOOL_USE,
    )
    done = run.get("utility")
    yield from trial.to_events(
        list(_plain_messages(messages)),
        status="error" if run.get("error") else None,
        recorded_ok=done if isinstance(done, bool) else None,
    )


def _split_pipeline(name: str | None) -> tuple[str | None, str | None]:
    """Split a pipeline name, such as `gpt-4o-2024-05-13-tool_filter`, into the model and the defence."""
    for defence in _DEFENCES:
        if name and name.endswith(f"-{defence}"):
            return name.removesuffix(f"-{defence}"), defence
    return name, None


def _name_task(run: Mapping[str, Any]) -> str:
    parts = [run.get(key) for key in ("suite_name", "user_task_id", "attack_type", "injection_task_id")]
    return "/".join(part for part in parts if isinstance(part, str) and part and part != "none")


def _plain_messages(messages: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the messages in OpenAI's format.

    A message that denies tool calls is replaced by one result for each denied call. The denied calls are
    added to the message before it.
    """
    for at, message in enumerate(messages):
        words = _join_text(message)
        if message.get("role") == "user" and (refused := _list_refused(words)):
            for call in refused:
                yield {"role": "tool", "name": call["function"]["name"], "content": words, "refused": True}
            continue
        calls = [_plain_call(call) for call in read_objects(message.get("tool_calls"))]
        if message.get("role") == "assistant" and not calls and at + 1 < len(messages):
            following = messages[at + 1]
            calls = _list_refused(_join_text(following)) if following.get("role") == "user" else []
        yield {**message, "content": words, "tool_calls": calls}


def _plain_call(call: Mapping[str, Any]) -> dict[str, Any]:
    named = call.get("function")
    if isinstance(named, dict):
        return dict(call)
    return {"id": call.get("id"), "function": {"name": named, "arguments": call.get("args")}}


def _list_refused(words: str) -> list[dict[str, Any]]:
    """Return the tool calls that a message of the defence DRIFT denies.

    The message contains one tool name, or a list of tool calls in Python syntax.
    """
    match = _REFUSAL.search(words)
    if match is None:
        return []
    named = match.group(1)
    names = _REFUSED_NAME.findall(named) if named.startswith("[") else [named]
    return [{"function": {"name": name}} for name in names]


def _read_flag(message: Mapping[str, Any]) -> ResultFlag:
    if message.get("refused") is True:
        return failed_flag(read_text(message.get("content")) or "", FaultLayer.REFUSED)
    if "error" not in message:
        return ResultFlag()
    error = message.get("error")
    if error is None:
        return PASSED
    words = error if isinstance(error, str) else str(error)
    return failed_flag(words, find_layer(words, _FAULTS) or FaultLayer.EXECUTION)


def _join_text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = (part.get("content", part.get("text")) for part in read_objects(content))
    return "\n".join(part for part in parts if isinstance(part, str))

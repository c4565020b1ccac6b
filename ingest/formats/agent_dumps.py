"""Saved conversations of four programs: Google's ADK, Amp, promptfoo and smolagents.

**Files.**
- ADK: a session as its API returns it (`/apps/<app>/users/<user>/sessions/<id>`) or as `adk web` saves it. A
  file that contains only the events of a session is also read.
- Amp: threads, `~/.local/share/amp/threads/T-<id>.json`.
- promptfoo: results, `promptfoo eval -o results.json` or `.jsonl`.
- smolagents: an agent's memory as an array, `agent.memory.get_full_steps()` or the `steps` of a `RunResult`.

No complete file was available. The fields come from the documentation, from the source code
(google/adk-python `src/google/adk/events`, huggingface/smolagents `memory.py`) and from files quoted in
public repositories.

**Fields.**
- ADK: `{id, appName, userId, events: [{id, invocationId, author, timestamp, content: {role, parts},
  usageMetadata}]}`. Field names may also be in snake_case.
- Amp: `{v, id: "T-…", created, messages: [{role, messageId, content, meta.sentAt, usage, state}]}`. Content
  blocks are Anthropic's. A result is `{toolUseID, run: {status, result | error | reason}}`.
- promptfoo: `results.results[]`, or one result per line: `{provider.id, prompt.raw, vars, response.{output,
  tokenUsage}, success, latencyMs}`.
- smolagents: `{system_prompt}`, `{task}` and steps `{step_number, timing, tool_calls, model_output_message,
  observations, error, token_usage}`.

**Sessions.** An ADK session, an Amp thread, a smolagents memory or a promptfoo result becomes one session.
The task of a promptfoo result is the test's description. If there is no description, the task is the test's
variables.

**Rules.**
- ADK writes pieces of a reply (`partial`) before the whole reply. Only the whole reply is read.
- smolagents keeps each call twice: as its agent parsed the call, and as the model sent it
  (`model_output_message`). The model's version is read if it contains as many calls as the agent's version.
- A code agent of smolagents calls `python_interpreter` with code that is not JSON. The call is kept as
  `{"code": text}`.
- A reply in which smolagents could parse no call (`AgentParsingError`) is a lost call.
- `observations` of smolagents belong to all calls of a step, so it is unknown which of several calls failed.
- `output` of promptfoo is text, a list of calls, or text in which each line is a call as JSON. `success` is
  the verdict of the test's assertions. promptfoo does not run the calls.
- An Amp call that a person rejected or cancelled counts as denied.

**Not in the log.** Tool definitions (only promptfoo has them) and the model's own argument text (known only
for OpenAI). ADK does not name the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ingest.decoding.fields import (
    count_input_parts,
    count_whole_input,
    read_count,
    read_number,
    read_object,
    read_objects,
    read_text,
)
from ingest.events import ArgsSource, CallMade, Event, FaultLayer, Rejected, TurnStatus
from ingest.formats.conversations.message_dump import Conversation, MessageDump
from ingest.formats.conversations.task_names import question_task
from ingest.formats.provider_messages import gemini_content
from ingest.formats.provider_messages.embedded_json import decode_json, open_json, to_text
from ingest.formats.provider_messages.exchange import parse_instant
from ingest.formats.provider_messages.model_requests import find_definitions
from ingest.log_format import About, Record, Source, Translator
from lenient.regex import compile_regex

SOURCE = Source(
    name="agent_dumps",
    title="Saved agent sessions (ADK, Amp, promptfoo, smolagents)",
    raw_arguments="partly: smolagents and promptfoo, where the model's API has text",
    argument_failures="partly: smolagents' own messages; parsed where the text is there",
    error_flag="partly: Amp's status, smolagents' error of a step, ADK's response with an error",
    definitions="partly: promptfoo's, where the file has the configuration of the provider",
    system_prompt="partly: smolagents, and promptfoo where it is in the prompt",
    model="partly: Amp per step, promptfoo per result, smolagents where its model keeps the raw reply",
    turn_end="partly: an answer ends a turn; a verdict only in promptfoo's results",
    cannot_tell="Clean and repaired calls cannot be distinguished where only decoded arguments are kept. "
    "promptfoo does not run the calls.",
)

_MAX_WAITING = 10  # maximum number of records, such as prompts, before the record that identifies the program
_Value = Mapping[str, Any]


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(_find_kind(record) is not None for record in head[:_MAX_WAITING])


def _find_kind(record: _Value) -> type[MessageDump] | None:
    return next((kind for is_ours, kind in _KINDS if is_ours(record)), None)


def translator(about: About) -> Translator:
    return _AgentDump(about)


class _AgentDump:
    """Translates one file.

    The first record that identifies the agent program selects the class that translates the file.
    """

    def __init__(self, about: About) -> None:
        self._about = about
        self._reader: MessageDump | None = None
        self._waiting: list[Record] = []

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        if self._reader is None and (kind := _find_kind(record.value)) is not None:
            self._reader = kind(self._about)
            waiting, self._waiting = self._waiting, []
            for before in waiting:
                yield from self._reader.take(before)
        if self._reader is not None:
            yield from self._reader.take(record)
        elif len(self._waiting) < _MAX_WAITING:
            self._waiting.append(record)

    def finish(self) -> Iterator[Event]:
        if self._reader is not None:
            yield from self._reader.finish()

    def close(self) -> None:
        """Do nothing: no file is open."""


def _either(value: _Value, camel: str) -> Any:
    """Return the value of a field whose name is in camelCase or in snake_case."""
    snake = re.sub(r"(?<!^)([A-Z])", r"_\1", camel).lower()
    return value.get(camel, value.get(snake))


# --- Google's ADK ----------------------------------------------------------------------------


def _is_adk(record: _Value) -> bool:
    if isinstance(record.get("author"), str):
        return isinstance(_either(record, "invocationId"), str)
    if "events" not in record or _either(record, "appName") is None:
        return False
    return any(map(_is_adk, read_objects(record["events"])[:1]))


class _AdkSession(MessageDump):
    harness = "adk"

    def split(self, value: _Value) -> list[Conversation] | None:
        if "events" not in value:
            return None
        user, session = read_text(_either(value, "userId")), read_text(value.get("id"))
        return [Conversation(read_objects(value["events"]), session, user=user)]

    def unwrap(self, message: _Value) -> Iterator[Any]:
        parts = read_objects(read_object(message.get("content")).get("parts"))
        if message.get("partial") is not True and parts:
            yield {"role": "user" if message.get("author") == "user" else "model", "parts": parts}

    def step_facts(self, message: _Value) -> dict[str, Any]:
        usage = read_object(_either(message, "usageMetadata"))
        return {
            "model": read_text(_either(message, "modelVersion")),
            **gemini_content.count_input(usage),
            "output_tokens": gemini_content.count_output_tokens(usage),
        }

    def read_time(self, message: _Value) -> datetime | None:
        return parse_instant(message.get("timestamp"))


# --- Amp -------------------------------------------------------------------------------------

_AMP_REFUSED = ("rejected-by-user", "cancelled")


def _is_amp(record: _Value) -> bool:
    messages = read_objects(record.get("messages"))
    return "v" in record and "id" in record and any("messageId" in message for message in messages)


class _AmpThread(MessageDump):
    harness = "amp"
    fault_texts = ((FaultLayer.REFUSED, compile_regex("|".join(_AMP_REFUSED))),)

    def split(self, value: _Value) -> list[Conversation] | None:
        tags = read_object(read_object(value.get("env")).get("initial")).get("tags")
        words = tags if isinstance(tags, list) else []
        model = next((tag[6:] for tag in words if isinstance(tag, str) and tag.startswith("model:")), None)
        messages = read_objects(value.get("messages"))
        ends = [read_object(message.get("state")).get("type") for message in messages if "state" in message]
        return [
            Conversation(
                messages,
                read_text(value.get("id")),
                ts=parse_instant(value.get("created")),
                step={"model": model},
                verdict={"status": TurnStatus.CANCELLED.value} if ends[-1:] == ["cancelled"] else None,
            )
        ]

    def unwrap(self, message: _Value) -> Iterator[Any]:
        blocks = read_objects(message.get("content"))
        yield {
            "role": message.get("role"),
            "content": [block for amp_block in blocks for block in _amp_block(amp_block)],
        }

    def step_facts(self, message: _Value) -> dict[str, Any]:
        usage = read_object(message.get("usage"))
        return {
            "model": read_text(usage.get("model")),
            **count_input_parts(
                usage.get("inputTokens"),
                usage.get("cacheReadInputTokens"),
                usage.get("cacheCreationInputTokens"),
            ),
            "output_tokens": read_count(usage.get("outputTokens")),
        }

    def read_time(self, message: _Value) -> datetime | None:
        sent = read_object(message.get("meta")).get("sentAt")
        return parse_instant(sent) or parse_instant(read_object(message.get("usage")).get("timestamp"))


def _amp_block(block: _Value) -> Iterator[_Value]:
    """Yield a content block of Amp in Anthropic's format. Skip the result of a running tool call."""
    if block.get("type") != "tool_result":
        yield block
        return
    run = read_object(block.get("run"))
    status, result, error = read_text(run.get("status")), run.get("result"), read_object(run.get("error"))
    if status in (None, "in-progress", "queued", "blocked-on-user"):
        return
    inner = result.get("content") if isinstance(result, dict) and len(result) == 1 else None
    content = inner if inner is not None else result
    if status != "done":
        reason = error.get("message") or run.get("reason") or to_text(content)
        content = reason if status not in _AMP_REFUSED else f"{status}: {reason or ''}"
    named = block.get("toolUseID")
    yield {**block, "tool_use_id": named, "content": to_text(content), "is_error": status != "done"}


# --- promptfoo -------------------------------------------------------------------------------

# A promptfoo id such as `openai:chat:gpt-4.1` may have one of these words between provider and model.
_PROMPTFOO_APIS = frozenset(
    ("chat", "completion", "messages", "responses", "converse", "assistant", "realtime")
)
# types of the calls in Anthropic's and OpenAI's replies, which promptfoo writes as lines of text
_PROMPTFOO_CALLS = ("tool_use", "function_call")
_PROMPTFOO_CODE = frozenset(("file", "python", "exec", "http", "https", "webhook", "package", "echo"))


def _is_promptfoo(record: _Value) -> bool:
    rows = _promptfoo_rows(record)
    return bool(rows) and all({"provider", "prompt", "response", "success"} <= row.keys() for row in rows[:3])


def _promptfoo_rows(record: _Value) -> list[dict[str, Any]]:
    listed = record.get("results")
    within = read_objects(listed if isinstance(listed, list) else read_object(listed).get("results"))
    return within or ([dict(record)] if "promptIdx" in record or "testIdx" in record else [])


class _PromptfooResults(MessageDump):
    harness = "promptfoo"

    def split(self, value: _Value) -> list[Conversation] | None:
        configured = read_objects(read_object(value.get("config")).get("providers"))
        tools = {
            str(name): read_object(provider.get("config")).get("tools")
            for provider in configured
            for name in (provider.get("id"), provider.get("label"))
        }
        at = parse_instant(read_object(value.get("results")).get("timestamp"))
        return [_promptfoo_result(row, tools, at) for row in _promptfoo_rows(value)]


def _promptfoo_result(row: _Value, tools: _Value, at: datetime | None) -> Conversation:
    named, response = row.get("provider"), read_object(row.get("response"))
    ident = named if isinstance(named, str) else read_text(read_object(named).get("id")) or ""
    label = read_text(read_object(named).get("label"))
    usage, output = read_object(response.get("tokenUsage")), response.get("output")
    prompt, test = read_object(row.get("prompt")), read_object(row.get("testCase"))
    request = open_json(prompt.get("raw"))
    messages = read_objects(request) or [{"role": "user", "content": to_text(request)}]
    if output is not None:
        messages.append({"role": "assistant", "content": _promptfoo_output(output)})
    provider, model = _promptfoo_model(ident)
    sampled = read_object(prompt.get("config")).get("tools") or tools.get(ident) or tools.get(str(label))
    variables = to_text(row.get("vars")) if row.get("vars") else None
    return Conversation(
        messages,
        definitions=find_definitions(sampled) if sampled else (),
        task=question_task(test.get("description")) or question_task(variables or prompt.get("raw")),
        ts=parse_instant(row.get("timestamp")) or at,
        step={
            "provider": provider,
            "model": model,
            **count_whole_input(usage.get("prompt")),
            "output_tokens": read_count(usage.get("completion")),
            "latency_ms": read_number(row.get("latencyMs")),
        },
        verdict={"status": "passed" if row.get("success") is True else "failed", "ok": row.get("success")},
    )


def _promptfoo_output(output: Any) -> Any:
    """Return the content of a reply: a string, or a list of content parts.

    promptfoo stores the parts as JSON, or as separate lines.
    """
    if isinstance(output, dict):
        calls = output.get("tool_calls")
        return [*read_objects(calls), output.get("content") or ""] if calls else output
    if not isinstance(output, str) or not any(f'"{word}"' in output for word in _PROMPTFOO_CALLS):
        return output
    lines = output.split("\n")
    parts = [decode_json(line) if line.startswith("{") else None for line in lines]
    if not any(isinstance(part, dict) and part.get("type") in _PROMPTFOO_CALLS for part in parts):
        return output
    return [part if isinstance(part, dict) else line for part, line in zip(parts, lines, strict=True) if line]


def _promptfoo_model(ident: str) -> tuple[str | None, str | None]:
    """Return the provider and the model from an id such as `openai:chat:gpt-4.1`."""
    provider, _, rest = ident.partition(":")
    first, _, deeper = rest.partition(":")
    model = deeper if first in _PROMPTFOO_APIS else rest
    return (None, None) if provider in _PROMPTFOO_CODE or not model else (provider, model)


# --- smolagents ------------------------------------------------------------------------------

_CODE_CALL = "python_interpreter"


def _is_smolagents(record: _Value) -> bool:
    if {"step_number", "model_output_message", "observations"} <= record.keys():
        return True
    steps = read_objects(record.get("steps"))
    return any(map(_is_smolagents, steps))


class _SmolagentsMemory(MessageDump):
    harness = "smolagents"
    fault_texts = (
        (
            FaultLayer.SCHEMA,
            compile_regex(
                r"Unknown tool |Invalid call to tool |Argument \S{1,200} (?:is |has type )"
                r"|Arguments? [^\n]{0,200} (?:is|are) required"
            ),
        ),
    )

    def __init__(self, about: About) -> None:
        super().__init__(about)
        self._answer: str | None = None
        self._stopped: str | None = None

    def split(self, value: _Value) -> list[Conversation] | None:
        return [Conversation(read_objects(value["steps"]))] if "steps" in value else None

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        yield from super().take(record)
        error, session = read_object(record.value.get("error")), self._only
        if error.get("type") == "AgentParsingError" and not record.value.get("tool_calls") and session:
            yield CallMade(
                **session.event_place(),
                tool=None,
                args_source=ArgsSource.MISSING,
                refused_by_harness=FaultLayer.EMISSION,
                harness_message=read_text(error.get("message")),
            )
        if error.get("type") == "AgentMaxStepsError":
            self._stopped = "max_steps_error"
        if record.value.get("is_final_answer") is True:
            self._answer = to_text(record.value.get("action_output")) or ""

    def finish(self) -> Iterator[Event]:
        if self._only is None:
            return
        if self._stopped is not None:
            yield from self._only.finish({"status": self._stopped, "ok": False})
        elif self._answer is not None:
            yield from self._only.finish({"status": "final_answer", "answer": self._answer})
        else:
            yield from self._only.finish()

    def unwrap(self, message: _Value) -> Iterable[Any]:
        if "step_number" in message:
            return _smolagents_step(message)
        if "task" in message:
            return ({"role": "user", "content": message["task"]},)
        return ({"role": "system", "content": message.get("system_prompt")},)

    def step_facts(self, message: _Value) -> dict[str, Any]:
        usage = read_object(message.get("token_usage"))
        sent = read_object(message.get("model_output_message"))
        usage = usage or read_object(sent.get("token_usage"))
        return {
            "model": read_text(read_object(sent.get("raw")).get("model")),
            **count_whole_input(usage.get("input_tokens")),
            "output_tokens": read_count(usage.get("output_tokens")),
        }

    def read_time(self, message: _Value) -> datetime | None:
        return parse_instant(read_object(message.get("timing")).get("start_time", message.get("start_time")))


def _smolagents_step(step: _Value) -> Iterator[Any]:
    sent = read_object(step.get("model_output_message"))
    parsed, raw = read_objects(step.get("tool_calls")), read_objects(sent.get("tool_calls"))
    calls = raw if len(raw) >= len(parsed) else [_smolagents_call(call) for call in parsed]
    text = sent.get("content") if sent else step.get("model_output")
    yield {"role": "assistant", "content": text, "tool_calls": calls}
    error = step.get("error")
    if error is None and step.get("observations") is None and step.get("action_output") is None:
        return
    result = (
        read_object(error).get("message") or step.get("observations") or to_text(step.get("action_output"))
    )
    failed = None if error is not None and len(calls) > 1 else error is not None
    for call in calls:
        yield {"role": "tool", "tool_call_id": call.get("id"), "content": result, "is_error": failed}


def _smolagents_call(call: _Value) -> dict[str, Any]:
    """Return a tool call as the agent parsed it. The argument of a code agent's call is code, not JSON."""
    function = read_object(call.get("function")) or call
    sent, name = function.get("arguments"), function.get("name")
    arguments = {"code": sent} if name == _CODE_CALL and isinstance(sent, str) else sent
    return {"id": call.get("id"), "function": {"name": name, "arguments": arguments}}


_KINDS = (
    (_is_adk, _AdkSession),
    (_is_amp, _AmpThread),
    (_is_promptfoo, _PromptfooResults),
    (_is_smolagents, _SmolagentsMemory),
)

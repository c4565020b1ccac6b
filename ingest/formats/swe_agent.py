"""SWE-agent trajectories: one JSON document per run, `<instance>.traj`.

**Files.** `trajectories/<user>/<run>/<instance>/<instance>.traj`. These notes are based on demonstrations of
0.6 to 1.0 in the project's repository and, for rejected replies, on the source code
(github.com/SWE-agent/SWE-agent).

**Fields.** `trajectory[].{response, thought, action, observation, execution_time, query}` contains every
reply of the model, including rejected ones. `history[]` contains the messages of the accepted replies, with
`tool_calls` (the model's own text) and `tool_call_ids`. `info.{exit_status, submission, model_stats,
swe_agent_version}`, `replay_config` (an object or JSON text). A run is a session of one turn.

**Calls.** With `function_calling`, the call is the native call in the history. With `thought_action`, the
action is a code block, which is read as a call with the block as `command` (strategy `json_fallback`). The
block is not JSON. The tool is the first word if the prompt lists it as a command (`open`, `edit`, `submit`
…). Otherwise the tool is `bash`.

**Rules.**
- A reply that could not be parsed has an empty `action`, and its calls are not stored. The reason is the
  agent's answer, the last message of the next query (`message_type` user): no call or several calls
  (emission), "not valid JSON" (syntax), missing, unexpected or unknown arguments (schema), a blocked command
  (denied), bash syntax errors (rejected by the tool). Releases before 1.0 do not store these replies.
- If a run gave up, its last step (`Exit due to …`) comes from SWE-agent and is not a reply. `exit_format` is
  in `exit_status`.
- Demonstrations in the history (`is_demo`) are not calls of this run.
- The task is the `id` of the problem statement. If there is no `id`, the task is the SWE-bench instance in
  the file's name.
- Observations have no error flag. A rejected edit and a timeout are recognised by their text; any other
  status is unknown.

**Not in the log.** Whether the patch solves the task: `submitted` is not a verdict. Without `replay_config`,
the model is also missing; it is in `config.yaml` in the same folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from ingest.decoding.fields import read_number, read_object, read_objects, read_text
from ingest.events import (
    MESSAGE_READ,
    ArgsSource,
    CallMade,
    Event,
    FaultLayer,
    FlagSource,
    PromptSeen,
    ResultSeen,
    ResultStatus,
    StepMade,
    Strategy,
    ToolsOffered,
    TurnStarted,
)
from ingest.formats.conversations.swe_run import SweRun, translate_runs
from ingest.formats.provider_messages.chat_messages import join_content, list_calls, make_call
from ingest.log_format import About, Record, Source, Translator
from lenient.regex import compile_regex

SOURCE = Source(
    name="swe_agent",
    title="SWE-agent trajectories",
    raw_arguments="partly: of native calls that were accepted",
    argument_failures="partly: since 1.0, from the harness's answer in the next query",
    error_flag="partly: rejected edits, blocked commands and timeouts, derived from the text",
    definitions="partly: command_docs in replay_config",
    system_prompt="yes",
    model="partly: in replay_config",
    turn_end="partly: exit_status, without a verdict on the patch",
    cannot_tell=(
        "Arguments that the agent rejected are not in the file, only the reason. Runs whose actions "
        "are code blocks have no arguments that could be malformed."
    ),
)

# SWE-agent itself adds one of these actions when it stops a run (0.x, sweagent/agent/agents.py).
_STOPPED = frozenset({"exit_cost", "exit_context", "exit_format", "exit_error", "exit_api", "exit_forfeit"})
_GAVE_UP = ("Exit due to ", "Exiting due to ", "Exited")
_DOCS = compile_regex(r"^([\w-]{1,80}):\n +docstring:", re.MULTILINE)
_LISTED = compile_regex(r"^([\w-]{1,80})(?: [<\[][^\n]{0,200})?(?: - |\n<)", re.MULTILINE)
_ARGUMENT = compile_regex(
    r"^ {4}- (\w{1,80}) \((\w{1,40})\) \[(required|optional)\]:? ?(.{0,2000})$", re.MULTILINE
)
_REFUSALS: tuple[tuple[str, FaultLayer], ...] = (
    ("is not valid JSON", FaultLayer.SYNTAX),
    ("are not valid JSON", FaultLayer.SYNTAX),
    ("argument(s) missing", FaultLayer.SCHEMA),
    ("Unexpected argument(s)", FaultLayer.SCHEMA),
    ("not found in list of available commands", FaultLayer.SCHEMA),
    ("view_range must be", FaultLayer.SCHEMA),
    ("is not supported by this environment", FaultLayer.REFUSED),
    ("contained syntax errors and was NOT executed", FaultLayer.TOOL_REJECTED),
)
_OBSERVED: tuple[tuple[str, FaultLayer], ...] = (
    ("Your proposed edit has introduced new syntax error(s)", FaultLayer.TOOL_REJECTED),
    ("Usage: ", FaultLayer.TOOL_REJECTED),
    ("EXECUTION TIMED OUT", FaultLayer.EXECUTION),
    ("The command '", FaultLayer.EXECUTION),
)


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    first = head[0] if len(head) == 1 else {}
    return all(isinstance(first.get(name), list) for name in ("trajectory", "history")) and "info" in first


def translator(about: About) -> Translator:
    return translate_runs(_SweAgentRun, about)


class _SweAgentRun(SweRun):
    """One trajectory.

    If SWE-agent accepted a reply, the reply's step is joined with its message in the history.
    """

    harness = "SWE-agent"

    def __init__(self, session_id: str, record: Record) -> None:
        super().__init__(session_id, record)
        self._history = [
            message
            for message in read_objects(record.value.get("history"))
            if message.get("is_demo") is not True
        ]
        config = _decode_config(record.value.get("replay_config"))
        self._agent = read_object(config.get("agent"))
        self._problem = read_object(config.get("problem_statement"))
        tools = read_object(self._agent.get("tools"))
        self._native = read_object(tools.get("parse_function")).get("type") == "function_calling"
        self._docs = read_text(tools.get("command_docs")) or ""
        self._commands = _find_command_names(self._docs, self._read_prompt())

    def events(self, file: str) -> Iterator[Event]:
        model = read_text(read_object(self._agent.get("model")).get("name"))
        yield self.make_session(file, version="swe_agent_version", model=model, task=self._problem.get("id"))
        if prompt := self._read_prompt():
            yield PromptSeen(**self.event_place(), text=prompt)
        if self._native and (definitions := tuple(_read_definitions(self._docs))):
            yield ToolsOffered(**self.event_place(), definitions=definitions)
        yield TurnStarted(**self.event_place(), text=self._task_name())
        yield from self._take_steps()
        yield self.make_end()

    def _read_prompt(self) -> str:
        first = self._history[0] if self._history else {}
        return (join_content(first.get("content")) or "") if first.get("role") == "system" else ""

    def _task_name(self) -> str | None:
        """Return the text of the last user message before the first reply.

        Return None when there is no such message.
        """
        words: str | None = None
        for message in self._history:
            if message.get("role") == "assistant":
                break
            words = join_content(message.get("content")) if message.get("role") == "user" else words
        return words

    def _take_steps(self) -> Iterator[Event]:
        accepted = [message for message in self._history if message.get("role") == "assistant"]
        steps = read_objects(self.record.value.get("trajectory"))
        at = 0
        for index, step in enumerate(steps):
            action, response = read_text(step.get("action")) or "", read_text(step.get("response")) or ""
            last = index + 1 == len(steps)
            if action.strip() in _STOPPED or (last and not action.strip() and response.startswith(_GAVE_UP)):
                return
            refusal = None if last else _find_refusal(steps[index + 1])
            message: Mapping[str, Any] = {}
            if refusal is None and at < len(accepted) and accepted[at].get("action") == step.get("action"):
                message, at = accepted[at], at + 1
            yield from self._take_step(step, action, list(list_calls(message)), refusal)

    def _take_step(
        self, step: Mapping[str, Any], action: str, calls: list[dict[str, Any]], refusal: str | None
    ) -> Iterator[Event]:
        took = read_number(step.get("execution_time"))
        strategy = Strategy.TOOL_USE if calls or self._native else Strategy.JSON_FALLBACK
        if calls and isinstance(calls[0]["id"], str):
            self.where = self.record.find_line(f'"{calls[0]["id"]}"', past=True)
        # If the step has a "query", the search is not possible, because the query's messages also contain
        # actions.
        elif not self._native and "query" not in step:
            self.where = self.record.find_line('"action":', past=True)
        yield StepMade(**self.event_place(), text=read_text(step.get("response")), strategy=strategy)
        if refusal is not None and not action.strip():
            yield self._refused_arguments(refusal, strategy)
            return
        for call in calls:
            yield make_call(call, self.event_place(), strategy=strategy)
        if not calls and action.strip():
            yield self._make_command_call(action, strategy)
        if calls or action.strip():
            call_id = read_text(calls[0]["id"]) if calls else None
            # The next occurrence of the id is in the call's result.
            if call_id is not None:
                self.where = self.record.find_line(f'"{call_id}"', past=True)
            yield self._make_observation(step, refusal, call_id, took * 1000 if took is not None else None)

    def _make_command_call(self, action: str, strategy: Strategy) -> CallMade:
        """Return the tool call for an action that has no native call in the history.

        The action is a code block, or a command made from a native call that is not in the log.
        """
        word = action.split(None, 1)[0]
        tool = word if word in self._commands else "bash"
        sent: dict[str, Any] = {"args_source": ArgsSource.MISSING}
        if not self._native:
            command = {"command": action.rstrip("\n")}
            sent = {"arguments": command, "args_source": ArgsSource.RESERIALISED}
        return CallMade(**self.event_place(), **sent, tool=tool, strategy=strategy)

    def _refused_arguments(self, refusal: str, strategy: Strategy) -> CallMade:
        layer = _find_layer_in(refusal, _REFUSALS) or FaultLayer.EMISSION
        return CallMade(
            **self.event_place(),
            tool=None,
            args_source=ArgsSource.MISSING,
            strategy=strategy,
            refused_by_harness=layer,
            harness_message=refusal[:MESSAGE_READ],
        )

    def _make_observation(
        self, step: Mapping[str, Any], refusal: str | None, call_id: str | None, latency: float | None
    ) -> ResultSeen:
        content = read_text(step.get("observation"))
        layer = (
            _find_layer_in(refusal, _REFUSALS)
            if refusal
            else _find_layer_in((content or "")[:300], _OBSERVED)
        )
        denied = layer is FaultLayer.REFUSED
        status = ResultStatus.DENIED if denied else ResultStatus.ERROR if layer else ResultStatus.UNKNOWN
        return ResultSeen(
            **self.event_place(),
            tool_call_id=call_id,
            status=status,
            flag_source=FlagSource.DERIVED_TEXT if layer else FlagSource.ABSENT,
            fault_layer=layer,
            message=(refusal or content or "")[:MESSAGE_READ] if layer else None,
            content=content,
            latency_ms=latency,
        )


def _find_refusal(following: Mapping[str, Any]) -> str | None:
    """Return SWE-agent's answer to a rejected reply. Return None if the reply was accepted.

    `following` is the step after the reply.
    """
    query = read_objects(following.get("query"))
    if (
        len(query) < 2
        or query[-1].get("message_type") != "user"
        or query[-2].get("message_type") != "assistant"
    ):
        return None
    return join_content(query[-1].get("content")) or ""


def _find_layer_in(text: str, marks: Sequence[tuple[str, FaultLayer]]) -> FaultLayer | None:
    return next((layer for mark, layer in marks if mark in text), None)


def _decode_config(config: Any) -> dict[str, Any]:
    if not isinstance(config, str):
        return read_object(config)
    try:
        return read_object(orjson.loads(config))
    except orjson.JSONDecodeError:
        return {}


def _find_command_names(docs: str, prompt: str) -> frozenset[str]:
    """Return the names of the commands that the documentation or the prompt lists.

    A command is listed as `name:` above a docstring, or as `name <argument> - …` in older prompts.
    """
    listed = prompt.partition("COMMANDS:\n")[2].partition("\n\n")[0]
    return frozenset((*_DOCS.findall(f"{docs}\n{prompt}"), *_LISTED.findall(listed)))


def _read_definitions(docs: str) -> Iterator[dict[str, Any]]:
    """Yield each command in `command_docs` as a tool definition: name, docstring, arguments with types."""
    starts = [*_DOCS.finditer(docs)]
    for at, start in enumerate(starts):
        body = docs[start.end() : starts[at + 1].start() if at + 1 < len(starts) else len(docs)]
        arguments = _ARGUMENT.findall(body)
        described = body.partition("\n  signature:")[0]
        yield {
            "name": start.group(1),
            "description": described.strip(),
            "parameters": {
                "type": "object",
                "properties": {
                    name: {"type": kind, "description": description}
                    for name, kind, _, description in arguments
                },
                "required": [name for name, _, need, _ in arguments if need == "required"],
            },
        }

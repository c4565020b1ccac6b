"""ATIF trajectories (Harbor's Agent Trajectory Interchange Format): one JSON document per run.

**Files.** `trajectory.json` in the agent's folder of a trial. Continuations are `trajectory.cont-<n>.json`
(harborframework.com/docs/trajectory-format). These notes are based on files of versions 1.5 and 1.7, written
by OpenHands and terminus-2.

**Fields.** `schema_version`, `session_id` (`trajectory_id` since 1.7), `agent.{name, version, model_name,
tool_definitions}`, `steps[].{step_id, source, model_name, message, tool_calls[].{tool_call_id, function_name,
arguments}, observation.results[].{source_call_id, content}, metrics}`. A user's step begins a turn.

**Rules.**
- Steps with `is_copied_context` are copies from another trajectory (a continuation or a sub-agent) and are
  skipped.
- `arguments` must be an object, so converters wrap a text that they could not parse: `{"input": "…"}`,
  `{"raw": …}`, `{"__raw__": …}`. The text is read as the model's own if it begins like JSON and the tool has
  no parameter of that name.
- `llm_call_count: 0` marks a step without a model reply. The agent program itself made its calls.
- terminus-2 has no native calls. Its prompt asks for replies that are one JSON object with `commands`. Each
  reply is read as a call of `terminal`: its raw arguments are the reply's text, and the observation is the
  result. If the observation begins with "Previous response had parsing errors", the agent could not read the
  reply and ran nothing.
- OpenHands without native calls asks the model to write `<function=…>` into the text. These texts are calls,
  not emission failures. Their argument text is XML, so only the values are kept.
- Results have no error flag, unless a converter puts `is_error` into `extra`.
- `subagent_trajectories` become sessions.
- All samples that Harbor published have the session id `NORMALIZED_SESSION_ID`, which is treated as missing.

**Not in the log.** The model's own argument text, whether a call failed, and whether the task was solved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ingest.decoding.fields import (
    count_whole_input,
    read_count,
    read_object,
    read_objects,
    read_text,
    read_time,
)
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
    SessionSeen,
    StepMade,
    Strategy,
    ToolsOffered,
    TurnEnded,
    TurnStarted,
)
from ingest.formats.conversations.session_per_record import SessionPerRecord
from ingest.formats.provider_messages.chat_messages import argument_fields, join_content
from ingest.log_format import About, Record, Source, Translator
from lenient.calls import extract_tool_calls

SOURCE = Source(
    name="atif",
    title="ATIF trajectories",
    raw_arguments="partly: terminus-2's replies, and texts that a converter wrapped; else decoded objects",
    argument_failures="partly: terminus-2's; schema failures where the definitions are there; wrapped texts",
    error_flag="partly: where a converter adds is_error",
    definitions="partly: agent.tool_definitions",
    system_prompt="partly: where the first step is the system's",
    model="yes: per step or run",
    turn_end="no: only an answer without a call",
    cannot_tell="Converters wrap or drop what did not parse: failures of syntax cannot be counted.",
)

_WRAPS = frozenset(("input", "raw", "__raw__", "_raw", "raw_arguments"))


_COMMANDS = '"commands"'
_NORMALIZED = "NORMALIZED_"  # prefix of the placeholder with which a publisher replaced the original id
# text in the prompt that OpenHands sends to models without native calls
_PRESCRIBED = "<function=example_function_name>"
_PARSING_ERRORS = "Previous response had parsing errors"


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return bool(head) and all(
        str(record.get("schema_version")).startswith("ATIF") and isinstance(record.get("steps"), list)
        for record in head
    )


def translator(about: About) -> Translator:
    return SessionPerRecord(about, _take_trajectory)


def _take_trajectory(record: Record, session_id: str) -> Iterator[Event]:
    waiting: list[tuple[dict[str, Any], str | None, str]] = [(record.value, None, session_id)]
    while waiting:
        value, parent, fallback = waiting.pop()
        run = _AtifRun(
            value,
            _read_id(value, "trajectory_id") or _read_id(value, "session_id") or fallback,
            record,
        )
        yield from run.events(parent)
        children = read_objects(value.get("subagent_trajectories"))
        waiting.extend((child, run.session_id, f"{run.session_id}/{at}") for at, child in enumerate(children))


class _AtifRun:
    """One trajectory of an ATIF document, translated into the events of one session."""

    def __init__(self, value: Mapping[str, Any], session_id: str, record: Record) -> None:
        self.session_id = session_id
        self._value = value
        self._record = record
        self._agent = read_object(value.get("agent"))
        self._definitions = tuple(read_objects(self._agent.get("tool_definitions")))
        self._where = record.where
        self._ts: Any = None
        self._prompted = False
        self._asks_for_text = False  # whether a prompt tells the model to write calls as text
        self._answer: str | None = None

    def events(self, parent: str | None) -> Iterator[Event]:
        yield SessionSeen(
            **self._event_place(),
            harness=read_text(self._agent.get("name")),
            harness_version=read_text(self._agent.get("version")),
            model=read_text(self._agent.get("model_name")),
            parent_session_id=parent,
        )
        if self._definitions:
            yield ToolsOffered(**self._event_place(), definitions=self._definitions)
        for step in read_objects(self._value.get("steps")):
            self._where = self._record.find_line('"step_id"', past=True)
            if step.get("is_copied_context") is not True:
                self._ts = read_time(step.get("timestamp")) or self._ts
                yield from self._take_step(step)
        yield from self._take_end()

    def _take_step(self, step: Mapping[str, Any]) -> Iterator[Event]:
        words, source = join_content(step.get("message")), step.get("source")
        if source in ("system", "user") and words is not None and _PRESCRIBED in words:
            self._asks_for_text = True
        if source == "system" and not self._prompted and self._answer is None:
            self._prompted = True
            yield PromptSeen(**self._event_place(), text=words)
        elif source == "user":
            yield from self._take_end()
            self._prompted = True
            yield TurnStarted(**self._event_place(), text=words)
        elif source == "agent" and step.get("llm_call_count") != 0:
            yield from self._take_reply(step, words)

    def _take_reply(self, step: Mapping[str, Any], words: str | None) -> Iterator[Event]:
        calls = read_objects(step.get("tool_calls"))
        metrics = read_object(step.get("metrics"))
        refusal = _terminus_refusal(step) if self._is_terminus else None
        written = [] if calls else list(self._written_calls(words or "", refusal))
        strategy = Strategy.TOOL_USE if calls else Strategy.JSON_FALLBACK if written else None
        yield StepMade(
            **self._event_place(),
            text=None if written and self._is_terminus else words,
            model=read_text(step.get("model_name")),
            strategy=strategy,
            **count_whole_input(metrics.get("prompt_tokens"), metrics.get("cached_tokens")),
            output_tokens=read_count(metrics.get("completion_tokens")),
        )
        yield from written
        for call in calls:
            yield self._make_call(call)
        if written:
            yield from self._answers_to_text(step, len(written), refusal)
        if calls:
            yield from self._take_results(
                step, only=read_text(calls[0].get("tool_call_id")) if len(calls) == 1 else None
            )
        observed = read_objects(read_object(step.get("observation")).get("results"))
        self._answer = None if calls or written or observed else words or ""

    @property
    def _is_terminus(self) -> bool:
        return (read_text(self._agent.get("name")) or "").startswith("terminus")

    def _written_calls(self, words: str, refusal: str | None) -> Iterator[CallMade]:
        """Yield the tool calls that the model wrote as text, in the notation that the agent's prompt asks
        for.

        `refusal` is terminus-2's error message about an unreadable reply, or None.
        """
        shared: dict[str, Any] = {**self._event_place(), "strategy": Strategy.JSON_FALLBACK}
        if self._is_terminus:
            if refusal is not None or _COMMANDS in words:
                yield CallMade(
                    **shared,
                    tool="terminal",
                    raw_arguments=words,
                    args_source=ArgsSource.RAW,
                    refused_by_harness=None if refusal is None else FaultLayer.SYNTAX,
                    harness_message=refusal,
                )
        elif self._asks_for_text and "<function=" in words:
            for call in extract_tool_calls(words, dialect="qwen3_coder"):
                sent = call.request.arguments
                yield CallMade(**shared, tool=call.name, arguments=sent, args_source=ArgsSource.RESERIALISED)

    def _answers_to_text(
        self, step: Mapping[str, Any], calls: int, refusal: str | None
    ) -> Iterator[ResultSeen]:
        """Yield the results of this step's tool calls, if the model wrote these calls as text.

        The results contain no call ids, so the results are assigned to the calls in order. Nothing is yielded
        if the numbers of results and calls differ.
        """
        observed = read_objects(read_object(step.get("observation")).get("results"))
        if len(observed) != calls:
            return
        for ordinal, result in enumerate(observed):
            yield ResultSeen(
                **self._event_place(),
                ordinal=ordinal,
                status=ResultStatus.UNKNOWN if refusal is None else ResultStatus.ERROR,
                flag_source=FlagSource.ABSENT if refusal is None else FlagSource.DERIVED_TEXT,
                fault_layer=None if refusal is None else FaultLayer.SYNTAX,
                message=refusal,
                content=join_content(result.get("content")),
            )

    def _make_call(self, call: Mapping[str, Any]) -> CallMade:
        call_id, tool = read_text(call.get("tool_call_id")), read_text(call.get("function_name"))
        self._where = self._record.find_line(f'"{call_id}"', past=True) if call_id else self._where
        sent = call.get("arguments")
        wrapped = self._unwrap_text(tool, sent)
        facts = argument_fields(sent)
        if wrapped is not None:
            facts = {"raw_arguments": wrapped, "args_source": ArgsSource.RAW}
        return CallMade(
            **self._event_place(), tool=tool, tool_call_id=call_id, strategy=Strategy.TOOL_USE, **facts
        )

    def _unwrap_text(self, tool: str | None, sent: Any) -> str | None:
        """Return the argument text that a converter could not parse and therefore stored inside the object
        `sent`.

        Return None when `sent` contains normal, decoded arguments.
        """
        if not isinstance(sent, dict) or len(sent) != 1:
            return None
        ((name, value),) = sent.items()
        like_json = isinstance(value, str) and value.lstrip().startswith(("{", "["))
        return value if name in _WRAPS and like_json and name not in self._tool_parameters(tool) else None

    def _tool_parameters(self, tool: str | None) -> Mapping[str, Any]:
        for definition in self._definitions:
            function = read_object(definition.get("function")) or definition
            if function.get("name") == tool:
                return read_object(read_object(function.get("parameters")).get("properties"))
        return {}

    def _take_results(self, step: Mapping[str, Any], *, only: str | None) -> Iterator[ResultSeen]:
        """Yield the results of the step's tool calls.

        `only` is the call's id when the step has a single call. A result without a call id belongs to this
        call.
        """
        for result in read_objects(read_object(step.get("observation")).get("results")):
            call_id = read_text(result.get("source_call_id")) or only
            if call_id is None:
                continue
            failed = read_object(result.get("extra")).get("is_error")
            status, source = ResultStatus.UNKNOWN, FlagSource.ABSENT
            if isinstance(failed, bool):
                status = ResultStatus.ERROR if failed else ResultStatus.OK
                source = FlagSource.EXPLICIT
            content = join_content(result.get("content"))
            yield ResultSeen(
                **self._event_place(),
                tool_call_id=call_id,
                status=status,
                flag_source=source,
                message=(content or "")[:MESSAGE_READ] if failed is True else None,
                content=content,
            )

    def _take_end(self) -> Iterator[TurnEnded]:
        answer, self._answer = self._answer, None
        if answer is not None:
            yield TurnEnded(**self._event_place(), answer=answer)

    def _event_place(self) -> dict[str, Any]:
        return {"session_id": self.session_id, "where": self._where, "ts": self._ts}


def _read_id(value: Mapping[str, Any], name: str) -> str | None:
    ident = read_text(value.get(name))
    return None if ident is not None and ident.startswith(_NORMALIZED) else ident


def _terminus_refusal(step: Mapping[str, Any]) -> str | None:
    """Return the message in which terminus-2 reports an unreadable reply.

    Return None when no result of the step is such a message.
    """
    for result in read_objects(read_object(step.get("observation")).get("results")):
        text = (join_content(result.get("content")) or "").lstrip()
        if text.startswith(_PARSING_ERRORS):
            return text[:MESSAGE_READ]
    return None

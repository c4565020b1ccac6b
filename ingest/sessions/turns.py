"""A turn while its events are read: the steps, the tool calls, and how the turn ended."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from operator import attrgetter
from typing import Any

import msgspec
from msgspec.structs import replace

from ingest.events import (
    ArgsSource,
    CallMade,
    FaultLayer,
    LogLine,
    ResultSeen,
    ResultStatus,
    StepMade,
    Strategy,
    TurnEnded,
    TurnStatus,
)
from ingest.sessions.chains import ChainOutcome, Link, link_attempts
from ingest.sessions.classification import CallClassification, CallDefinitions, ClassifiedCall, classify_call
from ingest.sessions.results.failure_envelopes import FailureRules
from ingest.sessions.stored_text import TEXT_KEPT, canonical_json, cut_text, json_text, strip_thought
from lenient import ToolCatalog, clean_tool_name, leaked_tool_calls

# A call that fails at one of these stages fails before its tool does anything.
_NEVER_GOT_THROUGH = frozenset(
    {FaultLayer.EMISSION, FaultLayer.SYNTAX, FaultLayer.SCHEMA, FaultLayer.TOOL_REJECTED}
)

_PLACE = attrgetter("step", "ordinal")
_RESERIALISED = ArgsSource.RESERIALISED
_CALL = 4_096  # characters that are counted for the result and the decoded arguments of a call
_SHORTEST_CALL = 8  # characters; a shorter text cannot contain a tool call


class CallContext(msgspec.Struct, frozen=True, gc=False):
    """The provider, model, prompt and tool definitions for the next call of a session."""

    provider: str | None = None
    model: str | None = None
    prompt_id: str | None = None
    definitions: int = 0  # index of the file's set of definitions; index 0 is the set of --tools


class OpenCall(msgspec.Struct, gc=False):
    """One call of an open turn. `classified`, `fault_layer` and `link` are set when the turn closes."""

    event: CallMade
    step: int
    ordinal: int
    provider: str | None
    model: str | None
    prompt_id: str | None
    definitions: int
    result: ResultSeen | None = None
    tool: str | None = None  # name of the tool, without any other text that the model wrote into the name
    result_bytes: int | None = None  # size of the whole result; only the beginning of the result is stored
    link: Link | None = None
    fault_layer: FaultLayer | None = None
    _classified: Any = None  # a ClassifiedCall; msgspec could not decode a field of that type

    @property
    def classified(self) -> ClassifiedCall:
        classified: ClassifiedCall | None = self._classified
        if classified is None:
            raise LookupError("a call is classified when its turn closes")
        return classified

    @property
    def verdict(self) -> CallClassification:
        return self.classified.verdict

    def judge(self, definitions: CallDefinitions, failures: FailureRules) -> None:
        if self.result is not None:
            self.result = failures.judge(self.tool, self.result)
        self._classified = classified = classify_call(self.event, self.result, definitions)
        self.fault_layer = classified.verdict.fault_layer

    def keep_result(self, result: ResultSeen) -> None:
        """Set the result of the call. Cut the result's content to the length that the store keeps."""
        content = result.content
        if content is not None:
            self.result_bytes = content_bytes(content)
            if len(content) > TEXT_KEPT:
                result = replace(result, content=cut_text(content))
        self.result = result

    @property
    def tool_call_id(self) -> str | None:
        return self.event.tool_call_id

    @property
    def retry_of(self) -> str | None:
        return self.event.retry_of

    @property
    def comparable_arguments(self) -> str | None:
        """The arguments as a string for comparing attempts. None when the arguments are unknown.

        White space and key order are ignored in valid JSON. Invalid JSON is compared unchanged.
        """
        if self.event.args_source is _RESERIALISED:
            return json_text(self.event.arguments, sort_keys=True)
        raw = None if self.event.args_source is ArgsSource.REDACTED else self.event.raw_arguments
        return raw if raw is None else canonical_json(raw)


def _clean_tool(tool: str | None) -> str | None:
    return tool if tool is None or tool.isidentifier() else clean_tool_name(tool)[0]


def content_bytes(content: str | None) -> int | None:
    """Return the length of a whole result in bytes (UTF-8). Return None when there is no content."""
    if content is None or content.isascii():
        return None if content is None else len(content)
    return len(content.encode("utf-8", "surrogatepass"))


class OpenTurn(msgspec.Struct):
    """A turn while its events are read.

    `superseded` is True when a later turn has begun, so this turn will not continue.
    """

    number: int
    where: LogLine
    ts: datetime | None
    provider: str | None = None
    model: str | None = None
    prompt_id: str | None = None
    prompt_hash: str | None = None
    definitions: int = 0  # index of the set of tool definitions in the file's list
    text: str | None = None
    key: str | None = None
    steps: dict[int, StepMade] = msgspec.field(default_factory=dict)
    calls: list[OpenCall] = msgspec.field(default_factory=list)
    end: TurnEnded | None = None
    # True when the file has the beginning of the turn; otherwise an earlier file may have the beginning
    begun: bool = False
    begun_as: str | None = None  # turn_id of the turn's part in the earlier file, if this part is known
    superseded: bool = False
    last_step: int = -1
    first_step: int | None = None
    characters: int = 0  # approximate number of characters kept until the turn ends
    _calls_of_step: dict[int, int] = msgspec.field(default_factory=dict)
    _by_id: dict[str, int] = msgspec.field(default_factory=dict)  # tool_call_id → index in `calls`

    def go_on(self, turn_id: str, steps: int) -> None:
        """Continue a stored turn that has `steps` steps."""
        self.begun_as, self.last_step, self.first_step = turn_id, steps - 1, steps

    def add_step(self, event: StepMade) -> None:
        """Add a step.

        The model of a turn is the model of its last step. The model of a call is the model of its step.
        """
        self.last_step = event.step if event.step is not None else self.last_step + 1
        self.steps[self.last_step] = event
        self.characters += len(event.text or "")
        self.provider, self.model = event.provider or self.provider, event.model or self.model

    def add_call(self, event: CallMade, context: CallContext) -> None:
        """Add a call with the session's context.

        The provider and model come from the step of the call. If the step has no provider or model, the value
        of `context` is used.
        """
        number = event.step
        if number is None:
            number = max(0, self.last_step)
        if number > self.last_step:
            self.last_step = number
        step, ordinal = self.steps.get(number), self._calls_of_step.get(number, 0)
        served_by = context if step is None else step
        call = OpenCall(
            event, number, ordinal, served_by.provider, served_by.model,
            context.prompt_id, context.definitions, None, _clean_tool(event.tool),
        )  # fmt: skip
        self._calls_of_step[number] = ordinal + 1
        self._drop_failed(call)
        if event.tool_call_id is not None:
            self._by_id[event.tool_call_id] = len(self.calls)
        self.calls.append(call)
        self.characters += len(event.raw_arguments or "") + _CALL

    def _drop_failed(self, call: OpenCall) -> None:
        """Remove the call of a failed reply if `call` has the same id and is in another step."""
        place = self._by_id.get(call.tool_call_id or "")
        if place is None:
            return
        earlier = self.calls[place]
        step = self.steps.get(earlier.step)
        if step is None or not step.failed or earlier.step == call.step:
            return
        if earlier.result is None and earlier.tool == call.tool:
            del self.calls[place]
            self._by_id = {name: at - (at > place) for name, at in self._by_id.items()}

    def note_number(self, step: int) -> None:
        """Record a step number from the log. `first_step` is the lowest number that was recorded."""
        self.first_step = step if self.first_step is None else min(step, self.first_step)

    def take_result(self, result: ResultSeen) -> bool:
        """Add a result to its call. Return False when this turn has no such call."""
        if result.tool_call_id is not None:
            place = self._by_id.get(result.tool_call_id)
            call = None if place is None else self.calls[place]
        else:
            call = next((call for call in self.calls if _can_answer(result, call, self.number)), None)
        if call is None:
            return False
        call.keep_result(result)
        return True

    @property
    def is_between_steps(self) -> bool:
        """True when all calls of the last step have results and the next step has not begun.

        Normally, a user message at this point belongs to the same turn. After a call that a person denied,
        the message begins a new turn, because most agents stop then.
        """
        if self.end is not None or not self.calls or self.has_answer:
            return False
        results = [call.result for call in self.calls if call.step == self.last_step]
        return bool(results) and all(
            result is not None and result.status is not ResultStatus.DENIED for result in results
        )

    @property
    def has_answer(self) -> bool:
        """True when the log marks a step as the turn's answer."""
        return any(step.answers for step in self.steps.values())

    def _add_leaked_calls(self, definitions: Sequence[CallDefinitions]) -> None:
        made = {call.step for call in self.calls}
        for number, step in self.steps.items():
            if number not in made:
                offered = definitions[self.definitions].offered
                context = CallContext(step.provider, step.model, self.prompt_id, self.definitions)
                for leaked in _find_leaked_calls(step, number, offered):
                    self.add_call(leaked, context)

    def judge(
        self, definitions: Sequence[CallDefinitions], failures: FailureRules, *, results_expected: bool
    ) -> Conclusion:
        """Judge all calls, including calls written as text. Link retries, and return how the turn ended.

        `failures` are the rules for results whose content reports a failure. If `results_expected` is True,
        the log contains results for this session, so a call without a result counts as lost.
        """
        self._add_leaked_calls(definitions)
        self.calls.sort(key=_PLACE)
        for call in self.calls:
            call.judge(definitions[call.definitions], failures)
        may_go_on = self.end is None and not self.superseded and not self.has_answer
        for call, link in zip(self.calls, link_attempts(self.calls, may_go_on=may_go_on), strict=True):
            call.link = link
        return conclude_turn(self, results_expected=results_expected)


def _can_answer(result: ResultSeen, call: OpenCall, turn: int) -> bool:
    """Return True when a result without a tool call id can belong to the call.

    The call must have no result yet. Result and call must not differ in turn, step, ordinal or tool. Unknown
    values are not compared.
    """
    agree = (
        result.turn in (None, turn),
        result.step in (None, call.step),
        result.ordinal in (None, call.ordinal),
        None in (result.tool, call.tool) or result.tool == call.tool,
    )
    return call.result is None and all(agree)


class ConclusionReason(StrEnum):
    """Why a turn is judged ok, not ok, or unknown. These are the values of `turns.derived_reason`."""

    CANCELLED = "cancelled"
    NOT_ENDED = "not_ended"
    ENDED_BADLY = "ended_badly"
    CHAIN_ABANDONED = "chain_abandoned"
    CALL_LOST = "call_lost"
    ANSWER_UNKNOWN = "answer_unknown"
    NO_ANSWER = "no_answer"
    ENDED_WITH_ANSWER = "ended_with_answer"


class Conclusion(msgspec.Struct, frozen=True, gc=False):
    """How a turn ended. `ok` is None when this is unknown."""

    ok: bool | None
    reason: ConclusionReason
    answer: str | None


def conclude_turn(turn: OpenTurn, *, results_expected: bool) -> Conclusion:
    """Return whether the turn ended well, with the reason and the answer.

    A turn is ok when three conditions hold. It ended with an answer. Every call, or a retry of the call,
    reached its tool. No call was lost. Errors during the execution of a tool do not matter.
    """
    answer = final_answer(turn, results_expected)
    ended = turn.end is not None or turn.has_answer
    if turn.end is not None and turn.end.status == TurnStatus.CANCELLED:
        return Conclusion(None, ConclusionReason.CANCELLED, answer)
    if not ended:
        return Conclusion(False if turn.superseded else None, ConclusionReason.NOT_ENDED, answer)
    if turn.end is not None and turn.end.recorded_ok is False:
        return Conclusion(False, ConclusionReason.ENDED_BADLY, answer)
    if any(_was_abandoned(call) for call in turn.calls):
        return Conclusion(False, ConclusionReason.CHAIN_ABANDONED, answer)
    if results_expected and any(_has_no_result(call) for call in turn.calls):
        return Conclusion(False, ConclusionReason.CALL_LOST, answer)
    if answer is None:
        return Conclusion(None, ConclusionReason.ANSWER_UNKNOWN, answer)
    if not strip_thought(answer).strip():
        return Conclusion(False, ConclusionReason.NO_ANSWER, answer)
    return Conclusion(True, ConclusionReason.ENDED_WITH_ANSWER, answer)


def final_answer(turn: OpenTurn, results_expected: bool) -> str | None:
    """Return the final text of a turn.

    This is the answer that the log records. If the log records no answer, it is the text of the last step. If
    the last step made calls, there is no final text. Then return '' if the log has results, and None
    otherwise.
    """
    if turn.end is not None and turn.end.answer is not None:
        return turn.end.answer
    if not turn.steps:
        return None
    last = max(turn.steps)
    made_calls = any(call.step == last for call in turn.calls)
    if made_calls:
        return "" if results_expected else None
    return turn.steps[last].text


def _was_abandoned(call: OpenCall) -> bool:
    """Return True for a call that failed before its tool ran if no retry corrected it."""
    abandoned = call.link is not None and call.link.outcome is ChainOutcome.ABANDONED
    return abandoned and call.fault_layer in _NEVER_GOT_THROUGH


def _has_no_result(call: OpenCall) -> bool:
    return call.result is None and call.fault_layer is None


def _find_leaked_calls(step: StepMade, number: int, offered: ToolCatalog | None) -> list[CallMade]:
    """Return the tool calls that are written as text in a step without a regular tool call.

    `number` is the number of the step. `offered` are the tools that were offered in the step. The list is
    empty for a step whose strategy is JSON_FALLBACK, because the log format already reads these calls.
    """
    if step.text is None or len(step.text) < _SHORTEST_CALL or step.strategy is Strategy.JSON_FALLBACK:
        return []
    return [
        CallMade(
            session_id=step.session_id,
            where=step.where,
            ts=step.ts,
            tool=call.name,
            step=number,
            raw_arguments=step.text[call.start : call.end],
            args_source=ArgsSource.RAW,
            strategy=step.strategy,
            refused_by_harness=FaultLayer.EMISSION,
            harness_message=f"the call is in the text, in the dialect {call.dialect}",
        )
        for call in leaked_tool_calls(step.text, offered)
    ]

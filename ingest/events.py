"""What every log format becomes: a flat stream of events, each with the place in the file it came from.

A format translates; it judges nothing that `lenient` or `ingest.sessions.session_builder` can judge. What a
log cannot tell stays None: unknown is never written as a good value.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, final

import msgspec


class ArgsSource(StrEnum):
    """Where the arguments of a call come from; the spelling in `tool_calls.args_source`."""

    RAW = "raw"  # the text exactly as the model sent it
    RESERIALISED = "reserialised"  # the log kept only the decoded object; the text is ours
    TRUNCATED = "truncated"  # the log cut the model's text
    MISSING = "missing"  # the log kept nothing


class FaultLayer(StrEnum):
    """The first layer at which a call went wrong, in the order in which a call passes them."""

    EMISSION = "emission"  # no call, a leaked call, a cut-off call
    SYNTAX = "syntax"  # the arguments are not JSON
    SCHEMA = "schema"  # JSON, but not what the tool's definition asks for; unknown tool
    TOOL_REJECTED = "tool_rejected"  # the tool itself refused the arguments
    EXECUTION = "execution"  # it ran and failed
    REFUSED = "refused"  # a user or a policy said no


class ResultStatus(StrEnum):
    """What became of a call, as the log tells it; `unknown` = a result without any sign of success."""

    OK = "ok"
    ERROR = "error"
    DENIED = "denied"
    UNKNOWN = "unknown"
    MISSING = "missing"  # no result in the log; set by ingest.sessions.session_builder, not by a format


class FlagSource(StrEnum):
    """How `ResultStatus` was known; `absent` means it was not."""

    EXPLICIT = "explicit"
    DERIVED_TEXT = "derived_text"
    DERIVED_EXIT_CODE = "derived_exit_code"
    ABSENT = "absent"


class Strategy(StrEnum):
    TOOL_USE = "tool_use"
    JSON_FALLBACK = "json_fallback"


class TurnStatus(StrEnum):
    """How a turn ended, where formats agree on a word; `turns.recorded_status` also has a log's own words."""

    CANCELLED = "cancelled"  # a person stopped it: it has no verdict
    COMPLETED = "completed"
    ERROR = "error"


class Visibility(StrEnum):
    """What a source lets us see of one kind of fault in a call's arguments."""

    FULL = "full"  # judged by us, on the text or the definition itself: mends show too
    FAILURES = "failures"  # the harness marks every refusal; what it mended silently cannot be seen
    NONE = "none"  # neither: the call is unmeasured for this kind of fault


class LogLine(msgspec.Struct, frozen=True, gc=False):
    """A place in a log: 1-based line and the byte offset of that line's first byte in the file."""

    line: int
    offset: int


class Event(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What all events share. `ts` is an aware UTC datetime or None.

    No event leads back to itself, so the garbage collector need not look at the many there are (`gc=False`).
    """

    session_id: str
    where: LogLine
    ts: datetime | None = None


class SessionSeen(Event, frozen=True, kw_only=True, gc=False):
    """Facts about the session; may come several times, later non-None values win."""

    harness: str | None = None
    harness_version: str | None = None
    parent_session_id: str | None = None
    user: str | None = None  # who asked, by whatever name or id the log has
    task: str | None = None  # what a benchmark gives to several models: the same task has the same name
    provider: str | None = None
    model: str | None = None


class PromptSeen(Event, frozen=True, kw_only=True, gc=False):
    """The system prompt in force from here on: its text, its explicit name and version, or both."""

    text: str | None = None
    name: str | None = None
    version: str | None = None


class ToolsOffered(Event, frozen=True, kw_only=True, gc=False):
    """Tool definitions as the log states them, in any shape `ToolCatalog.load` reads."""

    definitions: tuple[Mapping[str, Any], ...]


class ProbeSeen(Event, frozen=True, kw_only=True, gc=False):
    """A gateway's trial call for native tool use."""

    ok: bool | None
    error: str | None = None
    provider: str | None = None
    model: str | None = None


class TurnStarted(Event, frozen=True, kw_only=True, gc=False):
    """A user's message. `turn` is the log's own 1-based number, or None to count here.

    `key` identifies the same turn in a copied transcript (a message uuid, say); None = session and number.
    """

    turn: int | None = None
    text: str | None = None
    key: str | None = None


class StepMade(Event, frozen=True, kw_only=True, gc=False):
    """One model call within the turn. `step` is the log's own 0-based number, or None to count here."""

    step: int | None = None
    turn: int | None = None
    text: str | None = None  # what the model said besides its calls
    provider: str | None = None
    model: str | None = None
    strategy: Strategy | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency_ms: float | None = None
    answers: bool = (
        False  # True when the log itself says that this step ended the turn (stop_reason end_turn)
    )


class CallMade(Event, frozen=True, kw_only=True, gc=False):
    """One tool call of the step made last (or of `turn`/`step` where given).

    `raw_arguments` is the text for ArgsSource RAW and TRUNCATED, `arguments` the decoded value for
    RESERIALISED. `refused_by_harness` is the log's own verdict on the arguments (SYNTAX or SCHEMA), with its
    message. EMISSION calls have no usable arguments; a leaked call's text goes to `raw_arguments`.
    `syntax_seen` / `schema_seen` say what this source shows when nothing is marked.
    """

    tool: str | None
    tool_call_id: str | None = None
    turn: int | None = None
    step: int | None = None
    raw_arguments: str | None = None
    arguments: Any = None
    args_source: ArgsSource
    strategy: Strategy | None = None
    refused_by_harness: FaultLayer | None = None
    harness_message: str | None = None
    retry_of: str | None = None  # the tool_call_id that this call tries again, where the log says so
    syntax_seen: Visibility = Visibility.NONE
    schema_seen: Visibility = Visibility.NONE
    key: str | None = None  # globally unique id of this call, where the producer has one: finds copies


class ResultSeen(Event, frozen=True, kw_only=True, gc=False):
    """The result of a call: matched by `tool_call_id`, else by turn, step and `ordinal` among its calls."""

    tool_call_id: str | None = None
    tool: str | None = None
    ordinal: int | None = None
    turn: int | None = None
    step: int | None = None
    status: ResultStatus
    flag_source: FlagSource
    fault_layer: FaultLayer | None = None  # the layer the log's own texts and codes point to
    message: str | None = None  # why, in the harness's words, for faults
    content: str | None = None
    latency_ms: float | None = None


class TurnEnded(Event, frozen=True, kw_only=True, gc=False):
    """The turn's end as recorded. `recorded_ok` None = the log ends the turn without a verdict.

    `answer` is the final text; '' means that the log shows there was none, None that it does not tell.
    """

    turn: int | None = None
    status: str | None = None  # the log's own word: ok, error, cancelled, prompt_limit …
    recorded_ok: bool | None = None
    answer: str | None = None
    latency_ms: float | None = None


@final
class Rejected(msgspec.Struct, frozen=True, gc=False):
    """A line that could not be used. `code` is one of REJECT_CODES; `reason` one sentence for people."""

    where: LogLine
    code: str
    reason: str
    snippet: str = ""


REJECT_CODES: Mapping[str, str] = {
    "not_json": "the line is not JSON",
    "not_yaml": "the document is not YAML",
    "not_an_object": "the line is JSON, but not an object",
    "not_utf8": "the line is not UTF-8 text",
    "line_too_long": "the line is longer than --max-line",
    "torn_line": "the file ends in the middle of a line; it is read when it is whole",
    "missing_field": "a field that the format requires is not there",
    "wrong_type": "a field holds another type than the format says",
    "name_too_long": "a name has more than 1,000 characters; its beginning and a hash are kept",
    "bad_definition": "a tool definition that the log offers cannot be read",
    "orphan_result": "a result whose call is not in the file before it",
    "unreadable": "the file as a whole could not be used; the message says why",
}

"""The events into which every log format is translated, each with its place in the file.

A format only translates; `lenient` and `ingest.sessions.session_builder` judge. A fact that a log does not
tell is None: unknown is never written as a good value.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, final

import msgspec

MESSAGE_READ = 2_000  # characters of a failed result that are read as its reason; fewer are stored


class ArgsSource(StrEnum):
    """Where the arguments of a call come from; the values of `tool_calls.args_source`."""

    RAW = "raw"  # the text exactly as the model sent it
    RESERIALISED = "reserialised"  # the log kept only the decoded object; the text is ours
    TRUNCATED = "truncated"  # the log cut the model's text
    MISSING = "missing"  # the log kept nothing
    REDACTED = "redacted"  # a placeholder stands for the arguments


class FaultLayer(StrEnum):
    """The first layer at which a call went wrong, in the order in which a call passes them."""

    EMISSION = "emission"  # no call, a leaked call, a cut-off call
    SYNTAX = "syntax"  # the arguments are not JSON
    SCHEMA = "schema"  # JSON, but not what the tool's definition asks for; unknown tool
    TOOL_REJECTED = "tool_rejected"  # the tool itself refused the arguments
    EXECUTION = "execution"  # it ran and failed
    REFUSED = "refused"  # a user or a policy said no


class ResultStatus(StrEnum):
    """How a call ended according to the log; `unknown` = a result without any sign of success or failure."""

    OK = "ok"
    ERROR = "error"
    DENIED = "denied"
    UNKNOWN = "unknown"
    MISSING = "missing"  # no result in the log; set by ingest.sessions.session_builder, not by a format


class FlagSource(StrEnum):
    """How a call's `ResultStatus` was found; `absent` = the log has no sign of the status.

    Both of an envelope: the result itself says that the tool failed, while the log has no flag or says ok.
    """

    EXPLICIT = "explicit"
    DERIVED_TEXT = "derived_text"
    DERIVED_EXIT_CODE = "derived_exit_code"
    ENVELOPE = "envelope"
    ENVELOPE_AGAINST_OK = "envelope_against_ok"
    ABSENT = "absent"


class Strategy(StrEnum):
    TOOL_USE = "tool_use"
    JSON_FALLBACK = "json_fallback"


class TurnStatus(StrEnum):
    """The words for a turn's end that formats share.

    `turns.recorded_status` can also hold other words, as a log has them.
    """

    CANCELLED = "cancelled"  # a person stopped it: it has no verdict
    COMPLETED = "completed"
    ERROR = "error"


class Visibility(StrEnum):
    """How much a source shows of one kind of fault (syntax or schema) in a call's arguments."""

    FULL = "full"  # judged by us, on the text or the definition itself: mends show too
    FAILURES = "failures"  # the harness marks every refusal; what it mended silently cannot be seen
    NONE = "none"  # neither: the call is unmeasured for this kind of fault


class LogLine(msgspec.Struct, frozen=True, gc=False):
    """A place in a log: the 1-based line number, and the byte offset of the line's first byte in the file."""

    line: int
    offset: int


class Event(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The fields that all events have. `ts` is an aware UTC datetime, or None.

    Events are exempt from garbage collection (`gc=False`): there are many, and none refers back to itself.
    """

    session_id: str
    where: LogLine
    ts: datetime | None = None


class SessionSeen(Event, frozen=True, kw_only=True, gc=False):
    """Facts about a session.

    A session may have several such events; later values that are not None replace earlier ones.
    """

    harness: str | None = None
    harness_version: str | None = None
    parent_session_id: str | None = None
    user: str | None = None  # who asked, by whatever name or id the log has
    task: str | None = None  # what a benchmark gives to several models: the same task has the same name
    run: str | None = None  # the experiment that the session is part of
    trial_run: str | None = None  # the run of trials that the log itself says it is of
    arm: str | None = None  # what is compared within it: a model, a prompt, a definition
    repeat_no: str | None = None  # which of several tries at the task
    capabilities: str | None = None  # JSON: what is known of the model
    sampling: str | None = None  # JSON: temperature and the like
    project: str | None = None  # the repository it worked in, else the folder; see `name_project`
    branch: str | None = None  # checked out when it began
    sub_agent: str | None = None  # the kind of sub-agent, or the skill, that the session is a run of
    environment: str | None = None  # where the agent was deployed: production, staging …
    provider: str | None = None
    model: str | None = None


class PromptSeen(Event, frozen=True, kw_only=True, gc=False):
    """The system prompt of the session from this event on.

    Given are its text, its explicit name and version, or both.
    """

    text: str | None = None
    name: str | None = None
    version: str | None = None


class ToolsOffered(Event, frozen=True, kw_only=True, gc=False):
    """Tool definitions that the log lists, in any shape that `ToolCatalog.load` reads."""

    definitions: tuple[Mapping[str, Any], ...]


class ProbeSeen(Event, frozen=True, kw_only=True, gc=False):
    """A gateway's test call for native tool use. `ok` None = the log does not tell the outcome.

    `probe_id` is the same in all sessions that rest on one probe.
    """

    ok: bool | None
    probe_id: str | None = None
    error: str | None = None
    provider: str | None = None
    model: str | None = None


class TrialRunPlanned(Event, frozen=True, kw_only=True, gc=False):
    """A run of trials, as its lock says; `session_id` is the run's name.

    `facts` are columns of `trial_runs`, as decoded from JSON. `ts` is when the run was locked.
    """

    facts: Mapping[str, Any]


class TrialLookTaken(Event, frozen=True, kw_only=True, gc=False):
    """What one look of a run said of one arm; `session_id` is the run's name.

    `facts` are columns of `trial_looks`. `ts` is when the look was taken.
    """

    facts: Mapping[str, Any]


class TurnStarted(Event, frozen=True, kw_only=True, gc=False):
    """A user's message, which begins a turn.

    `turn` is the log's own 1-based number; None = the session builder counts. `key` identifies the same turn
    in a copied transcript (a message uuid, for instance); None = the turn is identified by session and
    number.
    """

    turn: int | None = None
    text: str | None = None
    key: str | None = None


class StepMade(Event, frozen=True, kw_only=True, gc=False):
    """One model call within a turn.

    `step` is the log's own 0-based number; None = the session builder counts.
    """

    step: int | None = None
    turn: int | None = None
    text: str | None = None  # what the model said besides its calls
    provider: str | None = None
    model: str | None = None
    strategy: Strategy | None = None
    input_tokens: int | None = None  # all of them; the next two are parts of it
    cached_tokens: int | None = None  # read from the provider's cache
    cache_write_tokens: int | None = None  # written to it
    output_tokens: int | None = None
    latency_ms: float | None = None
    resent: int | None = None  # how often the request was sent again, for what was the network's
    stop_reason: str | None = None  # why the reply ended, in the log's word: tool_use, end_turn, max_tokens …
    failed: bool = False  # the reply broke off or failed, and its calls never ran: the next may repeat them
    answers: bool = (
        False  # True when the log itself says that this step ended the turn (stop_reason end_turn)
    )


class CallMade(Event, frozen=True, kw_only=True, gc=False):
    """One tool call of the latest step, or of the given `turn` and `step`.

    `raw_arguments` is the text for ArgsSource RAW and TRUNCATED, `arguments` the decoded value for
    RESERIALISED. `refused_by_harness` is the log's own verdict on the arguments (SYNTAX or SCHEMA),
    `harness_message` the text of that refusal. Calls refused with EMISSION have no usable arguments; the text
    of a leaked call is in `raw_arguments`. `syntax_seen` and `schema_seen` say what this source shows of
    calls that are not marked as faulty.
    """

    tool: str | None
    mcp_server: str | None = None  # where the log names it apart from the tool
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
    """The result of a call.

    The call is found by `tool_call_id`, else by turn, step and `ordinal`: the position among the step's
    calls.
    """

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
    mcp_server: str | None = None  # which answered, where the log says so only here
    simulated: str | None = None  # recorded, miss …: no tool ran, the result was made for a trial


class TurnEnded(Event, frozen=True, kw_only=True, gc=False):
    """The end of a turn, as the log records it. `recorded_ok` None = the log gives no verdict.

    `answer` is the final text; '' = the log shows that there was none, None = the log does not tell.
    `verdict_reason` is why a check of the task passed or failed; `compensations` are the sentences that a
    gateway sent after replies of which nothing could be read; `cost` is in USD.
    """

    turn: int | None = None
    status: str | None = None  # the log's own word: ok, error, cancelled, prompt_limit …
    recorded_ok: bool | None = None
    answer: str | None = None
    latency_ms: float | None = None
    verdict_reason: str | None = None
    compensations: int | None = None
    cost: float | None = None


@final
class Rejected(msgspec.Struct, frozen=True, gc=False):
    """A line or a value that could not be used.

    `code` is a key of REJECT_CODES, `reason` one sentence for people.
    """

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
    "cut_off": "the compressed data ends in the middle; what comes before is in",
    "missing_field": "a field that the format requires is not there",
    "wrong_type": "a field has a different type than the format defines",
    "name_too_long": "a name has more than 1,000 characters; its beginning and a hash are kept",
    "bad_definition": "a tool definition that the log offers cannot be read",
    "unread_calls": "the log contains tool calls that were not read",
    "orphan_result": "a result whose call is not in the file before it",
    "unreadable": "the whole file could not be read; see the message",
}

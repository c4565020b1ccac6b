"""The events into which every log format is translated, each with its place in the file.

A format only translates; `lenient` and `ingest.sessions.session_builder` judge. A fact that the log does not
have is None: an unknown value is never written as a good one.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, final

import msgspec

MESSAGE_READ = 2_000  # characters of a failed result that are read as the reason; fewer are stored


class ArgsSource(StrEnum):
    """Where the arguments of a call come from; the values of `tool_calls.args_source`."""

    RAW = "raw"  # the text exactly as the model sent it
    UNATTRIBUTED = "unattributed"  # the text as the agent got it; a server may have written it again
    RESERIALISED = "reserialised"  # the log has only the decoded object; Callgauge wrote the text
    TRUNCATED = "truncated"  # the log truncated the model's text
    MISSING = "missing"  # the log has no arguments
    REDACTED = "redacted"  # the arguments are a placeholder


class FaultLayer(StrEnum):
    """The first layer at which a call went wrong, in the order in which a call passes them."""

    EMISSION = "emission"  # no call, a leaked call, a cut-off call
    SYNTAX = "syntax"  # the arguments are not JSON
    SCHEMA = "schema"  # JSON, but invalid by the tool's definition; unknown tool
    TOOL_REJECTED = "tool_rejected"  # the tool itself refused the arguments
    EXECUTION = "execution"  # the tool ran and failed
    REFUSED = "refused"  # a user or a policy denied the call


class ResultStatus(StrEnum):
    """How a call ended according to the log; `unknown` = a result without any sign of success or failure."""

    OK = "ok"
    ERROR = "error"
    DENIED = "denied"
    UNKNOWN = "unknown"
    MISSING = "missing"  # no result in the log; set by ingest.sessions.session_builder, not by a format


class FlagSource(StrEnum):
    """How a call's `ResultStatus` was found; `absent` = the log has no sign of the status.

    The two for envelopes: the result's content reports a failure, while the log has no flag or says ok.
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

    `turns.recorded_status` can also contain other words from a log.
    """

    CANCELLED = "cancelled"  # a person stopped the turn, so it has no verdict
    COMPLETED = "completed"
    ERROR = "error"


class Visibility(StrEnum):
    """How much a source shows of one kind of fault (syntax or schema) in a call's arguments."""

    FULL = "full"  # Callgauge judges the text or definition itself, so repairs show, too
    FAILURES = "failures"  # the harness marks every refusal; silent repairs cannot be seen
    NONE = "none"  # neither: this kind of fault is not measured for the call


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
    user: str | None = None  # the user, by any name or id in the log
    task: str | None = None  # a benchmark's task for several models: the same task has the same name
    run: str | None = None  # the experiment that the session is part of
    trial_run: str | None = None  # the run of trials, if the log names it
    arm: str | None = None  # the variant in the run: a model, a prompt, a definition
    repeat_no: str | None = None  # number of the attempt at the task
    capabilities: str | None = None  # JSON: facts about the model
    sampling: str | None = None  # JSON: temperature and the like
    project: str | None = None  # the session's repository, else its folder; see `name_project`
    branch: str | None = None  # the branch at the beginning
    sub_agent: str | None = None  # the sub-agent or skill of which the session is a run
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
    """A gateway's test call for native tool use. `ok` None = the outcome is not in the log.

    `probe_id` is the same in all sessions that use the same probe.
    """

    ok: bool | None
    probe_id: str | None = None
    error: str | None = None
    provider: str | None = None
    model: str | None = None


class TrialRunPlanned(Event, frozen=True, kw_only=True, gc=False):
    """A run of trials, from its lock; `session_id` is the run's name.

    `facts` are columns of `trial_runs`, as decoded from JSON. `ts` is when the run was locked.
    """

    facts: Mapping[str, Any]


class TrialLookTaken(Event, frozen=True, kw_only=True, gc=False):
    """The interim analysis of one variant in a run; `session_id` is the run's name.

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
    text: str | None = None  # the model's text besides its calls
    provider: str | None = None
    model: str | None = None
    strategy: Strategy | None = None
    input_tokens: int | None = None  # all input tokens; the next two are parts of it
    cached_tokens: int | None = None  # read from the provider's cache
    cache_write_tokens: int | None = None  # written to it
    output_tokens: int | None = None
    latency_ms: float | None = None
    resent: int | None = None  # how often the request was sent again after network errors
    stop_reason: str | None = None  # why the reply ended, as logged: tool_use, end_turn, max_tokens …
    failed: bool = False  # the reply was aborted or failed, and its calls never ran: the next may repeat them
    answers: bool = False  # True when the log states that this step ended the turn (stop_reason end_turn)


class CallMade(Event, frozen=True, kw_only=True, gc=False):
    """One tool call of the latest step, or of the given `turn` and `step`.

    `raw_arguments` is the text for ArgsSource RAW and TRUNCATED, `arguments` the decoded value for
    RESERIALISED. `refused_by_harness` is the log's own verdict on the arguments (SYNTAX or SCHEMA),
    `harness_message` the text of that refusal. Calls refused with EMISSION have no usable arguments; the text
    of a leaked call is in `raw_arguments`. `syntax_seen` and `schema_seen` are what this source shows for
    calls that are not marked as faulty.
    """

    tool: str | None
    mcp_server: str | None = None  # if the log names it separately from the tool
    tool_call_id: str | None = None
    turn: int | None = None
    step: int | None = None
    raw_arguments: str | None = None
    arguments: Any = None
    args_source: ArgsSource
    strategy: Strategy | None = None
    refused_by_harness: FaultLayer | None = None
    harness_message: str | None = None
    retry_of: str | None = None  # the tool_call_id that this call retries, if the log states it
    syntax_seen: Visibility = Visibility.NONE
    schema_seen: Visibility = Visibility.NONE
    key: str | None = None  # globally unique id of this call, if the producer has one: finds copies


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
    fault_layer: FaultLayer | None = None  # the layer shown by the log's own texts and codes
    message: str | None = None  # the harness's reason, for faults
    content: str | None = None
    latency_ms: float | None = None
    mcp_server: str | None = None  # the MCP server, if the log names it only here
    simulated: str | None = None  # recorded, miss …: no tool ran; the result comes from a trial's recording


class TurnEnded(Event, frozen=True, kw_only=True, gc=False):
    """The end of a turn, as the log records it. `recorded_ok` None = the log gives no verdict.

    `answer` is the final text; '' = the log shows that there was none, None = unknown. `verdict_reason` is
    why a check of the task passed or failed; `compensations` are the messages that a gateway sent after
    unreadable replies; `cost` is in USD.
    """

    turn: int | None = None
    status: str | None = None  # the log's own status: ok, error, cancelled, prompt_limit …
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

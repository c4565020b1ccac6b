"""The events into which every log format is translated. Each event has its position in the file.

A format only translates. `lenient` and `ingest.sessions.session_builder` judge the events. A fact that the
log does not contain is None, never a value that means success.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, final

import msgspec

# The first 2,000 characters of a failed result are searched for the reason. Fewer characters are stored.
MESSAGE_READ = 2_000


class ArgsSource(StrEnum):
    """The origin of a call's arguments. These are the values of `tool_calls.args_source`."""

    RAW = "raw"  # the text exactly as the model sent it
    # the text as the agent received it; a server may have changed the model's text
    UNATTRIBUTED = "unattributed"
    # the log has only the decoded object; Callgauge wrote the text from that object
    RESERIALISED = "reserialised"
    TRUNCATED = "truncated"  # the log truncated the model's text
    MISSING = "missing"  # the log has no arguments
    REDACTED = "redacted"  # the arguments are a placeholder


class FaultLayer(StrEnum):
    """The first stage at which a call failed. The stages are in the order in which a call passes them."""

    EMISSION = "emission"  # the model made no call, wrote the call as plain text, or its reply was cut off
    SYNTAX = "syntax"  # the arguments are not JSON
    # The arguments are valid JSON but do not match the tool's definition, or no such tool exists.
    SCHEMA = "schema"
    TOOL_REJECTED = "tool_rejected"  # the tool itself rejected the arguments
    EXECUTION = "execution"  # the tool ran and failed
    REFUSED = "refused"  # a user or a policy denied the call


class ResultStatus(StrEnum):
    """How a call ended according to the log.

    `unknown` means that the log has a result which shows neither success nor failure.
    """

    OK = "ok"
    ERROR = "error"
    DENIED = "denied"
    UNKNOWN = "unknown"
    MISSING = "missing"  # the log has no result; only ingest.sessions.session_builder sets this value


class FlagSource(StrEnum):
    """How a call's `ResultStatus` was found.

    `absent` means that the log does not show the status. The values for envelopes mean that the content of
    the result reports a failure, although the log marks no failure.
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
    """The words that several formats use for the end of a turn.

    `turns.recorded_status` can also contain words copied from a log.
    """

    CANCELLED = "cancelled"  # a person stopped the turn, so it counts neither as success nor as failure
    COMPLETED = "completed"
    ERROR = "error"


class Visibility(StrEnum):
    """How well a source shows argument errors of one kind (syntax errors or schema errors)."""

    # Callgauge itself parses the text or checks it against the definition, so it also sees repairs
    FULL = "full"
    FAILURES = "failures"  # the agent marks every rejected call, but the log does not show repairs
    NONE = "none"  # the log shows no errors of this kind, so they are not measured for the call


class LogLine(msgspec.Struct, frozen=True, gc=False):
    """A position in a log: the 1-based line number, and the byte offset at which the line begins."""

    line: int
    offset: int


class Event(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The fields that all events have. `ts` is an aware UTC datetime, or None.

    `gc=False` exempts events from garbage collection. Events form no reference cycles.
    """

    session_id: str
    where: LogLine
    ts: datetime | None = None


class SessionSeen(Event, frozen=True, kw_only=True, gc=False):
    """Facts about a session.

    If a session has several of these events, a later value that is not None replaces an earlier value.
    """

    harness: str | None = None
    harness_version: str | None = None
    parent_session_id: str | None = None
    user: str | None = None  # the user's name or id, whichever the log has
    task: str | None = None  # a benchmark task; the same task has the same name for all models
    run: str | None = None  # the experiment to which the session belongs
    trial_run: str | None = None  # the name of the trial run, if the log has it
    arm: str | None = None  # the variant in the trial run: the name of a model, a prompt or a definition
    repeat_no: str | None = None  # number of this attempt at the task
    capabilities: str | None = None  # JSON with facts about the model
    sampling: str | None = None  # JSON with temperature and other sampling parameters
    # the repository of the session, or the session's folder if there is no repository (`name_project`)
    project: str | None = None
    branch: str | None = None  # the Git branch when the session began
    sub_agent: str | None = None  # the sub-agent or skill that ran this session
    environment: str | None = None  # where the agent was deployed: production, staging …
    provider: str | None = None
    model: str | None = None


class PromptSeen(Event, frozen=True, kw_only=True, gc=False):
    """The system prompt of the session from this event on.

    The event has the prompt's content, the prompt's name and version, or all three.
    """

    text: str | None = None
    name: str | None = None
    version: str | None = None


class ToolsOffered(Event, frozen=True, kw_only=True, gc=False):
    """Tool definitions that the log lists, in any form that `ToolCatalog.load` can read."""

    definitions: tuple[Mapping[str, Any], ...]


class ProbeSeen(Event, frozen=True, kw_only=True, gc=False):
    """A gateway's test of whether a model supports native tool calls.

    `ok` is None when the log does not show the outcome. Sessions that rely on the same test have the same
    `probe_id`.
    """

    ok: bool | None
    probe_id: str | None = None
    error: str | None = None
    provider: str | None = None
    model: str | None = None


class TrialRunPlanned(Event, frozen=True, kw_only=True, gc=False):
    """The plan of a trial run, read from the plan's lock file. `session_id` is the name of the trial run.

    `facts` are columns of `trial_runs` as decoded JSON. `ts` is the time at which the plan was locked.
    """

    facts: Mapping[str, Any]


class TrialLookTaken(Event, frozen=True, kw_only=True, gc=False):
    """The interim analysis of one variant in a trial run. `session_id` is the name of the trial run.

    `facts` are columns of `trial_looks`. `ts` is the time of the analysis.
    """

    facts: Mapping[str, Any]


class TurnStarted(Event, frozen=True, kw_only=True, gc=False):
    """A user's message, which begins a turn.

    `turn` is the log's own 1-based number, or None if the session builder must count the turns. `key` (for
    example a message uuid) is the same in every copy of a transcript. If `key` is None, only the session and
    the number identify the turn.
    """

    turn: int | None = None
    text: str | None = None
    key: str | None = None


class StepMade(Event, frozen=True, kw_only=True, gc=False):
    """One model call within a turn.

    `step` is the log's own 0-based number, or None if the session builder must count the steps.
    """

    step: int | None = None
    turn: int | None = None
    text: str | None = None  # the model's text, without its tool calls
    provider: str | None = None
    model: str | None = None
    strategy: Strategy | None = None
    input_tokens: int | None = None  # all input tokens, including `cached_tokens` and `cache_write_tokens`
    cached_tokens: int | None = None  # input tokens that were read from the provider's cache
    cache_write_tokens: int | None = None  # input tokens that were written to the provider's cache
    output_tokens: int | None = None
    latency_ms: float | None = None
    resent: int | None = None  # how often the agent repeated the request after network errors
    stop_reason: str | None = None  # why the reply ended, as the log says: tool_use, end_turn, max_tokens …
    # The reply was aborted or failed, so its tool calls never ran. The next reply may repeat these calls.
    failed: bool = False
    answers: bool = False  # True when the log marks this step as the end of the turn (stop_reason end_turn)


class CallMade(Event, frozen=True, kw_only=True, gc=False):
    """One tool call of the latest step. If `turn` and `step` are set, the call belongs to that step.

    If `args_source` is RAW or TRUNCATED, `raw_arguments` is the text of the arguments. If it is RESERIALISED,
    `arguments` is the decoded value.

    `refused_by_harness` is SYNTAX or SCHEMA when the log says that the agent rejected the arguments.
    `harness_message` is the agent's message. If `refused_by_harness` is EMISSION, `raw_arguments` is the text
    in which the model wrote the call.

    `syntax_seen` and `schema_seen` say how well the log shows syntax errors and schema errors in calls
    without an error mark.
    """

    tool: str | None
    mcp_server: str | None = None  # the MCP server, if the log has a separate field for the server
    tool_call_id: str | None = None
    turn: int | None = None
    step: int | None = None
    raw_arguments: str | None = None
    arguments: Any = None
    args_source: ArgsSource
    strategy: Strategy | None = None
    refused_by_harness: FaultLayer | None = None
    harness_message: str | None = None
    # the `tool_call_id` of the failed call that this call retries, if the log has that id
    retry_of: str | None = None
    syntax_seen: Visibility = Visibility.NONE
    schema_seen: Visibility = Visibility.NONE
    key: str | None = None  # a globally unique id from the log; copies of the call are found by this id


class ResultSeen(Event, frozen=True, kw_only=True, gc=False):
    """The result of a call.

    The call is found by `tool_call_id`. If the log has no id, the call is found by turn, step and `ordinal`,
    the call's index in the step.
    """

    tool_call_id: str | None = None
    tool: str | None = None
    ordinal: int | None = None
    turn: int | None = None
    step: int | None = None
    status: ResultStatus
    flag_source: FlagSource
    fault_layer: FaultLayer | None = None  # the failure stage that the texts or codes in the log show
    message: str | None = None  # the reason that the agent gave for a failure
    content: str | None = None
    latency_ms: float | None = None
    mcp_server: str | None = None  # the MCP server, if the log names the server only in the result
    # For example "recorded" or "miss". No tool ran, because the trial run replayed a recorded result.
    simulated: str | None = None


class TurnEnded(Event, frozen=True, kw_only=True, gc=False):
    """The end of a turn, as the log records it.

    `recorded_ok` is None when the log does not say whether the turn succeeded. `answer` is the final text. It
    is '' when the log shows that there was no text, and None when the text is unknown. `verdict_reason` says
    why a check of the task passed or failed. `compensations` are the messages that a gateway sent after
    unreadable replies. `cost` is in USD.
    """

    turn: int | None = None
    # the status of the turn in the log's own words: ok, error, cancelled, prompt_limit …
    status: str | None = None
    recorded_ok: bool | None = None
    answer: str | None = None
    latency_ms: float | None = None
    verdict_reason: str | None = None
    compensations: int | None = None
    cost: float | None = None


@final
class Rejected(msgspec.Struct, frozen=True, gc=False):
    """A line or a value that could not be used.

    `code` is a key of REJECT_CODES. `reason` is a sentence for users.
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

"""Claude Code transcripts: one JSON record per line, in `~/.claude/projects/<project>/<session>.jsonl`.

Sub-agents write `<session>/subagents/agent-<id>.jsonl` next to the transcript. The format is undocumented;
these notes are based on transcripts of versions 1.0 to 2.1.

**Fields.** `type` (user, assistant, system, progress, summary, file-history-snapshot, queue-operation …),
`uuid`, `parentUuid`, `sessionId`, `timestamp`, `version`, `isSidechain`. `message` is an Anthropic message.
Records of other types are skipped.

Two other kinds of files have the same messages:
- The output of `claude -p --output-format stream-json` (or `json --verbose`, an array; also with
  `--include-partial-messages`). It has `session_id` and `parent_tool_use_id`; lines of other programs may be
  between its lines. Qwen Code and Amp (`--stream-json`) print the same format.
- A session of Claude Code on the web, as the API returns it: one document `{loglines: [record, …]}`. If its
  records name no session, the file is one session.

**Sessions.** The session is the record's `sessionId`, not the file's name, because a resumed transcript
begins with lines of the session that it continues. A sub-agent's records become the session
`<sessionId>/agent-<agentId>` with a parent session. These are records with `isSidechain` and `agentId`, or
`progress` records of type `agent_progress`. Older sidechain records have no agent id; they are grouped by the
first record of their `parentUuid` chain.

Project and branch come from the first `cwd` and `gitBranch`. The kind of a sub-agent (`subagent_type`) is in
the call that starts it. The kind is known only if the progress records are in the same file.

**Turns.** A user record with typed text begins a turn when the model answers it. A slash command begins a
turn if the model answers it. These user records begin no turn: records with `isMeta` or `isCompactSummary`,
command output, task notifications, hook messages, text next to tool results, and prompts withdrawn before an
answer. A turn ends at the next answered prompt, at an interruption (status `cancelled`), or at the end of the
file if the last message made no call.

**Rules.**
- Several records with the same `message.id` form one message. Tool results may be between them.
- `usage` is preliminary until a final one replaces it. In most transcripts of 2.0 and 2.1 no final usage
  follows. A usage counts as final if a record of the message has a `stop_reason`, or if `output_tokens` grew
  between two records. Otherwise the output tokens are unknown. Of 932 messages in 12 transcripts, 227 had a
  final usage. Input tokens are known from the start.
- Records may be repeated with the same `uuid`, and resumed transcripts copy them. Calls are also recognised
  by `tool_use.id`.
- `is_error` is absent on most successful results, and every failed result had it. A result without the flag
  therefore counts as an explicit success.
- `is_error` marks denials (by a user, a permission or a hook), shell exit codes, invalid arguments and other
  failures. Only the text of the result distinguishes them. "Sibling tool call errored" means that Claude Code
  dropped a valid call because a parallel call failed: status `denied`.
- Arguments that are not JSON are stored as `{"__unparsedToolInput": {"raw", "len"}}`; the text is cut near 2
  KB.
- A call with broken markup has no block. Such a call shows as a notice ("Your tool call was malformed …"), as
  the `stop_reason` tool_use without a call, or as `<invoke name=…>` at the start of a text line outside of
  code fences.
- A stream may contain a message in pieces (`stream_event`) and whole. Only the final usage and the stop
  reason of the pieces are used. Streams have no times and mostly no prompts. `parent_tool_use_id`, the call
  that started a sub-agent, identifies the sub-agent.
- The model `<synthetic>` marks messages that Claude Code wrote itself.

**Limits.** A repeated record is recognised among the last 50,000 records of its conversation; repeated calls
are always recognised. For sidechains without an agent id, 50,000 records are remembered.

**Side files.** These files contain no calls: `sessions-index.json`, `memory/*.md`, `<session>/tool-results/*`
and `subagents/**/agent-<id>.meta.json`; in `~/.claude` also the settings, todos, `history.jsonl` (typed
prompts) and others.

**Not in the log.** System prompt, tool definitions, the provider that served the model, and whether a turn
succeeded. The model's own argument text is known only if it was not JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ingest.decoding.fields import read_object, read_objects, read_text
from ingest.decoding.lines import make_snippet
from ingest.events import Event, Rejected
from ingest.formats.claude_code.claude_conversation import ClaudeConversation
from ingest.formats.claude_code.headless import HeadlessRun, is_stream_event
from ingest.formats.claude_code.transcript_entries import (
    SPEAKING,
    ToolReport,
    TranscriptEntry,
    UnusableEntry,
    read_entry,
    skim,
)
from ingest.formats.conversations.agent_session import remember_call
from ingest.formats.conversations.consecutive_runs import ConsecutiveRuns
from ingest.log_format import About, Record, Source, Translator
from ingest.sessions.open_sessions import OpenSessions
from lenient.regex import compile_regex

__all__ = ["SOURCE", "recognise", "skim", "translator"]

SOURCE = Source(
    name="claude_code",
    title="Claude Code transcripts",
    raw_arguments="partly: only for arguments that were not JSON, whole up to about 2 KB",
    argument_failures="yes: marked by the harness; silent repairs are not visible",
    error_flag="yes: is_error; the stage is derived from the text",
    definitions="no: supply them with --tools",
    system_prompt="no",
    model="yes: per step; not who served it",
    turn_end="partly: stop_reason, interruptions, API errors and the result of a headless run",
    cannot_tell="Clean and repaired calls cannot be distinguished without the model's own text. "
    "Whether a turn did what the user wanted is not recorded.",
)

_SIDE_FILE = compile_regex(
    r"(?:.*[/!])?(?:sessions-index\.json|memory/[^/]+\.md|subagents/(?:.*/)?agent-[^/]+\.meta\.json"
    r"|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/tool-results/.+"
    r"|\.claude/(?:(?:history|settings|stats-cache|\.credentials)[^/]*\.jsonl?|[^/]+\.md|(?:backups|cache|debug|file-history|ide|paste-cache|plans|plugins|session-env"
    r"|shell-snapshots|skills|statsig|tasks|telemetry|todos)/.+))"
)
_WEIGHED = 256 * 1024  # The memory of open conversations is checked after this many bytes of records.
_STARTING = frozenset({"Task", "Agent"})  # tools that start a sub-agent
_CHAINED = 50_000  # maximum number of remembered sidechain records without an agent id


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(_is_ours(record) or is_stream_event(record) for record in head)


def _is_ours(record: Mapping[str, Any]) -> bool:
    kind = record.get("type")
    if kind is None and "loglines" in record:
        return any(line.get("type") in SPEAKING and "message" in line for line in _read_loglines(record))
    if kind in ("user", "assistant", "system", "progress", "attachment"):
        return {"parentUuid", "isSidechain", "sessionId", "uuid"} <= record.keys()
    if kind == "file-history-snapshot":
        return {"messageId", "snapshot"} <= record.keys()
    if kind == "summary":
        return {"leafUuid", "summary"} <= record.keys()
    return kind == "queue-operation" and {"operation", "sessionId"} <= record.keys()


def _read_loglines(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    return read_objects(record.get("loglines"))


def side_file(about: About) -> str | None:
    """Describe a file that Claude Code keeps next to its transcripts. Return None for other files."""
    return "a side file of Claude Code" if _SIDE_FILE.fullmatch(about.path) else None


def translator(about: About) -> Translator:
    return _Transcript(about.identity)


class _Transcript:
    """Translator of one file, with one open conversation for each session and each sub-agent."""

    def __init__(self, identity: str) -> None:
        self._identity = identity
        self._open = OpenSessions[ClaudeConversation]()
        self._kinds: dict[str, str] = {}  # call id → the kind of the sub-agent that it starts
        self._headless = ConsecutiveRuns("session_id", HeadlessRun)
        # uuid of a sidechain record → uuid of the first record of that sidechain
        self._chains: dict[str, str] = {}
        self._last_conversation: ClaudeConversation | None = None  # the previous record's conversation
        self._last_lane: str | None = None
        self._grown = 0  # bytes read into `_last_conversation` since the last memory check

    def finish(self) -> Iterator[Event]:
        for conversation in self._open.drain():
            events: list[Event] = []
            conversation.finish(events)
            yield from events
        yield from self._headless.finish()

    def close(self) -> None:
        self._open.close()

    def take(self, record: Record) -> Iterable[Event | Rejected]:
        entry = record.value
        if isinstance(entry, dict) and "loglines" in entry:
            return [event for line in self._split_document(record) for event in self.take(line)]
        if isinstance(entry, dict) and is_stream_event(entry):
            return self._headless.take(entry, record.where)
        if type(entry) is not TranscriptEntry:  # `skim` has already decoded most lines.
            entry = read_entry(entry) if isinstance(entry, dict) else entry
            if entry is None:
                return []
            if isinstance(entry, UnusableEntry):
                return [Rejected(record.where, entry.code, entry.reason, make_snippet(record.data))]
        events: list[Event] = []
        lane = self._find_lane(entry) if entry.is_sidechain else entry.session_id or ""
        conversation = (
            self._last_conversation if lane == self._last_lane else self._find_conversation(lane, entry)
        )
        if conversation is None:
            return events
        size = len(record.data)
        conversation.take(entry, record.where, size, events)
        self._grown += size
        if self._grown > _WEIGHED:
            self._spill()
        if entry.type == "assistant" and not entry.is_sidechain:
            self._note_sub_agents(entry)
        report = entry.tool_use_result
        if isinstance(report, ToolReport) and report.status == "completed" and report.agent_id is not None:
            self._end_sub_agent(f"{entry.session_id}/agent-{report.agent_id}", report, events)
        return events

    def _split_document(self, record: Record) -> Iterator[Record]:
        """Yield the records of a multi-line document, each with its own line number."""
        for line in _read_loglines(record.value):
            where = record.find_line('"message"', past=True) if "message" in line else record.where
            yield Record(where, {"sessionId": self._identity, **line}, b"", where.offset)

    def _find_conversation(self, lane: str, entry: TranscriptEntry) -> ClaudeConversation | None:
        """Return the entry's conversation. Open the conversation if necessary.

        `lane` is the conversation's session id. Return None for a `system` entry if the conversation is not
        open.
        """
        self._spill()
        if entry.type == "system" and lane not in self._open:
            return None
        parent = entry.session_id if entry.is_sidechain else None
        self._last_lane = lane
        kind = self._kinds.get(entry.started_by or "")
        self._last_conversation = self._open.open(lane, partial(ClaudeConversation, lane, parent, kind))
        return self._last_conversation

    def _spill(self) -> None:
        if self._last_lane is not None:
            self._open.spill(self._last_lane, self._grown)
        self._grown = 0

    def _find_lane(self, entry: TranscriptEntry) -> str:
        """Return the session id under which a sub-agent's entry is stored."""
        if entry.agent_id is not None:
            return f"{entry.session_id}/agent-{entry.agent_id}"
        own = entry.uuid or ""
        first = self._chains.get(entry.parent_uuid or "", own)
        self._chains[own] = first
        if len(self._chains) > _CHAINED:
            del self._chains[next(iter(self._chains))]
        return f"{entry.session_id}/sidechain-{first}"

    def _note_sub_agents(self, entry: TranscriptEntry) -> None:
        """Remember the kind of sub-agent that each tool call starts."""
        for block in entry.message.blocks if entry.message else ():
            if block.name in _STARTING and block.id is not None:
                kind = read_text(read_object(block.arguments).get("subagent_type"))
                if kind is not None:
                    remember_call(self._kinds, block.id, kind)

    def _end_sub_agent(self, lane: str, report: ToolReport, out: list[Event]) -> None:
        """Finish the conversation of a completed sub-agent, if the conversation is open.

        `report` is the result of the tool call that started the sub-agent. The result contains the
        sub-agent's status and answer.
        """
        if lane == self._last_lane:
            self._last_conversation = self._last_lane = None
        conversation = self._open.pop(lane)
        if conversation is not None:
            conversation.finish(out, status=report.status, answer=report.answer)

"""Claude Code transcripts: one JSON record a line, under `~/.claude/projects/<project>/<session>.jsonl`.

Sub-agents write `<session>/subagents/agent-<id>.jsonl` next to it. The format is undocumented; these notes
come from transcripts of versions 1.0 to 2.1.

**Shape.** `type` (user, assistant, system, progress, summary, file-history-snapshot, queue-operation …),
`uuid`, `parentUuid`, `sessionId`, `timestamp`, `version`, `isSidechain`; `message` is an Anthropic message.
Types that are not named here pass silently.

`claude -p --output-format stream-json` (or `json --verbose`, an array; also with
`--include-partial-messages`) prints the same messages with `session_id` and `parent_tool_use_id`, often kept
as `.txt` among lines of other programs. Qwen Code and Amp (`--stream-json`) print them, too.

A session of Claude Code on the web, as its API gives it, is one document: `{loglines: [record, …]}`; where
its records name no session, the file is one.

**Sessions.** The `sessionId` of the record, not the file's name: a resumed transcript begins with lines of
the session it continues. A sub-agent's records (`isSidechain` with `agentId`, or `progress` records of type
`agent_progress`, which contain the same messages) become the session `<sessionId>/agent-<agentId>` with its
parent named. Older sidechains without an id are told apart by the first record their `parentUuid`s lead to.

**Facts.** The project and the branch are those of the first `cwd` and `gitBranch`. The kind of a sub-agent
(`subagent_type`) is in the call that starts it: it is known where progress records are in the same file.

**Turns.** A user record with a typed text, once the model answers it. Not a turn: records with `isMeta` or
`isCompactSummary`, command output, task notifications, hook messages, text sent along with tool results, a
prompt that was taken back before an answer. A slash command is one when the model answers to it. A turn ends
at the next answered prompt, at an interruption (status `cancelled`), or at the end of the file when the last
message made no call.

**Traps.**
- One message spans several records with the same `message.id`, tool results in between. `stop_reason` is
  mostly null in the middle and often at the end.
- `usage` is that of the stream's start until the final one replaces it, and in most transcripts of 2.0 and
  2.1 it never does: every record of a message says the same 1 to 27 `output_tokens`, however long it is. A
  usage is taken as final where a record of the message has a `stop_reason` (every record in 2.1.143), or once
  `output_tokens` has grown from one record to the next. Otherwise the output is unknown. Of 932 messages in
  12 transcripts 227 have a final usage, with 2 characters of text a token in the median; the other 705 have
  153. Some 50 of those, of one record each, look final but cannot be told for certain. Records inside of
  `progress` never have one. The input is known from the start: `input_tokens` and both cache counts.
- Records repeat (same `uuid`), and resumed transcripts copy them; calls also carry `tool_use.id` as key.
  Models of other providers number their calls: such an id (`functions.Read:0`) counts within its message.
- `is_error` is absent on most successes. The API defines absence as false, and every failure seen carries
  it, so a result without the flag counts as ok, flag explicit.
- `is_error` marks refusals by a user, a permission or a hook, shell exits, refused arguments and real
  failures alike: the texts tell them apart (`texts.py`). "Sibling tool call errored" means that
  the call was dropped because another one failed: `refused`, since nothing was wrong with it.
- Arguments that are not JSON arrive as `{"__unparsedToolInput": {"raw", "len"}}`, the text cut near 2 KB.
- A call whose markup broke leaves no block: a notice ("Your tool call was malformed …"), a `stop_reason`
  tool_use without a call, or `<invoke name=…>` as plain text at the start of a line, outside a code fence.
- A stream may show a message in pieces (`stream_event`) and whole: of the pieces only the final usage and the
  stop reason are used. Its `result` has the verdict, the time and the cost of the run. It has no times and
  mostly no prompts; a sub-agent is known by the call that started it (`parent_tool_use_id`).
- `<synthetic>` is not a model: such records are the harness speaking.

**Bounds.** Any number of conversations may be open in one file; the ones silent for longest wait in a
temporary file. A record is known as a repeat of one up to 50,000 records back in its conversation; calls are
known by their id for ever. Of older sidechains without an id, 50,000 records are remembered; one that
continues after more becomes a second session.

**Side files.** Next to the transcripts: `sessions-index.json`, `memory/*.md`, `<session>/tool-results/*`,
`subagents/**/agent-<id>.meta.json`. In `~/.claude`: settings, todos, `history.jsonl` (what users typed) and
more. None of them contains a call.

**Cannot tell.** System prompt and tool definitions; the model's own argument text, except when it was not
JSON; who served the model; whether a turn succeeded.
"""

from __future__ import annotations

import re
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

_SIDE_FILE = re.compile(
    r"(?:.*[/!])?(?:sessions-index\.json|memory/[^/]+\.md|subagents/(?:.*/)?agent-[^/]+\.meta\.json"
    r"|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/tool-results/.+"
    r"|\.claude/(?:(?:history|settings|stats-cache|\.credentials)[^/]*\.jsonl?|[^/]+\.md|(?:backups|cache|debug|file-history|ide|paste-cache|plans|plugins|session-env"
    r"|shell-snapshots|skills|statsig|tasks|telemetry|todos)/.+))"
)
_WEIGHED = 256 * 1024  # bytes of records after which the memory of open conversations is checked
_STARTING = frozenset({"Task", "Agent"})  # tools that start a sub-agent
_CHAINED = 50_000  # records of sidechains without an id that are remembered


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
    """Return a description of a file that Claude Code keeps next to its transcripts; None for others."""
    return "a side file of Claude Code" if _SIDE_FILE.fullmatch(about.path) else None


def translator(about: About) -> Translator:
    return _Transcript(about.identity)


class _Transcript:
    """Translator of one file, with one open conversation per session and sub-agent."""

    def __init__(self, identity: str) -> None:
        self._identity = identity
        self._open = OpenSessions[ClaudeConversation]()
        self._kinds: dict[str, str] = {}  # call id → the kind of the sub-agent that it starts
        self._headless = ConsecutiveRuns("session_id", HeadlessRun)
        self._chains: dict[str, str] = {}  # uuid of a sidechain record → uuid of the chain's first record
        self._spoken: ClaudeConversation | None = None  # the previous record's conversation
        self._lane_spoken: str | None = None
        self._grown = 0  # bytes of its records since the last check

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
        if type(entry) is not TranscriptEntry:  # `skim` has already decoded most lines
            entry = read_entry(entry) if isinstance(entry, dict) else entry
            if entry is None:
                return []
            if isinstance(entry, UnusableEntry):
                return [Rejected(record.where, entry.code, entry.reason, make_snippet(record.data))]
        events: list[Event] = []
        lane = self._find_lane(entry) if entry.is_sidechain else entry.session_id or ""
        conversation = self._spoken if lane == self._lane_spoken else self._find_conversation(lane, entry)
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
        """Yield the records in a document, each with its own line."""
        for line in _read_loglines(record.value):
            where = record.find_line('"message"', past=True) if "message" in line else record.where
            yield Record(where, {"sessionId": self._identity, **line}, b"", where.offset)

    def _find_conversation(self, lane: str, entry: TranscriptEntry) -> ClaudeConversation | None:
        """Return the conversation of the entry, opened if necessary.

        `lane` is the conversation's session id. None: a `system` entry for a conversation that is not open.
        """
        self._spill()
        if entry.type == "system" and lane not in self._open:
            return None
        parent = entry.session_id if entry.is_sidechain else None
        self._lane_spoken = lane
        kind = self._kinds.get(entry.started_by or "")
        self._spoken = self._open.open(lane, partial(ClaudeConversation, lane, parent, kind))
        return self._spoken

    def _spill(self) -> None:
        if self._lane_spoken is not None:
            self._open.spill(self._lane_spoken, self._grown)
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
        """Note which kind of sub-agent a call starts."""
        for block in entry.message.blocks if entry.message else ():
            if block.name in _STARTING and block.id is not None:
                kind = read_text(read_object(block.arguments).get("subagent_type"))
                if kind is not None:
                    remember_call(self._kinds, block.id, kind)

    def _end_sub_agent(self, lane: str, report: ToolReport, out: list[Event]) -> None:
        """Finish the conversation of a completed sub-agent, if it is open.

        `report` is the result of the call that started the sub-agent, with the sub-agent's status and answer.
        """
        if lane == self._lane_spoken:
            self._spoken = self._lane_spoken = None
        conversation = self._open.pop(lane)
        if conversation is not None:
            conversation.finish(out, status=report.status, answer=report.answer)

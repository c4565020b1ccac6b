"""Claude Code transcripts: one JSON record a line, under `~/.claude/projects/<project>/<session>.jsonl`.

Sub-agents write `<session>/subagents/agent-<id>.jsonl` beside it. The format is undocumented; these notes
come from transcripts of versions 1.0 to 2.1.

**Shape.** `type` (user, assistant, system, progress, summary, file-history-snapshot, queue-operation …),
`uuid`, `parentUuid`, `sessionId`, `timestamp`, `version`, `isSidechain`; `message` is an Anthropic message.
Types that are not named here pass silently.

**Sessions.** The `sessionId` of the record, not the file's name: a resumed transcript begins with lines of
the session it continues. A sub-agent's records (`isSidechain` with `agentId`, or `progress` records of type
`agent_progress`, which hold the same messages) become the session `<sessionId>/agent-<agentId>` with its
parent named. Older sidechains without an id are told apart by the first record their `parentUuid`s lead to.

**Turns.** A user record with a typed text, once the model answers it. Not a turn: records with `isMeta` or
`isCompactSummary`, command output, task notifications, hook messages, text sent along with tool results, a
prompt that was taken back before an answer. A slash command is one when the model answers to it. A turn ends
at the next answered prompt, at an interruption (status `cancelled`), or at the end of the file when the last
message made no call.

**Traps.**
- One message spans several records with the same `message.id`, tool results in between; only the last has the
  final `usage`. `stop_reason` is mostly null in the middle and often at the end.
- Records repeat (same `uuid`), and resumed transcripts copy them; calls also carry `tool_use.id` as key.
- `is_error` is absent on most successes. The API defines absence as false, and every failure seen carries
  it, so a result without the flag counts as ok, flag explicit.
- `is_error` marks refusals by a user, a permission or a hook, shell exits, refused arguments and real
  failures alike: the texts tell them apart (`texts.py`). "Sibling tool call errored" means that
  the call was dropped because another one failed: `refused`, since nothing was wrong with it.
- Arguments that are not JSON arrive as `{"__unparsedToolInput": {"raw", "len"}}`, the text cut near 2 KB.
- A call whose markup broke leaves no block: a notice ("Your tool call was malformed …"), a `stop_reason`
  tool_use without a call, or `<invoke name=…>` as plain text at the start of a line, outside a code fence.
- `<synthetic>` is no model: such records are the harness speaking.

**Cannot tell.** System prompt and tool definitions; the model's own argument text, except when it was not
JSON; who served the model; whether a turn succeeded.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ingest.events import Event, Rejected
from ingest.fields import table, text
from ingest.formats import Source
from ingest.formats.claude_code.messages import Conversation
from ingest.formats.claude_code.records import blocks_of, text_of
from ingest.lines import Line, decode_object, snippet_of

SOURCE = Source(
    name="claude_code",
    title="Claude Code transcripts",
    raw_arguments="partly: only for arguments that were not JSON, whole up to about 2 KB",
    argument_failures="yes: marked by the harness; what it mended silently cannot be seen",
    error_flag="yes: is_error, the layer told from the text",
    definitions="no: supply them with --tools",
    system_prompt="no",
    model="yes: per step; not who served it",
    turn_end="partly: stop_reason, interruptions and API errors, without a verdict",
    cannot_tell="Clean and mended calls cannot be told apart without the model's own text. "
    "Whether a turn did what the user wanted is not recorded.",
)

_OPEN = 256  # conversations held open at once; bounds the memory, the one longest silent is closed first
_CHAINED = 50_000  # records of sidechains without an id that are remembered
_SPEAKING = ("user", "assistant")


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(_is_ours(record) for record in head)


def _is_ours(record: Mapping[str, Any]) -> bool:
    kind = record.get("type")
    if kind in ("user", "assistant", "system", "progress", "attachment"):
        return {"parentUuid", "isSidechain", "sessionId", "uuid"} <= record.keys()
    if kind == "file-history-snapshot":
        return {"messageId", "snapshot"} <= record.keys()
    if kind == "summary":
        return {"leafUuid", "summary"} <= record.keys()
    return kind == "queue-operation" and {"operation", "sessionId"} <= record.keys()


def translate(lines: Iterable[Line | Rejected]) -> Iterator[Event | Rejected]:
    transcript = _Transcript()
    for line in lines:
        if isinstance(line, Rejected):
            yield line
            continue
        record = decode_object(line)
        if isinstance(record, Rejected):
            yield record
            continue
        yield from transcript.take(record, line)
    yield from transcript.finish()


class _Transcript:
    """The conversations of one file, held apart by session and sub-agent."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, Conversation] = OrderedDict()
        self._chains: dict[str, str] = {}  # uuid of a sidechain record → uuid of the chain's first record

    def take(self, record: dict[str, Any], line: Line) -> Iterator[Event | Rejected]:
        record = _inner(record)
        kind = record.get("type")
        if kind not in _SPEAKING and kind != "system":
            return
        problem = _unusable(record)
        if problem is not None:
            if kind in _SPEAKING:
                yield Rejected(line.where, *problem, snippet_of(line.data))
            return
        lane, parent = self._lane(record)
        if kind == "system" and lane not in self._open:
            return
        yield from self._conversation(lane, parent)
        yield from self._open[lane].take(record, line.where)
        yield from self._sub_agent_ended(record)

    def finish(self) -> Iterator[Event]:
        while self._open:
            yield from self._open.popitem(last=False)[1].finish()

    def _conversation(self, lane: str, parent: str | None) -> Iterator[Event]:
        """Make the lane's conversation the newest of the open ones; with too many, close the oldest."""
        if lane in self._open:
            self._open.move_to_end(lane)
            return
        if len(self._open) >= _OPEN:
            yield from self._open.popitem(last=False)[1].finish()
        self._open[lane] = Conversation(lane, parent)

    def _lane(self, record: Mapping[str, Any]) -> tuple[str, str | None]:
        """(session id, id of the session it was started from) of a record."""
        session = str(record["sessionId"])
        if record.get("isSidechain") is not True:
            return session, None
        agent = text(record.get("agentId"))
        if agent is not None:
            return f"{session}/agent-{agent}", session
        own, before = text(record.get("uuid")) or "", text(record.get("parentUuid"))
        first = self._chains.get(before or "", own)
        self._chains[own] = first
        if len(self._chains) > _CHAINED:
            del self._chains[next(iter(self._chains))]
        return f"{session}/sidechain-{first}", session

    def _sub_agent_ended(self, record: Mapping[str, Any]) -> Iterator[Event]:
        """A finished sub-agent's answer stands in the result of the call that started it."""
        report = table(record.get("toolUseResult"))
        agent, status = text(report.get("agentId")), text(report.get("status"))
        lane = f"{record['sessionId']}/agent-{agent}"
        if status == "completed" and lane in self._open:
            answer = text_of(blocks_of(report.get("content")))
            yield from self._open.pop(lane).finish(status=status, answer=answer)


def _inner(record: dict[str, Any]) -> dict[str, Any]:
    """A sub-agent's record out of the progress record that reports it; any other record as it is."""
    data = table(record.get("data"))
    if record.get("type") != "progress" or data.get("type") != "agent_progress":
        return record
    shared = {name: record.get(name) for name in ("sessionId", "version", "timestamp")}
    return {**shared, **table(data.get("message")), "isSidechain": True, "agentId": data.get("agentId")}


def _unusable(record: Mapping[str, Any]) -> tuple[str, str] | None:
    """Why a record cannot be used: (reject code, reason), or None."""
    needed: dict[str, tuple[type, str]] = {"sessionId": (str, "a text")}
    if record.get("type") in _SPEAKING:
        needed["message"] = (dict, "an object")
    for name, (wanted, called) in needed.items():
        if record.get(name) is None:
            return "missing_field", f"the {record.get('type')} record has no {name}"
        if not isinstance(record[name], wanted):
            return "wrong_type", f"{name} of the {record.get('type')} record is not {called}"
    return None

"""Cursor: its database of chats, and the transcripts of its agents.

**On disk.** `User/globalStorage/state.vscdb` (SQLite, the table `cursorDiskKV`), and
`~/.cursor/projects/<folder>/agent-transcripts/<id>/<id>.jsonl`, sub-agents in `subagents/`. Seen: test
files of xmartlabs/gnomon, S2thend/cursor-history and jonathan-kellerai/cross_agent_session_resumer, made
after real ones.

**Shape.** Database: `composerData:<id>` lists the bubbles of a chat in order and names the model
(`modelConfig.modelName`), `bubbleId:<composer>:<bubble>` holds one: `type` 1 user, 2 assistant, `text`,
`toolFormerData.{name, status, params, rawArgs, result}`, `tokenCount`. Transcript: `{role, message:
{content}}` with Anthropic's blocks `text` and `tool_use`, `{type: turn_ended, status}`, `{type: error,
error}`.

**Turns.** A user's message that the model answers. `turn_ended` and `error` lines end it, with the log's
verdict; in the database the next user's message does.

**Traps.**
- A chat stands in the database and in a transcript: both have the id of the composer, so its calls count
  once.
- A bubble that the composer does not list was edited away: it is not read.
- `rawArgs` is the model's text; where it is missing, `params` is what Cursor made of it.
- A bubble is a step of its own; bubbles with the same `modelCallId` are one.
- The user's text stands in `<user_query>`, after files that were attached. A text may be `[REDACTED]`.
- In a transcript calls have no id, no result and no time: what became of them stays unknown. Only the call of
  a line after which nothing comes has no result.
- The settings of old versions kept the whole chat in `composerData` (`conversation`): read too, none was
  seen.

**Bounds.** One row, one line.

**Cannot tell.** Tool definitions, the system prompt; in transcripts also the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ingest.events import Event, Rejected
from ingest.formats.conversations.database_rows import is_database, row_kind
from ingest.formats.cursor.bubbles import CursorRows
from ingest.formats.cursor.transcript import CursorTranscript, is_transcript_line
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="cursor",
    title="Cursor chats",
    raw_arguments="partly: in the database, where rawArgs is kept",
    argument_failures="no: how refused arguments are worded is not known",
    error_flag="partly: status in the database; none in transcripts",
    definitions="no: supply them with --tools",
    system_prompt="no",
    model="partly: in the database, for the whole chat; not in transcripts",
    turn_end="partly: turn_ended in transcripts",
    cannot_tell="In a transcript what became of a call is unknown.",
)


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return is_database(head, "cursor") or any(is_transcript_line(record) for record in head)


def translator(about: About) -> Translator:
    return _CursorLog(about)


class _CursorLog:
    """Translator of one file: a database with many chats, or the transcript of one."""

    def __init__(self, about: About) -> None:
        self._rows = CursorRows(about.identity)
        self._transcript = CursorTranscript(about)

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        kind = row_kind(record)
        if kind is not None:
            yield from self._rows.take(record, kind)
        elif "tables" not in record.value:
            yield from self._transcript.take(record)

    def finish(self) -> Iterator[Event]:
        yield from self._rows.finish()
        yield from self._transcript.finish()

    def close(self) -> None:
        """Do nothing: no file or other resource is open."""

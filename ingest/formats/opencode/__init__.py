"""OpenCode sessions: its database `opencode.db`, its storage folders, or the output of `opencode export`.

**Files.**
- Since 2026: `~/.local/share/opencode/opencode.db`.
- Before that: the folder tree `storage` next to it, with `session/<project>/<session>.json`,
  `message/<session>/<message>.json`, `part/<message>/<part>.json`; until 2025-07
  `project/<name>/storage/session/{info,message,part}`.
- `opencode export SESSION`: one JSON document per session, often with the extension `.jsonl`.
- `opencode run --format json`: the parts of a session, one per line (`{type, timestamp, sessionID, part}`),
  without prompts and models.

Sources: sst/opencode, `packages/opencode/src/{session,storage}`; exports of versions 1.2 and 1.14 (2026). The
database and the older tree are read according to the source code, because no such files were available.

**Fields.** `{info: {id, parentID, version, …}, messages: [{info, parts}]}`. `info.role` is user or assistant
(`modelID`, `providerID`, `tokens`, `finish`, `error`). A user message has text parts; OpenCode itself writes
the parts with `synthetic`. Parts: text, tool (`tool`, `callID`, `state.{status, input, output, error,
metadata, time}`), step-start, step-finish, reasoning, patch, compaction … Other parts are skipped. The
database has the same content in the tables `session`, `message(id, session_id, data)` and `part(id,
message_id, data)`. The tree has one file for each of them. All files of a session are read as one log.

**Turns.** A user message with typed text begins a turn when the model answers it. `finish` stop ends the
turn. `error` states why it stopped early; for `MessageAbortedError` the user stopped it (status `cancelled`).
An assistant message is one model reply, or one reply for each `step-finish` in it.

**Rules.**
- A bash command with a non-zero exit code is `completed`. The code is in `state.metadata.exit`. After a
  timeout, the reason is at the end of the output.
- A call with invalid arguments or an invalid name is recorded as a completed call of the tool `invalid` with
  `{tool, error}`. For arguments that are not JSON, the error quotes the model's own text in full.
- Arguments that do not fit the tool's schema are an error: `The bash tool was called with invalid arguments:
  …`.
- Denials by the user or a rule, interruptions, rejections by the tool and failures are all `error`. The texts
  distinguish them.
- A sub-agent has a separate session. `info.parentID` names the session that started it.
- A compaction is a user message with a `compaction` part, then an assistant message with `summary`. Neither
  is part of the conversation. The message that makes the agent continue is synthetic and begins no turn.
- A single file outside of the tree is rejected, because its session is unknown.

**Limits.** A whole document, or one message of a database or a tree with its parts, is kept in memory.
`--max-line` limits its size.

**Not in the log.** The system prompt, tool definitions, and the model's own text of arguments that were JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ingest.decoding.lines import make_snippet
from ingest.decoding.session_files import read_producer
from ingest.events import Event, Rejected
from ingest.formats.conversations.consecutive_runs import ConsecutiveRuns
from ingest.formats.conversations.database_rows import is_database, row_kind
from ingest.formats.opencode.run_events import HeadlessSession, is_run_event
from ingest.formats.opencode.session_events import translate_session
from ingest.formats.opencode.storage import OpenCodeFiles, OpenCodeRows
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="opencode",
    title="OpenCode sessions",
    raw_arguments="partly: of calls that were not JSON",
    argument_failures="yes: marked by the harness; silent repairs are not visible",
    error_flag="yes: status, and the exit code of commands",
    definitions="no: supply them with --tools",
    system_prompt="no",
    model="yes: per step, with its provider",
    turn_end="yes: finish and error; whether the turn did what the user wanted is not recorded",
    cannot_tell="Clean and repaired arguments cannot be distinguished without the model's own text.",
)

_PIECES = (  # (content, identifying keys) for each kind of file in OpenCode's storage
    ("part of a message", frozenset({"id", "messageID", "type"})),
    ("message", frozenset({"id", "sessionID", "role", "time"})),
    ("header", frozenset({"id", "projectID", "directory", "time"})),
)


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return (
        is_database(head, "opencode")
        or any(map(is_run_event, head))
        or any(
            read_producer(record) == "opencode" or _is_export(record) or _storage_piece(record) is not None
            for record in head[:1]
        )
    )


def _is_export(record: Mapping[str, Any]) -> bool:
    info = record.get("info")
    is_ours = isinstance(info, dict) and {"id", "projectID", "directory"} <= info.keys()
    return is_ours and isinstance(record.get("messages"), list)


def _storage_piece(record: Mapping[str, Any]) -> str | None:
    """Return the kind of object in a file of OpenCode's storage folder. Return None for any other file."""
    return next((name for name, keys in _PIECES if keys <= record.keys()), None)


def translator(about: About) -> Translator:
    return _Export(about.identity)


class _Export:
    """Translator of one log: a database, the files of a session, or exports that each contain one session."""

    def __init__(self, identity: str) -> None:
        self._identity = identity
        self._rows = OpenCodeRows(identity)
        self._files = OpenCodeFiles()
        self._headless = ConsecutiveRuns("sessionID", HeadlessSession)

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        kind = row_kind(record)
        if record.file is not None:
            yield from self._files.take(record, record.file)
        elif kind is not None:
            yield from self._rows.take(record, kind)
        elif is_run_event(record.value):
            yield from self._headless.take(record.value, record.where)
        elif "tables" not in record.value and read_producer(record.value) is None:
            yield from self._take_document(record)

    def _take_document(self, record: Record) -> Iterator[Event | Rejected]:
        piece = _storage_piece(record.value)
        if piece is None or _is_export(record.value):
            yield from translate_session(record, self._identity)
            return
        reason = (
            f"only the {piece} of a session; name OpenCode's folder `storage`, or write the whole session "
            "with `opencode export SESSION`"
        )
        yield Rejected(record.where, "missing_field", reason, make_snippet(record.data))

    def finish(self) -> Iterable[Event]:
        yield from self._rows.finish()
        yield from self._files.finish()
        yield from self._headless.finish()

    def close(self) -> None:
        """Do nothing: no file is open."""

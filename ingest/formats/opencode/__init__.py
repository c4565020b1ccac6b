"""OpenCode sessions: its database `opencode.db`, its storage tree, or what `opencode export SESSION` prints.

**On disk.** `~/.local/share/opencode/opencode.db` since 2026; before, the tree `storage` next to it:
`session/<project>/<session>.json`, `message/<session>/<message>.json`, `part/<message>/<part>.json`; to
2025-07 `project/<name>/storage/session/{info,message,part}`. An export is one JSON document per session,
often under a name that ends in `.jsonl`. Sources: sst/opencode, `packages/opencode/src/{session,storage}`;
exports of versions 1.2 and 1.14 (2026); two trees made for the tests of other readers. The database and the
older tree are read according to the source code: none was seen.

`opencode run --format json` prints the parts of a session one per line (`{type, timestamp, sessionID,
part}`), without prompts and models.

**Shape.** `{info: {id, parentID, version, …}, messages: [{info, parts}]}`. `info.role` user (text parts;
those with `synthetic` are the harness's) or assistant (`modelID`, `providerID`, `tokens`, `finish`,
`error`). Parts: text, tool (`tool`, `callID`, `state.{status, input, output, error, metadata, time}`),
step-start, step-finish, reasoning, patch, compaction … Parts that are not named here pass silently. The
database has the same in the tables `session`, `message(id, session_id, data)`, `part(id, message_id, data)`,
the tree as one file each: all files of a session are read as one log, in the order of their names. A call's
place is the file of its part.

**Turns.** A user message with words of its own that the model answers. `finish` stop ends it, `error` says
why it broke off; `MessageAbortedError` is the user's choice (status `cancelled`). An assistant message is
one model call, or one for each `step-finish` in it.

**Traps.**
- A bash command that exited non-zero is `completed`: `state.metadata.exit` has the code, or, after a
  timeout, the end of the output has the reason.
- A call whose arguments or name the AI SDK refused is recorded as a completed call of a tool named
  `invalid` with `{tool, error}`. The error quotes the text that was not JSON in full: those are the model's
  own words.
- Arguments that did not fit a tool's schema are an error: `The bash tool was called with invalid arguments:
  …`.
- Refusals by the user or a rule, interruptions, the tool's own refusals and failures are all `error`; texts
  tell them apart.
- A sub-agent's session is one of its own; `info.parentID` names the session that started it.
- A compaction is a user message with a `compaction` part, then an assistant message with `summary`: neither
  is part of the conversation. The message that makes the agent continue is synthetic and begins no turn.
- Ids may read `REDACTED`: results are joined to calls by their place, not by id.
- In the tree the folders tell which part belongs to which message: the ids in the files may be missing. A
  part whose message is missing or half written is rejected, as is a file that cannot be read; the rest is in.
- `project`, `session_diff`, `todo` in the tree contain no calls and are skipped.
- A single file of the tree that lies elsewhere is refused: it does not tell to which session it belongs.

**Bounds.** A document is kept in memory as a whole, so `--max-line` bounds it; of a database or a tree one
message is, with its parts.

**Cannot tell.** System prompt, tool definitions, the model's own text of arguments that were JSON.
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

_PIECES = (  # the files of OpenCode's storage: their content, and the keys that identify them
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
    """Return the kind of session part in a file of OpenCode's storage; None for any other file."""
    return next((name for name, keys in _PIECES if keys <= record.keys()), None)


def translator(about: About) -> Translator:
    return _Export(about.identity)


class _Export:
    """Translator of one log: a database, the files of a session, or exports with one session each."""

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
        """Do nothing: no file or other resource is open."""

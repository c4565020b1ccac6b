"""Gemini CLI sessions: `~/.gemini/tmp/<project>/chats/session-*`, one document or one record a line.

Until 2026-04 a session was one JSON document (`.json`), since then it is a log of records (`.jsonl`).
Sources: google-gemini/gemini-cli, `packages/core/src/services/chatRecording*.ts`; documents of 2026-04.

**Shape.** `{sessionId, projectHash, startTime, kind, messages}`; as a log the same without messages, then a
message a line. A message has `id, timestamp, type` (user, gemini, info, warning, error), `content` (text or
parts), and of the model `model`, `tokens`, `toolCalls[].{id, name, args, status, result}`.

**Turns.** A user's message that the model answers. `info` "Request cancelled." ends it (status
`cancelled`), a message of type `error` too (status `error`).

**Traps.**
- A log writes a message again whenever something of it changes: the last record of an id counts. Messages
  are therefore held, the last 200 or 8 MB of them; a record of one that has been let go is passed over.
- `{"$rewindTo": id}`: the user took back that message and all behind it. What the model did there was still
  done: it counts, in turns that end `cancelled`.
- `{"$set": {"messages": […]}}` and `$patch` rewrite the history for the model (compression, masked
  outputs). They tell nothing new and are passed over, unless a log begins with one.
- When a request is cancelled, its calls are written as a message of their own behind the notice: without
  text and tokens it belongs to the message before.
- `status` is explicit: success, error, cancelled (the user declined or interrupted; nothing was wrong with
  the call). A shell command that exited non-zero is a success; the code stands in its output (`Exit Code:
  1`).
- An error has a text, no type: those of JSON schema, of unknown tools and of policies are told apart.

**Bounds.** A document is held whole, so `--max-line` bounds it.

**Cannot tell.** System prompt, tool definitions, and malformed calls: the API gives the CLI objects only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ingest.formats.gemini_cli.recording import GeminiRecording
from ingest.log_format import About, Source, Translator

SOURCE = Source(
    name="gemini_cli",
    title="Gemini CLI sessions",
    raw_arguments="no: the decoded object",
    argument_failures="partly: what the CLI refused; malformed calls leave no trace",
    error_flag="yes: status, and the exit code of shell commands",
    definitions="no: supply them with --tools",
    system_prompt="no",
    model="yes: per step",
    turn_end="partly: the answer, cancellations and errors, without a verdict",
    cannot_tell="Calls that the model malformed are not in the log at all.",
)


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(
        isinstance(record.get("sessionId"), str) and isinstance(record.get("projectHash"), str)
        for record in head[:5]
    )


def translator(about: About) -> Translator:
    return GeminiRecording(about.identity)

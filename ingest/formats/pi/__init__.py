"""Pi sessions, and those of OpenClaw, which is built on pi: one entry a line, a session a file.

On disk `~/.pi/agent/sessions/--<cwd>--/<time>_<id>.jsonl`,
`~/.openclaw/agents/<agent>/sessions/<id>.jsonl`. Sources: badlogic/pi-mono,
`packages/coding-agent/docs/session.md`; a session of pi 0.7 (2025-11).

**Shape.** First `{type: session, id, timestamp, cwd}` (`provider`, `modelId` before version 2), then
`message` entries whose `message.role` is user, assistant, toolResult or bashExecution, `model_change`,
`compaction`, `branch_summary` and what extensions add. Since version 2 each entry has `id` and `parentId`.
Types that are not named here pass silently.

**Turns.** A user's message that the model answers. `stopReason` of the last answer: stop, length, error,
aborted (status `cancelled`). `bashExecution` is what a person typed, no call of the model.

**Traps.**
- A message that was cut off (aborted, error) keeps calls that never ran, and of the last one `partialJson`:
  what the model had sent until then. It is `truncated`: the cut is not the model's. Its `usage` is that of
  the stream's start, so no tokens are counted.
- The other arguments are the decoded object. pi reads them with a lenient parser as they stream in, so text
  that was not JSON is mended silently; only what then does not fit the tool's schema is refused, in words.
- `isError` marks refused arguments, the tool's own refusals and failed commands alike; the texts tell them
  apart.
- A rewind (`/tree`) goes on from an earlier `parentId` in the same file, a fork copies entries into a new
  one: all was said, so all counts; copies have the same call ids and count once.
- A compaction holds a summary, no messages.

**Cannot tell.** System prompt, tool definitions, the model's own text of arguments that were not cut off.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ingest.decoding.fields import read_object, read_text
from ingest.formats.pi.pi_session import PiSession
from ingest.log_format import About, Source, Translator

SOURCE = Source(
    name="pi",
    title="Pi and OpenClaw sessions",
    raw_arguments="partly: only of calls that were cut off, as far as they came",
    argument_failures="partly: what does not fit the schema; text that is not JSON is mended silently",
    error_flag="yes: isError, the layer told from the text",
    definitions="no: supply them with --tools",
    system_prompt="no",
    model="yes: per step, with its provider",
    turn_end="yes: stopReason; whether the turn did what the user wanted is not recorded",
    cannot_tell="Arguments that were not JSON cannot be told from good ones.",
)

_ROLES = frozenset({"user", "assistant", "toolResult", "bashExecution", "custom"})


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(_is_header(record) for record in head[:5]) and all(
        read_text(read_object(record.get("message")).get("role")) in _ROLES
        for record in head
        if record.get("type") == "message"
    )


def _is_header(record: dict[str, Any]) -> bool:
    return record.get("type") == "session" and {"id", "timestamp", "cwd"} <= record.keys()


def translator(about: About) -> Translator:
    return PiSession(about.identity)

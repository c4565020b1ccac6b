"""Session history: one event of an agent per line, the nightly dump; docs/session-log.md is its publication.

**On disk.** memo-code writes one file per session under `~/.memo/sessions`; folder and file names changed
twice. A gateway that writes the published form may put several sessions into one file.

**Shape.** `ts, sessionId, turn, step, type, content, role, meta`; absent keys are unknown. Only `ts`,
`sessionId` (or `session_id`) and `type` are required; an optional field of another type counts as absent. A
line whose `ts` is not an ISO 8601 time is rejected. `turn` counts from 1, `step` (one model call) from 0.
Types that are not named here pass silently.

**Three eras in the wild, and the published form.** E1 (2025-12 to 2026-02-08): no call ids, no result status,
no model. E2 (to 2026-07-31): `action_id`, `status`, system prompt in `session_start.content`. E3 (since):
every action has `toolBlocks`, `session_start.meta` names provider and model, tokens are `inputTokens` and
`outputTokens`. The published form adds what all of them lack; a gateway's `parse_error`, `strategy` and
`probe` are found wherever in `meta` they sit. Fields are read by their presence; no file is "of an era".

**Traps.**
- Arguments that were not JSON leave no action, but text in `assistant.content`: `[tool_use parse error]
  <message>; raw: <raw>`, tool name and call id lost. The same text is again in `final.content` and
  `action.meta.thinking`: only the first place is read. A `parse_error` of the same step is the same failure.
- Before 2026-02-01 03:10 +08 such a call killed the turn: `final` says `LLM call failed: <JSON error>`.
  That is read as a call without name and text; a provider's HTML page or HTTP error is not.
- In E3 such a call is in `toolBlocks` with text as `input`, its id has no observation.
- A turn whose only call was unparsable ends `ok`. The log's word is kept; the derived success disagrees.
- `cancelled` is the user's choice and says nothing about the model: no verdict, neither ok nor failed.
- Tokens are again in `final`, `turn_end` and `session_end`; only `assistant` counts. Zeros mean unknown.
- E1 observations have no status: three failure texts are known, everything else stays `unknown`.
- The AI SDK reports refused arguments as `execution_failed`; the text tells them apart.
- A step is text-JSON fallback when the answer is itself the `{"tool": …}` object; its `input` is then the raw
  text. A protocol violation (the call as plain text where that is not allowed) is a fault of emission.
- A refused single call (E2) has no observation: `final.meta.rejected` is its result.
- A sub-agent (E3) is a session of its own; its file does not name the parent session.
- A `final` without the model's own words has no answer: one that was refused or cancelled, has an
  `error_type`, or says `LLM call failed: …`, `Unable to produce a final answer…` or `Context tokens (N)
  exceed the limit`. Otherwise its text is the answer, also of a turn that ended badly.

**Bounds.** None on the sessions in one file, in whatever order their lines come: those silent for longest
wait in a temporary file with all that later lines need.

**Cannot tell** (in the wild; the published form can): raw arguments of calls that parsed, tool definitions,
the model before 2026-08-02, the prompt before 2026-02-08, retries inside the SDK.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ingest.decoding.fields import json_type, read_text
from ingest.decoding.lines import SNIPPET_READ, make_snippet
from ingest.events import Event, Rejected
from ingest.formats.session_history.history_entries import HistoryEntry, read_entry, read_session_id, skim
from ingest.formats.session_history.sessions import HistorySession
from ingest.log_format import About, Record, Source, Translator
from ingest.sessions.open_sessions import OpenSessions

__all__ = ["SOURCE", "recognise", "skim", "translator"]

SOURCE = Source(
    name="session_history",
    title="Session history",
    raw_arguments="partly: of calls that were not JSON; of all calls where the writer adds toolBlocks[].raw",
    argument_failures="yes: marked in the answer's text, by parse_error or by the result's status",
    error_flag="partly: result status since 2026-02-08, before that only three failure texts",
    definitions="partly: where the writer adds session_start.meta.tools",
    system_prompt="partly: since 2026-02-08; name and version where the writer adds them",
    model="partly: since 2026-08-02, or where the writer adds it",
    turn_end="yes: turn_end.meta.status; ok even when the only call was unparsable",
    cannot_tell="Files of the first form name no model and no prompt, and mark no successful result.",
)

_TYPES = frozenset({
    "session_start", "session_title", "session_end", "turn_start", "assistant", "action", "observation",
    "final", "turn_end", "context_usage", "context_compact", "agent_message", "agent_status",
})  # fmt: skip


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(
        read_text(record.get("type")) in _TYPES
        and isinstance(record.get("ts"), str)
        and isinstance(read_session_id(record), str)
        and "message" not in record
        for record in head
    )


def translator(_about: About) -> Translator:
    return _History()


class _History:
    """Translator of one file, whose sessions may be interleaved line by line."""

    def __init__(self) -> None:
        self._open = OpenSessions[HistorySession]()
        self._spoken = HistorySession("")  # the previous line's session, mostly also the next one's

    def take(self, record: Record) -> list[Event] | list[Rejected]:
        entry = record.value
        if type(entry) is not HistoryEntry:  # `skim` has already decoded most lines
            plain_entry = read_entry(entry)
            if plain_entry is None:
                return [Rejected(record.where, *_find_problem(entry), make_snippet(record.data))]
            entry = plain_entry
        entry.where, entry.size = record.where, len(record.data)
        session, session_id = self._spoken, entry.session_id
        if session.session_id != session_id:
            session = self._spoken = self._open.open(session_id, partial(HistorySession, session_id))
        events: list[Event] = []
        session.take(entry, events)
        self._open.spill(session_id, entry.size)
        return events

    def finish(self) -> Iterator[Event]:
        for session in self._open.drain():
            events: list[Event] = []
            session.finish(events)
            yield from events

    def close(self) -> None:
        self._open.close()


def _find_problem(record: Mapping[str, Any]) -> tuple[str, str]:
    """Return (reject code, reason) for a record that is not an entry."""
    for name, value in (
        ("ts", record.get("ts")),
        ("sessionId", read_session_id(record)),
        ("type", record.get("type")),
    ):
        if value is None or value == "":
            return "missing_field", f"the record has no {name}"
        if not isinstance(value, str):
            return "wrong_type", f"{name} is a JSON {json_type(value)} where a string is due"
    return "wrong_type", f'ts is not a time in ISO 8601: "{record["ts"][:SNIPPET_READ]}"'

"""Session history: one event of an agent per line, as memo-code dumps it nightly; see docs/session-log.md.

**Files.** memo-code writes one file per session under `~/.memo/sessions`. docs/session-log.md publishes the
format with additions. A gateway that writes the published form may put several sessions into one file.

**Fields.** `ts, sessionId, turn, step, type, content, role, meta`; absent keys are unknown. Only `ts`,
`sessionId` (or `session_id`) and `type` are required. An optional field of a wrong type counts as absent. A
line whose `ts` is not an ISO 8601 time is rejected. `turn` counts from 1, `step` (one model reply) from 0.
Other types are skipped.

**Versions.** E1 (2025-12 to 2026-02-08): no call ids, no result status, no model. E2 (to 2026-07-31):
`action_id`, `status`, system prompt in `session_start.content`. E3 (since then): every action has
`toolBlocks`, `session_start.meta` names provider and model, token counts are `inputTokens` and
`outputTokens`. The published form adds the missing fields. `parse_error`, `strategy` and `probe` of a gateway
may be anywhere in `meta`. Each field is read if it is present, whatever the version.

**Rules.**
- Arguments that were not JSON leave no action, only the text `[tool_use parse error] <message>; raw: <raw>`
  in `assistant.content`, without tool name and call id.
- Before 2026-02-01 03:10 +08 such a call ended the turn: `final` is `LLM call failed: <JSON error>`. Such a
  `final` is read as a call without name and text. An HTML page or HTTP error of the provider is not a call.
- In E3 such a call is in `toolBlocks` with text as `input`, and its id has no observation.
- `cancelled` is the user's choice and gives no verdict on the turn.
- Observations of E1 have no status. Three failure texts are known; any other status is `unknown`.
- The AI SDK reports invalid arguments as `execution_failed`; the text shows the difference.
- If the answer is itself the `{"tool": …}` object, the strategy is JSON in text, and `input` is the raw text.
  A protocol violation (a call as plain text where it is not allowed) is an emission failure.
- A sub-agent (E3) has its own session. Its file does not name the parent session.
- A turn has no answer if its `final` does not come from the model: it was rejected or cancelled, has an
  `error_type`, or begins with `LLM call failed: …`, `Unable to produce a final answer…` or `Context tokens
  (N) exceed the limit`. Otherwise the text of `final` is the answer, even of a failed turn.

**Limits.** The number of sessions in one file is not limited, and their lines may be in any order. The
sessions inactive for longest are moved to a temporary file.

**Not in the log** (but in the published form): raw arguments of calls that could be parsed, tool definitions,
the model before 2026-08-02, the system prompt before 2026-02-08, retries inside the SDK.
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

_WEIGHED = 64 * 1024  # bytes of a session's lines after which its memory is checked
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
        self._last_session = HistorySession("")  # mostly also the session of the next line
        self._grown = 0  # bytes of lines of this session since it was last weighed

    def take(self, record: Record) -> list[Event] | list[Rejected]:
        entry = record.value
        if type(entry) is not HistoryEntry:  # `skim` has already decoded most entries.
            plain_entry = read_entry(entry)
            if plain_entry is None:
                return [Rejected(record.where, *_find_problem(entry), make_snippet(record.data))]
            entry = plain_entry
        entry.where, entry.size = record.where, len(record.data)
        session = self._last_session
        if session.session_id != entry.session_id:
            session = self._switch_session(entry.session_id)
        events: list[Event] = []
        session.take(entry, events)
        self._grown += entry.size
        if self._grown > _WEIGHED:
            self._weigh_session()
        return events

    def _switch_session(self, session_id: str) -> HistorySession:
        if self._grown:
            self._weigh_session()
        self._last_session = self._open.open(session_id, partial(HistorySession, session_id))
        return self._last_session

    def _weigh_session(self) -> None:
        self._open.spill(self._last_session.session_id, self._grown)
        self._grown = 0

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

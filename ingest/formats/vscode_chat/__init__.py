"""Copilot Chat in VS Code: its chat sessions, and what "Chat: Export Session" writes.

**On disk.** `User/workspaceStorage/<hash>/chatSessions/<id>.json` (or
`globalStorage/emptyWindowChatSessions`), since 2026 `<id>.jsonl`; an export is `chat.json`. Sources:
microsoft/vscode, `chatModel.ts` and `objectMutationLog.ts`; an export of epics-containers/p47-services, made
logs of srinivasdrona/ superbased-observer (2026-05).

**Shape.** `{sessionId, requests[]}`; a request is `{requestId, timestamp, message.text, modelId, response[],
result.{metadata, errorDetails}, modelState}`. `metadata.toolCallRounds[].toolCalls[].{id, name, arguments}`
are the calls with the model's own text, `metadata.toolCallResults` the results by call id. A `.jsonl` is a
log of changes to one such document: it is replayed (`state_log`).

**Turns.** One request is one turn. It ends as `modelState` says, or with an error where there are
`errorDetails`.

**Traps.**
- `response[]` is the picture: of a call it has another id, another name and no arguments, and says whether a
  person allowed it (`isConfirmed`). The two are joined by id, else by order where their numbers agree.
- A result is a tree of text nodes.
- `copilot/` before a model's name is the vendor; `metadata.resolvedModel` is the model behind `copilot/auto`,
  which is no name of one.
- A later line of a `.jsonl` can replace all before: what the session no longer holds is gone. The place of a
  call is the last line that changed its request.

**Bounds.** A session is held whole, so `--max-line` bounds each line of it.

**Cannot tell.** Definitions; the system prompt; tokens of a turn with several replies. Unseen: a refused
call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.decoding.fields import read_object, read_objects, read_text
from ingest.events import Event, LogLine, Rejected, SessionSeen
from ingest.formats.conversations.agent_session import AgentSession
from ingest.formats.vscode_chat.chat_request import translate_request
from ingest.formats.vscode_chat.state_log import StateLog
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="vscode_chat",
    title="VS Code Copilot Chat",
    raw_arguments="yes",
    argument_failures="yes: judged on the model's own text; the extension's own refusals",
    error_flag="partly: a person's refusal, and the extension's words for a failure",
    definitions="no: supply them with --tools",
    system_prompt="no",
    model="yes: per request",
    turn_end="yes: modelState or errorDetails of the request",
    cannot_tell="Results of tools have no flag: most stay unknown.",
)

_TOP = ("responderUsername", "sessionId", "creationDate")


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(
        _is_session(record) or (record.get("kind") == 0 and _is_session(read_object(record.get("v"))))
        for record in head[:1]
    )


def _is_session(record: dict[str, Any]) -> bool:
    return isinstance(record.get("requests"), list) and any(key in record for key in _TOP)


def translator(about: About) -> Translator:
    return _ChatSession(about.identity)


class _ChatSession:
    """Translator of one file: a document, or a log of the changes to one."""

    def __init__(self, identity: str) -> None:
        self._identity = identity
        self._log = StateLog()

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        if isinstance(record.value.get("kind"), int):
            yield from self._log.take(record)
        else:
            yield from self._translate(record.value, record)

    def finish(self) -> Iterable[Event]:
        if self._log.state is not None:
            yield from self._translate(self._log.state, None)

    def close(self) -> None:
        """Do nothing: no file or other resource is open."""

    def _translate(self, session: dict[str, Any], record: Record | None) -> Iterator[Event]:
        requests = read_objects(session.get("requests"))
        told = (read_object(read_object(one.get("result")).get("metadata")) for one in requests)
        named = next((found for one in told if (found := read_text(one.get("sessionId")))), None)
        dialogue = AgentSession(read_text(session.get("sessionId")) or named or self._identity)
        begin = record.where if record is not None else LogLine(1, 0)
        yield SessionSeen(session_id=dialogue.session_id, where=begin, harness="vscode_copilot_chat")
        for number, request in enumerate(requests):
            where = self._log.place_of(number) if record is None else begin
            yield from translate_request(request, dialogue, record, where)
        yield from dialogue.close_turn()

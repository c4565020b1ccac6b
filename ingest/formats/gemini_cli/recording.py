"""Applies the changes and rewinds of one Gemini CLI session to its messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ingest.decoding.fields import read_object, read_objects, read_text, read_time
from ingest.events import Event, LogLine, SessionSeen
from ingest.formats.gemini_cli.gemini_messages import GeminiConversation
from ingest.log_format import Record

_HELD = 200  # messages that may still be changed or taken back …
_HELD_BYTES = 8 * 1024 * 1024  # … as long as they are not larger together
_REMEMBERED = 50_000  # ids of messages that were let go


class GeminiRecording:
    """Translator of one file, which holds one session."""

    def __init__(self, identity: str) -> None:
        self._conversation = GeminiConversation(identity)
        self._held: dict[str, tuple[LogLine, Mapping[str, Any], int]] = {}  # by id, in the order they came
        self._bytes = 0
        self._gone: dict[str, None] = {}

    def take(self, record: Record) -> Iterator[Event]:
        value = record.value
        rewound_to = read_text(value.get("$rewindTo"))
        if rewound_to is not None:
            yield from self._rewind(rewound_to)
        elif isinstance(value.get("sessionId"), str) and "projectHash" in value:
            yield self._make_session(value, record.where)
            yield from self._take_document(record, value)
        elif isinstance(value.get("$set"), dict):
            if not self._held and not self._gone:
                yield from self._take_document(record, value["$set"])
        elif isinstance(value.get("type"), str):
            self._hold(value, record.where, len(record.data))
            yield from self._release_oldest()

    def finish(self) -> Iterator[Event]:
        yield from self._release_oldest(all_of_them=True)
        yield from self._conversation.close_turn()

    def close(self) -> None:
        """Do nothing: no file or other resource is open."""

    def _make_session(self, header: Mapping[str, Any], where: LogLine) -> Event:
        self._conversation.session_id = str(header["sessionId"])
        return SessionSeen(
            session_id=self._conversation.session_id,
            where=where,
            ts=read_time(header.get("startTime")),
            harness="gemini_cli",
        )

    def _take_document(self, record: Record, holder: Mapping[str, Any]) -> Iterator[Event]:
        for message in read_objects(holder.get("messages")):
            ident = read_text(message.get("id"))
            where = record.where if ident is None else record.find_line(f'"{ident}"')
            yield from self._conversation.take(message, where, record)
            self._forget(ident or "")

    def _hold(self, message: Mapping[str, Any], where: LogLine, size: int) -> None:
        ident = read_text(message.get("id")) or f":{where.line}"
        if ident in self._gone:
            return
        self._bytes += size - (self._held[ident][2] if ident in self._held else 0)
        self._held[ident] = (where, message, size)

    def _release_oldest(self, *, all_of_them: bool = False) -> Iterator[Event]:
        """Translate the oldest held messages, of which no later change is expected, until the limits are met.

        `all_of_them`: translate every held message.
        """
        while self._held and (
            all_of_them or len(self._held) > _HELD or (self._bytes > _HELD_BYTES and len(self._held) > 1)
        ):
            yield from self._pass_message_on(next(iter(self._held)))

    def _pass_message_on(self, ident: str) -> Iterable[Event]:
        where, message, size = self._held.pop(ident)
        self._bytes -= size
        self._forget(ident)
        return self._conversation.take(message, where)

    def _forget(self, ident: str) -> None:
        self._gone[ident] = None
        if len(self._gone) > _REMEMBERED:
            del self._gone[next(iter(self._gone))]

    def _rewind(self, ident: str) -> Iterator[Event]:
        """Translate all held messages; end as cancelled the turns from message `ident` on.

        The messages before `ident` are translated unchanged. An `ident` that is not held takes back all held
        turns.
        """
        taken_back = ident not in self._held
        for each in list(self._held):
            taken_back = taken_back or each == ident
            if taken_back and read_object(self._held[each][1]).get("type") == "user":
                yield from self._conversation.take_back()
            yield from self._pass_message_on(each)
            if taken_back:
                self._conversation.is_taken_back = True
        yield from self._conversation.take_back()

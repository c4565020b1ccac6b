"""Finds the conversation that a line of a chat transcript belongs to, and the new messages of the line.

A client may write all messages of the conversation into each line, only the last messages, or only the new
ones. A message is recognised by its mark, a hash of a user's text, of a model's text, or of call ids (see
`ingest.formats.provider_messages.message_hashes`). System messages and results have no marks.

A line that names its conversation always belongs to that conversation. Other lines are joined when they
repeat a whole conversation or one of its unique call ids. Two users who wrote the same text keep separate
conversations.

About `MAX_BYTES` bytes are remembered. A conversation that was dropped from memory counts as a new one when
it continues.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import msgspec

from ingest.formats.conversations.message_dump import DumpedSession
from ingest.formats.provider_messages.message_hashes import call_mark, is_unique, words_mark
from ingest.formats.provider_messages.message_parts import Message

MAX_BYTES = 64 * 1024 * 1024
_MARK = 100  # approximate bytes that the hash of one message needs in memory
_CONVERSATION = 2_000  # approximate bytes that a conversation needs without its message hashes and texts


class MessageMark(NamedTuple):
    """A hash that identifies a repeated message.

    `is_unique` is True when no other message can have the same hash.
    """

    digest: bytes
    is_model: bool
    is_unique: bool


class RepeatedPart(NamedTuple):
    """How many messages of an earlier line a line repeats.

    `is_to_end` is True when the conversation has no messages after the repeated messages.
    """

    marks: int
    is_to_end: bool


class JoinedConversation(msgspec.Struct):
    """The session of one conversation, and what is remembered about the conversation.

    `id` is the conversation's id in the log. If `id` is None, later lines are matched by their messages.
    `name` is the id of the first line.
    """

    number: int
    session: DumpedSession
    id: str | None
    name: str | None
    history: bytes  # the hash of all messages so far
    marks: list[MessageMark] = []
    places: dict[bytes, int] = {}  # hash of a unique message → its index in `marks`
    results: int = 0  # number of tool results since the last message with a mark
    size: int = _CONVERSATION  # approximate bytes in memory
    texts: tuple[int, int] = (
        0,
        0,
    )  # lengths of the session's last prompt and last answer
    prompt: bytes | None = None  # hashes of the latest system prompt (`prompt`) and tools (`tools`)
    tools: bytes | None = None


class TranscriptLine(NamedTuple):
    """The messages, the system prompt and the ids of a line.

    `conversation` is the id of the conversation. `name` is the id of the line, which need not be unique.
    """

    messages: Sequence[Message]
    marks: Sequence[MessageMark | None]  # hash of each message; None for a system message or a result
    prompt: str | None
    conversation: str | None = None
    name: str | None = None


class ConversationJoiner:
    """The open conversations of one file.

    An instance can be pickled between two lines.
    """

    def __init__(self) -> None:
        self._numbers = 0
        self._size = 0
        self._open: OrderedDict[int, JoinedConversation] = OrderedDict()
        self._by_id: dict[str, int] = {}
        self._by_name: dict[str, int] = {}
        # Several conversations may have the same history.
        self._by_history: dict[bytes, dict[int, None]] = {}
        self._by_call: dict[bytes, int] = {}

    def find(self, line: TranscriptLine) -> tuple[JoinedConversation, int] | None:
        """Return the conversation that a line continues, and the index of the line's first new message.

        Return None when the line continues no conversation.
        """
        marks = [mark for mark in line.marks if mark is not None]
        if line.conversation is not None:
            conversation = self._open.get(self._by_id.get(line.conversation, 0))
            repeated = _find_repeated(conversation, marks) if conversation is not None else None
        else:
            conversation, repeated = self._find_unnamed(line, marks)
        if conversation is None or repeated is None:
            return None
        self._open.move_to_end(conversation.number)
        results = conversation.results if repeated.is_to_end else len(line.messages)
        return conversation, _index_behind(line.messages, repeated.marks, results)

    def begin(self, line: TranscriptLine, session: DumpedSession) -> JoinedConversation:
        """Return a new conversation for a line that continues no other conversation."""
        self._numbers += 1
        begun = JoinedConversation(
            self._numbers, session, line.conversation, line.name, hash_parts(line.prompt or "")
        )
        self._open[begun.number] = begun
        self._size += begun.size
        if begun.id is not None:
            self._by_id[begun.id] = begun.number
        elif begun.name is not None:
            self._by_name[begun.name] = begun.number
        return begun

    def add(self, conversation: JoinedConversation, line: TranscriptLine, start: int) -> None:
        """Add the messages of a line to the conversation.

        The first added message is the one at index `start`.
        """
        self._drop_history(conversation)
        self._size -= conversation.size
        question_size, reply_size = conversation.texts
        for message, mark in zip(line.messages[start:], line.marks[start:], strict=True):
            if mark is None:
                conversation.results += bool(message.results)
                continue
            conversation.results = 0
            conversation.marks.append(mark)
            conversation.history = _extend_history(conversation.history, mark.digest)
            length = len(message.text or "")
            question_size, reply_size = (question_size, length) if mark.is_model else (length, reply_size)
            if mark.is_unique:
                conversation.places[mark.digest] = len(conversation.marks) - 1
                if conversation.id is None:
                    self._by_call[mark.digest] = conversation.number
        conversation.texts = (question_size, reply_size)
        conversation.size = _CONVERSATION + _MARK * len(conversation.marks) + question_size + reply_size
        self._size += conversation.size
        if conversation.id is None and conversation.marks:
            self._by_history.setdefault(conversation.history, {})[conversation.number] = None

    def drain_surplus(self) -> Iterator[JoinedConversation]:
        """Remove and yield the longest inactive conversations until the memory limit is met."""
        while self._size > MAX_BYTES and len(self._open) > 1:
            yield self._forget_oldest()

    def drain(self) -> Iterator[JoinedConversation]:
        """Remove and yield all conversations."""
        while self._open:
            yield self._forget_oldest()

    def _forget_oldest(self) -> JoinedConversation:
        _, oldest = self._open.popitem(last=False)
        self._size -= oldest.size
        self._drop_key(self._by_id, oldest.id, oldest)
        self._drop_key(self._by_name, oldest.name, oldest)
        self._drop_history(oldest)
        for digest in oldest.places:
            self._drop_key(self._by_call, digest, oldest)
        return oldest

    def _drop_key(self, keys: dict[Any, int], key: str | bytes | None, owner: JoinedConversation) -> None:
        """Remove a key, unless the key now belongs to a later conversation."""
        if keys.get(key) == owner.number:
            del keys[key]

    def _drop_history(self, conversation: JoinedConversation) -> None:
        alike = self._by_history.get(conversation.history, {})
        alike.pop(conversation.number, None)
        if not alike:
            self._by_history.pop(conversation.history, None)

    def _find_unnamed(
        self, line: TranscriptLine, marks: Sequence[MessageMark]
    ) -> tuple[JoinedConversation | None, RepeatedPart | None]:
        """Return the conversation that a line without a conversation id repeats, and the repeated part."""
        history, number, repeated = hash_parts(line.prompt or ""), 0, RepeatedPart(0, is_to_end=True)
        for count, mark in enumerate(marks[:-1], start=1):
            history = _extend_history(history, mark.digest)
            if history in self._by_history:
                number = next(reversed(self._by_history[history]))
                repeated = RepeatedPart(count, is_to_end=True)
        if number:
            return self._open[number], repeated
        called = [self._by_call[mark.digest] for mark in marks if mark.digest in self._by_call]
        for number in (*called[-1:], self._by_name.get(line.name or "", 0)):
            conversation = self._open.get(number)
            if conversation is not None and (known_part := _find_repeated(conversation, marks)) is not None:
                return conversation, known_part
        return None, None


def _find_repeated(conversation: JoinedConversation, marks: Sequence[MessageMark]) -> RepeatedPart | None:
    """Return the part of the conversation that the line repeats.

    Return None if the line does not belong to the conversation. A line without a conversation id belongs to
    it if the line contains the whole conversation or the conversation contains the whole line.
    """
    shared, whole = _count_shared(conversation.marks, marks), len(conversation.marks)
    if shared and (shared == whole or (shared == len(marks) and _is_exchange(marks))):
        return RepeatedPart(shared, is_to_end=shared == whole)
    for at in range(len(marks) - 1, -1, -1):
        place = conversation.places.get(marks[at].digest)
        if place is not None:
            behind = _count_shared(conversation.marks[place + 1 :], marks[at + 1 :])
            repeated = RepeatedPart(at + 1 + behind, is_to_end=place + 1 + behind == whole)
            fits = repeated.is_to_end or repeated.marks == len(marks) or conversation.id is not None
            return repeated if fits else None
    if conversation.id is None:
        return None
    if _is_exchange(marks[:shared]):
        # After the shared part, the line and the conversation continue differently.
        return RepeatedPart(shared, is_to_end=False)
    shared = _count_overlap(conversation.marks, marks)
    is_window = shared < len(marks) and _is_exchange(marks[:shared])
    return RepeatedPart(shared if is_window else 0, is_to_end=True)


def _is_exchange(marks: Sequence[MessageMark]) -> bool:
    """Return True when these hashes are enough to recognise a conversation.

    At least two hashes are needed, and at least one of them must be the hash of a model's message.
    """
    return len(marks) > 1 and any(mark.is_model for mark in marks)


def _count_shared(earlier_marks: Sequence[MessageMark], marks: Sequence[MessageMark]) -> int:
    """Return how many messages at the beginning of the two lists are equal."""
    for count, (mine, other) in enumerate(zip(earlier_marks, marks, strict=False)):
        if mine.digest != other.digest:
            return count
    return min(len(earlier_marks), len(marks))


def _count_overlap(earlier_marks: Sequence[MessageMark], marks: Sequence[MessageMark]) -> int:
    """Return how many messages at the end of `earlier_marks` are also the beginning of `marks`.

    The time is linear (Knuth-Morris-Pratt algorithm).
    """
    borders = [0] * len(marks)
    shared = 0
    for at in range(1, len(marks)):
        while shared and marks[at].digest != marks[shared].digest:
            shared = borders[shared - 1]
        shared += marks[at].digest == marks[shared].digest
        borders[at] = shared
    shared = 0
    for mark in earlier_marks:
        if shared == len(marks):
            shared = borders[shared - 1]
        while shared and mark.digest != marks[shared].digest:
            shared = borders[shared - 1]
        shared += mark.digest == marks[shared].digest
    return shared


def _index_behind(messages: Sequence[Message], marked: int, results: int) -> int:
    """Return the index after the first `marked` messages that have a hash.

    Up to `results` tool results after these messages are skipped, too.
    """
    if not marked:
        return 0
    for index, message in enumerate(messages):
        if _has_mark(message):
            if not marked:
                return index
            marked -= 1
        elif not marked and message.results:
            if not results:
                return index
            results -= 1
    return len(messages)


def _has_mark(message: Message) -> bool:
    return message.role in ("user", "assistant")


def make_mark(message: Message) -> MessageMark | None:
    """Return the hash that identifies a message. Return None for system messages and for tool results."""
    if not _has_mark(message):
        return None
    if message.role == "user":
        return MessageMark(hash_parts("user:" + (message.text or "")), is_model=False, is_unique=False)
    calls = [call_mark(call.name, call.id, call.arguments) for call in message.calls]
    parts = calls or words_mark(message.text)
    unique = any(is_unique(call.id) for call in message.calls)
    return MessageMark(hash_parts("model", *parts), is_model=True, is_unique=unique)


def _extend_history(history: bytes, digest: bytes) -> bytes:
    return blake2b(history + digest, digest_size=8).digest()


def hash_parts(*parts: str | bytes) -> bytes:
    """Return a hash of strings. Two hashes are equal only for equal strings in the same order."""
    whole = bytearray()
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        whole += len(data).to_bytes(8, "big") + data
    return blake2b(whole, digest_size=8).digest()

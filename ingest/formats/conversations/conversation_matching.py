"""Finds the conversation that each API exchange (request and reply) belongs to.

Each request repeats its whole conversation. A mark is a text that identifies a repeated message or call (see
`message_hashes`). A request continues the conversation with the same hash over the system prompt and all
marks up to the model's last reply. If a client changed the history (a dynamic prompt, deleted results or
thoughts), a unique call id of the last reply identifies the conversation. `previous_response_id` and
`conversation` identify the conversation directly.

Two conversations are never merged. If two conversations have the same history (two users wrote "hi"), a
request that continues this history begins a new conversation. A request that repeats the first request of a
conversation also begins a new conversation.

At most `OPEN` conversations are remembered. A conversation that was dropped from memory counts as a new one
when it continues.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator
from datetime import datetime
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from ingest.events import LogLine
from ingest.formats.provider_messages.exchange import (
    ConversationItem,
    Exchange,
    ItemKind,
    ModelReply,
    ModelRequest,
)
from ingest.formats.provider_messages.message_hashes import is_unique, unique_id

OPEN = 50_000
_TWICE = -1  # used instead of a conversation's number when several conversations have the same history
_PENDING = 200  # maximum number of calls of one conversation that may wait for their results
_TIES = 50


class FailedRequest(msgspec.Struct):
    """A request without a reply, kept until the conversation continues or the file ends.

    `word` is the reason for the failure. `question` is the user's text, or None if the request did not begin
    a turn.
    """

    where: LogLine
    ts: datetime | None
    word: str
    question: str | None


class RepeatedConversation(msgspec.Struct):
    """The state of one conversation, to be compared with the next request.

    `head` is the hash of the history up to the last reply, and `request_hash` up to the last request. `named`
    contains the unique ids of the latest tool calls, and `anchor` is the hash up to the reply that made these
    calls.
    """

    number: int
    session: str
    parent: str | None = None
    head: bytes | None = None
    request_hash: bytes | None = None
    reply_id: str | None = None  # the id of the last reply
    named: tuple[str, ...] = ()
    anchor: bytes | None = None
    ties: tuple[str, ...] = ()  # other ids in this conversation that later replies may refer to
    # The last request contains a unique call id, so no other client can have sent an equal request.
    certain: bool = False
    pending: list[str | None] = []  # ids of calls without a result
    turns: int = 0
    prompt: bytes | None = None
    tools: int | None = None
    failed: FailedRequest | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Return the reply ids, call ids and `ties` by which a request can identify this conversation."""
        return (*(() if self.reply_id is None else (self.reply_id,)), *self.named, *self.ties)


class HistoryTrail(NamedTuple):
    """The hash of the whole history that a request repeats.

    `certain` is True when the history contains a unique call id.
    """

    end: bytes
    certain: bool


class JoinedExchange(NamedTuple):
    """A request and its reply, with their conversation.

    `start` is the index of the first new element in the request's `parts`. `fresh` contains the items of all
    new parts.
    """

    thread: RepeatedConversation
    start: int
    fresh: list[ConversationItem]
    trail: HistoryTrail


class FoundConversation(NamedTuple):
    """The conversation that a request continues.

    `start` is the index of the first new element in the request's `parts`. `digest` is the hash of the
    history before this element. `certain` is True when the history contains a unique call id.
    """

    thread: RepeatedConversation
    start: int
    digest: bytes
    certain: bool


class HistoryPoint(NamedTuple):
    """The end of one item in a request's history.

    `digest` is the hash of the history up to this item.
    """

    start: int  # index of the request's part after this item
    digest: bytes
    is_reply: bool
    certain: bool

    def to_found(self, thread: RepeatedConversation) -> FoundConversation:
        return FoundConversation(thread, self.start, self.digest, self.certain)


class ConversationMatcher:
    """The open conversations of one file.

    If the log has no session id, the session id is made from `identity`, which identifies the file.
    """

    def __init__(self, identity: str) -> None:
        self._identity = identity
        self._numbers = 0
        self._open: OrderedDict[int, RepeatedConversation] = OrderedDict()
        self._heads: dict[bytes, int] = {}
        self._requests: dict[bytes, int] = {}
        self._names: dict[str, int] = {}
        # session id → number of conversations that use it
        self._sessions: OrderedDict[str, int] = OrderedDict()
        self._replies: OrderedDict[bytes, None] = OrderedDict()
        self._blurred: deque[tuple[dict[bytes, int], bytes]] = deque()

    def is_repeated(self, exchange: Exchange) -> bool:
        """Return True when the file already contained all replies of an exchange. Remember new replies.

        Only replies with unique ids are recognised.
        """
        digests = [
            extend_hash(str(r.id).encode(), ConversationItem(ItemKind.MODEL, r.marks))
            for r in exchange.replies
            if is_unique(r.id)
        ]
        repeated = [digest in self._replies for digest in digests]
        self._replies.update(dict.fromkeys(digests))
        while len(self._replies) > OPEN:
            self._replies.popitem(last=False)
        return bool(digests) and len(digests) == len(exchange.replies) and all(repeated)

    def join(self, exchange: Exchange) -> JoinedExchange:
        """Return the conversation of a request and reply, and the new parts of the request.

        If the request continues no conversation, a new conversation begins.
        """
        request = exchange.request or ModelRequest()
        match = self.find_by_name(exchange, request) or self.find_by_history(exchange, request)
        if match is None:
            match = FoundConversation(self._begin(exchange), 0, hash_seed(exchange, request), certain=False)
        thread, fresh = match.thread, request.read_items(match.start)
        self._open.move_to_end(thread.number)
        if thread.failed is not None and thread.turns == 0:
            # No event has used the session's id yet, so the id may still change.
            thread.session, thread.parent = self.name_session(exchange)
        end, certain = match.digest, match.certain
        for item in fresh:
            end = extend_hash(end, item)
            certain = certain or any(map(is_unique, item.ids))
        return JoinedExchange(thread, match.start, fresh, HistoryTrail(end, certain))

    def fork(self, thread: RepeatedConversation, session: str) -> RepeatedConversation:
        """Return a new conversation for a second or later choice of the latest reply in `thread`."""
        self._numbers += 1
        beside = RepeatedConversation(self._numbers, session, thread.session)
        self._open[beside.number] = beside
        return beside

    def advance(self, thread: RepeatedConversation, trail: HistoryTrail, reply: ModelReply) -> None:
        """Record a reply as the latest reply of a conversation. The next request is compared with it."""
        self._forget(thread)
        thread.failed = None
        thread.request_hash, thread.certain = trail.end, trail.certain
        thread.head = (
            extend_hash(trail.end, ConversationItem(ItemKind.MODEL, reply.marks)) if reply.marks else None
        )
        ids = [call.id for call in reply.calls if call.refused_at is None or call.id is not None]
        unique = [id_ for id_ in ids if id_ is not None and is_unique(id_)]
        if unique:
            thread.named, thread.anchor = tuple(f"call:{id_}" for id_ in unique), thread.head
        thread.reply_id = reply.id
        thread.ties = (*thread.ties, *reply.ties)[-_TIES:]
        thread.pending = [*thread.pending, *ids][-_PENDING:]
        self._remember(thread)

    def note_failure(self, thread: RepeatedConversation, trail: HistoryTrail, failure: FailedRequest) -> None:
        """Record that a request got no reply. A second attempt then counts as the same request."""
        self._forget(thread)
        thread.failed = failure
        thread.request_hash = trail.end
        self._remember(thread)

    def drain_surplus(self) -> Iterator[RepeatedConversation]:
        """Remove and yield the longest inactive conversations while more than `OPEN` are open."""
        while len(self._open) > OPEN:
            _, thread = self._open.popitem(last=False)
            self._forget(thread)
            yield thread

    def drain(self) -> Iterator[RepeatedConversation]:
        """Remove and yield all open conversations."""
        while self._open:
            yield self._open.popitem(last=False)[1]

    # --- finding the conversation ------------------------------------------------------------------

    def find_by_name(self, exchange: Exchange, request: ModelRequest) -> FoundConversation | None:
        """Return the conversation that the request identifies by an id. Return None if there is none.

        The id is the id of the reply that the request continues, or a unique id of the last tool calls in the
        history.
        """
        refers = [request.previous]
        if not request.parts:
            refers += [id_ for reply in exchange.replies for id_ in reply.refers]
        for name in filter(None, refers):
            if name in self._names:
                thread = self._open[self._names[name]]
                return FoundConversation(thread, 0, thread.head or b"", certain=True)
        for position in range(len(request.parts) - 1, -1, -1):
            made = [
                id_
                for item in request.read(request.parts[position])
                if item.kind is ItemKind.MODEL
                for id_ in item.ids
            ]
            number = next((self._names[name] for id_ in made if (name := f"call:{id_}") in self._names), None)
            if number is not None and self._open[number].anchor is not None:
                thread = self._open[number]
                return FoundConversation(thread, position + 1, thread.anchor or b"", certain=True)
            if made:
                return None
        return None

    def find_by_history(self, exchange: Exchange, request: ModelRequest) -> FoundConversation | None:
        """Return the conversation whose history has the same hash as the request's history.

        Return None when there is no such conversation.
        """
        digest, certain, points = hash_seed(exchange, request), False, []
        for position, part in enumerate(request.parts):
            for item in request.read(part):
                digest = extend_hash(digest, item)
                certain = certain or any(map(is_unique, item.ids))
                if item.kind is not ItemKind.RESULT:
                    points.append(HistoryPoint(position + 1, digest, item.kind is ItemKind.MODEL, certain))
        for point in reversed(points):
            if point.is_reply and point.digest in self._heads:
                thread = self._open.get(self._heads[point.digest])
                return point.to_found(thread) if thread is not None else None
        return self.find_same_request(exchange, request, points)

    def find_same_request(
        self, exchange: Exchange, request: ModelRequest, points: list[HistoryPoint]
    ) -> FoundConversation | None:
        """Return the conversation whose latest request is the same as this request.

        Return None when there is no such conversation. A client repeats a request to send it again, or after
        it changed or dropped the reply.
        """
        for point in reversed(points):
            thread = self._open.get(self._requests.get(point.digest, _TWICE))
            if thread is not None and thread.failed is not None and thread.head is None:
                return FoundConversation(thread, 0, hash_seed(exchange, request), certain=False)
            if thread is not None and thread.certain:
                # The earlier request also contained the results after this position, so they are not new.
                start = point.start
                while start < len(request.parts) and all(
                    item.kind is ItemKind.RESULT for item in request.read(request.parts[start])
                ):
                    start += 1
                return FoundConversation(thread, start, point.digest, point.certain)
        return None

    def _begin(self, exchange: Exchange) -> RepeatedConversation:
        self._numbers += 1
        session, parent = exchange.session or f"{self._made_id(exchange)}-{self._numbers}", None
        if exchange.replies:
            session, parent = self.name_session(exchange)
        thread = self._open[self._numbers] = RepeatedConversation(self._numbers, session, parent)
        return thread

    def name_session(self, exchange: Exchange) -> tuple[str, str | None]:
        """Return the id of a new session, and the id of its parent session or None.

        The id is the log's session id, or the unique id of the first reply, or an id made from the request
        and reply. If another session already has the log's id, that session is the parent, and a slash and a
        number are added to the id.
        """
        first = exchange.replies[0].id if exchange.replies else None
        base_name = exchange.session or unique_id(first) or self._made_id(exchange)
        count = self._sessions.pop(base_name, 0) + 1
        self._sessions[base_name] = count
        while len(self._sessions) > OPEN:
            self._sessions.popitem(last=False)
        return (base_name, None) if count == 1 else (f"{base_name}/{count}", exchange.session)

    def _made_id(self, exchange: Exchange) -> str:
        """Make a session id from the file's identity and a hash of the request's time and messages."""
        request = exchange.request or ModelRequest()
        digest = extend_hash(
            hash_seed(exchange, request), ConversationItem(ItemKind.USER, (str(exchange.ts),))
        )
        for item in request.read_items(0):
            digest = extend_hash(digest, item)
        for reply in exchange.replies:
            digest = extend_hash(digest, ConversationItem(ItemKind.MODEL, (*reply.marks, reply.text or "")))
        return f"{self._identity}-{digest[:8].hex()}"

    # --- keys ------------------------------------------------------------------------------------

    def _remember(self, thread: RepeatedConversation) -> None:
        for keys, digest in ((self._heads, thread.head), (self._requests, thread.request_hash)):
            if digest is None:
                continue
            if keys.setdefault(digest, thread.number) not in (thread.number, _TWICE):
                keys[digest] = _TWICE
                self._blurred.append((keys, digest))
        while len(self._blurred) > OPEN:
            old, digest = self._blurred.popleft()
            old.pop(digest, None)
        self._names.update(dict.fromkeys(thread.names, thread.number))

    def _forget(self, thread: RepeatedConversation) -> None:
        for keys, digest in ((self._heads, thread.head), (self._requests, thread.request_hash)):
            if digest is not None and keys.get(digest) == thread.number:
                del keys[digest]
        for name in thread.names:
            if self._names.get(name) == thread.number:
                del self._names[name]


def hash_seed(exchange: Exchange, request: ModelRequest) -> bytes:
    return extend_hash(b"", ConversationItem(ItemKind.USER, (exchange.session or "", request.prompt or "")))


def extend_hash(digest: bytes, item: ConversationItem) -> bytes:
    """Return the hash of a history after adding an item. Tool results do not change the hash."""
    for mark in item.marks:
        digest = blake2b(digest + mark.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return digest

"""Exchanges one by one in, the conversation that each belongs to out; knows no API and makes no events.

Each request repeats its whole conversation, so the marks of all its parts up to the model's last reply,
hashed in order with the system prompt, name the conversation it goes on from. Where a client changed what
it repeats (a dynamic prompt, old results cleared, thoughts taken out), a unique call id of the last reply
names it as well. `previous_response_id` and `conversation` name it outright.

Two conversations never become one: when two replies leave the same history behind (two users said "hi"),
a request that goes on from it is a new conversation, and so is one that repeats an earlier first request.
The same request again within a conversation that has made calls with unique ids is the model asked once
more.

At most `OPEN` conversations are remembered; one that goes on after more others have spoken is a new one.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator
from hashlib import blake2b
from typing import NamedTuple

from ingest.shapes.exchanges import Asked, Exchange, Item, Kind, Reply
from ingest.shapes.marks import is_unique, unique_id
from ingest.shapes.thread import Failure, Joined, Thread, Trail

OPEN = 50_000
_TWICE = -1  # more than one conversation has this history
_PENDING = 200  # calls of one conversation that wait for their results
_TIES = 50


class _Found(NamedTuple):
    """A conversation that a request goes on from, its first new part, the hash of the history before."""

    thread: Thread
    start: int
    digest: bytes
    certain: bool


class _Point(NamedTuple):
    """The end of an item in a request's history."""

    start: int  # of what comes behind it
    digest: bytes
    is_reply: bool
    certain: bool

    def of(self, thread: Thread) -> _Found:
        return _Found(thread, self.start, self.digest, self.certain)


class Threads:
    """The conversations of one file. `identity` names those that have no unique id of their own."""

    def __init__(self, identity: str) -> None:
        self._identity = identity
        self._numbers = 0
        self._open: OrderedDict[int, Thread] = OrderedDict()
        self._heads: dict[bytes, int] = {}
        self._asked: dict[bytes, int] = {}
        self._names: dict[str, int] = {}
        self._sessions: OrderedDict[str, int] = OrderedDict()  # how many conversations an id has named
        self._replies: OrderedDict[bytes, None] = OrderedDict()
        self._blurred: deque[tuple[dict[bytes, int], bytes]] = deque()

    def is_repeated(self, exchange: Exchange) -> bool:
        """True for an exchange that the file has already: loggers write one twice, recordings are copied."""
        said = [
            _longer(str(r.id).encode(), Item(Kind.MODEL, r.marks))
            for r in exchange.replies
            if is_unique(r.id)
        ]
        known = [digest in self._replies for digest in said]
        self._replies.update(dict.fromkeys(said))
        while len(self._replies) > OPEN:
            self._replies.popitem(last=False)
        return bool(said) and len(said) == len(exchange.replies) and all(known)

    def join(self, exchange: Exchange) -> Joined:
        """The conversation of an exchange, begun when it goes on from none."""
        asked = exchange.asked or Asked()
        found = self._by_name(exchange, asked) or self._by_history(exchange, asked)
        if found is None:
            found = _Found(self._begin(exchange), 0, _seed(exchange, asked), certain=False)
        thread, fresh = found.thread, asked.items(found.start)
        self._open.move_to_end(thread.number)
        if thread.failed is not None and thread.turns == 0:
            thread.session, thread.parent = self._named(exchange, thread.number)  # no event has named it yet
        end, certain = found.digest, found.certain
        for item in fresh:
            end = _longer(end, item)
            certain = certain or any(map(is_unique, item.ids))
        return Joined(thread, found.start, fresh, Trail(end, certain))

    def fork(self, thread: Thread, session: str) -> Thread:
        """A conversation beside another: a further choice of the same reply."""
        self._numbers += 1
        beside = Thread(self._numbers, session, thread.session)
        self._open[beside.number] = beside
        return beside

    def reply(self, thread: Thread, trail: Trail, reply: Reply) -> None:
        """Move a conversation on to a reply."""
        self._forget(thread)
        thread.failed = None
        thread.asked, thread.certain = trail.end, trail.certain
        thread.head = _longer(trail.end, Item(Kind.MODEL, reply.marks)) if reply.marks else None
        ids = [call.id for call in reply.calls if not call.lost or call.id is not None]
        unique = [id_ for id_ in ids if id_ is not None and is_unique(id_)]
        if unique:
            thread.named, thread.anchor = tuple(f"call:{id_}" for id_ in unique), thread.head
        thread.reply_id = reply.id
        thread.ties = (*thread.ties, *reply.ties)[-_TIES:]
        thread.pending = [*thread.pending, *ids][-_PENDING:]
        self._remember(thread)

    def fail(self, thread: Thread, trail: Trail, failure: Failure) -> None:
        """Note that a request got no reply: the next one that says the same is the same request again."""
        self._forget(thread)
        thread.failed = failure
        thread.asked = trail.end
        self._remember(thread)

    def surplus(self) -> Iterator[Thread]:
        """Take out the conversations that have been silent for longest, when there are more than `OPEN`."""
        while len(self._open) > OPEN:
            _, thread = self._open.popitem(last=False)
            self._forget(thread)
            yield thread

    def drain(self) -> Iterator[Thread]:
        """Take all out."""
        while self._open:
            yield self._open.popitem(last=False)[1]

    # --- which one -------------------------------------------------------------------------------

    def _by_name(self, exchange: Exchange, asked: Asked) -> _Found | None:
        """By the id of the reply it goes on from, or by unique ids of the last calls in its history."""
        refers = [asked.previous]
        if not asked.parts:
            refers += [id_ for reply in exchange.replies for id_ in reply.refers]
        for name in filter(None, refers):
            if name in self._names:
                thread = self._open[self._names[name]]
                return _Found(thread, 0, thread.head or b"", certain=True)
        for position in range(len(asked.parts) - 1, -1, -1):
            made = [
                id_
                for item in asked.read(asked.parts[position])
                if item.kind is Kind.MODEL
                for id_ in item.ids
            ]
            number = next((self._names[name] for id_ in made if (name := f"call:{id_}") in self._names), None)
            if number is not None and self._open[number].anchor is not None:
                thread = self._open[number]
                return _Found(thread, position + 1, thread.anchor or b"", certain=True)
            if made:
                return None
        return None

    def _by_history(self, exchange: Exchange, asked: Asked) -> _Found | None:
        """By the hash of what it repeats, up to a reply or up to all of an earlier request."""
        digest, certain, points = _seed(exchange, asked), False, []
        for position, part in enumerate(asked.parts):
            for item in asked.read(part):
                digest = _longer(digest, item)
                certain = certain or any(map(is_unique, item.ids))
                if item.kind is not Kind.RESULT:
                    points.append(_Point(position + 1, digest, item.kind is Kind.MODEL, certain))
        for point in reversed(points):
            if point.is_reply and point.digest in self._heads:
                thread = self._open.get(self._heads[point.digest])
                return point.of(thread) if thread is not None else None
        return self._same_request(exchange, asked, points)

    def _same_request(self, exchange: Exchange, asked: Asked, points: list[_Point]) -> _Found | None:
        """A request again, or one that goes on from a request whose reply the client changed or dropped."""
        for point in reversed(points):
            thread = self._open.get(self._asked.get(point.digest, _TWICE))
            if thread is not None and thread.failed is not None and thread.head is None:
                return _Found(thread, 0, _seed(exchange, asked), certain=False)
            if thread is not None and thread.certain:
                start = point.start  # the results behind it were in that request, too
                while start < len(asked.parts) and all(
                    item.kind is Kind.RESULT for item in asked.read(asked.parts[start])
                ):
                    start += 1
                return _Found(thread, start, point.digest, point.certain)
        return None

    def _begin(self, exchange: Exchange) -> Thread:
        self._numbers += 1
        session, parent = exchange.session or f"{self._identity}-{self._numbers}", None
        if exchange.replies:
            session, parent = self._named(exchange, self._numbers)
        thread = self._open[self._numbers] = Thread(self._numbers, session, parent)
        return thread

    def _named(self, exchange: Exchange, number: int) -> tuple[str, str | None]:
        """A new session's id and its parent's: the log's id, the first reply's, or a number in the file."""
        first = exchange.replies[0].id if exchange.replies else None
        given = exchange.session or unique_id(first)
        if given is None:
            return f"{self._identity}-{number}", None
        count = self._sessions.pop(given, 0) + 1
        self._sessions[given] = count
        while len(self._sessions) > OPEN:
            self._sessions.popitem(last=False)
        return (given, None) if count == 1 else (f"{given}/{count}", exchange.session)

    # --- keys ------------------------------------------------------------------------------------

    def _remember(self, thread: Thread) -> None:
        for keys, digest in ((self._heads, thread.head), (self._asked, thread.asked)):
            if digest is None:
                continue
            if keys.setdefault(digest, thread.number) not in (thread.number, _TWICE):
                keys[digest] = _TWICE
                self._blurred.append((keys, digest))
        while len(self._blurred) > OPEN:
            old, digest = self._blurred.popleft()
            old.pop(digest, None)
        self._names.update(dict.fromkeys(thread.names, thread.number))

    def _forget(self, thread: Thread) -> None:
        for keys, digest in ((self._heads, thread.head), (self._asked, thread.asked)):
            if digest is not None and keys.get(digest) == thread.number:
                del keys[digest]
        for name in thread.names:
            if self._names.get(name) == thread.number:
                del self._names[name]


def _seed(exchange: Exchange, asked: Asked) -> bytes:
    return _longer(b"", Item(Kind.USER, (exchange.session or "", asked.prompt or "")))


def _longer(digest: bytes, item: Item) -> bytes:
    """The hash of a history with one more item; results change nothing."""
    for mark in item.marks:
        digest = blake2b(digest + mark.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return digest

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
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import Any, NamedTuple

from ingest.events import Where
from ingest.shapes.exchanges import Asked, Exchange, Item, Kind, Reply, is_unique

OPEN = 50_000
_TWICE = -1  # more than one conversation has this history
_PENDING = 200  # calls of one conversation that wait for their results
_TIES = 50


@dataclass(slots=True)
class Failure:
    """A request that got no reply, kept until the conversation goes on or the file ends."""

    where: Where
    ts: datetime | None
    word: str
    said: str | None


@dataclass(slots=True)
class Thread:
    """One conversation: what names it, and what its next request is compared with."""

    number: int
    session: str
    parent: str | None = None
    head: bytes | None = None  # its history up to the last reply …
    asked: bytes | None = None  # … and up to the last request
    names: tuple[str, ...] = ()  # ids of its last reply and of that reply's calls …
    ties: tuple[str, ...] = ()  # … and those by which any later reply may refer to it
    certain: bool = False  # its last request names a call by a unique id, so nobody else sent the same
    pending: list[str | None] = field(default_factory=list)  # calls without a result
    turns: int = 0
    prompt: bytes | None = None
    tools: int | None = None
    harness: str | None = None
    failed: Failure | None = None


class Trail(NamedTuple):
    """The history that a request repeats: its hash up to each part but results, and up to its end."""

    points: list[tuple[int, bytes]]
    end: Any
    certain: bool


class Joined(NamedTuple):
    """An exchange's conversation, and what its request says that was not in the conversation before."""

    thread: Thread
    fresh: list[Item]
    trail: Trail


class Threads:
    """The conversations of one file. `identity` names those that have no unique id of their own."""

    def __init__(self, identity: str) -> None:
        self._identity = identity
        self._numbers = 0
        self._open: OrderedDict[int, Thread] = OrderedDict()
        self._heads: dict[bytes, int] = {}
        self._asked: dict[bytes, int] = {}
        self._names: dict[str, int] = {}
        self._sessions: OrderedDict[str, int] = OrderedDict()  # how many conversations have the log's id
        self._replies: OrderedDict[str, None] = OrderedDict()
        self._blurred: deque[tuple[dict[bytes, int], bytes]] = deque()

    def is_repeated(self, exchange: Exchange) -> bool:
        """True for an exchange that the file has already: loggers write one twice, recordings are copied."""
        ids = {reply.id for reply in exchange.replies if reply.id is not None and is_unique(reply.id)}
        if not ids:
            return False
        known = [id_ in self._replies for id_ in ids]
        for id_ in ids:
            self._replies[id_] = None
        while len(self._replies) > OPEN:
            self._replies.popitem(last=False)
        return all(known)

    def join(self, exchange: Exchange) -> Joined:
        """The conversation of an exchange, begun when it goes on from none."""
        asked = exchange.asked or Asked()
        trail = _trail(asked, exchange.session)
        thread, start = self._known(exchange, asked, trail.points)
        if thread is None:
            thread, start = self._begin(exchange), 0
        self._open.move_to_end(thread.number)
        first = exchange.replies[0].id if exchange.replies else None
        if thread.failed is not None and thread.turns == 0 and exchange.session is None and is_unique(first):
            thread.session = first or thread.session  # no event has named it yet
        return Joined(thread, asked.items[start:], trail)

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
        thread.asked, thread.certain = trail.end.digest(), trail.certain
        path = trail.end.copy()
        _add(path, reply.marks)
        thread.head = path.digest() if reply.marks else None
        ids = [call.id for call in reply.calls if not call.lost or call.id is not None]
        unique = [id_ for id_ in ids if id_ is not None and is_unique(id_)]
        thread.names = (*filter(None, [reply.id]), *(f"call:{id_}" for id_ in unique))
        thread.ties = (*thread.ties, *reply.ties)[-_TIES:]
        thread.pending = [*thread.pending, *ids][-_PENDING:]
        self._remember(thread)

    def fail(self, thread: Thread, trail: Trail, failure: Failure) -> None:
        """Note that a request got no reply: the next one that says the same is the same request again."""
        self._forget(thread)
        thread.failed = failure
        thread.asked = trail.end.digest()
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

    def _known(
        self, exchange: Exchange, asked: Asked, points: list[tuple[int, bytes]]
    ) -> tuple[Thread | None, int]:
        """The conversation that a request goes on from, and from which item on it is new."""
        refers = [asked.previous]
        if not asked.items:
            refers += [id_ for reply in exchange.replies for id_ in reply.refers]
        for name in filter(None, refers):
            if name in self._names:
                return self._open[self._names[name]], 0
        for position, digest in reversed(points):
            if asked.items[position].kind is Kind.MODEL and digest in self._heads:
                return self._of(self._heads[digest]), position + 1
        for position, item in reversed(list(enumerate(asked.items))):
            number = next((self._names[n] for id_ in item.ids if (n := f"call:{id_}") in self._names), None)
            if item.kind is Kind.MODEL and number is not None:
                return self._open[number], position + 1
        return self._same_request(asked.items, points)

    def _same_request(self, items: list[Item], points: list[tuple[int, bytes]]) -> tuple[Thread | None, int]:
        """A request again, or one that goes on from a request whose reply the client changed or dropped."""
        for position, digest in reversed(points):
            thread = self._of(self._asked.get(digest, _TWICE))
            if thread is not None and thread.failed is not None and thread.head is None:
                return thread, 0
            if thread is not None and thread.certain:
                known = position + 1  # the results behind it were in that request, too
                while known < len(items) and items[known].kind is Kind.RESULT:
                    known += 1
                return thread, known
        return None, 0

    def _of(self, number: int) -> Thread | None:
        return self._open.get(number)

    def _begin(self, exchange: Exchange) -> Thread:
        self._numbers += 1
        first = next((reply.id for reply in exchange.replies), None)
        session, parent = f"{self._identity}-{self._numbers}", None
        if exchange.session is not None:
            count = self._sessions.pop(exchange.session, 0) + 1
            self._sessions[exchange.session] = count
            if len(self._sessions) > OPEN:
                self._sessions.popitem(last=False)
            session = exchange.session if count == 1 else f"{exchange.session}/{count}"
            parent = exchange.session if count > 1 else None
        elif first is not None and is_unique(first):
            session = first
        thread = self._open[self._numbers] = Thread(self._numbers, session, parent)
        return thread

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
        self._names.update(dict.fromkeys((*thread.names, *thread.ties), thread.number))

    def _forget(self, thread: Thread) -> None:
        for keys, digest in ((self._heads, thread.head), (self._asked, thread.asked)):
            if digest is not None and keys.get(digest) == thread.number:
                del keys[digest]
        for name in (*thread.names, *thread.ties):
            if self._names.get(name) == thread.number:
                del self._names[name]


def _trail(asked: Asked, session: str | None) -> Trail:
    path = blake2b(digest_size=16)
    _add(path, (session or "", asked.prompt or ""))
    points, certain = [], False
    for position, item in enumerate(asked.items):
        if item.kind is Kind.RESULT:
            continue
        _add(path, item.marks)
        points.append((position, path.digest()))
        certain = certain or any(map(is_unique, item.ids))
    return Trail(points, path, certain)


def _add(path: Any, marks: tuple[str, ...]) -> None:
    for mark in marks:
        path.update(mark.encode("utf-8", "surrogatepass") + b"\0")

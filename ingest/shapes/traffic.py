"""Exchanges in, events out: each message, call and result of a conversation once, however often it is
repeated.

A turn begins with what the user said since the last reply. Calls are those of the replies; calls in a
history whose reply the log does not have are nobody's: they may be examples, or another model's. Results
come out of the next request. A request without a reply is no step: sent again, it is the same one; never
answered, it ends its turn. Further choices of one reply are conversations of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from hashlib import blake2b
from typing import Any

from ingest.events import (
    CallMade,
    Event,
    FaultLayer,
    PromptSeen,
    ResultSeen,
    SessionSeen,
    StepMade,
    Strategy,
    ToolsOffered,
    TurnEnded,
    TurnStarted,
)
from ingest.shapes.exchanges import Asked, Call, End, Exchange, Item, Kind, Reply, Result
from ingest.shapes.marks import is_unique, unique_id
from ingest.shapes.thread import Failure, Joined, Thread
from ingest.shapes.threads import Threads
from ingest.shapes.verdicts import MESSAGE

_SAID = 2_000  # characters of what a user said to a model that never replied
_LONGEST = timedelta(hours=1)  # that a reply takes
_TOOL_LISTS = 64  # lists of definitions that are kept to see whether a request offers new ones
_ENDED = {End.ANSWER: True, End.REFUSED: False, End.CUT: False}  # … with an answer to what was asked?

Judge = Callable[[Result], Result]
"""A result as the API tells it in, as the client that made it means it out."""


def as_told(result: Result) -> Result:
    return result


class Traffic:
    """The exchanges of one file in order; `judge` reads results where the client is known.

    Can be pickled between two exchanges.
    """

    def __init__(self, identity: str, judge: Judge = as_told) -> None:
        self._threads = Threads(identity)
        self._judge = judge
        self._tools: list[list[Mapping[str, Any]]] = []
        self._forgotten = 0  # lists of definitions that were dropped from the front of `_tools`

    def take(self, exchange: Exchange) -> Iterator[Event]:
        """The events of one exchange. One that the file had before has none."""
        if self._threads.is_repeated(exchange):
            return
        _date(exchange)
        joined = self._threads.join(exchange)
        asked, thread = exchange.asked or Asked(), joined.thread
        if exchange.replies:
            yield from self._replied(exchange, asked, joined)
        else:
            said = _said(joined.fresh)
            failure = Failure(
                exchange.where, exchange.ts, exchange.failure or "no reply", (said or "")[:_SAID]
            )
            if thread.head is not None and not _asks(joined.fresh):
                failure.said = None  # in the middle of a turn
            self._threads.fail(thread, joined.trail, failure)
        for silent in self._threads.surplus():
            yield from _unanswered(silent)

    def finish(self) -> Iterator[Event]:
        """The turns whose request was never answered."""
        for thread in self._threads.drain():
            yield from _unanswered(thread)

    # --- one reply -------------------------------------------------------------------------------

    def _replied(self, exchange: Exchange, asked: Asked, joined: Joined) -> Iterator[Event]:
        thread, first = joined.thread, exchange.replies[0]
        yield from self._facts(exchange, asked, thread)
        yield from self._results(exchange, asked, joined)
        if _asks(joined.fresh) or thread.turns == 0:
            yield self._turn(exchange, thread, joined.fresh, first)
        yield from self._said(exchange, asked, thread, first)
        self._threads.reply(thread, joined.trail, first)
        for number, reply in enumerate(exchange.replies[1:], start=1):
            beside = self._threads.fork(thread, f"{thread.session}#{number}")
            yield from self._facts(exchange, asked, beside)
            yield self._turn(exchange, beside, joined.fresh, None)
            yield from self._said(exchange, asked, beside, reply)
            self._threads.reply(beside, joined.trail, reply)

    def _facts(self, exchange: Exchange, asked: Asked, thread: Thread) -> Iterator[Event]:
        """Who speaks, the prompt and the definitions, when they are not the same as before."""
        at = _at(exchange, thread)
        if thread.turns == 0 and (exchange.harness or thread.parent or asked.user):
            yield SessionSeen(
                **at,
                harness=exchange.harness,
                harness_version=exchange.harness_version,
                parent_session_id=thread.parent,
                user=asked.user,
            )
        stated = (asked.prompt, asked.prompt_name, asked.prompt_version)
        digest = blake2b(repr(stated).encode("utf-8", "surrogatepass"), digest_size=8).digest()
        if any(stated) and digest != thread.prompt:
            thread.prompt = digest
            yield PromptSeen(**at, text=stated[0], name=stated[1], version=stated[2])
        if asked.tools:
            known = self._number_of(asked.tools)
            if known != thread.tools:
                thread.tools = known
                yield ToolsOffered(**at, definitions=tuple(asked.tools))

    def _number_of(self, tools: list[Mapping[str, Any]]) -> int:
        """Which list of definitions this is: clients offer the same few again and again."""
        for place in range(len(self._tools) - 1, -1, -1):
            if self._tools[place] == tools:
                return self._forgotten + place
        self._tools.append(tools)
        if len(self._tools) > _TOOL_LISTS:
            del self._tools[0]
            self._forgotten += 1
        return self._forgotten + len(self._tools) - 1

    def _results(self, exchange: Exchange, asked: Asked, joined: Joined) -> Iterator[Event]:
        """The results of calls that wait for one, in the order of the request."""
        thread = joined.thread
        # Clients that put each result behind its call put all but the last before what is new.
        before = asked.items(max(0, joined.start - 2 * len(thread.pending)))
        for id_, item in _answers(thread.pending, before, len(before) - len(joined.fresh)):
            thread.pending.remove(id_)
            result = self._judge(asked.result(item.body))
            failed = result.fault_layer is not None
            yield ResultSeen(
                **_at(exchange, thread),
                tool_call_id=id_,
                tool=result.tool,
                status=result.status,
                flag_source=result.flag_source,
                fault_layer=result.fault_layer,
                message=(result.content or "")[:MESSAGE] if failed else None,
                content=result.content,
            )

    def _turn(
        self, exchange: Exchange, thread: Thread, fresh: list[Item], reply: Reply | None
    ) -> TurnStarted:
        thread.turns += 1
        key = f"turn:{reply.id}" if reply is not None and is_unique(reply.id) else None
        return TurnStarted(**_at(exchange, thread), text=_said(fresh), key=key)

    def _said(self, exchange: Exchange, asked: Asked, thread: Thread, reply: Reply) -> Iterator[Event]:
        reply.seal(asked.max_tokens)
        where = exchange.reply_where or exchange.where
        at = {**_at(exchange, thread), "where": where, "ts": reply.ts or exchange.ts}
        ended = _ENDED.get(reply.end) if not reply.calls else None
        yield StepMade(
            **at,
            text=reply.text or ("" if ended is not None else None),
            provider=exchange.provider,
            model=reply.model or asked.model,
            strategy=Strategy.TOOL_USE if reply.calls or asked.tools else None,
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
            latency_ms=exchange.latency_ms,
            answers=ended is True,
        )
        for call in reply.calls:
            yield _call_made(call, {**at, "where": exchange.places.get(call.id or "", where)})
        if ended is not None:
            yield TurnEnded(**at, status=reply.word, answer=reply.text or "")


def _call_made(call: Call, at: Mapping[str, Any]) -> CallMade:
    return CallMade(
        **at,
        tool=call.tool,
        tool_call_id=call.id,
        key=unique_id(call.id),
        **call.arguments,
        strategy=Strategy.TOOL_USE,
        refused_by_harness=FaultLayer.EMISSION if call.lost else None,
        harness_message=call.message,
    )


def _date(exchange: Exchange) -> None:
    """Let a request be no later than its reply: loggers and HTTP headers tell when that was sent.

    A server that gives all its replies the same old time is not believed.
    """
    told = min((reply.ts for reply in exchange.replies if reply.ts is not None), default=None)
    if told is not None and (exchange.ts is None or told < exchange.ts <= told + _LONGEST):
        exchange.ts = told


def _at(exchange: Exchange, thread: Thread) -> dict[str, Any]:
    return {"session_id": thread.session, "where": exchange.where, "ts": exchange.ts}


def _answers(waiting: list[str | None], items: list[Item], start: int) -> list[tuple[str | None, Item]]:
    """The results of the calls that wait for one: by id, of several with one id the last, for ids come again.

    Where the client changed the ids or left them out, as many new results as calls answer them in order.
    """
    left, found = list(waiting), []
    for position in range(len(items) - 1, -1, -1):
        if not left:
            break
        item = items[position]
        if item.kind is Kind.RESULT and item.ids[0] in left and (item.ids[0] or position >= start):
            left.remove(item.ids[0])
            found.append((item.ids[0], item))
    others = [item for item in items[start:] if item.kind is Kind.RESULT] if not found else []
    if others and len(others) == len(left):
        return list(zip(left, others, strict=True))
    return found[::-1]


def _asks(fresh: list[Item]) -> bool:
    return any(item.kind is Kind.USER for item in fresh)


def _said(fresh: list[Item]) -> str | None:
    """What the user said last, in however many messages in a row."""
    words: list[str] = []
    for item in reversed(fresh):
        if item.kind is Kind.USER:
            words.append(item.text or "")
        elif words:
            break
    return "\n".join(reversed(words)) or None


def _unanswered(thread: Thread) -> Iterator[Event]:
    failed = thread.failed
    if failed is None:
        return
    at: dict[str, Any] = {"session_id": thread.session, "where": failed.where, "ts": failed.ts}
    if failed.said is not None or thread.turns == 0:
        yield TurnStarted(**at, text=failed.said or None)
    yield TurnEnded(**at, status=failed.word, answer="")

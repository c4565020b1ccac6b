"""Translates API exchanges into events, so that repeated messages, calls and results count only once.

A turn begins with the user's messages after the last reply. Calls are read from replies. A call in the
history is left out if its reply is not in the log, because it may be an example or another model's call.
Results are read from the next request. A request without a reply is not a step. If the client sends the
request again, both count as one request. A request that is never answered ends its turn. Each additional
choice of a reply becomes a separate conversation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from hashlib import blake2b
from typing import Any

from ingest.events import (
    MESSAGE_READ,
    CallMade,
    Event,
    PromptSeen,
    ResultSeen,
    SessionSeen,
    StepMade,
    Strategy,
    ToolsOffered,
    TurnEnded,
    TurnStarted,
)
from ingest.formats.conversations.conversation_matching import (
    ConversationMatcher,
    FailedRequest,
    JoinedExchange,
    RepeatedConversation,
)
from ingest.formats.conversations.prescribed_react import follow_react
from ingest.formats.provider_messages.exchange import (
    ConversationItem,
    Exchange,
    ItemKind,
    ModelCall,
    ModelReply,
    ModelRequest,
    RequestResult,
    StopReason,
)
from ingest.formats.provider_messages.message_hashes import is_unique, unique_id

_MAX_QUESTION = 4_000  # maximum number of stored characters of a user's message that got no answer
_LONGEST = timedelta(hours=1)  # the longest time that a reply takes
_TOOL_LISTS = 64  # maximum number of lists of tool definitions that are kept to recognise equal lists
_ENDED = {
    StopReason.ANSWER: True,
    StopReason.REFUSED: False,
    StopReason.CUT: False,
}  # stop reason that ends a turn → whether the turn has an answer

Judge = Callable[[RequestResult], RequestResult]
"""Function that interprets a result in an API request by the rules of the client that sent the request."""


def keep_result(result: RequestResult) -> RequestResult:
    return result


class ExchangeTranslator:
    """Translates the requests and replies of one file into events, in order.

    `judge` sets the status of tool results by the rules of the client that sent the requests. An instance can
    be pickled between two exchanges.
    """

    def __init__(self, identity: str, judge: Judge = keep_result) -> None:
        self._threads = ConversationMatcher(identity)
        self._judge = judge
        self._tools: list[list[Mapping[str, Any]]] = []
        self._forgotten = 0  # number of lists that were removed from the front of `_tools`

    def take(self, exchange: Exchange) -> Iterator[Event]:
        """Yield the events of one request and its replies.

        Yield nothing if the file already contained the replies.
        """
        if self._threads.is_repeated(exchange):
            return
        follow_react(exchange)
        date_request(exchange)
        joined = self._threads.join(exchange)
        request, thread = exchange.request or ModelRequest(), joined.thread
        if exchange.replies:
            yield from self.reply_events(exchange, request, joined)
        else:
            question = last_user_words(joined.fresh)
            failure = FailedRequest(
                exchange.where, exchange.ts, exchange.failure or "no reply", (question or "")[:_MAX_QUESTION]
            )
            if thread.head is not None and not has_user_words(joined.fresh):
                # The failed request is in the middle of a turn, so it contains no new user message.
                failure.question = None
            self._threads.note_failure(thread, joined.trail, failure)
        for silent in self._threads.drain_surplus():
            yield from unanswered_turn(silent)

    def finish(self) -> Iterator[Event]:
        """Yield the end of each turn whose last request got no reply."""
        for thread in self._threads.drain():
            yield from unanswered_turn(thread)

    # --- one reply -------------------------------------------------------------------------------

    def reply_events(
        self, exchange: Exchange, request: ModelRequest, joined: JoinedExchange
    ) -> Iterator[Event]:
        thread, first = joined.thread, exchange.replies[0]
        yield from self.fact_events(exchange, request, thread)
        yield from self.result_events(exchange, request, joined)
        if has_user_words(joined.fresh) or thread.turns == 0:
            yield self.turn_start(exchange, thread, joined.fresh, first)
        yield from self.step_events(exchange, request, thread, first)
        self._threads.advance(thread, joined.trail, first)
        for number, reply in enumerate(exchange.replies[1:], start=1):
            beside = self._threads.fork(thread, f"{thread.session}#{number}")
            yield from self.fact_events(exchange, request, beside)
            yield self.turn_start(exchange, beside, joined.fresh, None)
            yield from self.step_events(exchange, request, beside, reply)
            self._threads.advance(beside, joined.trail, reply)

    def fact_events(
        self, exchange: Exchange, request: ModelRequest, thread: RepeatedConversation
    ) -> Iterator[Event]:
        """Yield the events of a new session, and of a new or changed system prompt or tool list."""
        at = event_place(exchange, thread)
        if thread.turns == 0 and (exchange.harness or thread.parent or request.user or exchange.task):
            yield SessionSeen(
                **at,
                harness=exchange.harness,
                harness_version=exchange.harness_version,
                parent_session_id=thread.parent,
                user=request.user,
                task=exchange.task,
            )
        stated = (request.prompt, request.prompt_name, request.prompt_version)
        digest = blake2b(repr(stated).encode("utf-8", "surrogatepass"), digest_size=8).digest()
        if any(stated) and digest != thread.prompt:
            thread.prompt = digest
            yield PromptSeen(**at, text=stated[0], name=stated[1], version=stated[2])
        if request.tools:
            numbers = self.number_definitions(request.tools)
            if numbers != thread.tools:
                thread.tools = numbers
                yield ToolsOffered(**at, definitions=tuple(request.tools))

    def number_definitions(self, tools: list[Mapping[str, Any]]) -> int:
        """Return a number for a list of tool definitions. Equal lists get the same number.

        Only the latest 64 lists are compared.
        """
        for place in range(len(self._tools) - 1, -1, -1):
            if self._tools[place] == tools:
                return self._forgotten + place
        self._tools.append(tools)
        if len(self._tools) > _TOOL_LISTS:
            del self._tools[0]
            self._forgotten += 1
        return self._forgotten + len(self._tools) - 1

    def result_events(
        self, exchange: Exchange, request: ModelRequest, joined: JoinedExchange
    ) -> Iterator[Event]:
        """Yield the results of the tool calls that wait for a result, in the order of the request."""
        thread = joined.thread
        # Some clients put each result directly after its call, before the new items, so earlier items are
        # searched, too.
        before = request.read_items(max(0, joined.start - 2 * len(thread.pending)))
        for id_, item in match_answers(thread.pending, before, len(before) - len(joined.fresh)):
            thread.pending.remove(id_)
            result = self._judge(request.result(item.body))
            failed = result.fault_layer is not None
            yield ResultSeen(
                **event_place(exchange, thread),
                tool_call_id=id_,
                tool=result.tool,
                status=result.status,
                flag_source=result.flag_source,
                fault_layer=result.fault_layer,
                message=(result.content or "")[:MESSAGE_READ] if failed else None,
                content=result.content,
            )

    def turn_start(
        self,
        exchange: Exchange,
        thread: RepeatedConversation,
        fresh: list[ConversationItem],
        reply: ModelReply | None,
    ) -> TurnStarted:
        thread.turns += 1
        key = f"turn:{reply.id}" if reply is not None and is_unique(reply.id) else None
        return TurnStarted(**event_place(exchange, thread), text=last_user_words(fresh), key=key)

    def step_events(
        self, exchange: Exchange, request: ModelRequest, thread: RepeatedConversation, reply: ModelReply
    ) -> Iterator[Event]:
        reply.seal(request.max_tokens)
        where = exchange.reply_where or exchange.where
        at = {**event_place(exchange, thread), "where": where, "ts": reply.ts or exchange.ts}
        ended = _ENDED.get(reply.end) if not reply.calls else None
        strategy = Strategy.JSON_FALLBACK if reply.prescribed else Strategy.TOOL_USE
        yield StepMade(
            **at,
            text=reply.text or ("" if ended is not None else None),
            provider=exchange.provider,
            model=reply.model or request.model,
            strategy=strategy if reply.prescribed or reply.calls or request.tools else None,
            input_tokens=reply.input_tokens,
            cached_tokens=reply.cached_tokens,
            cache_write_tokens=reply.cache_write_tokens,
            output_tokens=reply.output_tokens,
            latency_ms=exchange.latency_ms,
            answers=ended is True,
        )
        for call in reply.calls:
            yield call_event(call, {**at, "where": exchange.places.get(call.id or "", where)}, strategy)
        if ended is not None:
            yield TurnEnded(**at, status=reply.word, answer=reply.text or "")


def call_event(call: ModelCall, at: Mapping[str, Any], strategy: Strategy) -> CallMade:
    return CallMade(
        **at,
        tool=call.tool,
        tool_call_id=call.id,
        key=unique_id(call.id),
        **call.arguments,
        strategy=strategy,
        refused_by_harness=call.refused_at,
        harness_message=call.message,
    )


def date_request(exchange: Exchange) -> None:
    """Set the time of an exchange to the time of its reply, if the exchange has no time or a later time.

    A reply time that is more than an hour earlier is ignored, because some servers give all replies the same
    old time.
    """
    first_reply_ts = min((reply.ts for reply in exchange.replies if reply.ts is not None), default=None)
    if first_reply_ts is not None and (
        exchange.ts is None or first_reply_ts < exchange.ts <= first_reply_ts + _LONGEST
    ):
        exchange.ts = first_reply_ts


def event_place(exchange: Exchange, thread: RepeatedConversation) -> dict[str, Any]:
    return {"session_id": thread.session, "where": exchange.where, "ts": exchange.ts}


def match_answers(
    waiting: list[str | None], items: list[ConversationItem], start: int
) -> list[tuple[str | None, ConversationItem]]:
    """Return pairs of a waiting tool call's id and the result item for this call.

    Results are matched by id. If several results have the same id, the last result counts. If no id matches
    and there are as many new results as calls, they are matched in order. New items begin at index `start`.
    """
    left, matches = list(waiting), []
    for position in range(len(items) - 1, -1, -1):
        if not left:
            break
        item = items[position]
        if item.kind is ItemKind.RESULT and item.ids[0] in left and (item.ids[0] or position >= start):
            left.remove(item.ids[0])
            matches.append((item.ids[0], item))
    others = [item for item in items[start:] if item.kind is ItemKind.RESULT] if not matches else []
    if others and len(others) == len(left):
        return list(zip(left, others, strict=True))
    return matches[::-1]


def has_user_words(fresh: list[ConversationItem]) -> bool:
    return any(item.kind is ItemKind.USER for item in fresh)


def last_user_words(fresh: list[ConversationItem]) -> str | None:
    """Join the user messages at the end of `fresh` with newlines.

    Return None when these messages have no text.
    """
    words: list[str] = []
    for item in reversed(fresh):
        if item.kind is ItemKind.USER:
            words.append(item.text or "")
        elif words:
            break
    return "\n".join(reversed(words)) or None


def unanswered_turn(thread: RepeatedConversation) -> Iterator[Event]:
    failed = thread.failed
    if failed is None:
        return
    at: dict[str, Any] = {"session_id": thread.session, "where": failed.where, "ts": failed.ts}
    if failed.question is not None or thread.turns == 0:
        yield TurnStarted(**at, text=failed.question or None)
    yield TurnEnded(**at, status=failed.word, answer="")

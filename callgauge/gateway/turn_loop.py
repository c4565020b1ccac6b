"""Run one turn: ask the model, run its tool calls and send the results, until the model answers.

Nothing that the model sends raises an exception: the turn continues or ends with a status. After an
unreadable reply, the model gets a message that explains the error.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from callgauge.gateway.apis.messages import ChatMessage, FinishReason, Reply
from callgauge.gateway.capabilities import MISTRAL_IDS
from callgauge.gateway.provider_errors import NoReplyError, Trouble
from callgauge.gateway.read_calls import (
    ReadCall,
    find_attempt,
    native_history,
    read_native_calls,
    read_text_calls,
    read_unparsed_call,
    text_history,
)
from callgauge.gateway.sentences import (
    CALL_BY_INTERFACE,
    NO_CALL_READ,
    NO_READABLE_BLOCK,
    say_leaked,
    say_repeated,
    say_server_problem,
    say_server_refused,
    say_unread,
    say_unreadable,
)
from callgauge.gateway.session_log import TurnLog
from callgauge.gateway.tools.executor import TOOLS_LOG, Executor, ToolResult
from callgauge.gateway.tools.toolbox import ToolContext
from callgauge.gateway.turn import CallResult, Status, Strategy, Turn, TurnStep
from lenient import leaked_tool_calls
from lenient.arguments.checked_call import describe_cut_off

MOST_REPEATS = 3  # The turn ends after this many identical rejected calls.


@dataclass(slots=True)
class TurnLoop:
    """A turn in progress. `ask` sends the conversation. The loop appends to `messages`.

    `watch` is called with each step. The result of `judge` is logged at the end of the turn. `id_pattern`,
    `is_serial` and `takes_system` come from the capabilities.
    """

    ask: Callable[[], Awaitable[Reply]]
    messages: list[ChatMessage]
    executor: Executor
    log: TurnLog
    strategy: Callable[[], Strategy]
    session_id: str
    number: int
    max_steps: int
    compensations_left: int
    id_pattern: str | None
    is_serial: bool
    takes_system: bool
    environment: dict[str, Any]
    watch: Callable[[TurnStep], None]
    judge: Callable[[Turn], Awaitable[Mapping[str, Any]]] | None = None
    steps: list[TurnStep] = field(default_factory=list)
    compensations: int = 0
    status: Status | None = None
    answer: str = ""
    failure: NoReplyError | None = None
    _repeated: tuple[Any, int] = (None, 0)

    async def run(self) -> Turn:
        """Run the turn to its end. Raises an exception only if the asyncio task is cancelled."""
        started = time.monotonic()
        step = 0
        while self.status is None:
            if step == self.max_steps:
                self._end("max_steps", f"(no answer after {step} steps)")
                break
            try:
                reply = await self.ask()
            except NoReplyError as error:
                self.failure = error
                self._end(
                    "prompt_limit" if error.trouble is Trouble.LIMIT else "error", f"(no reply) {error}"
                )
                break
            await self._take(step, reply)
            step += 1
        seconds = time.monotonic() - started
        status = self.status or "error"
        turn = Turn(
            self.number, status, self.answer, tuple(self.steps), self.compensations, seconds, self.failure
        )
        judged = {} if self.judge is None else await self.judge(turn)
        self.log.write_end(max(step - 1, 0), self.answer, status, seconds, self.compensations, **judged)
        return turn

    async def _take(self, step: int, reply: Reply) -> None:
        strategy, catalog = self.strategy(), self.executor.toolbox.catalog
        if reply.refused is not None:
            self._take_refused(step, reply, strategy)
            return
        if strategy == "tool_use":
            calls = read_native_calls(
                reply, catalog, id_pattern=self.id_pattern, new_id=lambda place: self._new_id(step, place)
            )
        else:
            calls = read_text_calls(reply.text, catalog, new_id=lambda place: self._new_id(step, place))
        if calls:
            await self._take_calls(step, reply, strategy, calls)
        else:
            self._take_text(step, reply, strategy)

    def _new_id(self, step: int, place: int) -> str:
        if self.id_pattern == MISTRAL_IDS:
            return f"c{self.number:03d}s{step:03d}{place % 10}"[:9]
        prefix = "toolu" if (self.id_pattern or "").startswith("toolu_") else "call"
        return f"{prefix}_{self.number}_{step}_{place}"

    async def _take_calls(
        self, step: int, reply: Reply, strategy: Strategy, calls: Sequence[ReadCall]
    ) -> None:
        is_left = any(call.is_readable for call in calls)
        self.log.write_reply(step, reply, strategy, "tool_use" if is_left else _stop_without_calls(reply))
        self.log.write_calls(step, calls, strategy)
        results = await self._execute(step, calls)
        done = [CallResult(*each) for each in zip(calls, results, strict=True)]
        for done_call in done:
            self.log.write_result(step, done_call)
        self._add(TurnStep(reply, strategy, tuple(done)))
        if strategy == "tool_use":
            self.messages += native_history(reply, calls, results, is_serial=self.is_serial)
        else:
            self.messages += text_history(reply, calls, results)
        if not is_left:
            self._use_compensation(say_unreadable(calls[0].call.name, calls[0].request.parse_error))
        elif self._repeats_itself(done):
            problem = calls[0].request.parse_error or results[0].status
            self._end("max_steps", say_repeated(calls[0].call.name, MOST_REPEATS, problem))

    async def _execute(self, step: int, calls: Sequence[ReadCall]) -> list[ToolResult]:
        if self.is_serial:
            return [await self._execute_one(step, call) for call in calls]
        return list(await asyncio.gather(*(self._execute_one(step, call) for call in calls)))

    async def _execute_one(self, step: int, call: ReadCall) -> ToolResult:
        tool = self.executor.toolbox.get(call.request.tool_name)
        if call.is_cut and tool is not None and not tool.takes_lossy:
            return ToolResult("input_invalid", describe_cut_off(tool.definition))
        context = ToolContext(call.request, self.session_id, self.number, step, self.environment)
        return await self.executor.execute(context)

    def _take_text(self, step: int, reply: Reply, strategy: Strategy) -> None:
        """Handle a reply without a tool call: an answer, or a call that cannot be read."""
        catalog = self.executor.toolbox.catalog
        stop = _stop_without_calls(reply)
        if strategy == "tool_use":
            leaked = leaked_tool_calls(reply.text, catalog)
            if leaked:
                self.log.write_reply(
                    step, reply, strategy, stop, protocol_violation=True, tool=leaked[0].name
                )
                fault = f"a call of {leaked[0].name} in the text"
                self._add(TurnStep(reply, strategy, fault=fault, is_leaked=True))
                self._compensate(reply.text, CALL_BY_INTERFACE, say_leaked(leaked[0].name))
                return
        elif (attempt := find_attempt(reply.text, catalog)) is not None:
            error = {
                "mode": strategy,
                "error": f"no call could be read: {attempt}",
                "snippet": reply.text[:100],
            }
            self.log.write_reply(step, reply, strategy, stop, parse_error=error)
            self._add(TurnStep(reply, strategy, fault=error["error"]))
            self._compensate(reply.text, NO_READABLE_BLOCK, NO_CALL_READ)
            return
        self.log.write_reply(step, reply, strategy, stop)
        self._add(TurnStep(reply, strategy))
        self.messages.append(ChatMessage("assistant", reply.text, carried=reply.carried))
        self._end("prompt_limit" if reply.stop is FinishReason.MAX_TOKENS else "ok", reply.text)

    def _take_refused(self, step: int, reply: Reply, strategy: Strategy) -> None:
        """Handle a tool call that the server could not parse, as a step with a syntax error."""
        reason = reply.refused or ""
        call = read_unparsed_call(reply.refused_call, self.executor.toolbox.catalog)
        sentence = say_server_refused(reason)
        raw = reply.refused_call.raw if reply.refused_call is not None else ""
        if call is not None and call.request.tool_name:
            name = call.request.tool_name
            renamed = replace(call.call, id=self._new_id(step, 0), name=name)
            named = ReadCall(renamed, call.request._replace(arguments=None))
            self.log.write_reply(step, reply, strategy, _stop_without_calls(reply))
            self.log.write_calls(step, [named], strategy)
            done = CallResult(named, ToolResult("input_unparsable", sentence))
            self.log.write_result(step, done)
            self._add(TurnStep(reply, strategy, (done,), reason))
        else:
            error = {"mode": strategy, "error": reason, "snippet": raw or reason[:100]}
            self.log.write_reply(step, reply, strategy, _stop_without_calls(reply), parse_error=error)
            self._add(TurnStep(reply, strategy, fault=reason))
        reply_text = "\n".join(text for text in (reply.text, say_unread(raw, reason)) if text)
        self._compensate(reply_text, sentence, say_server_problem(reason))

    def _compensate(self, reply_text: str, sentence: str, hint: str) -> None:
        """Send the model a correction. If no correction is left, end the turn with a hint for the user."""
        self.messages.append(ChatMessage("assistant", reply_text))
        if self._use_compensation(hint):
            self.messages.append(ChatMessage("system" if self.takes_system else "user", sentence))

    def _use_compensation(self, hint: str) -> bool:
        if not self.compensations_left:
            self._end("error", hint)
            return False
        self.compensations_left -= 1
        self.compensations += 1
        return True

    def _repeats_itself(self, done: Sequence[CallResult]) -> bool:
        if any(done_call.result.ran for done_call in done):
            self._repeated = (None, 0)
            return False
        key = tuple((done_call.read.call.name, done_call.read.call.raw) for done_call in done)
        before, times = self._repeated
        self._repeated = (key, times + 1 if key == before else 1)
        return self._repeated[1] >= MOST_REPEATS

    def _add(self, step: TurnStep) -> None:
        self.steps.append(step)
        try:
            self.watch(step)
        except Exception as error:  # An exception in a callback must not end the turn.
            TOOLS_LOG.warning("watch failed at a step", exc_info=error)

    def _end(self, status: Status, answer: str) -> None:
        self.status, self.answer = status, answer


def _stop_without_calls(reply: Reply) -> str:
    """Return the stop reason of a reply without calls. `tool_use` is replaced, because no call is left."""
    return (FinishReason.END_TURN if reply.stop is FinishReason.TOOL_USE else reply.stop).value

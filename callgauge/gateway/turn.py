"""Describe the result of a turn: the answer, the steps, the tool calls and their outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from callgauge.gateway.apis.messages import Reply, Tokens, sum_tokens
from callgauge.gateway.provider_errors import NoReplyError
from callgauge.gateway.read_calls import ReadCall
from callgauge.gateway.tools.executor import ToolResult

Strategy = Literal["tool_use", "json_fallback"]
Status = Literal["ok", "error", "prompt_limit", "max_steps"]


@dataclass(frozen=True, slots=True)
class CallResult:
    """One tool call of a step, the arguments that the parser read, and the outcome."""

    read: ReadCall
    result: ToolResult


@dataclass(frozen=True, slots=True)
class TurnStep:
    """One reply of the model with its tool calls.

    If no call could be read, `fault` says why. `is_leaked` is True when the model wrote the call as text
    although native calls were requested.
    """

    reply: Reply
    strategy: Strategy
    calls: tuple[CallResult, ...] = ()
    fault: str | None = None
    is_leaked: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn: from a user's message to the final answer.

    docs/session-log.md lists the values of `status`. `compensations` counts the corrections that were sent to
    the model after unreadable replies. `failure` is set if the turn ended because the endpoint gave no reply,
    and says why.
    """

    number: int
    status: Status
    answer: str
    steps: tuple[TurnStep, ...]
    compensations: int
    seconds: float
    failure: NoReplyError | None = None

    @property
    def calls(self) -> tuple[CallResult, ...]:
        """Return the calls of all steps, in order."""
        return tuple(call for step in self.steps for call in step.calls)

    @property
    def calls_not_run(self) -> tuple[CallResult, ...]:
        """Return the calls for which no tool was run."""
        return tuple(call for call in self.calls if not call.result.ran)

    @property
    def tokens(self) -> Tokens:
        """Return the token counts, summed over all steps. A count that the endpoint does not send is None."""
        return sum_tokens(step.reply.tokens for step in self.steps)

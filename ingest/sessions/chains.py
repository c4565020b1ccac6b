"""Links each failed call of a turn to its retries, and says how the retry sequence ended.

A failed call begins a retry sequence. The next call of the same tool in a later step continues the sequence.
If the log says which call retries the failed call, that call continues the sequence instead. If the failed
call could not be parsed and the name of its tool is unknown, the first call of the next step continues the
sequence.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

import msgspec

from ingest.events import FaultLayer


class ChainOutcome(StrEnum):
    """How a retry sequence ended. These are the values of `tool_calls.chain_outcome`."""

    RECOVERED = "recovered"
    ABANDONED = "abandoned"


class RetryKind(StrEnum):
    """Whether a retry repeats the previous call or changes it. These are the values of
    `tool_calls.retry_kind`.
    """

    IDENTICAL = "identical"
    CHANGED = "changed"


class Attempt(Protocol):
    """The properties of a call that decide whether it retries an earlier call."""

    @property
    def step(self) -> int: ...
    @property
    def tool(self) -> str | None: ...
    @property
    def tool_call_id(self) -> str | None: ...
    @property
    def retry_of(self) -> str | None: ...
    @property
    def fault_layer(self) -> FaultLayer | None: ...
    @property
    def comparable_arguments(self) -> str | None: ...  # None when the arguments are unknown


class Link(msgspec.Struct, frozen=True):
    """A call's position in its retry sequence.

    `first` is the index of the first call of the sequence. `attempt` counts from 1. `retry_kind` is None for
    the first call. It is also None when the arguments of this call or of the previous call are unknown. All
    calls of a sequence have the same `outcome`. `outcome` is None when the last attempt failed and the turn
    may continue.
    """

    first: int
    attempt: int
    retry_kind: RetryKind | None
    outcome: ChainOutcome | None


def link_attempts(calls: Sequence[Attempt], *, may_go_on: bool = False) -> list[Link | None]:
    """Return for each call the position in a retry sequence, or None when the call is in no sequence.

    `calls` are ordered by step and ordinal. `may_go_on` is True when the log stops before the end of the
    turn. A later call may then still correct the failure.
    """
    if all(call.fault_layer is None and call.retry_of is None for call in calls):
        return [None] * len(calls)
    chains = _build_chains(calls)
    links: list[Link | None] = [None] * len(calls)
    for chain in chains:
        failed = calls[chain[-1]].fault_layer is not None
        ended = ChainOutcome.ABANDONED if failed else ChainOutcome.RECOVERED
        outcome = None if failed and may_go_on else ended
        for position, index in enumerate(chain):
            kind = _retry_kind(calls[chain[position - 1]], calls[index]) if position else None
            links[index] = Link(chain[0], position + 1, kind, outcome)
    return links


def _build_chains(calls: Sequence[Attempt]) -> list[list[int]]:
    chains: list[list[int]] = []
    waiting: list[list[int]] = []  # the retry sequences whose last call failed, oldest first
    for index, call in enumerate(calls):
        if not waiting and call.retry_of is None and call.fault_layer is None:
            continue
        chain = _chain_of_retried_call(call, index, calls, chains)
        if chain is None:
            chain = next((open_ for open_ in waiting if _is_continued_by(call, calls[open_[-1]])), None)
        if chain is not None:
            chain.append(index)
            if chain in waiting:
                waiting.remove(chain)
        elif call.fault_layer is not None:
            chain = [index]
            chains.append(chain)
        if chain is not None and call.fault_layer is not None:
            waiting.append(chain)
    return chains


def _chain_of_retried_call(
    call: Attempt, index: int, calls: Sequence[Attempt], chains: list[list[int]]
) -> list[int] | None:
    """Return the retry sequence of the call that `call` retries according to the log.

    Begin the sequence if necessary. Return None when the log names no such call.
    """
    if call.retry_of is None:
        return None
    named = next((i for i in range(index - 1, -1, -1) if calls[i].tool_call_id == call.retry_of), None)
    if named is None:
        return None
    chain = next((candidate for candidate in chains if named in candidate), None)
    if chain is None:
        chain = [named]
        chains.append(chain)
    return chain


def _is_continued_by(call: Attempt, faulted: Attempt) -> bool:
    if call.step <= faulted.step:
        return False
    if faulted.tool is None or call.tool is None:
        return call.step == faulted.step + 1
    return call.tool == faulted.tool


def _retry_kind(before: Attempt, after: Attempt) -> RetryKind | None:
    sent_before, sent = before.comparable_arguments, after.comparable_arguments
    if sent_before is None or sent is None:
        return None
    same_tool = None in (before.tool, after.tool) or before.tool == after.tool
    return RetryKind.IDENTICAL if same_tool and sent_before == sent else RetryKind.CHANGED

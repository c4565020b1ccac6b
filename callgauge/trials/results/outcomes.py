"""Computes the outcome of a trial: the counts of the trial's turn."""

from __future__ import annotations

from callgauge.gateway import CallResult, CallSource, Tokens, Trouble, Turn
from callgauge.trials.planning.plan import TokenPrice
from callgauge.trials.results.run_folder import NO_REPLY, TrialOutcome
from lenient import Outcome

_REFUSED = frozenset(("input_unparsable", "input_invalid", "tool_not_found"))
_MENDED = frozenset((Outcome.COERCED, Outcome.REPAIRED))


def outcome_of(
    turn: Turn,
    *,
    arm: str,
    task: str,
    repeat: int,
    price: TokenPrice | None = None,
    right: bool | None = None,
    why: str | None = None,
    milliseconds: float = 0.0,
    ended_at: str = "",
    knows_writer: bool = True,
) -> TrialOutcome:
    """Return the outcome of a finished trial for ledger.jsonl.

    If the turn has no reply, the outcome has the status `no_reply`, and `why` contains the reason. Such a
    trial is not measured. A conversation that became too long for the model counts as an error of the model
    (`prompt_limit`). `knows_writer` is False when the server may have rewritten the arguments of native tool
    calls. Then `mended` is None.
    """
    tokens, status = turn.tokens, str(turn.status)
    if lacks_reply(turn):
        status, right, why = NO_REPLY, None, str(turn.failure)
    lost = [step for step in turn.steps if step.fault is not None and not step.calls]
    return TrialOutcome(
        arm=arm,
        task=task,
        repeat=repeat,
        status=status,
        calls=len(turn.calls) + len(lost),
        refused=sum(map(is_refused, turn.calls)) + sum(not step.is_leaked for step in lost),
        mended=sum(map(is_mended, turn.calls)) if knows_writer or not has_native_calls(turn) else None,
        misses=sum(call.result.metadata.get("simulated") == "miss" for call in turn.calls),
        right=right,
        why=why,
        input_tokens=tokens.read,
        output_tokens=tokens.written,
        cached_tokens=tokens.cached,
        cost=price_of(turn, price),
        milliseconds=milliseconds,
        ended_at=ended_at,
    )


def has_native_calls(turn: Turn) -> bool:
    return any(step.calls and step.strategy == "tool_use" for step in turn.steps)


def lacks_reply(turn: Turn) -> bool:
    """Return True if the turn ended because the endpoint sent no reply. The endpoint may have sent earlier
    replies.
    """
    return turn.failure is not None and turn.failure.trouble is not Trouble.LIMIT


def is_refused(call: CallResult) -> bool:
    """Return True when the parser or the tool's policy found a syntax or schema error in a tool call."""
    return call.result.status in _REFUSED or call.read.request.parse_error is not None


def is_mended(call: CallResult) -> bool:
    """Return True when the arguments of a tool call were repaired or coerced.

    Return False when the API has rewritten the arguments.
    """
    outcome = call.read.request.outcome
    if call.read.call.source is CallSource.RESERIALISED:
        return outcome is Outcome.COERCED and call.result.status not in _REFUSED
    return outcome in _MENDED


def price_of(turn: Turn, price: TokenPrice | None) -> float | None:
    """Return the cost of a turn in USD. Return None when `price` is None or a reply has no token counts."""
    if price is None or not turn.steps:
        return None if price is None else 0.0
    costs = [price_reply(step.reply.tokens, price) for step in turn.steps]
    known_costs = [cost for cost in costs if cost is not None]
    return sum(known_costs) if len(known_costs) == len(costs) else None


def price_reply(tokens: Tokens, price: TokenPrice | None) -> float | None:
    """Return the cost of one reply in USD, or None if `price` is None or the reply has no token counts."""
    if price is None or tokens.read is None or tokens.written is None:
        return None
    return price.cost(tokens.read, tokens.written, tokens.cached or 0)

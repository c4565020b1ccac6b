"""Makes models with known rates and costs at one prompt, as evidence and as rows of a store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from callgauge.analysis.comparisons.model_choices import ModelCost, ModelEvidence
from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.measures.same_mix import ArmStrata
from callgauge.analysis.measures.slices import Slice, relate_slices
from callgauge.stats import GROUPS, Share
from tests.analysis.store_fixture import BROKEN, a_call, a_turn


@dataclass(frozen=True, slots=True)
class Made:
    """The counts of a model: failed of all calls, successful of all turns, and the cost of a turn.

    `price` is None if the model has no price. `defined` is the share of calls with a tool definition. `tool`
    is the only tool that the model called.
    """

    errors: int = 0
    calls: int = 2_000
    succeeded: int = 1_000
    turns: int = 1_000
    price: float | None = 1.0
    sessions: int = 200
    defined: float = 1.0
    tool: str = "read"


def make_evidence(models: Mapping[str, Made], **fields: Any) -> ModelEvidence:
    """Return the evidence of models whose counts are spread evenly over the session groups."""
    slices: list[Slice] = []
    strata: dict[str, dict[str, dict[tuple[str, ...], Share]]] = {"parse_error": {}, "turn_success": {}}
    costs = {}
    for place, (name, made) in enumerate(models.items()):
        shares = {
            "parse_error": _spread(made.errors, made.calls, made.sessions),
            "syntax_error": _spread(made.errors, made.calls, made.sessions),
            "defined": _spread(round(made.calls * made.defined), made.calls, made.sessions),
            "turn_success": _spread(made.succeeded, made.turns, made.sessions),
            "recorded_ok": _spread(made.succeeded, made.turns, made.sessions),
        }
        slices += [Slice(RATES[rate], name, "p", share, share.n) for rate, share in shares.items()]
        strata["parse_error"][name] = {(made.tool,): shares["parse_error"]}
        strata["turn_success"][name] = {("log",): shares["turn_success"]}
        succeeded = _spread_evenly(made.succeeded)
        waves = 1 + 0.05 * np.sin(np.arange(GROUPS) + place)
        if made.price is None:
            costs[name] = ModelCost({("log",): np.zeros((2, GROUPS))}, made.turns, 0, 0, 0.0)
        else:
            amounts = _spread_evenly(made.turns) * made.price * waves
            counts = np.stack([amounts, succeeded])
            total = float(amounts.sum())
            costs[name] = ModelCost({("log",): counts}, made.turns, made.turns, made.turns, total)
    by_model: dict[str, dict[str, Slice]] = {name: {} for name in models}
    for slice_ in relate_slices(slices):
        by_model[slice_.name][slice_.rate.name] = slice_
    arms = {
        rate: ArmStrata(("tool" if rate == "parse_error" else "source",), by_arm)
        for rate, by_arm in strata.items()
    }
    return ModelEvidence(by_model, arms, costs, **{"prices": {}, "alerts": {}, **fields})


def _spread(k: int, n: int, sessions: int) -> Share:
    return Share(k, n, sessions, np.stack([_spread_evenly(k), _spread_evenly(n)]))


def _spread_evenly(count: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    edges = np.arange(GROUPS + 1) * count // GROUPS
    return np.diff(edges).astype(float)


def make_rows(
    model: str, sessions: int, *, failed: int = 0, broken: int = 0, **fields: Any
) -> dict[str, Any]:
    """Return the tables of a model's sessions. A session has one turn with two calls.

    The first `failed` turns fail, and the first `broken` sessions have a call with a parse error.
    """
    bad = {"raw_arguments": BROKEN, "outcome": "failed", "fault_layer": "syntax", "parse_error": "x"}
    tokens = {
        "steps": 1, "counted_steps": 1, "counted_input": 1_000_000, "counted_cached": 0,
        "counted_cache_write": 0, "counted_output": 0, "calls": 2,
    }  # fmt: skip
    prompt = str(fields.get("prompt_id", "p1"))
    ids = [f"{model}/{prompt}/{number}" for number in range(sessions)]
    return {
        "turns": [
            a_turn(1, **{**tokens, **fields}, model=model, turn_id=each, session_id=each)
            | {"recorded_ok": number >= failed, "derived_ok": None}
            for number, each in enumerate(ids)
        ],
        "tool_calls": [
            a_call(call, call_id=f"{each}/{call}", turn_id=each, session_id=each, model=model)
            | (bad if number < broken and not call else {})
            | {
                name: value
                for name, value in fields.items()
                if name in ("prompt_id", "day", "tool", "provider")
            }
            for number, each in enumerate(ids)
            for call in range(2)
        ],
    }


def join_rows(*tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rows of several models in one set of tables."""
    return {name: [row for each in tables for row in each[name]] for name in ("turns", "tool_calls")}

"""Reads the rates and turn sizes of a plan's models from a store, for an estimate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from callgauge.stats import ENOUGH, Share, place_in_groups
from callgauge.trials.planning.estimates import OF_CALLS, History
from callgauge.trials.planning.plan import MeasureName, Plan

# The rates in logs that correspond to measures of a trial. Tokens and cost have no such rate.
_RATES: dict[MeasureName, str] = {
    "refused": "parse_error",
    "mended": "mended",
    "right": "recorded_ok",
    "turn_ok": "recorded_ok",
}
_SIZES = (
    "model",
    "turns",
    "replies",
    "calling_turns",
    "calls",
    "counted_replies",
    "written",
    "token_turns",
    "tokens",
    "tokens_deviation",
)
_NO_TURNS = (None, 0, *[None] * (len(_SIZES) - 2))
_FEWEST_TURNS = 10  # Means need at least this many turns.


class StoreProblemError(Exception):
    """Raised when a store cannot be queried. The message says what to do."""


def read_histories(store: Path, plan: Plan) -> tuple[dict[str, History], list[str]]:
    """Return the history of each model in the plan, and a sentence for each model that has no history.

    Raises StoreProblemError.
    """
    # A top-level import would load DuckDB for every command.
    from callgauge.analysis.metrics import MetricError, read_batches
    from callgauge.analysis.metrics.published_store import (
        UnshownStoreError,
        open_generation,
        published_generation,
    )

    histories: dict[str, History] = {}
    notes: list[str] = []
    try:
        with open_generation(published_generation(str(store)), texts=True) as connection:
            for name in dict.fromkeys(arm.model for arm in plan.arms):
                model = plan.models[name].model
                sizes = next(read_batches(connection, "turn_sizes", {"models": [model]}, 1), [_NO_TURNS])
                size = dict(zip(_SIZES, sizes[0], strict=True))
                if size["turns"] < _FEWEST_TURNS:
                    turns = size["turns"] or "no"
                    notes.append(f"{store} has {turns} turns of {model}: its estimate is a guess")
                    continue
                share, scope = _read_share(connection, plan, name)
                histories[name] = History(
                    size["turns"],
                    size["replies"],
                    size["calls"],
                    size["written"],
                    size["tokens_deviation"],
                    share,
                    scope,
                )
    except (UnshownStoreError, MetricError) as problem:
        raise StoreProblemError(str(problem)) from None
    return histories, notes


def _read_share(connection: Any, plan: Plan, name: str) -> tuple[Share | None, str]:
    """Return the rate in the store that corresponds to the primary measure, and a text that says what is
    counted.

    The rate counts the plan's tools. If these tools have too few tool calls, the rate counts all tools. The
    rate is None if there are fewer than ENOUGH tool calls or turns.
    """
    from callgauge.analysis.metrics import read_rows

    primary = plan.measure.primary
    rate = _RATES.get(primary)
    if rate is None:
        return None, ""
    tools = _tools_of(plan, name) if primary in OF_CALLS else []
    for tool_names in ([tools] if tools else []) + [[]]:
        parameters = {"rates": [rate], "models": [plan.models[name].model], "tools": tool_names or None}
        for row in read_rows(connection, "slices", parameters)[:1]:
            k, n, sessions = (row[name] for name in ("k", "n", "sessions"))
            if n < ENOUGH:
                continue
            by_group = place_in_groups(*([row[name]] for name in ("group_ids", "group_k", "group_n")))[0]
            named = (
                f" of {', '.join(tool_names[:3])}{', …' if len(tool_names) > 3 else ''}" if tool_names else ""
            )
            return Share(k, n, sessions, by_group), f"calls{named}" if primary in OF_CALLS else "turns"
    return None, ""


def _tools_of(plan: Plan, model: str) -> list[str]:
    names = dict.fromkeys(
        tool.name
        for arm in plan.arms
        if arm.model == model and arm.definitions is not None
        for tool in plan.definitions[arm.definitions]
    )
    return list(names)

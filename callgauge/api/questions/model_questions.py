"""The question which model to use for each prompt or tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callgauge.analysis.comparisons.model_choices import DIMENSIONS, choose_models
from callgauge.analysis.measures.comparisons import SMALLEST
from callgauge.analysis.verdicts.model_choices import (
    Candidate,
    Label,
    ModelChoice,
    ModelChoices,
    ModelUse,
    describe_choice,
    describe_choices,
)
from callgauge.api.questions.answers import Answer, Row, describe_days, describe_difference, describe_slice
from callgauge.api.questions.parameters import Parameter
from callgauge.api.questions.problems import refuse_memory
from callgauge.api.questions.slice_filters import FILTERS, choose_filters
from callgauge.api.questions.store_access import StoreAccess
from callgauge.memory.memory_file import MemoryProblemError
from callgauge.memory.team_memory import TeamMemory
from callgauge.prices import PriceList
from callgauge.stats import Interval, MixedRatio

CHOICES_ASKED = (
    Parameter("by", "text", "A model for each prompt, or for each tool.", DIMENSIONS, default="prompt"),
    Parameter(
        "smallest",
        "number",
        "The smallest difference of interest, a share: 0.02 is two points.",
        default=SMALLEST,
        low=0.001,
        high=0.5,
    ),
    *FILTERS,
)


def ask_model_choices(store: StoreAccess, parameters: Mapping[str, Any]) -> Answer:
    """Return the cheapest model that is proven not worse for each prompt or tool, as on the page Models."""
    chosen = choose_filters(store.reader.ask, parameters)
    try:
        prices = PriceList(TeamMemory(store.folder).read().prices)
    except MemoryProblemError as problem:
        raise refuse_memory(problem) from None
    choices = choose_models(
        store.reader.ask, prices, parameters["by"], chosen.parameters, parameters["smallest"]
    )
    facts, rows = describe_models(choices, chosen.label)
    return Answer(facts, rows, facts["sentence"], has_log_text=True)


def describe_models(choices: ModelChoices, label: Label) -> tuple[dict[str, Any], list[Row]]:
    """Return the facts and the rows of the answer."""
    facts = {
        "sentence": describe_choices(choices),
        "by": choices.by,
        "currency": choices.currency,
        "smallest": choices.smallest,
        "days": describe_days(choices.days),
        "saved": _describe_amount(choices.total),
        "saved_from": choices.recent[0].isoformat() if choices.recent else None,
        "saved_to": choices.recent[1].isoformat() if choices.recent else None,
        "unused": choices.unused,
        "left_out": choices.left_out,
    }
    return facts, [_describe_choice(row, label, choices.smallest) for row in choices.rows]


def _describe_choice(choice: ModelChoice, label: Label, smallest: float) -> Row:
    return {
        "slice": choice.name,
        "label": label(choice.by, choice.name),
        "model": choice.model,
        "verdict": "switch" if choice.suggestion else "keep",
        "sentence": describe_choice(choice, label, smallest),
        "reason": choice.obstacle.name.lower() if choice.obstacle else None,
        "current": _describe_use(choice.current),
        "suggestion": _describe_candidate(choice.suggestion) if choice.suggestion else None,
        "spent": choice.spent,
        "saved": _describe_amount(choice.saving),
        "candidates": [_describe_candidate(candidate) for candidate in choice.candidates],
    }


def _describe_use(use: ModelUse) -> Row:
    interval = use.cost.interval if use.cost else None
    return {
        "model": use.model,
        **{name: describe_slice(slice_) for name, slice_ in use.rates.items()},
        "cost_per_successful_turn": {
            "estimate": use.cost.amount if use.cost else None,
            **_describe_interval(interval),
            "turns": use.turns,
            "unpriced": use.unpriced,
        },
    }


def _describe_candidate(candidate: Candidate) -> Row:
    return {
        **_describe_use(candidate.use),
        "reason": candidate.obstacle.name.lower() if candidate.obstacle else None,
        "differences": {check.rate.name: describe_difference(check.difference) for check in candidate.checks},
        "cost_ratio": _describe_ratio(candidate.ratio),
        "confidence": candidate.level,
        "same_list_price": candidate.has_same_prices,
        "missing": {
            name: {"observations": observations, "sessions": sessions}
            for name, (observations, sessions) in candidate.missing.items()
        },
    }


def _describe_ratio(ratio: MixedRatio | None) -> Row | None:
    return {"estimate": ratio.estimate, **_describe_interval(ratio.interval)} if ratio else None


def _describe_amount(amount: tuple[float, Interval] | None) -> Row | None:
    return {"estimate": amount[0], **_describe_interval(amount[1])} if amount else None


def _describe_interval(interval: Interval | None) -> Row:
    return {"low": interval.low if interval else None, "high": interval.high if interval else None}

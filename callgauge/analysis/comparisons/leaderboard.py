"""Collects the data of a leaderboard that people hand out: models by rates and cost, and valid calls by tool.

A leaderboard has no log content, no file names, no session ids and no names of people. It names a host only
if a filter chooses the host. The names of models, tools and prompts come from logs, so every writer must
escape them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from callgauge.analysis import wording
from callgauge.analysis.comparisons.rankings import JudgedRanking, judge_ranking, read_ranked_slices
from callgauge.analysis.comparisons.strata_queries import Ask
from callgauge.analysis.measures.alerts import Alert
from callgauge.analysis.measures.costs import COMMAND, Cost, find_ranked_costs
from callgauge.analysis.measures.measurability import (
    describe_gap,
    describe_unmeasured,
    find_definition_share,
    find_definition_shares,
)
from callgauge.analysis.measures.rates import LEADING, RATES
from callgauge.analysis.measures.slices import Slice, make_slices, merge_slices
from callgauge.memory.kept_slices import PARAMETERS
from callgauge.memory.records import ModelPrice
from ingest.time_ranges import Days

RATE_NAMES = tuple(reversed(LEADING))
"""The rates of a leaderboard in the order of its columns. The cost per successful turn is the last column."""
VALID = "parse_error"
"""A call is valid if it is no hit of this rate."""
_NAMED_FILTERS = ("model", "provider", "source", "strategy", "harness_version")
_MOST_NAMES = 3  # maximum number of filter values that a leaderboard lists
DEFINITIONS = (
    "Valid tool calls: 100 % minus the parse errors. The arguments fit the tool, if needed after a repair.",
    "Retry rate: the share of turns with at least one retry of a tool call.",
    "Turn success: the log reports it. If not, a turn needs an answer, and every call must reach its tool.",
    "Mix-adjusted: compares two models as if both had the same share of tools and prompts.",
    "Each rate is k of n with a 95 % interval over sessions. n counts only what the logs show.",
)
"""What the words of a leaderboard mean, and how its rates are counted."""


@dataclass(frozen=True, slots=True)
class PublishedNames:
    """Which names a leaderboard may contain: prompts only on request, and numbers in place of tools."""

    prompts: bool = False
    tools: bool = True


@dataclass(frozen=True, slots=True)
class ModelRates:
    """The rates of one model. `slices` maps the name of each measured rate to its slice.

    `cost` is None if the model has no turn with a price. `gap` is a sentence on the calls without a tool
    definition, of which only the JSON syntax was checked. It is empty if all calls have a definition.
    """

    label: str
    slices: Mapping[str, Slice]
    cost: Cost | None
    gap: str = ""


@dataclass(frozen=True, slots=True)
class ParseErrorTable:
    """The parse errors of each pair of a model and a value of the dimension `by`, which is tool or prompt.

    `totals` maps the label of each row to its slice over all models, the most used row first. `cells` maps a
    row label and a model label to a slice. `columns` holds the labels of the models, the most used model
    first. `left_out` is the number of values that are not in the table.
    """

    by: str
    totals: Mapping[str, Slice]
    columns: Sequence[str]
    cells: Mapping[tuple[str, str], Slice]
    left_out: int


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The data of a leaderboard.

    `sentence` says which model is the best, or what is missing. `as_of` is the day of the last load. `days`
    holds the first and the last covered day, or None if the logs have no dates. `filters` maps the name of
    each chosen filter to its values in words. `models` is ordered by rank. `whole` is the parse errors of all
    models, and `gap` is a sentence on the calls without a tool definition. `notes` says what else could not
    be measured.
    """

    sentence: str
    as_of: date | None
    days: Days | None
    filters: Mapping[str, str]
    models: Sequence[ModelRates]
    whole: Slice | None
    tables: Sequence[ParseErrorTable]
    notes: Sequence[str]
    gap: str = ""


def read_leaderboard(
    ask: Ask,
    prices: Iterable[ModelPrice],
    chosen: Mapping[str, Any],
    top: int,
    names: PublishedNames | None = None,
) -> Leaderboard:
    """Return the leaderboard of the chosen days and filters.

    `prices` holds the team's prices. `top` is the maximum number of tools, and of prompts. Raises
    MetricError.
    """
    names = names or PublishedNames()
    rate = RATES[VALID]
    slices = read_ranked_slices(ask, rate, "model", chosen)
    days, filters = _read_days(ask, chosen), _describe_filters(chosen, names)
    as_of = _read_as_of(ask, days)
    if not slices[VALID]:
        nothing = "These days have no tool calls" if days or filters else "The store has no tool calls"
        return Leaderboard(f"{nothing}, so there is no ranking.", as_of, days, filters, (), None, (), ())
    costs = find_ranked_costs(ask, prices, "model", chosen)
    ranking = judge_ranking(ask, slices, rate, "model", chosen, costs=costs)
    ranked = [row.slice.name for row in ranking.table.rows]
    used = Counter({slice_.name: slice_.total for slice_ in slices[VALID]})
    values = list(dict.fromkeys([*ranked, *(name for name, _ in used.most_common())]))
    labels = wording.unique_labels(values, values)
    rates = {name: {slice_.name: slice_ for slice_ in slices[name]} for name in RATE_NAMES}
    by_model = {cost.slice: cost for cost in costs}
    defined = make_slices(ask("slices", rates=("defined",), by="model", **chosen))
    shares = find_definition_shares([*defined, *slices[VALID]])
    models = [
        ModelRates(
            labels[value],
            {name: several[value] for name, several in rates.items() if value in several},
            by_model.get(value),
            describe_gap(shares.get(value)),
        )
        for value in values
    ]
    columns = {value: labels[value] for value in sorted(values, key=lambda value: (-used[value], value))}
    tables = [_read_table(ask, "tool", chosen, columns, top, is_named=names.tools)]
    if names.prompts:
        tables.append(_read_table(ask, "prompt", chosen, columns, top, is_named=True))
    return Leaderboard(
        _write_sentence(ranking, labels, names),
        as_of,
        days,
        filters,
        models,
        merge_slices(slices[VALID]),
        tables,
        _list_notes(slices, costs),
        describe_gap(find_definition_share([*defined, *slices[VALID]])),
    )


def _read_table(
    ask: Ask, by: str, chosen: Mapping[str, Any], models: Mapping[str, str], top: int, *, is_named: bool
) -> ParseErrorTable:
    grouping: dict[str, Any] = {"rates": (VALID,), "by": by}
    totals = sorted(
        make_slices(ask("slices", **grouping, **chosen)), key=lambda each: (-each.total, each.name)
    )
    shown = totals[:top]
    labels = _label_rows(ask, by, [each.name for each in shown], is_named=is_named)
    pairs = make_slices(ask("slices", **grouping, also="model", **chosen))
    return ParseErrorTable(
        by,
        {labels[each.name]: each for each in shown},
        list(models.values()),
        {
            (labels[each.name], models[each.also]): each
            for each in pairs
            if each.name in labels and each.also in models
        },
        len(totals) - len(shown),
    )


def _label_rows(ask: Ask, by: str, values: Sequence[str], *, is_named: bool) -> dict[str, str]:
    """Return the label of each tool or prompt.

    The label of a prompt without a name is the beginning of its id, because the usual label quotes its text.
    """
    if not is_named:
        return {value: f"{by} {number}" for number, value in enumerate(values, 1)}
    if by != "prompt":
        return wording.unique_labels(values, values)
    choices = ask("choices")
    rows = choices[choices.dimension == by].to_dict("records")
    named = {row["value"]: row["label"] for row in rows if row["name"]}
    return wording.unique_labels(values, [named.get(value, f"prompt {value[:7]}") for value in values])


def _write_sentence(ranking: JudgedRanking, labels: Mapping[str, str], names: PublishedNames) -> str:
    """Return the sentence of the page Models, without alerts on a host, or on a hidden tool or prompt."""
    alerts = [alert for each in ranking.context.alerts if (alert := _hide_names(each, names))]
    context = replace(ranking.context, alerts=alerts)
    return replace(ranking, context=context).write_sentence(labels)


def _hide_names(alert: Alert, names: PublishedNames) -> Alert | None:
    """Return an alert without hidden names. Return None if its change is known only for a hidden name."""
    is_shown = {"provider": False, "mcp_server": names.tools, "tool": names.tools, "prompt": names.prompts}
    hidden = {name for name, shown in is_shown.items() if not shown}
    if hidden & set(alert.values):
        return None
    return replace(alert, place=None) if alert.place and alert.place.dimension in hidden else alert


def _read_days(ask: Ask, chosen: Mapping[str, Any]) -> Days | None:
    """Return the chosen days, cut to the days with data. Return None if no call has a day."""
    extent = ask("extent").iloc[0]
    if extent.first_day is None:
        return None
    first = max(extent.first_day, chosen.get("from_day") or date.min)
    last = min(extent.last_day, chosen.get("to_day") or date.max)
    return (first, last) if first <= last else (chosen["from_day"], chosen["to_day"])


def _read_as_of(ask: Ask, days: Days | None) -> date | None:
    loaded = ask("last_load").iloc[0].loaded_at
    return loaded.date() if loaded is not None else days[1] if days else None


def _describe_filters(chosen: Mapping[str, Any], names: PublishedNames) -> dict[str, str]:
    """Return the chosen filters in words. A filter that may name a person or a hidden thing is a count."""
    named = {*_NAMED_FILTERS, *(["tool", "mcp_server"] if names.tools else [])}
    described = {}
    for dimension, parameter in PARAMETERS.items():
        values = chosen.get(parameter) or ()
        if not values:
            continue
        noun = wording.dimension(dimension)
        words = [wording.one_line(value, 60) for value in values[:_MOST_NAMES]]
        if more := len(values) - len(words):
            words.append(f"{more} more")
        described[noun.capitalize() if noun.islower() else noun] = (
            wording.list_words(words) if dimension in named else f"{len(values)} chosen"
        )
    return described


def _list_notes(slices: Mapping[str, Sequence[Slice]], costs: Sequence[Cost]) -> list[str]:
    """Return a sentence for each rate that was not measured, and for a missing cost."""
    notes = [describe_unmeasured(RATES[name], slices[name]) for name in RATE_NAMES]
    if not any(cost.per_completed and cost.is_priced_enough for cost in costs):
        notes.append(
            "Cost per successful turn: not known. It takes token counts in the logs, and a price for each "
            f"model (`{COMMAND}`)."
        )
    return [note for note in notes if note]

"""Questions about rates: their values, a ranking of the values of a dimension, and comparisons of slices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from callgauge.analysis import wording
from callgauge.analysis.arm_filters import PARAMETERS, Arm, Letter, name_arms
from callgauge.analysis.comparisons.rankings import judge_ranking, read_ranked_slices
from callgauge.analysis.comparisons.sides import CompareSide, judge_sides, list_cautions
from callgauge.analysis.measures.breakdown import Breakdown
from callgauge.analysis.measures.comparisons import (
    SMALLEST,
    SliceComparison,
    choose_reference,
    compare_pairs,
)
from callgauge.analysis.measures.costs import Cost, find_ranked_costs
from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.measures.slices import Slice, make_slices
from callgauge.analysis.verdicts.headlines import ArmNames, write_headline
from callgauge.analysis.verdicts.sentences import describe_basis
from callgauge.api.questions.answers import (
    Answer,
    Row,
    describe_comparison,
    describe_difference,
    describe_slice,
)
from callgauge.api.questions.parameters import Parameter
from callgauge.api.questions.problems import ProblemError, refuse_name
from callgauge.api.questions.slice_filters import (
    FILTERS,
    ChosenFilters,
    arm_parameters,
    choose_days,
    choose_filters,
    find_values,
)
from callgauge.api.questions.store_access import StoreAccess
from callgauge.memory.memory_file import MemoryProblemError
from callgauge.memory.team_memory import TeamMemory

DIMENSIONS = (
    "model", "provider", "prompt", "prompt_name", "tool", "mcp_server", "definition", "strategy", "source",
    "harness_version", "run", "arm", "day",
)  # fmt: skip
_RANKED = tuple(name for name in DIMENSIONS if name != "day")
_LIMIT = Parameter("limit", "integer", "Maximum number of rows.", default=1_000, low=1, high=10_000)
_RATE = Parameter("rate", "text", "The rate, such as parse_error.", tuple(RATES), default="parse_error")
_SMALLEST = Parameter(
    "smallest",
    "number",
    "The smallest difference of interest, a share: 0.02 is two points.",
    default=SMALLEST,
    low=0.0,
    high=0.5,
)
RATES_ASKED = (
    Parameter("rate", "texts", "Only these rates; all without.", tuple(RATES)),
    Parameter("by", "text", "One row for each value of this dimension.", DIMENSIONS),
    Parameter("also", "text", "And of this one: a row for each pair of values.", DIMENSIONS),
    *FILTERS,
    _LIMIT,
)
RANKING_ASKED = (
    _RATE,
    Parameter("by", "text", "What is ranked.", _RANKED, default="model"),
    Parameter("baseline", "text", "The value to compare the others with. Default: the most used."),
    _SMALLEST,
    *FILTERS,
)
COMPARISON_ASKED = (_RATE, _SMALLEST, *arm_parameters("A"), *arm_parameters("B"), *FILTERS)


def ask_rates(store: StoreAccess, parameters: Mapping[str, Any]) -> Answer:
    """Return rates with k, n and interval: totals, or rates by one or two dimensions."""
    chosen = choose_filters(store.reader.ask, parameters)
    names = parameters["rate"] or tuple(RATES)
    frame = store.reader.ask(
        "slices", rates=names, by=parameters["by"], also=parameters["also"], **chosen.parameters
    )
    rows: list[Row] = []
    for slice_ in make_slices(frame):
        row: Row = {"rate": slice_.rate.name, "slice": slice_.name}
        if parameters["by"]:
            row["label"] = chosen.label(parameters["by"], slice_.name)
        if parameters["also"]:
            row["also"] = slice_.also
        rows.append(row | describe_slice(slice_))
    if parameters["by"] == "day":
        rows.sort(key=lambda row: (row["slice"], row["rate"]))
    limit = parameters["limit"]
    facts = {
        "days": chosen.describe_days(),
        "rates": {
            name: {"title": RATES[name].title, "meaning": RATES[name].meaning, "better": RATES[name].better}
            for name in names
        },
        "by": parameters["by"],
        "also": parameters["also"],
        "truncated": len(rows) > limit,
    }
    summary = _describe_rates(rows[:limit], parameters) if rows else chosen.describe_nothing()
    return Answer(facts, rows[:limit], summary, has_log_text=True)


def _describe_rates(rows: list[Row], parameters: Mapping[str, Any]) -> str:
    by = parameters["by"]
    if by:
        sentence = f"{wording.plural(len(rows), 'row')}, one for each {wording.dimension(by)}."
        is_one_list = len(parameters["rate"] or ()) == 1 and by != "day" and not parameters["also"]
        worst = _describe_worst(rows, RATES[rows[0]["rate"]].is_good) if is_one_list else ""
        return f"{sentence} {worst}".strip()
    rates = [f"{RATES[row['rate']].title} {_write_share(row)}" for row in rows if row["n"]]
    return f"{'; '.join(rates)}." if rates else "Nothing of it could be measured."


def _write_share(row: Row) -> str:
    return f"{wording.rate(row['k'], row['n'])} ({wording.fraction(row['k'], row['n'])})"


def ask_ranking(store: StoreAccess, parameters: Mapping[str, Any]) -> Answer:
    """Return the values of a dimension ranked by a rate, with the sentences that the page Models shows."""
    chosen = choose_filters(store.reader.ask, parameters)
    rate, by = RATES[parameters["rate"]], parameters["by"]
    slices = read_ranked_slices(store.reader.ask, rate, by, chosen.parameters)
    several = slices[rate.name]
    if not several:
        summary = chosen.describe_nothing()
        return Answer({"sentence": summary, "days": chosen.describe_days()}, [], summary)
    baseline = _choose_baseline(several, parameters["baseline"], by, chosen)
    ranking = judge_ranking(
        store.reader.ask,
        slices,
        rate,
        by,
        chosen.parameters,
        baseline=baseline.name,
        smallest=parameters["smallest"],
        costs=_find_costs(store, by, chosen),
    )
    table = ranking.table
    names = {row.slice.name: _short_label(chosen, by, row.slice.name) for row in table.rows}
    sentence = ranking.write_sentence(names)
    rows = []
    for row in table.rows:
        place, rank = table.places.get(row.slice.name), table.ranks.get(row.slice.name)
        rows.append(
            {
                "slice": row.slice.name,
                "label": names[row.slice.name],
                "place": place.number if place else None,
                "place_is_shared": place.is_shared if place else None,
                "first_rank": rank[0] if rank else None,
                "last_rank": rank[1] if rank else None,
                **describe_slice(row.slice),
                **describe_comparison(row, parameters["smallest"]),
            }
        )
    facts = {
        "sentence": sentence,
        "rate": rate.name,
        "meaning": rate.meaning,
        "by": by,
        "baseline": table.reference.name,
        "days": chosen.describe_days(),
        "left_out": len(several) - len(table.rows),
    }
    return Answer(facts, rows, f"{sentence} {_describe_worst(rows, rate.is_good)}".strip(), has_log_text=True)


def _find_costs(store: StoreAccess, by: str, chosen: ChosenFilters) -> list[Cost]:
    with suppress(MemoryProblemError):
        prices = TeamMemory(store.folder).read().prices
        return find_ranked_costs(store.reader.ask, prices, by, chosen.parameters)
    return []


def _choose_baseline(several: Sequence[Slice], wanted: str | None, by: str, chosen: ChosenFilters) -> Slice:
    """Return the slice whose name or label is `wanted`. The default is the most used slice."""
    if not wanted:
        return choose_reference(several)
    for slice_ in several:
        if wanted in (slice_.name, chosen.label(by, slice_.name)):
            return slice_
    raise refuse_name("baseline", wanted, [slice_.name for slice_ in several])


def _describe_worst(rows: list[Row], is_good: bool) -> str:
    """Return the rates in words, the worst rate first. Values with too little data are marked."""
    measured = [row for row in rows if row["n"]]
    measured.sort(key=lambda row: (not row["enough"], row["share"] if is_good else -row["share"]))
    parts = [
        f"{wording.one_line(row['label'], 60)} {_write_share(row)}"
        + ("" if row["enough"] else ", not enough data")
        for row in measured[:10]
    ]
    return f"From the worst on: {'; '.join(parts)}." if parts else ""


def ask_comparison(store: StoreAccess, parameters: Mapping[str, Any]) -> Answer:
    """Return the verdict whether side B is better than side A.

    The answer also has the numbers and sentences of the page Compare.
    """
    chosen = choose_filters(store.reader.ask, parameters)
    arms = _read_arm("A", parameters, chosen, store), _read_arm("B", parameters, chosen, store)
    if arms[0].parameters() == arms[1].parameters():
        raise ProblemError(400, "Both sides are the same: choose a_model and b_model, or other dimensions.")
    rate, smallest, ask = RATES[parameters["rate"]], parameters["smallest"], store.reader.ask
    judged = judge_sides(ask, arms, name_arms(*arms, chosen.labels), rate, smallest)
    a, b, basis, rate, comparison = judged.a, judged.b, judged.basis, judged.rate, judged.comparison
    names = ArmNames(b.name, a.name)
    facts: dict[str, Any] = {
        "rate": rate.name,
        "meaning": rate.meaning,
        "a": _describe_side(a, rate.name),
        "b": _describe_side(b, rate.name),
        "all_rates": _compare_all(a, b, comparison, smallest),
    }
    if basis.rate is None:
        apart = {"sentence": basis.sentence, "verdict": "measured_apart", **facts}
        return Answer(apart, [], basis.sentence, has_log_text=True)
    if comparison is None or (breakdown := judged.breakdown) is None:
        unseen = [side.name for side in (a, b) if not ((whole := side.whole_slice(rate)) and whole.share.n)]
        summary = f"Nothing to compare: no {rate.noun} of {' or of '.join(unseen)} was measured."
        return Answer({"sentence": summary, "verdict": "unmeasured", **facts}, [], summary, has_log_text=True)

    def label(dimension: str, value: str) -> str:
        return _short_label(chosen, dimension, value)

    sentence, rests_on = (
        write_headline(breakdown, names, label, smallest),
        describe_basis(comparison, names, smallest),
    )
    cautions = [
        *filter(None, [basis.sentence]),
        *list_cautions(a, b, rate, comparison),
    ]
    facts = {
        "sentence": sentence,
        "basis": rests_on,
        **describe_comparison(comparison, smallest),
        "plain_difference": describe_difference(comparison.plain),
        "same_mix": _describe_mix(comparison),
        "cautions": cautions,
        **facts,
    }
    return Answer(
        facts,
        _list_strata(breakdown, chosen, smallest),
        " ".join([sentence, rests_on, *cautions]),
        has_log_text=True,
    )


def _read_arm(
    letter: Letter, parameters: Mapping[str, Any], chosen: ChosenFilters, store: StoreAccess
) -> Arm:
    prefix = letter.lower()
    own = {
        name: values
        for name in PARAMETERS
        if (values := find_values(name, parameters[f"{prefix}_{name}"], chosen.labels))
    }
    days = None
    if text := parameters[f"{prefix}_days"]:
        extent = store.reader.ask("extent").iloc[0]
        first, last = choose_days({"days": text}, extent.last_day, datetime.now(UTC).date())
        if first is None and extent.first_day:
            first, last = extent.first_day, extent.last_day
        days = (first, last) if first and last else None
    return Arm(letter, own, days, chosen.parameters)


def _describe_side(side: CompareSide, rate: str) -> Row:
    days = side.arm.days
    whole = side.rates.get(rate)
    return {
        "name": side.name,
        "own": {name: list(values) for name, values in side.arm.own.items()},
        "days": {"from": days[0].isoformat(), "to": days[1].isoformat()} if days else None,
        **(describe_slice(whole) if whole else {"k": 0, "n": 0}),
    }


def _describe_mix(comparison: SliceComparison) -> Row | None:
    mix = comparison.same_mix
    if mix is None:
        return None
    return {
        "by": list(mix.by),
        "a_share": mix.found.against,
        "b_share": mix.found.of,
        "covered": mix.found.covered,
        "difference": describe_difference(mix.found.difference),
    }


def _list_strata(breakdown: Breakdown, chosen: ChosenFilters, smallest: float) -> list[Row]:
    rows = []
    for dimension, strata in breakdown.strata.items():
        for each in strata:
            a, b = (
                {"k": 0, "n": 0} if slice_ is None else describe_slice(slice_) for slice_ in (each.a, each.b)
            )
            comparison = each.comparison
            rows.append(
                {
                    "dimension": dimension,
                    "slice": each.name,
                    "label": chosen.label(dimension, each.name),
                    **{f"a_{name}": a.get(name) for name in ("k", "n", "share", "low", "high", "sessions")},
                    **{f"b_{name}": b.get(name) for name in ("k", "n", "share", "low", "high", "sessions")},
                    "verdict": each.standing(smallest).name.lower(),
                    "difference": describe_difference(comparison.difference) if comparison else None,
                    "p_adjusted": comparison.p if comparison else None,
                    "is_unlike_others": each.is_unlike_others,
                }
            )
    return rows


def _compare_all(
    a: CompareSide, b: CompareSide, chosen: SliceComparison | None, smallest: float
) -> list[Row]:
    """Return every rate of the two sides with difference and verdict, corrected for multiple tests."""
    both = [name for name in RATES if name in a.rates and name in b.rates]
    compared = compare_pairs([(b.rates[name], a.rates[name]) for name in both], family="rates")
    by_rate = dict(zip(both, compared, strict=True))
    if chosen is not None:
        by_rate[chosen.slice.rate.name] = chosen
    mixed = chosen is not None and (chosen.is_at_same_mix or chosen.does_other_work)
    rows = []
    for name, comparison in by_rate.items():
        row = describe_comparison(comparison, smallest)
        if mixed and comparison is not chosen:
            # A different mix of calls may explain the difference, so there is no verdict, as on the page.
            row |= {"verdict": "other_mix", "p_adjusted": None}
        sides = {"a": describe_slice(a.rates[name]), "b": describe_slice(b.rates[name])}
        rows.append({"rate": name, **sides, **row})
    return rows


def _short_label(chosen: ChosenFilters, dimension: str, value: str) -> str:
    return wording.one_line(chosen.label(dimension, value), 60)

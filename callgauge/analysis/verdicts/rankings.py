"""Writes the sentences on a ranking: which slice is the best by a rate, which slices may be the best, and by
which other rates they are worse.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from callgauge.analysis import wording
from callgauge.analysis.measures.alerts import Alert
from callgauge.analysis.measures.comparisons import PairRates, RankedTable
from callgauge.analysis.measures.costs import Cost, MeanCost
from callgauge.analysis.measures.measurability import ComparisonBasis
from callgauge.analysis.measures.slices import Slice
from callgauge.analysis.verdicts.alerts import describe_open_alert
from callgauge.analysis.verdicts.sentences import RULE, UNDATED, describe_reach, is_undated, list_names
from callgauge.stats.standardisation import COMPARABLE

_NAMED = 3  # maximum number of slices in a sentence
_FEW = 5  # if the best group has more slices than this, no sentence compares two of them
_BUTS = 2  # maximum number of sentences on the price of a leading slice
_AS_ASKED = ComparisonBasis(None)
Names = Mapping[str, str]
"""The label of each slice."""


@dataclass(frozen=True, slots=True)
class RankingContext:
    """Further facts on the ranked slices.

    `others` holds the rankings by the other leading rates, the most important first. `costs` holds the cost
    of each slice, by name. `basis` says why the slices are ranked by this rate and not by the chosen rate.
    `concentrated` says for each left-out slice why it is not ranked: few sessions contain its calls, or its
    calls have no tool definition. `alerts` holds the open alerts on this rate after the `night`, for values
    of the dimension `by`.
    """

    others: Sequence[RankedTable] = ()
    costs: Mapping[str, Cost] | None = None
    basis: ComparisonBasis = _AS_ASKED
    concentrated: Mapping[str, str] | None = None
    by: str = ""
    alerts: Sequence[Alert] = ()
    night: date = date.min


def write_ranking(table: RankedTable, names: Names, noun: str, context: RankingContext | None = None) -> str:
    """Return the sentences on which slice is the best.

    `noun` is the word for a slice, such as model.
    """
    details = context or RankingContext()
    if details.basis.reason and not table.pairs:
        why = details.basis.reason.removeprefix("not comparable: ")
        return f"No ranking by {table.rate.phrase}: {why}."
    sentences = [
        _write_top(table, names, noun),
        *(list(_write_prices(table, names, details))[:_BUTS] if table.rate.better else ()),
        *_write_alerts(table, names, details),
        UNDATED if list_leaders(table) and is_undated(table.judged) else "",
        details.basis.sentence,
        *_write_concentrated(names, details),
    ]
    return " ".join(_join_objections([sentence for sentence in sentences if sentence]))


def _join_objections(sentences: Sequence[str]) -> Iterator[str]:
    """Yield the sentences. If two consecutive sentences begin with "But", the second one gets "And"."""
    for place, sentence in enumerate(sentences):
        follows = place > 0 and sentences[place - 1].startswith("But ")
        yield sentence.replace("But ", "And ", 1) if follows and sentence.startswith("But ") else sentence


def list_leaders(table: RankedTable) -> list[Slice]:
    """Return the slices that the sentence names: at most three of the slices that may be the best."""
    is_open = len(table.best) == len(table.judged)
    return [] if is_open else list(table.best[:_NAMED])


def _write_top(table: RankedTable, names: Names, noun: str) -> str:
    rate, judged, best = table.rate, table.judged, table.best
    title, several = rate.phrase, wording.plural_of(noun)
    if rate.better is None:
        return f"{rate.title}: neither more nor less is better, so there is no best {noun}."
    if len(judged) < 2:
        return _write_missing(table, noun)
    if not best:
        return f"No best {noun} by {title}: each of these {len(judged)} is worse than another."
    if len(best) == 1:
        return _write_best(table, names, noun)
    if len(best) == len(judged):
        either = f"either {noun}" if len(judged) == 2 else f"any of these {len(judged)} {several}"
        group = f"No clear leader yet by {title}: {either} may be the best."
        inside = _write_inside(table, names)
        return f"{group} {inside or describe_reach(list(table.pairs.values()))}"
    group = _write_group(table, names, noun)
    return f"{group} {_write_inside(table, names)}".rstrip()


def _write_missing(table: RankedTable, noun: str) -> str:
    several = wording.plural_of(noun)
    named = [row.slice for row in table.rows if row.slice.is_named]
    if len(named) < 2:
        if not named:
            return f"Nothing to rank: no named {noun} was observed."
        counted = wording.plural(named[0].total, named[0].rate.noun)
        return f"Nothing to rank: only one {noun} was observed ({counted})."
    if sum(each.is_solid for each in named) < 2:
        enough = sum(each.share.has_enough for each in named)
        have = "has" if enough == 1 else "have"
        return f"Not enough data to rank: {enough} of {len(named)} {several} {have} {RULE}."
    if any(row.has_too_few_days for row in table.rows):
        return f"Not enough data to rank: the {several} ran on different days, and none on five."
    common = f"{100 * COMPARABLE:.0f} % of their {table.rate.noun}s in common"
    return f"Too different work to rank: no two {several} have {common}."


def _write_best(table: RankedTable, names: Names, noun: str) -> str:
    (best,) = table.best
    name, title = _label(best, names), table.rate.phrase
    others = [each for each in table.judged if each is not best]
    if not all((best.name, each.name) in table.wins for each in others):
        many = "the other one is" if len(others) == 1 else f"the {len(others)} others are"
        return f"Only {name} may be the best by {title}: {many} ruled out with 95% confidence."
    pairs = [(pair, each) for each in others if (pair := table.find_pair(best.name, each.name))]
    pair, closest = min(pairs, key=lambda candidate: abs(candidate[0].of - candidate[0].against))
    ends = sorted((abs(pair.low), abs(pair.high)))
    low, high = (wording.percent(end).rstrip("%") for end in ends)
    rival = f"the other {noun}" if len(others) == 1 else "the closest"
    return (
        f"{name} is the best by {title}: {_write_rates(best, closest, names)}, {rival}"
        f"{_write_adjusted(pair, best, closest)} (by {low} to {high} points)."
    )


def _write_rates(slice_: Slice, other: Slice, names: Names) -> str:
    """Return the rates of two slices as the table shows them, without an adjustment."""
    mine, theirs = (wording.rate(each.share.k, each.share.n) for each in (slice_, other))
    return f"{mine} against {theirs} of {_label(other, names)}"


def _write_adjusted(pair: PairRates, slice_: Slice, other: Slice) -> str:
    """Return the mix-adjusted rates of two slices as a clause, or "" if their rates are not adjusted."""
    if not pair.is_mixed:
        return ""
    difference = (slice_.share.rate or 0.0) - (other.share.rate or 0.0)
    but = "but " if difference * (pair.of - pair.against) < 0 else ""
    return f"; {but}mix-adjusted, {wording.percent(pair.of)} against {wording.percent(pair.against)}"


def _write_group(table: RankedTable, names: Names, noun: str) -> str:
    best, title = table.best, table.rate.phrase
    names_of_best = {each.name for each in best}
    others = [each for each in table.judged if each.name not in names_of_best]
    if len(best) <= _NAMED + 1:
        group = f"The best by {title} is {'one of ' if len(best) > 2 else ''}{_list_or(best, names)}"
    else:
        listed = list_names([_label(each, names) for each in best[:_NAMED]])
        several = wording.plural_of(noun)
        group = f"The best by {title} is one of {len(best)} {several}, among them {listed}"
    is_worse = all(any((each.name, other.name) in table.wins for each in best) for other in others)
    if is_worse:
        rest = f"each of the {len(others)} others is worse than one of them"
        if len(others) == 1:
            better = next(each for each in best if (each.name, others[0].name) in table.wins)
            rest = f"{_label(others[0], names)} is worse than {_label(better, names)}"
    else:
        rest = "the other one is" if len(others) == 1 else f"the {len(others)} others are"
        rest += " ruled out with 95% confidence"
    apart = " Not all of them were compared, since some do different work." if table.is_apart else ""
    return f"{group}; {rest}.{apart}"


def _write_inside(table: RankedTable, names: Names) -> str:
    """Return a sentence on two of the best slices that differ if p-values are not corrected for other pairs.

    If several pairs differ, the sentence names the pair with the smallest p-value. Return "" if no pair
    differs, or if more than `_FEW` slices may be the best.
    """
    best = table.best if len(table.best) <= _FEW else ()
    alone = [
        (comparison.difference.p, better, worse)
        for better in best
        for worse in best
        if better is not worse
        and (
            comparison := table.pairs.get((better.name, worse.name))
            or table.pairs.get((worse.name, better.name))
        )
        and comparison.difference
        and comparison.is_better_alone(better.name, table.smallest)
    ]
    if not alone:
        return ""
    _, better, worse = min(alone, key=lambda candidate: candidate[0])
    return f"Compared as a pair, {_label(better, names)} is better than {_label(worse, names)}."


# --- the price of a leading slice ---------------------------------------------------------------


def _write_prices(table: RankedTable, names: Names, context: RankingContext) -> Iterator[str]:
    """Yield a sentence for each other leading rate by which a leading slice is clearly worse."""
    leaders = list_leaders(table)
    for other in context.others:
        for leader in leaders:
            if losses := other.find_losses(leader.name):
                yield _write_price(other, leader, losses, names)
    for leader in leaders:
        if context.costs and (sentence := _write_dearer(leader, table.judged, context.costs, names)):
            yield sentence


def _write_price(other: RankedTable, leader: Slice, losses: Sequence[Slice], names: Names) -> str:
    rate = other.rate
    own = next(each for each in other.judged if each.name == leader.name)
    title, name = rate.phrase, _label(leader, names)
    extreme = "lowest" if rate.is_good else "highest"
    rest = [each for each in other.judged if each.name != leader.name]
    rates = sorted(each.share.rate or 0.0 for each in rest)
    own_rate = own.share.rate or 0.0
    is_extreme = own_rate < rates[0] if rate.is_good else own_rate > rates[-1]
    if len(losses) == len(rest) > 1 and is_extreme:
        mine = wording.rate(own.share.k, own.share.n)
        span = f"{wording.percent(rates[0]).rstrip('%')}–{wording.percent(rates[-1])}"
        return f"But {name} has the {extreme} {title}: {mine} against {span} of the others."
    pair = other.find_pair(leader.name, losses[0].name)
    adjusted = _write_adjusted(pair, own, losses[0]) if pair else ""
    return f"But {name} is worse by {title}: {_write_rates(own, losses[0], names)}{adjusted}."


def _write_dearer(leader: Slice, judged: Sequence[Slice], costs: Mapping[str, Cost], names: Names) -> str:
    """Say that a slice costs more than the cheapest slice, if the difference is significant."""
    own = _cost_of(leader.name, costs)
    rivals = [(mean, each) for each in judged if each is not leader and (mean := _cost_of(each.name, costs))]
    if own is None or not rivals:
        return ""
    cheaper = [
        (mean, each)
        for mean, each in rivals
        if (ratio := own.compare_with(mean)) is not None and ratio.low > 1
    ]
    if not cheaper:
        return ""
    cheapest, rival = min(cheaper, key=lambda pair: pair[0].amount)
    places = wording.money_places(cheapest.amount)
    mine, theirs = (
        wording.money(mean.amount, costs[leader.name].currency, places) for mean in (own, cheapest)
    )
    if len(cheaper) == 1:
        cheaper_one, dearer = _label(rival, names), _label(leader, names)
        return f"Only {cheaper_one} costs less per successful turn than {dearer}: {theirs} against {mine}."
    return (
        f"But {_label(leader, names)} costs more per successful turn: {mine} against {theirs} "
        f"of {_label(rival, names)}, the cheapest."
    )


def _cost_of(name: str, costs: Mapping[str, Cost]) -> MeanCost | None:
    cost = costs.get(name)
    return cost.per_completed if cost and cost.is_priced_enough else None


def _write_alerts(table: RankedTable, names: Names, context: RankingContext) -> Iterator[str]:
    """Yield the most certain open alert of each leading slice. A rate over all days hides a recent rise."""

    def label(dimension: str, value: str) -> str:
        return names.get(value, value) if dimension == context.by else wording.one_line(value, 40)

    for leader in list_leaders(table):
        for alert in context.alerts:
            if alert.values.get(context.by) == leader.name:
                yield describe_open_alert(alert, context.night, label)
                break


def _write_concentrated(names: Names, context: RankingContext) -> Iterator[str]:
    for name, why in list((context.concentrated or {}).items())[:_NAMED]:
        yield f"{names.get(name, name)} is not ranked: {why}."


def _label(each: Slice, names: Names) -> str:
    return names.get(each.name, each.name)


def _list_or(several: Sequence[Slice], names: Names) -> str:
    labels = [_label(each, names) for each in several]
    return wording.list_words(labels, "or" if len(labels) < 3 else "and")

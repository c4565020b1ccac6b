"""The sentence on tools: which one fails most often, where in its arguments, and whose fault it is."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from callgauge.analysis import wording
from callgauge.analysis.measures.comparisons import SMALLEST, choose_reference, rank_table
from callgauge.analysis.measures.measurability import (
    TOLERANCE,
    find_definition_shares,
    is_by_definition,
)
from callgauge.analysis.measures.slices import Slice
from callgauge.analysis.verdicts.sentences import RULE, describe_visible

_JUDGED = 40  # tools that are compared, those with most failures
_NAMED = 3
_FAULTS = {
    "parse_error": "by the arguments",
    "tool_rejected": "rejected by the tool",
    "execution": "in execution",
}
"""The rates of failed calls, each with where a call failed; a call is in one of them."""
_HOW = {
    "parse_error": "fails most often by parse errors",
    "tool_rejected": "rejects calls most often",
    "execution": "fails most often in execution",
}
Row = Mapping[Hashable, Any]


@dataclass(frozen=True, slots=True)
class ToolVerdict:
    """Which tools may be the one that fails most often by a rate.

    `judged`: the tools with enough data that were compared, those with most failures first. `worst`: of
    these, those that are not known to be better than another. `reach`: the difference between the two most
    used that would not show yet, in words. `undefined`: tools that were not compared: their
    calls have no definition, and those of others have one.
    """

    judged: Sequence[Slice]
    worst: Sequence[Slice]
    reach: str = ""
    undefined: int = 0

    @property
    def named(self) -> Slice | None:
        """The tool to describe: that with most failures of the worst; None where any may be the worst."""
        if len(self.judged) > 1 and len(self.worst) == len(self.judged):
            return None
        return self.worst[0] if self.worst else None


def judge_tools(several: Sequence[Slice], measured: Sequence[Slice] = ()) -> ToolVerdict:
    """Return which tools may fail most often.

    `several`: the slices of one rate, each of a tool. `measured`: those that say how many of its calls had a
    definition. Only tools that were measured alike are compared.
    """
    shares = find_definition_shares(measured) if several and is_by_definition(several[0].rate) else {}
    best = max((shares.get(each.name, 0.0) for each in several if each.is_solid), default=0.0)
    alike = [each for each in several if best - shares.get(each.name, best) <= TOLERANCE]
    solid = [each for each in several if each.is_solid and each.is_named]
    undefined = len(solid) - sum(each.is_solid and each.is_named for each in alike)
    return replace(_judge_alike(alike), undefined=undefined)


def _judge_alike(several: Sequence[Slice]) -> ToolVerdict:
    by_failures = sorted(several, key=lambda each: (-estimate_failures(each), each.name))
    solid = [each for each in by_failures if each.is_solid and each.is_named]
    judged = solid[:_JUDGED]
    if len(judged) < 2:
        return ToolVerdict(judged, judged)
    table = rank_table(judged, choose_reference(judged), smallest=SMALLEST)
    ahead = {better for better, _ in table.wins}
    worst = [each for each in judged if each.name not in ahead] or judged
    used = {each.name for each in sorted(judged, key=lambda each: -each.total)[:2]}
    pair = next((pair for names, pair in table.pairs.items() if set(names) == used), None)
    return ToolVerdict(judged, worst, describe_visible(pair) if pair else "")


def estimate_failures(one: Slice | None) -> float:
    """Return the number of failed calls or turns, as if what is not measured were like the rest.

    Return 0 without a slice or a measurement.
    """
    if one is None or one.share.rate is None:
        return 0.0
    failed = 1 - one.share.rate if one.rate.is_good else one.share.rate
    return failed * one.total


def sort_by_failures(several: Mapping[str, Slice], names: Sequence[str]) -> list[str]:
    """Return the names by their failures, most first; those of which too little was measured come last."""

    def place(name: str) -> tuple[bool, float, int, str]:
        one = several.get(name)
        return one is None or not one.is_rankable, -estimate_failures(one), -(one.total if one else 0), name

    return sorted(names, key=place)


def write_tools(
    verdict: ToolVerdict, faults: Mapping[str, Slice] | None = None, culprits: Sequence[Row] = ()
) -> str:
    """Return the sentences on which tool fails most often. Contains log text.

    `faults`: the slices of the named tool by rate, of those that count failed calls. `culprits`: its rows of
    the metric `culprits`.
    """
    judged, worst = verdict.judged, verdict.worst
    if not judged:
        return f"Not enough data to say which tool fails most often: none has {RULE}."
    title = judged[0].rate.phrase
    if len(judged) == 1:
        return f"Only {_name(judged[0])} has enough data: {_count(judged[0])} by {title}."
    if verdict.named is None:
        reach = f"; {verdict.reach}" if verdict.reach else ""
        return (
            f"No tool stands out yet by {title}: any of these {len(judged)} may be the worst "
            f"({_sum_up(judged)}{reach})."
        )
    sentences = [_describe_worst(worst, judged, title, culprits), _describe_most(verdict)]
    if len(worst) == 1:
        sentences.append(_describe_faults(faults or {}))
    if verdict.undefined:
        were = "tool was" if verdict.undefined == 1 else "tools were"
        sentences.append(f"{verdict.undefined} {were} not compared: no tool definition.")
    return " ".join(sentence for sentence in sentences if sentence)


def _describe_worst(
    worst: Sequence[Slice], judged: Sequence[Slice], title: str, culprits: Sequence[Row]
) -> str:
    """Say which tools may be the worst: by name at most three, and how many others there are."""
    rate = worst[0].rate
    how = _HOW.get(rate.name, f"has the {'lowest' if rate.is_good else 'highest'} {title}")
    if len(worst) == 1:
        place = _describe_place(worst[0].share.k, culprits)
        return f"{_name(worst[0])} {how}: {_count(worst[0])}{place}."
    rates = [f"{_name(each)} ({_rate(each)})" for each in worst[:_NAMED]]
    more = len(worst) - _NAMED
    rates = [*rates, f"{more} more"] if more > 0 else rates
    others = len(judged) - len(worst)
    than = f"the {others} other tools do" if others > 1 else "the other tool does"
    listed = f"{', '.join(rates[:-1])} or {rates[-1]}"
    return f"{listed} {how}; {than} better than one of them."


def _describe_most(verdict: ToolVerdict) -> str:
    """Say where most failures are, where that is no tool of the sentence before."""
    most = verdict.judged[0]
    if most in verdict.worst[:_NAMED] or most.rate.noun == "turn":
        return ""
    return f"Most failures are in {_name(most)}: {_count(most)}."


def _describe_faults(faults: Mapping[str, Slice]) -> str:
    counts = [
        f"{faults[name].share.k:,} {words}"
        for name, words in _FAULTS.items()
        if name in faults and faults[name].share.k
    ]
    return f"Its failed calls: {', '.join(counts)}." if len(counts) > 1 else ""


def _describe_place(failed: int, culprits: Sequence[Row]) -> str:
    """Return the parameter at which most of the failed calls went wrong, worded to follow the figures."""
    by_parameter: dict[str, int] = {}
    for row in culprits:
        if row["severity"] == "error":
            by_parameter[row["parameter"]] = by_parameter.get(row["parameter"], 0) + row["calls"]
    if not by_parameter:
        return ""
    parameter, calls = max(by_parameter.items(), key=lambda pair: pair[1])
    place = f"at {wording.one_line(parameter, 40)}" if parameter else "in the text as a whole"
    return f", {'mostly' if 2 * calls >= failed else 'most often'} {place}"


def _name(each: Slice) -> str:
    return wording.one_line(each.name, 60)


def _rate(each: Slice) -> str:
    return wording.rate(each.share.k, each.share.n)


def _count(each: Slice) -> str:
    return f"{each.share.k:,} of {wording.plural(each.share.n, each.rate.noun)} ({_rate(each)})"


def _sum_up(several: Sequence[Slice]) -> str:
    """Return k of n over all tools; of turns, which count for each of their tools, the number of tools."""
    noun = several[0].rate.noun
    if noun == "turn":
        return f"{len(several)} tools with enough data"
    k, n = (sum(getattr(each.share, part) for each in several) for part in ("k", "n"))
    return f"{k:,} of {wording.plural(n, noun)}"

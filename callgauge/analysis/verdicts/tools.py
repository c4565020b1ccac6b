"""Writes the sentence on tools: which tool fails most often, at which parameter, and with which models."""

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

_JUDGED = 40  # maximum number of compared tools; those with most failures are compared
_NAMED = 3
_FAULTS = {
    "parse_error": "had invalid arguments",
    "tool_rejected": "were rejected by the tool",
    "execution": "failed in execution",
}
"""The rates that count failed calls, with a verb phrase. A failed call is a hit of one of these rates."""
Row = Mapping[Hashable, Any]


@dataclass(frozen=True, slots=True)
class ToolVerdict:
    """The tools that may have the highest failure rate.

    `judged` holds the compared tools with enough data, the most failures first. `worst` holds the judged
    tools that are not known to be better than another tool. `wins` holds pairs of tool names, of which the
    first tool is known to be better. `reach` says which difference between the two most used tools is not yet
    detectable. `undefined` says how many tools were not compared because their calls have no definition.
    """

    judged: Sequence[Slice]
    worst: Sequence[Slice]
    wins: frozenset[tuple[str, str]] = frozenset()
    reach: str = ""
    undefined: int = 0

    @property
    def named(self) -> Slice | None:
        """The tool of `worst` to describe: first a tool that is known to be worse than another.

        The result is None if all tools are in `worst`.
        """
        if len(self.judged) > 1 and len(self.worst) == len(self.judged):
            return None
        beaten = {name for _, name in self.wins}
        beaten_tools = [each for each in self.worst if each.name in beaten] or self.worst
        return max(beaten_tools, key=_measure_badness, default=None)


def judge_tools(several: Sequence[Slice], measured: Sequence[Slice] = ()) -> ToolVerdict:
    """Return which tools may fail most often.

    `several` holds the slices of one rate, one slice per tool. `measured` holds the slices that show how many
    calls had a definition.
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
    wins = frozenset(table.wins)
    return ToolVerdict(judged, worst, wins, describe_visible(pair) if pair else "")


def estimate_failures(slice_: Slice | None) -> float:
    """Estimate the number of failed calls or turns.

    Unmeasured calls or turns are assumed to fail as often as measured ones. Return 0 when nothing was
    measured.
    """
    if slice_ is None or slice_.share.rate is None:
        return 0.0
    failed = 1 - slice_.share.rate if slice_.rate.is_good else slice_.share.rate
    return failed * slice_.total


def sort_by_failures(several: Mapping[str, Slice], names: Sequence[str]) -> list[str]:
    """Return the names, the slice with most failures first. Slices with too few measurements come last."""

    def place(name: str) -> tuple[bool, float, int, str]:
        slice_ = several.get(name)
        return (
            slice_ is None or not slice_.is_rankable,
            -estimate_failures(slice_),
            -(slice_.total if slice_ else 0),
            name,
        )

    return sorted(names, key=place)


def write_tools(
    verdict: ToolVerdict,
    faults: Mapping[str, Slice] | None = None,
    culprits: Sequence[Row] = (),
    noun: str = "tool",
) -> str:
    """Return the sentences on which tool fails most often. They contain log content.

    `faults` holds the slices of the named tool for the rates that count failed calls. `culprits` holds the
    tool's rows of the metric `culprits`. `noun` is the word for a slice, such as "MCP server" for slices by
    server.
    """
    judged, named = verdict.judged, verdict.named
    if not judged:
        return f"Not enough data to say which {noun} fails most often: none has {RULE}."
    title = judged[0].rate.phrase
    if len(judged) == 1:
        return f"Only {_name(judged[0])} has enough data ({title}: {_count(judged[0])})."
    if named is None:
        reach = f"; {verdict.reach}" if verdict.reach else ""
        return (
            f"No {noun} is clearly the worst yet by {title}: any of these {len(judged)} may be it "
            f"({_sum_up(judged, noun)}{reach})."
        )
    sentences = [_describe_worst(verdict, named, culprits), _describe_most(verdict, named)]
    if len(verdict.worst) == 1:
        sentences.append(_describe_faults(faults or {}))
    if verdict.undefined:
        were = "was" if verdict.undefined == 1 else "were"
        count = wording.plural(verdict.undefined, noun)
        sentences.append(f"{count} {were} not compared: no tool definition.")
    return " ".join(sentence for sentence in sentences if sentence)


def _measure_badness(each: Slice) -> tuple[float, float]:
    rate = each.share.rate or 0.0
    return 1 - rate if each.rate.is_good else rate, estimate_failures(each)


def _describe_worst(verdict: ToolVerdict, named: Slice, culprits: Sequence[Row]) -> str:
    others = sorted(
        (each for each in verdict.judged if each is not named), key=_measure_badness, reverse=True
    )
    better = [each for each in others if (each.name, named.name) in verdict.wins]
    unclear = [each for each in others if each not in better]
    how = _describe_extreme(named)
    if not unclear:
        place = _describe_place(named.share.k, culprits)
        return f"{_name(named)} has the {how}: {_count(named)}{place}."
    above = [each for each in unclear if _measure_badness(each) > _measure_badness(named)]
    if above:
        claim = (
            f"{_name(named)} is clearly worse by {named.rate.phrase} ({_rate(named)}) than {_list(better)}"
        )
        return f"{claim}; {_list(above, rates=True)} may be worse still."
    are = "are" if len(better) > 1 else "is"
    return (
        f"{_name(named)} has the {how} ({_rate(named)}). {_list(better)} {are} clearly better; "
        f"for {_list(unclear, rates=True)}, the difference is not clear."
    )


def _describe_extreme(named: Slice) -> str:
    rate = named.rate
    extreme = "lowest" if rate.is_good else "highest"
    return f"{extreme} {rate.phrase}" if rate.noun == "turn" else f"{extreme} share of {rate.phrase}"


def _list(several: Sequence[Slice], *, rates: bool = False) -> str:
    names = [f"{_name(each)} ({_rate(each)})" if rates else _name(each) for each in several[:_NAMED]]
    more = len(several) - _NAMED
    return wording.list_words([*names, f"{more} more"] if more > 0 else names)


def _describe_most(verdict: ToolVerdict, named: Slice) -> str:
    most = verdict.judged[0]
    if most is named or most.rate.is_good or most.rate.noun == "turn":
        return ""
    return f"{_name(most)} has the most failures in total: {_count(most)}."


def _describe_faults(faults: Mapping[str, Slice]) -> str:
    counts = [
        f"{faults[name].share.k:,} {words}"
        for name, words in _FAULTS.items()
        if name in faults and faults[name].share.k
    ]
    return f"Of its calls, {wording.list_words(counts)}." if len(counts) > 1 else ""


def _describe_place(failed: int, culprits: Sequence[Row]) -> str:
    """Describe the parameter whose errors cause most failed calls, as a phrase that follows the figures."""
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


def _sum_up(several: Sequence[Slice], named: str) -> str:
    """Return k of n over all tools.

    A turn counts once per tool, so for turns return the number of tools. `named` is the word for a tool.
    """
    noun = several[0].rate.noun
    if noun == "turn":
        return f"{wording.plural(len(several), named)} with enough data"
    k, n = (sum(getattr(each.share, part) for each in several) for part in ("k", "n"))
    return f"{k:,} of {wording.plural(n, noun)}"

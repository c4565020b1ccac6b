"""Finds the models, tools, prompts, hosts and parameters in which a slice is worse than its baseline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from callgauge.analysis import wording
from callgauge.analysis.arm_filters import PARAMETERS, Arm
from callgauge.analysis.comparisons.strata_queries import Ask
from callgauge.analysis.measures.breakdown import Breakdown
from callgauge.analysis.measures.comparisons import LEVEL, SMALLEST, SliceComparison, Standing
from callgauge.analysis.verdicts.parameter_faults import ToolFaults, read_tool_faults
from callgauge.analysis.verdicts.sentences import format_difference
from callgauge.stats import Difference, Share, compare_shares, holm

_FAILURES = ("parse_error", "schema_error")
"""For these rates, a fault counts only if the call failed because of it."""
_OF_ARGUMENTS = (*_FAILURES, "strict_failure", "mended", "coerced")
"""A fault at a parameter can raise these rates."""
_MOST_TOOLS = 3  # Each tool takes two queries.


@dataclass(frozen=True, slots=True)
class WorsePart:
    """A value of a dimension in which the judged slice is certainly worse than the baseline.

    `dimension` is model, tool, prompt, provider or parameter. `tool` is the tool of a parameter, or empty if
    the slice has one tool. `k` of `n` are the calls or turns of the judged slice, and `baseline_k` of
    `baseline_n` those of the baseline. `estimate`, `low` and `high` are the difference with its 95 %
    interval, mix-adjusted if `at_same_mix` is True.
    """

    dimension: str
    value: str
    k: int
    n: int
    baseline_k: int
    baseline_n: int
    estimate: float
    low: float
    high: float
    at_same_mix: bool = False
    tool: str = ""


def find_worse_parts(ask: Ask, arms: tuple[Arm, Arm], breakdown: Breakdown) -> tuple[WorsePart, ...]:
    """Return the parts in which slice B is certainly worse than the baseline A, the largest change first.

    Only dimensions on which the difference depends (a proven interaction) have parts. The p-values are
    adjusted over all models, tools, prompts and hosts, and over all parameters. A parameter follows its tool.
    Raises MetricError.
    """
    worse = [
        (each, each.comparison)
        for dimension in breakdown.list_differing()
        for each in breakdown.strata[dimension]
        if each.comparison is not None and each.standing(SMALLEST) is Standing.WORSE
    ]
    parts = sorted(
        (_make_part(each.dimension, each.name, comparison) for each, comparison in worse),
        key=lambda part: (-abs(part.estimate), part.dimension, part.value),
    )
    if breakdown.whole.slice.rate.name not in _OF_ARGUMENTS:
        return tuple(parts)
    tools = [part.value for part in parts if part.dimension == "tool"][:_MOST_TOOLS]
    if "tool" not in breakdown.strata and breakdown.whole.standing(SMALLEST) is Standing.WORSE:
        tools = [""]
    only_failures = breakdown.whole.slice.rate.name in _FAILURES
    parameters = list(_find_parameters(ask, arms, tools, only_failures=only_failures))
    ordered: list[WorsePart] = []
    for part in parts:
        of_tool = part.value if part.dimension == "tool" else None
        ordered += [part, *(each for each in parameters if each.tool == of_tool)]
    return (*ordered, *(each for each in parameters if not each.tool))


def _make_part(dimension: str, value: str, comparison: SliceComparison) -> WorsePart:
    share, other = comparison.slice.share, comparison.other.share if comparison.other else Share(0, 0)
    difference = comparison.difference
    if difference is None:
        raise ValueError("nothing was compared")
    return WorsePart(
        dimension,
        value,
        share.k,
        share.n,
        other.k,
        other.n,
        difference.estimate,
        difference.low,
        difference.high,
        comparison.is_at_same_mix,
    )


def _find_parameters(
    ask: Ask, arms: tuple[Arm, Arm], tools: Sequence[str], *, only_failures: bool
) -> Iterator[WorsePart]:
    """Yield the parameters that are certainly more often wrong in B than in A, the largest change first."""
    names, pairs = [], []
    for tool in tools:
        a, b = (_read_faults(ask, arm, tool) for arm in arms)
        for parameter in b.parameters:
            count = parameter.count
            pair = count.share, _read_share(a, parameter.name)
            is_judged = all(share.has_enough_to_compare for share in pair)
            if parameter.name and is_judged and not (only_failures and count.failed < count.repaired):
                names.append((tool, parameter.name))
                pairs.append(pair)
    differences = compare_shares(pairs)
    p_values = iter(holm([each.p for each in differences if each]))
    judged = [
        (*name, *pair, difference)
        for name, pair, difference in zip(names, pairs, differences, strict=True)
        if difference and next(p_values) < LEVEL and difference.low > 0
    ]
    for tool, name, share, other, difference in sorted(judged, key=lambda row: -row[4].estimate):
        ends = difference.estimate, difference.low, difference.high
        yield WorsePart("parameter", name, share.k, share.n, other.k, other.n, *ends, tool=tool)


def _read_faults(ask: Ask, arm: Arm, tool: str) -> ToolFaults:
    only = {PARAMETERS["tool"]: (tool,)} if tool else {}
    return read_tool_faults(ask("parameter_faults", **{**arm.parameters(), **only}).to_dict("records"))


def _read_share(faults: ToolFaults, name: str) -> Share:
    """Return the share of calls in which a parameter was wrong. The share is 0 if it was never wrong."""
    for parameter in faults.parameters:
        if parameter.name == name:
            return parameter.count.share
    whole = faults.wrong.share
    if whole.by_group is None:
        return Share(0, whole.n)
    return Share.from_groups(0 * whole.by_group[0], whole.by_group[1])


def describe_part(part: WorsePart, label: Callable[[str, str], str]) -> str:
    """Return the part with the rates of both sides, such as "tool search: 50% (40 / 80) against 1.9% …".

    `label` returns the label of a value of a dimension. The text contains names from logs.
    """
    name = label(part.dimension, part.value) if part.dimension != "parameter" else part.value
    owner = f" of {label('tool', part.tool)}" if part.tool else ""
    sides = " against ".join(
        f"{wording.rate(k, n)} ({wording.fraction(k, n)})"
        for k, n in ((part.k, part.n), (part.baseline_k, part.baseline_n))
    )
    verb = " wrong in" if part.dimension == "parameter" else ":"
    mix = ", mix-adjusted" if part.at_same_mix else ""
    difference = format_difference(Difference(part.estimate, part.low, part.high, 0.0, ""))
    what = wording.dimension(part.dimension)
    return f"{what} {wording.one_line(name, 60)}{owner}{verb} {sides}, {difference}{mix}"

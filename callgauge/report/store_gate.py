"""The store gate checks whether a slice is worse than its baseline by more than a margin.

The gate passes when the whole interval of the difference is within the margin (non-inferiority). The gate
fails when the slice is certainly worse by any amount and a difference of the margin is not ruled out.
Otherwise there is not enough data for a verdict. The page Compare shows the same numbers. Sessions are the
independent units, and rates are mix-adjusted when a different mix could explain the difference. If slice and
baseline cover different days, the interval is at least as wide as the spread between days.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from callgauge.analysis import wording
from callgauge.analysis.arm_filters import Arm, arm_query, do_overlap, name_arms
from callgauge.analysis.comparisons.sides import (
    CompareSide,
    break_sides_down,
    compare_sides,
    find_basis,
    measure_sides,
    read_work,
)
from callgauge.analysis.comparisons.strata_queries import Ask
from callgauge.analysis.comparisons.worse_parts import WorsePart, describe_part, find_worse_parts
from callgauge.analysis.load_state import find_last_whole_day
from callgauge.analysis.measures.comparisons import SMALLEST, SliceComparison
from callgauge.analysis.measures.rates import RATES, RateDefinition
from callgauge.analysis.metrics import MetricError
from callgauge.analysis.metrics.published_store import UnshownStoreError, read_store
from callgauge.analysis.verdicts.headlines import ArmNames, describe_evenness, write_details, write_headline
from callgauge.analysis.verdicts.sentences import (
    describe_needed,
    describe_verdict,
    format_points,
    format_size,
)
from callgauge.documents.gate_text import GateSideText, GateText, write_sentence
from callgauge.memory.baselines import Baseline
from callgauge.memory.team_memory import TeamMemory
from callgauge.report.content.compose import write_link
from callgauge.report.content.morning_report import ReportError
from callgauge.stats import Difference, Interval
from callgauge.stats.gate_syntax import EXIT_CODES, GateSyntaxError, Verdict, read_gate_text
from ingest.time_ranges import Days, read_range

USUAL_RATE = "parse_error"
SAME_DAYS = "same days"
"""The baseline for the same days as the judged slice, for example to compare two hosts or models."""
_JUDGED = tuple(name for name, rate in RATES.items() if rate.better is not None)
Labels = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class RateMargin:
    """By how much a rate may be worse, as a share."""

    rate: RateDefinition
    size: float


@dataclass(frozen=True, slots=True)
class GateReach:
    """The difference that a gate tests (slice minus baseline), with a 95 % interval."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class GateSide:
    """The slice or the baseline of a gate.

    The rate is `k` of the `n` measured calls or turns, and `total` counts all calls or turns. `low` and
    `high` are the 95 % interval of the rate.
    """

    name: str
    first_day: date
    last_day: date
    k: int
    n: int
    total: int
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class StoreGate:
    """The verdict of a gate.

    `difference` is the difference that the page Compare shows. `decided_by` is the interval that decides.
    `why` is the reason in words, for example which data are missing. `link` leads to the page Compare
    (`/compare?…`), and `sentence` is the verdict on that page. `details` is `sentence` without the overall
    verdict if the rates and the difference say the same. Without a difference to judge, both contain `why`.
    `where` holds the parts that are worse, and `parts` the same parts in words.
    """

    rate: str
    margin: float
    verdict: Verdict
    why: str
    slice: GateSide
    baseline: GateSide
    difference: GateReach | None
    decided_by: GateReach | None
    at_same_mix: bool
    link: str
    sentence: str = ""
    details: str = ""
    where: tuple[WorsePart, ...] = ()
    parts: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """The exit code: 0 means not worse, 5 means worse, and 6 means not enough data."""
        return EXIT_CODES[self.verdict]


def read_rate_margin(text: str) -> RateMargin:
    """Parse a gate such as `no-worse=0.02` or `no-worse:retried=2%`. Raises GateSyntaxError.

    A gate that names no rate is about parse errors.
    """
    name, size = read_gate_text(text, _JUDGED, "rate", "retried")
    if size >= 1:
        raise GateSyntaxError(f"the margin of a gate is a share such as 0.02 or 2%, not {text!r}")
    return RateMargin(RATES[name or USUAL_RATE], size)


def judge_gates(
    store: Path,
    gates: Sequence[str],
    baseline: str,
    days: str,
    chosen: Mapping[str, Sequence[str]],
    of_baseline: Mapping[str, Sequence[str]] | None = None,
) -> list[StoreGate]:
    """Return the verdicts of gates such as `no-worse=0.02` on a store.

    `choose_gate_arms` explains the other parameters. Raises GateSyntaxError, ReportError and
    MemoryProblemError.
    """
    margins = [read_rate_margin(gate) for gate in gates]
    baselines = TeamMemory(store).read().baselines
    try:
        with read_store(store, texts=True) as reader:
            newest = reader.ask("extent").iloc[0].last_day
            if newest is None:
                raise ReportError("no call of the store has a day: a gate compares days")
            labels = read_labels(reader.ask)
            arms = choose_gate_arms(newest, labels, baselines, baseline, days, chosen, of_baseline)
            note = _describe_incomplete(reader.ask, arms[1])
            results = [judge_store_gate(reader.ask, arms, labels, margin) for margin in margins]
            return [replace(result, why=f"{result.why} {note}".strip()) for result in results]
    except (UnshownStoreError, MetricError) as problem:
        raise ReportError(str(problem)) from None


def judge_store_gate(ask: Ask, arms: tuple[Arm, Arm], labels: Labels, margin: RateMargin) -> StoreGate:
    """Return whether slice B is worse than the baseline A by more than the margin.

    Both sides must have days. Raises MetricError.
    """
    a, b = measure_sides(ask, arms, name_arms(*arms, labels))
    basis = find_basis(a, b, margin.rate)
    if basis.rate:
        margin = replace(margin, rate=RATES[basis.rate])
    work = read_work(ask, a, b, margin.rate)
    comparison = compare_sides(a, b, margin.rate, work)
    difference = comparison.difference if comparison else None
    sentence = details = ""
    decided_by: GateReach | None = None
    where: tuple[WorsePart, ...] = ()
    verdict: Verdict = "cannot be told"
    if comparison is None or difference is None:
        why = _describe_unmeasured(ask, (a, b), margin.rate)
    elif basis.rate is None:
        why = basis.sentence
    elif (
        comparison.p is None
        # The page Compare gives no verdict here either, because there is too little data or the mix differs.
    ):
        reason = describe_verdict(comparison, margin.size).removeprefix("Not enough data: ")
        why = f"{reason} {basis.sentence}".rstrip()
    else:
        decided_by = _take_reach(difference)
        verdict = decide(comparison, margin.size)
        breakdown = break_sides_down(ask, a, b, margin.rate, comparison, work)
        naming = ArmNames(b.name, a.name), _make_label(labels)
        sentence = write_headline(breakdown, *naming, SMALLEST)
        where = find_worse_parts(ask, arms, breakdown)
        needed = describe_needed(comparison, margin.size) if verdict == "cannot be told" else ""
        # Only the overall verdict contains the mix-adjusted rates. `needed` says which difference is visible.
        details = (
            write_headline(breakdown, *naming, SMALLEST, with_visible=not needed)
            if comparison.is_at_same_mix
            else write_details(breakdown, *naming, SMALLEST)
        )
        even = describe_evenness(breakdown) if verdict == "worse" else ""
        rule = _describe_rule(comparison, margin.size) if verdict == "worse" else ""
        why = " ".join(filter(None, (basis.sentence, needed, rule, even)))
    if decided_by is None:
        sentence, details = f"Not enough data about {margin.rate.phrase}. {why}", why
    return StoreGate(
        margin.rate.name,
        margin.size,
        verdict,
        why,
        _make_side(b, margin.rate),
        _make_side(a, margin.rate),
        _take_reach(difference) if difference else None,
        decided_by,
        bool(comparison and comparison.is_at_same_mix),
        _write_link(arms, margin.rate),
        sentence,
        details,
        where,
        tuple(describe_part(part, _make_label(labels)) for part in where),
    )


def _describe_unmeasured(ask: Ask, sides: tuple[CompareSide, CompareSide], rate: RateDefinition) -> str:
    """Return which slice has no data for a rate, and which days the store has."""
    unmeasured = [side for side in sides if not _count_judged(side, rate)]
    several = wording.plural_of(rate.noun)
    sentence = f"No {rate.noun} of {' or of '.join(side.name for side in unmeasured)} was measured"
    if any((whole := side.whole_slice(rate)) and whole.total for side in unmeasured):
        return f"{sentence}: the logs do not contain the data for {rate.phrase}."
    extent = ask("extent").iloc[0]
    return (
        f"{sentence}: the store has no {several} there. The days of the store are {extent.first_day} to "
        f"{extent.last_day}; choose other days with --days and --baseline, or fewer filters."
    )


def _describe_incomplete(ask: Ask, arm: Arm) -> str:
    """Return which of the newest days of a slice are not complete, or "" if all days are complete."""
    last = find_last_whole_day(ask)
    if last is None or arm.days is None or arm.days[1] <= last:
        return ""
    days = max(arm.days[0], last + timedelta(1)), arm.days[1]
    rows = ask("slices", rates=("emission",), by="day", from_day=days[0], to_day=days[1])
    verb = "is" if days[0] == days[1] else "are"
    calls = wording.plural(int(rows["total"].sum()), "call")
    return f"{_write_days(days)} {verb} not complete: the store has {calls} there."


def _make_label(labels: Labels) -> Callable[[str, str], str]:
    """Return a function that maps a value of a dimension to the label that the pages show."""
    return lambda dimension, value: wording.one_line(labels.get(dimension, {}).get(value, value), 60)


def decide(comparison: SliceComparison, margin: float) -> Verdict:
    """Return the verdict on the slice of a comparison. The comparison's difference must be known."""
    difference = comparison.difference
    if difference is None:
        raise ValueError("nothing was compared")
    least, most = _find_loss(difference, comparison.slice.rate)
    if most < margin:
        return "not worse"
    return "worse" if least > 0 and comparison.is_decisive else "cannot be told"


def _find_loss(difference: Difference, rate: RateDefinition) -> tuple[float, float]:
    """Return the ends of the interval, with the sign changed so that a higher value is worse."""
    return (-difference.high, -difference.low) if rate.is_good else (difference.low, difference.high)


def _describe_rule(comparison: SliceComparison, margin: float) -> str:
    """Return why a slice fails although it can be worse by less than the margin, or "" if it cannot."""
    difference = comparison.difference
    if difference is None or _find_loss(difference, comparison.slice.rate)[0] >= margin:
        return ""
    return (
        f"The tested side is certainly worse, and a difference of {format_size(margin)} or more is possible."
    )


def _take_reach(difference: Difference) -> GateReach:
    return GateReach(difference.estimate, difference.low, difference.high)


def _count_judged(side: CompareSide, rate: RateDefinition) -> int:
    whole = side.whole_slice(rate)
    return whole.share.n if whole else 0


def _make_side(side: CompareSide, rate: RateDefinition) -> GateSide:
    whole = side.whole_slice(rate)
    first, last = side.arm.days or (date.min, date.max)
    interval = whole.share.interval if whole else None
    return GateSide(
        side.name,
        first,
        last,
        whole.share.k if whole else 0,
        whole.share.n if whole else 0,
        whole.total if whole else 0,
        interval.low if interval else None,
        interval.high if interval else None,
    )


def _write_link(arms: tuple[Arm, Arm], rate: RateDefinition) -> str:
    a, b = (arm_query(arm.letter, arm.own, arm.days) for arm in arms)
    return write_link("compare", {**a, **b, "rate": rate.name})


def explain_gate(gate: StoreGate) -> GateText:
    """Return the verdict in words, with the counts and intervals of slice and baseline."""
    rate = RATES[gate.rate]
    mix = ", mix-adjusted" if gate.at_same_mix else ""
    return GateText(
        gate.verdict,
        rate.phrase,
        format_size(gate.margin),
        _explain_side(gate.slice),
        _explain_side(gate.baseline),
        f"{_write_reach(gate.difference)}{mix}" if gate.difference else "",
        gate.decided_by is not None,
        " ".join(filter(None, (gate.details, gate.why))) if gate.decided_by else gate.why,
        gate.parts,
        gate.link,
    )


def make_result(gate: StoreGate) -> dict[str, Any]:
    """Return the gate as data for JSON."""
    return {**asdict(gate), "exit_code": gate.exit_code, "text": write_sentence(explain_gate(gate))}


def _explain_side(side: GateSide) -> GateSideText:
    interval = ""
    if side.low is not None and side.high is not None:
        interval = f"95% {wording.interval(Interval(side.low, side.high))}"
    return GateSideText(
        _name_side(side), wording.rate(side.k, side.n), wording.fraction(side.k, side.n), interval
    )


def _name_side(side: GateSide) -> str:
    """Return the name of a slice with its days, such as "west-2, 22–28 Nov 2026"."""
    first, last = side.first_day, side.last_day
    days = _write_days((first, last))
    # The page Compare writes the days in the name only if the days of both slices differ.
    name = side.name.replace(f"{first}" if first == last else f"{first} to {last}", "").rstrip(" ·")
    return f"{name}, {days}" if name and name != "everything" else days


def _write_days(days: Days) -> str:
    """Write days, such as "22–28 Nov 2026"."""
    first, last = days
    end = f"{last.day} {last:%b %Y}"
    if first == last:
        return end
    if (first.year, first.month) == (last.year, last.month):
        return f"{first.day}–{end}"
    return f"{first.day} {first:%b}{f' {first.year}' if first.year != last.year else ''} – {end}"


def _write_reach(reach: GateReach) -> str:
    ends = f"{format_points(reach.low)} to {format_points(reach.high)}"
    return f"{format_points(reach.estimate)} points ({ends})"


# --- the slices of a gate ----------------------------------------------------------------------


def read_labels(ask: Ask) -> Labels:
    """Return the labels of all values by dimension, most used values first."""
    rows = ask("choices")
    return {
        str(dimension): dict(zip(group.value, group.label, strict=True))
        for dimension, group in rows.groupby("dimension", sort=False)
    }


def choose_gate_arms(
    newest: date,
    labels: Labels,
    baselines: Sequence[Baseline],
    baseline: str,
    days: str,
    chosen: Mapping[str, Sequence[str]],
    of_baseline: Mapping[str, Sequence[str]] | None = None,
) -> tuple[Arm, Arm]:
    """Return the baseline A and the slice B to judge. Raises GateSyntaxError, also if A and B share calls.

    `baseline` is the name of a saved baseline, a range of days, SAME_DAYS, or a number of days just before
    the days of B. `days` are the days of B. `chosen` holds filter values for both sides by dimension, as
    names or labels. Values that were saved with the baseline take precedence for A. B uses the saved values
    only for dimensions that `chosen` does not name. For the compared dimension, the values in `of_baseline`
    replace the values of A.
    """
    own, other = (
        {name: _find_values(name, values, labels) for name, values in each.items() if values}
        for each in (chosen, of_baseline or {})
    )
    of_b = _read_days(days, newest)
    pinned: Mapping[str, tuple[str, ...]] = {}
    saved = next((candidate for candidate in baselines if candidate.name == baseline), None)
    if saved is not None:
        of_a, pinned = saved.days, saved.slice
    elif baseline == SAME_DAYS:
        of_a = of_b
    else:
        try:
            span = read_range(baseline)
        except ValueError:
            raise GateSyntaxError(_describe_unknown(baseline, [each.name for each in baselines])) from None
        if span.length is not None and not span.before:
            of_a = of_b[0] - timedelta(span.length), of_b[0] - timedelta(1)
        else:
            of_a = _read_days(baseline, newest)
    a, b = Arm("A", {**own, **pinned, **other}, of_a), Arm("B", {**pinned, **own}, of_b)
    if do_overlap(a, b):
        raise GateSyntaxError(_describe_overlap(baseline, of_a, of_b))
    return a, b


def _describe_overlap(baseline: str, of_a: Days, of_b: Days) -> str:
    """Return which days are in both sides of a gate, and what to write instead."""
    (first, last), tested = of_a, f"{of_b[0]} to {of_b[1]}"
    if of_a == of_b:
        return (
            f"both sides of the gate are the same calls of {tested}; for two hosts on the same days, name "
            "different hosts with --provider and --baseline-provider"
        )
    return (
        f"the baseline {baseline!r} ({first} to {last}) and the tested days ({tested}) share the days "
        f"{max(first, of_b[0])} to {min(last, of_b[1])}; use other days, for example the baseline '7 days' "
        "for the 7 days before the tested days"
    )


def _read_days(text: str, newest: date) -> Days:
    try:
        span = read_range(text).resolve(newest, newest)
    except ValueError as problem:
        raise GateSyntaxError(str(problem)) from None
    if span is None:
        raise GateSyntaxError(
            f"{text!r}: a gate compares days with others; write 7 days, or a first and a last day"
        )
    return span


def _find_values(dimension: str, names: Sequence[str], labels: Labels) -> tuple[str, ...]:
    """Return the values of a dimension that a person has named by value or by label."""
    by_value = labels.get(dimension, {})
    by_label = {label: value for value, label in by_value.items()}
    values = []
    for name in names:
        value = name if name in by_value else by_label.get(name)
        if value is None:
            near = difflib.get_close_matches(name, [*by_value, *by_label], n=1)
            advice = (
                f"did you mean {near[0]!r}?"
                if near
                else f"there are {', '.join(list(by_label)[:10]) or 'none'}"
            )
            raise GateSyntaxError(f"the store has no {wording.dimension(dimension)} {name!r}; {advice}")
        values.append(value)
    return tuple(values)


def _describe_unknown(baseline: str, names: Sequence[str]) -> str:
    advice = f"saved baselines are {', '.join(names[:10])}" if names else "no baselines are saved yet"
    return (
        f"no baseline {baseline!r}: {advice}; or use days: 7 days (before the tested days), "
        "2026-11-01 to 2026-11-07, or same days"
    )

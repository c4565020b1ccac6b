"""Writes the sentences that compare a store's tool-call errors with public rates, and between hosts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from math import isfinite

from callgauge.analysis import wording
from callgauge.analysis.measures.comparisons import SliceComparison
from callgauge.analysis.verdicts.hosts import Label, describe_hosts
from callgauge.memory.public_rates import PublicRate
from callgauge.stats import divide_rates
from ingest.time_ranges import Days

FAR_APART = 90
"""If a public rate and the calls of the store are more days apart, the table says so."""
_NAMED = 3  # maximum number of models on hosts in the sentence


class PublicVerdict(StrEnum):
    """The verdict on the error rate of a model on a host next to the public rate."""

    HIGHER = "higher than the public rate"
    LOWER = "lower than the public rate"
    UNCLEAR = "no clear difference"
    TOO_FEW = "not enough data"
    UNMEASURED = "not measured"
    NO_RATE = "no public rate"


def describe_public_hosts(
    rows: Sequence[SliceComparison], label: Label, smallest: float, *, has_thin: bool = False
) -> str:
    """Describe on which host a model makes more tool-call errors, and how many times as many.

    The conditions are those of `describe_hosts`.
    """
    return describe_hosts(rows, label, smallest, has_thin=has_thin, describe_worse=_describe_ratio)


def _describe_ratio(row: SliceComparison, label: Label) -> str:
    """Return a sentence such as "On west, owl makes 3.1 times the tool-call errors of east (…)", without the
    full stop.

    Return "" if the first host is not worse, if the verdict uses the mix-adjusted difference, or if the other
    host has no errors. A ratio of the plain rates would then contradict the verdict, or does not exist.
    """
    other, difference = row.other, row.difference
    if other is None or difference is None or difference.estimate <= 0 or row.is_at_same_mix:
        return ""
    ratio = divide_rates(row.slice.share, other.share)
    if ratio is None or ratio.low <= 1:
        return ""
    host, against = (wording.one_line(each.also, 40) for each in (row.slice, other))
    counts = " against ".join(wording.fraction(each.share.k, each.share.n) for each in (row.slice, other))
    reach = f"{format_times(ratio.low)} to {format_times(ratio.high)}"
    if not isfinite(ratio.high):
        reach = f"at least {format_times(ratio.low)}"
    return (
        f"On {host}, {label(row.slice.name)} makes {format_times(ratio.estimate)} times the "
        f"{row.slice.rate.phrase} of {against} ({counts} {row.slice.rate.noun}s; 95% interval {reach})"
    )


def format_times(ratio: float) -> str:
    """Write a ratio with two decimals below 2, and with one decimal from 2 on."""
    return f"{ratio:.2f}" if ratio < 2 else f"{ratio:,.1f}"


def describe_days_apart(days: int | None) -> str:
    """Return how far a public rate is from the calls of the store, or "" for at most 90 days."""
    return f"{days:,} days apart" if days is not None and days > FAR_APART else ""


def describe_other_spelling(public: PublicRate, model: str, host: str) -> str:
    """Return how the public list writes a model and a host, or "" if it writes the same names."""
    if (public.model, public.host) == (model, host):
        return ""
    return f"listed as {wording.one_line(public.model, 40)} on {wording.one_line(public.host, 40)}"


def describe_public_verdicts(verdicts: Sequence[tuple[str, PublicVerdict]], imported: int) -> str:
    """Describe how many models on hosts have a higher or a lower error rate than the public rate.

    `verdicts` holds the name ("owl on west") and the verdict of each row that has a public rate. A name with
    rates of several sources is listed once, with the number of these rates. `imported` is the number of
    public rates that the team imported.
    """
    if not imported:
        return (
            "No public rates to compare with. Import a CSV file with: callgauge public-rates --store DIR "
            "--import FILE"
        )
    if not verdicts:
        return (
            f"None of the imported public rates ({imported:,}) belongs to a model and a host of these calls."
        )
    totals = Counter(name for name, _ in verdicts)
    parts = []
    for verdict, amount in ((PublicVerdict.HIGHER, "more"), (PublicVerdict.LOWER, "fewer")):
        if counts := Counter(name for name, own in verdicts if own is verdict):
            names = [
                name if totals[name] == 1 else f"{name} ({_count(number, totals[name])} public rates)"
                for name, number in counts.items()
            ]
            has = "has" if len(names) == 1 else "have"
            parts.append(f"{_name(names)} {has} {amount} tool-call errors than the public rate")
    unclear = sum(own is PublicVerdict.UNCLEAR for _, own in verdicts)
    few = sum(own in (PublicVerdict.TOO_FEW, PublicVerdict.UNMEASURED) for _, own in verdicts)
    if unclear:
        parts.append(f"no clear difference for {unclear}")
    if few:
        parts.append(f"not enough data for {few}")
    return f"Next to {wording.plural(len(verdicts), 'public rate')}: {'; '.join(parts)}."


def _count(number: int, total: int) -> str:
    return f"all {total}" if number == total else f"{number} of {total}"


def _name(names: Sequence[str]) -> str:
    more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
    return wording.list_words([*names[:_NAMED], *more])


def describe_limit(days: Days, most: int) -> str:
    """Return which days are checked, if the chosen days have more than `most` calls."""
    named = f"{days[0]} to {days[1]} are checked, the newest of the chosen days"
    return f"Only the calls from {named}: a check reads at most {most:,} calls."


def describe_missing(counts: tuple[int, int, int, int]) -> str:
    """Return why no request could be checked, or "" if there are no requests.

    `counts` holds the numbers of calls: all calls, calls without the model's own text, calls without a
    definition, and calls that were not checked completely.
    """
    calls, no_text, no_definition, unclear = counts
    if not calls:
        return ""
    reasons = [
        f"{wording.fraction(number, calls)} {what}"
        for number, what in (
            (no_text, "lack the model's own text"),
            (no_definition, "lack a tool definition"),
            (unclear, "have a definition with a keyword that is not checked"),
        )
        if number
    ]
    return f"Tool-call errors were not measured: of the calls, {wording.list_words(reasons)}."

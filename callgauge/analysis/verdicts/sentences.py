"""Writes the sentences that say which of two slices is better, by how much, and how many more sessions are
needed for a verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal

from callgauge.analysis import wording
from callgauge.analysis.measures.comparisons import SliceComparison, Standing
from callgauge.analysis.measures.slices import MEASURED_ENOUGH, Slice
from callgauge.stats import (
    ENOUGH,
    ENOUGH_SESSIONS,
    ENOUGH_TO_COMPARE,
    Difference,
    sessions_needed,
)
from callgauge.stats.day_spread import LEAST_DAYS
from callgauge.stats.sample_size import smallest_shown

RULE = f"{ENOUGH} observations and {ENOUGH_SESSIONS} sessions"
"""The condition for a rank, in words."""
PAIR_RULE = f"{ENOUGH} observations and {ENOUGH_TO_COMPARE} sessions on each side"
"""The condition for a verdict on a difference, in words."""
DAYS_RULE = f"The two ran on different days, and neither on {LEAST_DAYS} of them."
"""The reason why a difference between different days gets no verdict."""
UNDATED = "The logs have no times, so a difference between days cannot be ruled out."
"""The caution about a verdict on logs without times."""
LESS = f"fewer than {ENOUGH} observations or {ENOUGH_SESSIONS} sessions"
"""The condition under which pages show a rate pale, in words."""
_NAMED = 3  # maximum number of slices of a tie group in a sentence
_OUT_OF_REACH = 10_000  # a number of sessions that nobody can collect


def is_undated(several: Iterable[Slice]) -> bool:
    """Return whether the slices were read by day and no slice has a day."""
    counts = [slice_.share.by_day for slice_ in several]
    return bool(counts) and all(days is not None and not len(days.days) for days in counts)


def format_points(share: float) -> str:
    """Write a difference of shares in points, such as −1.3 for -0.0131.

    The sign is a typographic minus or a plus.
    """
    number = wording.percent(abs(share)).rstrip("%")
    sign = "" if share == 0 else ("−" if share < 0 else "+")
    return f"{sign}{number}"


def fixed_points(share: float, decimals: int) -> str:
    """Write a difference of shares in points with `decimals` decimals, such as −1.3 for -0.0131."""
    number = f"{abs(100 * share):.{decimals}f}"
    sign = "" if not float(number) else ("−" if share < 0 else "+")
    return f"{sign}{number}"


def format_difference(difference: Difference) -> str:
    """Write a difference with its interval, such as −1.3 points (−1.9 to −0.7)."""
    return (
        f"{format_points(difference.estimate)} points "
        f"({format_points(difference.low)} to {format_points(difference.high)})"
    )


def format_size(share: float) -> str:
    """Write the size of a difference, such as 2 points, 0.5 points or 1 point."""
    points = f"{100 * share:.3g}"
    return f"{points} point{'' if points == '1' else 's'}"


def format_visible(share: float) -> str:
    """Write the smallest detectable difference, rounded up, such as 3 points or 0.4 points."""
    points = 100 * share
    rounded = ceil(points) if points >= 1 else ceil(10 * points) / 10
    return format_size(rounded / 100)


def describe_verdict(comparison: SliceComparison, smallest: float) -> str:
    """Return one or two sentences on whether a slice is better than the other slice.

    `smallest` is the smallest difference of interest, as a share.
    """
    slice_, other, difference = comparison.slice, comparison.other, comparison.difference
    if other is None or difference is None or slice_.share.rate is None or other.share.rate is None:
        unseen = " and ".join(each.name for each in (slice_, other) if each and not each.share.n)
        return f"Nothing to compare: no {slice_.rate.noun} of {unseen} could be measured."
    rates, sessions = _describe_rates(comparison), _describe_sessions(slice_, other)
    size = f"{rates}, difference {format_difference(difference)}, 95%, {sessions}"
    standing = comparison.standing(smallest)
    if standing is Standing.TOO_FEW:
        return f"Not enough data: {size}. {_describe_rule(slice_, other)}"
    if standing is Standing.TOO_FEW_DAYS:
        return f"Not enough data: {size}. {DAYS_RULE}"
    if standing is Standing.MEASURED_APART:
        return f"Not comparable, since the two were not measured in the same way: {size}."
    if standing is Standing.UNNAMED:
        return f"No verdict on what the logs do not name: {size}."
    if standing is Standing.OTHER_WORK:
        return f"Different work, so no verdict. {_describe_common(comparison)} {_describe_plain(comparison)}"
    if standing is Standing.ALIKE:
        return f"Equivalent (less than {format_size(smallest)} apart): {size}."
    if standing is Standing.UNDECIDED and difference.is_decisive:
        better = _describe_better(slice_, difference.estimate)
        return f"{slice_.name} {better} as a pair, {describe_correction(comparison)}: {size}."
    if standing is Standing.UNDECIDED:
        return f"No clear difference: {size}. {describe_needed(comparison, smallest)}"
    return f"{slice_.name} {_describe_better(slice_, difference.estimate)}: {size}."


def describe_mix(comparison: SliceComparison) -> str | None:
    """Return a sentence with the unadjusted difference.

    Return None if the verdict uses the unadjusted difference.
    """
    if (
        not comparison.is_at_same_mix
        or comparison.does_other_work
        or comparison.same_mix is None
        or comparison.plain is None
    ):
        return None
    mix = comparison.same_mix.found
    reversed_ = " Mix-adjusted, the order reverses." if is_order_reversed(comparison) else ""
    part = "" if mix.is_representative else f" {wording.percent(mix.covered)} of the work is in both."
    return f"Mix-adjusted by {comparison.same_mix.words}.{part} {_describe_plain(comparison)}{reversed_}"


def describe_other_difference(comparison: SliceComparison) -> str:
    """Describe the unadjusted and the mix-adjusted difference of a comparison."""
    if comparison.is_at_same_mix and comparison.same_mix:
        words = f"Mix-adjusted by {comparison.same_mix.words}: as if both had done the same work."
        return f"{words} {_describe_plain(comparison)}"
    if comparison.same_mix is None:
        return "Plain: the two rates as they are. There is no mix-adjusted difference."
    adjusted = format_difference(comparison.same_mix.found.difference)
    return f"Plain: the two rates as they are. Mix-adjusted by {comparison.same_mix.words}: {adjusted}."


def is_order_reversed(comparison: SliceComparison) -> bool:
    """Return True when the unadjusted rates have the opposite order compared with the mix-adjusted rates."""
    if not comparison.is_at_same_mix or comparison.plain is None or comparison.difference is None:
        return False
    return comparison.plain.estimate * comparison.difference.estimate < 0


def _describe_plain(comparison: SliceComparison) -> str:
    share, other = (
        comparison.slice.share,
        comparison.other.share if comparison.other else comparison.slice.share,
    )
    if comparison.plain is None:
        return ""
    rates = f"{wording.rate(share.k, share.n)} vs {wording.rate(other.k, other.n)}"
    return f"Unadjusted: {rates}, difference {format_difference(comparison.plain)}."


def _describe_rates(comparison: SliceComparison) -> str:
    if comparison.is_at_same_mix and comparison.same_mix:
        mix = comparison.same_mix.found
        rates = f"{wording.percent(mix.of)} vs {wording.percent(mix.against)}"
        return f"{rates} mix-adjusted by {comparison.same_mix.words}"
    share, other = (
        comparison.slice.share,
        comparison.other.share if comparison.other else comparison.slice.share,
    )
    return f"{wording.rate(share.k, share.n)} vs {wording.rate(other.k, other.n)}"


def _describe_rule(slice_: Slice, other: Slice) -> str:
    unmeasured = [each for each in (slice_, other) if not each.is_rankable]
    if unmeasured:
        least = f"{100 * MEASURED_ENOUGH:.0f}%"
        return f"Less than {least} of the {slice_.rate.noun}s of {unmeasured[0].name} could be measured."
    # A ranking requires more data than a difference.
    judged = slice_.has_enough_to_compare and other.has_enough_to_compare
    return f"It takes {RULE} on each side." if judged else f"It takes {PAIR_RULE}."


def describe_needed(comparison: SliceComparison, smallest: float) -> str:
    """Say how many more sessions are needed for a verdict.

    If the number is too large, say which difference is detectable now.
    """
    if comparison.difference is None:
        return ""
    observed, least = (_count_needed(comparison, size) for size in (comparison.difference.estimate, smallest))
    if observed == 0:
        return "A difference as large as this one is at the edge of what these sessions can show."
    sentences = []
    if observed and observed <= _OUT_OF_REACH:
        more = f"about {wording.round_up(observed)} more sessions on each side"
        sentences.append(f"{more} would decide a difference as large as this one")
    else:
        sentences.append(describe_visible(comparison))
    if least and least <= _OUT_OF_REACH:
        more = "" if observed and observed <= _OUT_OF_REACH else " more sessions on each side"
        number = wording.round_up(least)
        sentences.append(f"about {number}{more} would decide a difference of {format_size(smallest)}")
    text = "; ".join(sentences)
    return f"{text[0].upper()}{text[1:]}."


def describe_visible(comparison: SliceComparison) -> str:
    """Say which difference is too small for the present data. Return "" if nothing was compared."""
    size = find_visible(comparison)
    return f"a difference below about {format_visible(size)} would not show yet" if size else ""


def describe_reach(judged: Sequence[SliceComparison]) -> str:
    """Say which difference would be detected with 80 % power in each of several comparisons."""
    size = max(smallest_shown(row.difference, len(judged)) for row in judged if row.difference)
    return f"A difference below about {format_size(round(size, 3 if size < 0.01 else 2))} may not show yet."


def describe_more(more: int) -> str:
    """Return a sentence on the clear differences that are not named. `more` is their number."""
    return f"{more} more {'differs' if more == 1 else 'differ'}, too."


def find_visible(comparison: SliceComparison) -> float | None:
    """Return, as a share, the smallest difference that the present data would show with 80 % power."""
    difference = comparison.difference
    return smallest_shown(difference, max(1, comparison.compared)) if difference else None


def _count_needed(comparison: SliceComparison, difference: float) -> int | None:
    if comparison.other is None:
        return None
    return sessions_needed(
        comparison.slice.share, comparison.other.share, difference, max(1, comparison.compared)
    )


@dataclass(frozen=True, slots=True)
class ShortVerdict:
    """A verdict for a table cell.

    `text` is one to three words. `sub` is the p-value or the number of needed sessions.
    """

    text: str
    tone: Literal["bad", "good", "calm"]
    sub: str = ""


_TONES: dict[Standing, Literal["bad", "good", "calm"]] = {Standing.BETTER: "good", Standing.WORSE: "bad"}


def shorten_verdict(comparison: SliceComparison, smallest: float) -> ShortVerdict:
    """Return the short verdict on a slice. The p-values are Holm-adjusted over the table."""
    standing, difference = comparison.standing(smallest), comparison.difference
    if standing is Standing.UNMEASURED or difference is None:
        return ShortVerdict("Not measured", "calm")
    if standing is Standing.TOO_FEW:
        return ShortVerdict("Not enough data", "calm")
    if standing is Standing.TOO_FEW_DAYS:
        return ShortVerdict("Too few days", "calm")
    if standing is Standing.MEASURED_APART:
        return ShortVerdict("Not comparable", "calm", "not measured alike")
    if standing is Standing.UNNAMED:
        return ShortVerdict("Not named", "calm")
    if standing is Standing.OTHER_WORK:
        covered = wording.percent(comparison.same_mix.found.covered) if comparison.same_mix else "nothing"
        return ShortVerdict("Different work", "calm", f"{covered} in common")
    mixed = ", mix-adjusted" if comparison.is_at_same_mix else ""
    if standing is Standing.ALIKE:
        return ShortVerdict("Equivalent", "calm", f"within {format_size(smallest)}{mixed}")
    p = comparison.p if comparison.p is not None else 1.0
    holm = ", Holm" if comparison.compared > 1 else ""
    chance = f"p {p:.3f}{holm}" if p >= 0.001 else f"p < 0.001{holm}"
    if standing is Standing.UNDECIDED:
        if difference.is_decisive:
            direction = _describe_direction(comparison.slice, difference.estimate).capitalize()
            return ShortVerdict(f"{direction} as a pair", "calm", describe_correction(comparison))
        return ShortVerdict("No clear difference", "calm", _shorten_needed(comparison))
    return ShortVerdict(standing.name.capitalize(), _TONES.get(standing, "calm"), f"{chance}{mixed}")


def _shorten_needed(comparison: SliceComparison) -> str:
    needed = _count_needed(comparison, comparison.difference.estimate) if comparison.difference else None
    if needed and needed <= _OUT_OF_REACH:
        return f"~{wording.round_up(needed)} more sessions each"
    size = find_visible(comparison)
    return f"below {format_visible(size)} would not show" if size else ""


def describe_correction(comparison: SliceComparison) -> str:
    """Say that two slices differ if no other slices are compared, but not after the correction for all
    comparisons.
    """
    return f"not after correction for {comparison.compared:,} {comparison.family}"


def describe_basis(comparison: SliceComparison, names: Sequence[str], smallest: float) -> str:
    """Return the basis of a verdict in small print, and how many more sessions are needed for a verdict.

    `names` holds the names of both slices. `smallest` is the smallest difference of interest, as a share.
    """
    slice_, other, difference = comparison.slice, comparison.other, comparison.difference
    if other is None or difference is None:
        return f"{slice_.rate.title}: the share of {slice_.rate.noun}s that {slice_.rate.hit}."
    sides = ", ".join(
        f"{name} {wording.fraction(each.share.k, each.share.n)}"
        for name, each in zip(names, (slice_, other), strict=True)
    )
    parts = [
        f"{slice_.rate.title}: {sides}.",
        f"Difference {format_difference(difference)}, 95%, {_describe_sessions(slice_, other)}.",
    ]
    standing = comparison.standing(smallest)
    if standing is Standing.TOO_FEW:
        parts.append(_describe_rule(slice_, other))
    if standing is Standing.TOO_FEW_DAYS:
        parts.append(DAYS_RULE)
    if standing is Standing.UNDECIDED and difference.is_decisive:
        better = _describe_better(slice_, difference.estimate)
        parts.append(f"{names[0]} {better} as a pair, {describe_correction(comparison)}.")
    elif standing is Standing.UNDECIDED:
        parts.append(describe_needed(comparison, smallest))
    if standing is Standing.OTHER_WORK:
        parts.append(_describe_common(comparison))
    mix = describe_mix(comparison)
    return " ".join([*parts, *([mix] if mix else [])])


def _describe_common(comparison: SliceComparison) -> str:
    if comparison.same_mix is None:
        return "They have no kind of work in common."
    covered = wording.percent(comparison.same_mix.found.covered)
    return (
        f"Only {covered} of their {comparison.slice.rate.noun}s have {comparison.same_mix.words} in common."
    )


def list_names(names: Sequence[str]) -> str:
    """Write names as a list in a sentence: A, B and C.

    If there are many names, write the first names and the number of the remaining names.
    """
    if len(names) > _NAMED:
        return f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _describe_sessions(slice_: Slice, against: Slice) -> str:
    number = (slice_.share.sessions or 0) + (against.share.sessions or 0)
    return wording.plural(number, "session")


def _describe_better(slice_: Slice, estimate: float) -> str:
    title = slice_.rate.phrase
    if slice_.rate.better is None:
        return f"has {'fewer' if estimate < 0 else 'more'} {title}"
    return f"is {_describe_direction(slice_, estimate)} ({title})"


def _describe_direction(slice_: Slice, estimate: float) -> str:
    if slice_.rate.better is None:
        return "less" if estimate < 0 else "more"
    return "better" if (estimate > 0) == slice_.rate.is_good else "worse"

"""Sentences on which of two slices is better, by how much, and how many sessions would decide that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from callgauge.analysis import wording
from callgauge.analysis.measures.comparisons import SliceComparison, Standing
from callgauge.analysis.measures.slices import MEASURED_ENOUGH, Slice
from callgauge.stats import ENOUGH, ENOUGH_SESSIONS, ENOUGH_TO_COMPARE, Difference, sessions_needed
from callgauge.stats.day_spread import LEAST_DAYS

RULE = f"{ENOUGH} observed and {ENOUGH_SESSIONS} sessions"
"""What it takes to be ranked, in words."""
PAIR_RULE = f"{ENOUGH} observed and {ENOUGH_TO_COMPARE} sessions on each side"
"""What it takes to judge a difference, in words."""
DAYS_RULE = f"The two ran on different days, and neither on {LEAST_DAYS} of them."
"""Why a difference over time is not judged."""
LESS = f"fewer than {ENOUGH} observed or {ENOUGH_SESSIONS} sessions"
"""What is shown pale, in words."""
_NAMED = 3  # slices of a tie group that a sentence lists
_OUT_OF_REACH = 10_000  # sessions that nobody waits for


def format_points(share: float) -> str:
    """Write a difference of shares in points, -0.0131 as −1.3: with a typographic minus, or a plus."""
    number = wording.percent(abs(share)).rstrip("%")
    sign = "" if share == 0 else ("−" if share < 0 else "+")
    return f"{sign}{number}"


def fixed_points(share: float, decimals: int) -> str:
    """Write a difference of shares in points with so many decimals, -0.0131 as −1.3."""
    number = f"{abs(100 * share):.{decimals}f}"
    sign = "" if not float(number) else ("−" if share < 0 else "+")
    return f"{sign}{number}"


def format_difference(found: Difference) -> str:
    """Write a difference with its interval: −1.3 points (−1.9 to −0.7)."""
    return (
        f"{format_points(found.estimate)} points ({format_points(found.low)} to {format_points(found.high)})"
    )


def format_size(share: float) -> str:
    """Write the size of a difference: 2 points, 0.5 points, 1 point."""
    points = f"{100 * share:.3g}"
    return f"{points} point{'' if points == '1' else 's'}"


def describe_verdict(held: SliceComparison, smallest: float) -> str:
    """Return a sentence or two on whether a slice is better than the one it is held against.

    `smallest`: the smallest difference worth knowing, a share.
    """
    one, other, found = held.slice, held.other, held.difference
    if other is None or found is None or one.share.rate is None or other.share.rate is None:
        unseen = " and ".join(each.name for each in (one, other) if each and not each.share.n)
        return f"Nothing to compare: of {unseen} no {one.rate.noun} could be measured."
    rates, sessions = _describe_rates(held), _describe_sessions(one, other)
    size = f"{rates}, difference {format_difference(found)}, 95%, {sessions}"
    standing = held.standing(smallest)
    if standing is Standing.TOO_FEW:
        return f"Too few to judge: {size}. {_describe_rule(one, other)}"
    if standing is Standing.TOO_FEW_DAYS:
        return f"Not enough data: {size}. {DAYS_RULE}"
    if standing is Standing.MEASURED_APART:
        return f"Not comparable, since the two were not measured in the same way: {size}."
    if standing is Standing.UNNAMED:
        return f"No verdict on what the logs do not name: {size}."
    if standing is Standing.OTHER_WORK:
        return f"Different work, so no verdict. {_describe_common(held)} {_describe_plain(held)}"
    if standing is Standing.ALIKE:
        return f"Alike, less than {format_size(smallest)} apart: {size}."
    if standing is Standing.UNDECIDED:
        return f"Not decided: {size}. {describe_needed(held, smallest)}"
    return f"{one.name} {_describe_better(one, found.estimate)}: {size}."


def describe_mix(held: SliceComparison) -> str | None:
    """Return a sentence that sets the plain difference beside the told one; None where that is plain."""
    if not held.is_at_same_mix or held.does_other_work or held.same_mix is None or held.plain is None:
        return None
    found = held.same_mix.found
    turned = " The mix turns the order round." if held.plain.estimate * found.difference.estimate < 0 else ""
    part = "" if found.is_representative else f", which {wording.percent(found.covered)} of their work is in"
    return f"At the same mix of {held.same_mix.words}{part}. {_describe_plain(held)}{turned}"


def _describe_plain(held: SliceComparison) -> str:
    one, other = held.slice.share, held.other.share if held.other else held.slice.share
    if held.plain is None:
        return ""
    rates = f"{wording.rate(one.k, one.n)} vs {wording.rate(other.k, other.n)}"
    return f"As they are: {rates}, difference {format_difference(held.plain)}."


def _describe_rates(held: SliceComparison) -> str:
    if held.is_at_same_mix and held.same_mix:
        found = held.same_mix.found
        rates = f"{wording.percent(found.of)} vs {wording.percent(found.against)}"
        return f"{rates} at the same mix of {held.same_mix.words}"
    one, other = held.slice.share, held.other.share if held.other else held.slice.share
    return f"{wording.rate(one.k, one.n)} vs {wording.rate(other.k, other.n)}"


def _describe_rule(one: Slice, other: Slice) -> str:
    unmeasured = [each for each in (one, other) if not each.is_rankable]
    if unmeasured:
        least = f"{100 * MEASURED_ENOUGH:.0f}%"
        return f"Less than {least} of the {one.rate.noun}s of {unmeasured[0].name} could be measured."
    # A table of ranks asks for more than a difference does.
    judged = one.has_enough_to_compare and other.has_enough_to_compare
    return f"It takes {RULE} on each side." if judged else f"It takes {PAIR_RULE}."


def describe_needed(held: SliceComparison, smallest: float) -> str:
    """Say how many more sessions would decide a difference as large as this one, and the smallest one."""
    found = held.difference
    if found is None:
        return ""
    seen = _count_needed(held, found.estimate)
    least = _count_needed(held, smallest)
    known = [
        (number, words)
        for number, words in ((seen, "as large as this one"), (least, f"of {format_size(smallest)}"))
        if number
    ]
    if seen == 0:
        return "A difference as large as this one is at the edge of what these sessions can show."
    if not known:
        return ""
    (number, words), *more = known
    first = f"About {wording.round_up(number)} more sessions each would decide a difference {words}"
    return "; ".join([first, *(f"about {wording.round_up(each)} one {size}" for each, size in more)]) + "."


def _count_needed(held: SliceComparison, difference: float) -> int | None:
    if held.other is None:
        return None
    return sessions_needed(held.slice.share, held.other.share, difference, max(1, held.compared))


@dataclass(frozen=True, slots=True)
class ShortVerdict:
    """A verdict for a cell: `text` is one to three words, `sub` the p-value or the sessions needed."""

    text: str
    tone: Literal["bad", "good", "calm"]
    sub: str = ""


_TONES: dict[Standing, Literal["bad", "good", "calm"]] = {Standing.BETTER: "good", Standing.WORSE: "bad"}


def shorten_verdict(held: SliceComparison, smallest: float) -> ShortVerdict:
    """Return the short verdict on a slice; p-values are Holm-adjusted over the table."""
    standing, found = held.standing(smallest), held.difference
    if standing is Standing.UNMEASURED or found is None:
        return ShortVerdict("Not measured", "calm")
    if standing is Standing.TOO_FEW:
        return ShortVerdict("Too few", "calm")
    if standing is Standing.TOO_FEW_DAYS:
        return ShortVerdict("Too few days", "calm")
    if standing is Standing.MEASURED_APART:
        return ShortVerdict("Not comparable", "calm", "not measured alike")
    if standing is Standing.UNNAMED:
        return ShortVerdict("Not named", "calm")
    if standing is Standing.OTHER_WORK:
        covered = wording.percent(held.same_mix.found.covered) if held.same_mix else "nothing"
        return ShortVerdict("Different work", "calm", f"{covered} in common")
    mixed = ", same mix" if held.is_at_same_mix else ""
    if standing is Standing.ALIKE:
        return ShortVerdict("Alike", "calm", f"within {format_size(smallest)}{mixed}")
    p = held.p if held.p is not None else 1.0
    holm = ", Holm" if held.compared > 1 else ""
    chance = f"p {p:.3f}{holm}" if p >= 0.001 else f"p < 0.001{holm}"
    if standing is Standing.UNDECIDED:
        if found.is_decisive:
            return ShortVerdict("Not decided", "calm", _describe_alone(held))
        needed = _count_needed(held, found.estimate)
        return ShortVerdict("Not decided", "calm", _shorten_needed(needed) if needed else chance)
    return ShortVerdict(standing.name.capitalize(), _TONES.get(standing, "calm"), f"{chance}{mixed}")


def _shorten_needed(sessions: int) -> str:
    # Beyond what anybody collects, the figure itself says nothing.
    number = f"over {_OUT_OF_REACH:,}" if sessions > _OUT_OF_REACH else f"~{wording.round_up(sessions)}"
    return f"{number} more sessions each"


def _describe_alone(held: SliceComparison) -> str:
    """Say that a difference is significant by itself, but not among all that were compared."""
    return f"significant alone, not after correction for {held.compared:,} {held.family}"


def describe_basis(held: SliceComparison, names: Sequence[str], smallest: float) -> str:
    """Return in small print what a verdict rests on, and how many more sessions would decide it.

    `names`: those of both sides. `smallest`: the smallest difference worth knowing, a share.
    """
    one, other, found = held.slice, held.other, held.difference
    if other is None or found is None:
        return f"{one.rate.title}: the share of {one.rate.noun}s that {one.rate.hit}."
    sides = ", ".join(
        f"{name} {wording.fraction(each.share.k, each.share.n)}"
        for name, each in zip(names, (one, other), strict=True)
    )
    parts = [
        f"{one.rate.title}: {sides}.",
        f"Difference {format_difference(found)}, 95%, {_describe_sessions(one, other)}.",
    ]
    standing = held.standing(smallest)
    if standing is Standing.TOO_FEW:
        parts.append(_describe_rule(one, other))
    if standing is Standing.TOO_FEW_DAYS:
        parts.append(DAYS_RULE)
    if standing is Standing.UNDECIDED and found.is_decisive:
        parts.append(f"{_describe_alone(held).capitalize()}.")
    elif standing is Standing.UNDECIDED:
        parts.append(describe_needed(held, smallest))
    if standing is Standing.OTHER_WORK:
        parts.append(_describe_common(held))
    mix = describe_mix(held)
    return " ".join([*parts, *([mix] if mix else [])])


def _describe_common(held: SliceComparison) -> str:
    if held.same_mix is None:
        return "They have no kind of work in common."
    covered = wording.percent(held.same_mix.found.covered)
    return f"Only {covered} of their {held.slice.rate.noun}s are alike in {held.same_mix.words}."


def list_names(names: Sequence[str]) -> str:
    """Write names as a list in a sentence: A, B and C; of many the first ones and how many more."""
    if len(names) > _NAMED:
        return f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _describe_sessions(of: Slice, against: Slice) -> str:
    number = (of.share.sessions or 0) + (against.share.sessions or 0)
    return wording.plural(number, "session")


def _describe_better(of: Slice, estimate: float) -> str:
    title = of.rate.title.lower()
    if of.rate.better is None:
        return f"has {'fewer' if estimate < 0 else 'more'} {title}"
    better = (estimate > 0) == of.rate.is_good
    return f"is {'better' if better else 'worse'} ({title})"

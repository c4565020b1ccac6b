"""Sentences on which of two slices is better, by how much, and how many sessions would decide that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from callgauge.dashboard import wording
from callgauge.dashboard.measures.slices import Slice, SliceComparison
from callgauge.stats import Difference, compare_rates, sessions_needed

POINT = 0.01  # the difference that "not decisive" asks for


def format_points(share: float) -> str:
    """Write a difference of shares in points, -0.0131 as −1.31: with a typographic minus, or a plus."""
    number = wording.percent(abs(share)).rstrip("%")
    sign = "" if share == 0 else ("−" if share < 0 else "+")
    return f"{sign}{number}"


def format_difference(found: Difference) -> str:
    """Write a difference with its interval: −1.31 points (−1.90 to −0.70)."""
    return (
        f"{format_points(found.estimate)} points ({format_points(found.low)} to {format_points(found.high)})"
    )


def describe_verdict(of: Slice, against: Slice, found: Difference | None = None) -> str:
    """Return one or two sentences on whether the slice `of` is better than `against`.

    `found`: the difference to report, when it is not that of the plain rates.
    """
    found = found or compare_rates(of.share, against.share)
    if found is None or of.share.rate is None or against.share.rate is None:
        unseen = " and ".join(one.name for one in (of, against) if not one.share.n)
        return f"Nothing to compare: of {unseen} no {of.rate.noun} could be measured."
    rates = f"{wording.rate(of.share.k, of.share.n)} vs {wording.rate(against.share.k, against.share.n)}"
    size = f"{rates}, difference {format_difference(found)}, 95%, {describe_sessions_needed(of, against)}"
    if found.is_decisive:
        return f"{of.name} {_describe_better(of, found.estimate)}: {size}."
    needed = sessions_needed(of.share, against.share, POINT)
    if not needed:
        return f"No difference of a point or more: {size}."
    more = f"About {wording.round_up(needed)} more sessions of each would show a 1-point difference."
    return f"Not decisive: {size}. {more}"


@dataclass(frozen=True, slots=True)
class ShortVerdict:
    """A verdict for a cell: `text` is one to three words, `sub` the p-value or the sessions needed."""

    text: str
    tone: Literal["bad", "good", "calm"]
    sub: str = ""


def shorten_verdict(held: SliceComparison, reference: Slice) -> ShortVerdict:
    """Return the short verdict on a slice against `reference`; p-values are Holm-adjusted over the table."""
    found = held.difference
    if found is None:
        return ShortVerdict("Not measured", "calm")
    if held.p is None:
        return ShortVerdict("Not judged", "calm", "too little was observed")
    chance = f"p {held.p:.3f}, Holm" if held.p >= 0.001 else "p < 0.001, Holm"
    if held.is_decisive:
        if held.slice.rate.better is None:
            return ShortVerdict("Less" if found.estimate < 0 else "More", "calm", chance)
        better = (found.estimate > 0) == held.slice.rate.is_good
        return ShortVerdict("Better" if better else "Worse", "good" if better else "bad", chance)
    if found.is_decisive:
        return ShortVerdict("Not decisive", "calm", f"{chance}: alone it would be")
    needed = sessions_needed(held.slice.share, reference.share, POINT)
    if needed == 0:
        return ShortVerdict("Alike", "calm", "no difference of a point or more")
    return ShortVerdict(
        "Not decisive", "calm", f"about {wording.round_up(needed)} more sessions each" if needed else chance
    )


def describe_sessions_needed(of: Slice, against: Slice) -> str:
    number = (of.share.sessions or 0) + (against.share.sessions or 0)
    return wording.plural(number, "session")


def _describe_better(of: Slice, estimate: float) -> str:
    title = of.rate.title.lower()
    if of.rate.better is None:
        return f"has {'fewer' if estimate < 0 else 'more'}: {title}"
    better = (estimate > 0) == of.rate.is_good
    return f"is {'better' if better else 'worse'} ({title})"

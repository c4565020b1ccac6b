"""Two measured slices in, a sentence out: which is better, by how much, and what it would take to be sure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dashboard import wording
from dashboard.slices import Against, Slice
from dashboard.statistics import Difference, difference, sessions_needed

POINT = 0.01  # the difference that "not decisive" asks for


def points(share: float) -> str:
    """-0.0131 → −1.31 points; a typographic minus, a sign always."""
    number = wording.percent(abs(share)).rstrip("%")
    sign = "" if share == 0 else ("−" if share < 0 else "+")
    return f"{sign}{number}"


def span(found: Difference) -> str:
    """−1.31 points (−1.90 to −0.70)"""
    return f"{points(found.estimate)} points ({points(found.low)} to {points(found.high)})"


def verdict(of: Slice, against: Slice, found: Difference | None = None) -> str:
    """One sentence or two. `found`: the difference where it is not that of the plain rates."""
    found = found or difference(of.share, against.share)
    if found is None or of.share.rate is None or against.share.rate is None:
        unseen = " and ".join(one.name for one in (of, against) if not one.share.n)
        return f"Nothing to compare: of {unseen} no {of.rate.noun} could be measured."
    rates = f"{wording.rate(of.share.k, of.share.n)} vs {wording.rate(against.share.k, against.share.n)}"
    size = f"{rates}, difference {span(found)}, 95%, {sessions(of, against)}"
    if found.decisive:
        return f"{of.name} {_better(of, found.estimate)}: {size}."
    needed = sessions_needed(of.share, against.share, POINT)
    if not needed:
        return f"No difference of a point or more: {size}."
    more = f"About {wording.about(needed)} more sessions of each would show a 1-point difference."
    return f"Not decisive: {size}. {more}"


@dataclass(frozen=True, slots=True)
class Word:
    """A verdict for a cell: a word or three, and smaller what it rests on or what it would take."""

    text: str
    tone: Literal["bad", "good", "calm"]
    sub: str = ""


def word(held: Against, reference: Slice) -> Word:
    """`held` beside `reference`, all of its table considered (Holm)."""
    found = held.difference
    if found is None:
        return Word("Not measured", "calm")
    if held.p is None:
        return Word("Not judged", "calm", "too little was observed")
    chance = f"p {held.p:.3f}, Holm" if held.p >= 0.001 else "p < 0.001, Holm"
    if held.decisive:
        if held.slice.rate.better is None:
            return Word("Less" if found.estimate < 0 else "More", "calm", chance)
        better = (found.estimate > 0) == held.slice.rate.good
        return Word("Better" if better else "Worse", "good" if better else "bad", chance)
    if found.decisive:
        return Word("Not decisive", "calm", f"{chance}: alone it would be")
    needed = sessions_needed(held.slice.share, reference.share, POINT)
    if needed == 0:
        return Word("Alike", "calm", "no difference of a point or more")
    return Word(
        "Not decisive", "calm", f"about {wording.about(needed)} more sessions each" if needed else chance
    )


def sessions(of: Slice, against: Slice) -> str:
    number = (of.share.sessions or 0) + (against.share.sessions or 0)
    return wording.plural(number, "session")


def _better(of: Slice, estimate: float) -> str:
    title = of.rate.title.lower()
    if of.rate.better is None:
        return f"has {'fewer' if estimate < 0 else 'more'}: {title}"
    better = (estimate > 0) == of.rate.good
    return f"is {'better' if better else 'worse'} ({title})"

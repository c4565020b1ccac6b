"""Two measured slices in, a sentence out: which is better, by how much, and what it would take to be sure."""

from __future__ import annotations

from dashboard import wording
from dashboard.slices import Slice
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
    return f"Not decisive: {size}. About {needed:,} more sessions of each would show a 1-point difference."


def sessions(of: Slice, against: Slice) -> str:
    number = (of.share.sessions or 0) + (against.share.sessions or 0)
    return wording.plural(number, "session")


def _better(of: Slice, estimate: float) -> str:
    title = of.rate.title.lower()
    if of.rate.better is None:
        return f"has {'fewer' if estimate < 0 else 'more'}: {title}"
    better = (estimate > 0) == of.rate.good
    return f"is {'better' if better else 'worse'} ({title})"

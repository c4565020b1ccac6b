"""Measured slices in, a table of rates with their intervals out; each name leads to its calls."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dashboard import filters, wording
from dashboard.rates import RATES, Rate
from dashboard.slices import Slice, ranked
from dashboard.statistics import ENOUGH, Share
from dashboard.widgets.sheet import Cell, Column, sheet

READING = (
    "The bar is the 95% interval, on the scale that the head of its column gives; an arrow: it goes on "
    f"beyond. Pale: fewer than {ENOUGH} observed."
)
FILTERED = ("model", "prompt", "tool", "source")  # dimensions that the filter bar knows
_LOW = 0.1  # a column whose intervals all lie below this ends its scale at a whole percent
_HIGH = 0.5  # a column whose intervals all lie above this does not start its scale at zero


@dataclass(frozen=True, slots=True)
class Scale:
    """What the left and the right end of an interval's track stand for."""

    start: float
    end: float

    def place(self, value: float) -> float:
        """0 to 1 along the track; outside of it for a value beyond its ends."""
        return (value - self.start) / (self.end - self.start)

    def ends(self) -> tuple[str, str]:
        return f"{100 * self.start:.0f}%", f"{100 * self.end:.0f}%"


def scale_of(shares: Sequence[Share]) -> Scale:
    """One scale for a column, around the intervals of those with enough observations, or else of all."""
    known = [share for share in shares if share.n >= ENOUGH] or [share for share in shares if share.n]
    bounds = [found for share in known if (found := share.interval)]
    if not bounds:
        return Scale(0.0, 1.0)
    lowest = min(found.low for found in bounds)
    # Rates near 100% would all sit in the last tenth of a scale from zero.
    highest = max(found.high for found in bounds)
    step = 0.01 if highest <= _LOW else 0.05
    start = math.floor(10 * lowest) / 10 if lowest > _HIGH else 0.0
    return Scale(start, min(1.0, step * math.ceil(round(highest / step, 6))))


Leads = Callable[[str], str | None]


def slice_table(
    dimension: str,
    columns: Mapping[str, Sequence[Slice]],
    *,
    key: str,
    caption: str | None = None,
    ranked_by: str | None = None,
    leads: Leads | None = None,
) -> None:
    """One row a slice, one column a rate: `columns` are the slices by `dimension` of each rate.

    `caption` names the table where a page has several. In the order of the slices as given, or the best first
    by the rate `ranked_by`. `leads`: where a name
    leads; without it, to the calls of that slice where the filter bar knows the dimension.
    """
    by_rate = {rate: {one.name: one for one in several} for rate, several in columns.items()}
    order = list(dict.fromkeys(one.name for several in columns.values() for one in several))
    if ranked_by:
        best = [one.name for one in ranked(columns[ranked_by])]
        order = best + [name for name in order if name not in best]
    scales = {rate: scale_of([one.share for one in several]) for rate, several in columns.items()}
    sheet(
        key,
        caption or f"Rates by {dimension.replace('_', ' ')}",
        [
            Column(dimension.replace("_", " ").capitalize(), "name"),
            *(
                Column(RATES[rate].title, "rate", _meaning(rate), scale=scales[rate].ends())
                for rate in columns
            ),
        ],
        [
            [
                name_cell(dimension, name, leads),
                *(
                    rate_cell(by_rate[rate].get(name), scales[rate], calls_of(RATES[rate], {dimension: name}))
                    for rate in columns
                ),
            ]
            for name in order
        ],
    )


def _meaning(rate: str) -> str:
    return f"Share of {RATES[rate].noun}s that {RATES[rate].hit}, with its 95% interval"


def name_cell(dimension: str, name: str, leads: Leads | None = None) -> Cell:
    """The slice's name, and where it leads."""
    if leads is not None:
        href = leads(name)
    else:
        href = filters.link("calls", {dimension: name}, {}) if dimension in FILTERED else None
    label = filters.label(dimension, name)
    return Cell(wording.one_line(label, 60), href=href, title=wording.one_line(label, 400), order=label)


def calls_of(rate: Rate, narrowed: Mapping[str, str]) -> str | None:
    """Where the calls are listed that `rate` counts in a slice; None where no page lists just these."""
    if rate.calls is None or not set(narrowed) <= set(FILTERED):
        return None
    return filters.link("calls", narrowed, rate.calls)


def rate_cell(one: Slice | None, scale: Scale, href: str | None = None) -> Cell:
    """A rate with k / n, its interval drawn and in figures, and what is unmeasured; `href`: what k counts."""
    if one is None or one.share.rate is None:
        return Cell("–", sub="unmeasured" if one else None)
    share = one.share
    missing = f"\n{wording.rate(one.total - share.n, one.total)} unmeasured" if one.total > share.n else ""
    return share_cell(
        share,
        scale,
        href=href if share.k else None,
        more=missing,
        pale=share.n < ENOUGH or not one.rankable,
        title=rests_on(share),
    )


def rests_on(share: Share) -> str:
    """What stands behind a rate, in words: sessions, and the kind of interval."""
    return f"{wording.plural(share.sessions or 0, 'session')} · {share.method}"


def share_cell(
    share: Share,
    scale: Scale,
    *,
    href: str | None = None,
    more: str = "",
    pale: bool | None = None,
    title: str | None = None,
    ordered: bool = True,
) -> Cell:
    """A share with k / n and its interval drawn and in figures, `more` behind them.

    `pale`: None = where few were observed; `ordered`: its column can be sorted.
    """
    bounds = share.interval
    return Cell(
        wording.rate(share.k, share.n),
        href=href,
        sub=f"{wording.of(share.k, share.n)} · {wording.interval(bounds)}{more}",
        at=scale.place(share.rate or 0.0),
        low=scale.place(bounds.low) if bounds else None,
        high=scale.place(bounds.high) if bounds else None,
        pale=share.n < ENOUGH if pale is None else pale,
        title=title,
        order=share.rate if ordered else None,
    )

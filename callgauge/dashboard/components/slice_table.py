"""Draws a table of rates with intervals. The name of each slice links to the calls of the slice."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.measures.rates import RATES, RateDefinition
from callgauge.analysis.measures.slices import Slice, rank_slices
from callgauge.analysis.verdicts.sentences import LESS, RULE
from callgauge.dashboard import filters
from callgauge.dashboard.components.controls.rate_choice import DIMENSIONS
from callgauge.dashboard.components.controls.url_widgets import draw_fold
from callgauge.dashboard.components.table import Cell, Column, Percentages, draw_table
from callgauge.stats import Share

READING = (
    "The bar is the 95% interval, on the scale that the head of its column gives; an arrow: it goes on "
    f"beyond. Pale: {LESS}."
)
FILTERED = (
    "model",
    "provider",
    "prompt",
    "tool",
    "mcp_server",
    "source",
)
NEARLY_ALL = 0.95  # if a smaller share of a slice was measured, the cell says how much was not measured
_LISTED = 15  # rows in the expander before "Show all"
_LOW = 0.1  # if all intervals of a column are below this rate, the axis ends at a whole percent
_HIGH = 0.5  # if all intervals of a column are above this rate, the axis does not start at zero


@dataclass(frozen=True, slots=True)
class IntervalScale:
    """The rates at the left and the right end of the axis on which intervals are drawn."""

    start: float
    end: float

    def position_of(self, value: float) -> float:
        """Return the position of a rate on the axis, 0 to 1.

        A rate outside the axis has a position below 0 or above 1.
        """
        return (value - self.start) / (self.end - self.start)

    def ends(self) -> tuple[str, str]:
        return f"{100 * self.start:.0f}%", f"{100 * self.end:.0f}%"


def make_scale(shares: Sequence[Share]) -> IntervalScale:
    """Return an axis that fits the intervals of all shares with enough data.

    If no share has enough data, the axis fits all intervals.
    """
    scaled = [share for share in shares if share.has_enough] or [share for share in shares if share.n]
    bounds = [interval for share in scaled if (interval := share.interval)]
    if not bounds:
        return IntervalScale(0.0, 1.0)
    lowest = min(interval.low for interval in bounds)
    # On an axis from zero, rates near 100 % would all be in the last tenth.
    highest = max(interval.high for interval in bounds)
    step = 0.01 if highest <= _LOW else 0.05
    start = math.floor(10 * lowest) / 10 if lowest > _HIGH else 0.0
    return IntervalScale(start, min(1.0, step * math.ceil(round(highest / step, 6))))


Leads = Callable[[str], str | None]


def draw_slice_table(
    dimension: str,
    columns: Mapping[str, Sequence[Slice]],
    *,
    key: str,
    ranked_by: str | None = None,
    leads: Leads | None = None,
) -> None:
    """Draw a table with one row per slice and one column per rate.

    `columns` holds the slices by `dimension`, for each rate. With `ranked_by`, the best slices by that rate
    come first; otherwise the order is kept. `leads` returns the link for a slice's name. By default the name
    links to the slice's calls. Slices with too little data for every rate share one expander below the table.
    """
    by_rate = {rate: {slice_.name: slice_ for slice_ in several} for rate, several in columns.items()}
    order = list(dict.fromkeys(slice_.name for several in columns.values() for slice_ in several))
    if ranked_by:
        best = [slice_.name for slice_ in rank_slices(columns[ranked_by])]
        order = best + [name for name in order if name not in best]
    solid = {slice_.name for several in columns.values() for slice_ in several if slice_.is_solid}
    shown = [name for name in order if name in solid]
    scales = {rate: make_scale([slice_.share for slice_ in several]) for rate, several in columns.items()}
    if shown:
        draw_table(
            key,
            f"Rates by {dimension.replace('_', ' ')}",
            [
                Column(wording.dimension(dimension).capitalize(), "name"),
                *(rate_column(rate, scales[rate]) for rate in columns),
            ],
            [
                [
                    name_cell(dimension, name, leads),
                    *(
                        rate_cell(
                            by_rate[rate].get(name), scales[rate], calls_link(RATES[rate], {dimension: name})
                        )
                        for rate in columns
                    ),
                ]
                for name in shown
            ],
        )
    thin = {
        rate: [slice_ for slice_ in several if slice_.name not in shown] for rate, several in columns.items()
    }
    draw_thin_slices(dimension, thin, key=key, leads=leads)


def draw_thin_slices(
    dimension: str,
    columns: Mapping[str, Sequence[Slice]],
    *,
    key: str,
    leads: Leads | None = None,
    noun: str | None = None,
    opens: bool | None = None,
    shown: int = _LISTED,
) -> None:
    """Draw one expander that lists the counts of slices with too little data.

    `columns` holds the slices by `dimension`, for each rate. `noun` is the word for a slice. With
    `opens=True` the list is open at first and contains rates. The URL key `<key>_thin` keeps whether the list
    is open, except if `opens` is None. `shown` is the number of rows before "Show all". The list has no
    intervals and no order by rate, because there is too little data.
    """
    by_name: dict[str, list[Slice]] = {}
    for several in columns.values():
        for slice_ in several:
            by_name.setdefault(slice_.name, []).append(slice_)
    if not by_name:
        return

    def place(name: str) -> tuple[int, int, str]:
        shares = [slice_.share for slice_ in by_name[name]]
        return -max(share.sessions or 0 for share in shares), -max(share.n for share in shares), name

    names = sorted(by_name, key=place)
    label = _describe_thin(noun or DIMENSIONS[dimension].lower(), by_name)
    if opens is None:
        expander = st.expander(label, on_change="rerun", key=f"{key}_thin")
        fold = expander if expander.open else None
    else:
        fold = draw_fold(label, f"{key}_thin", opens=opens)
    if fold is None:
        return
    with fold:
        draw_table(
            f"{key}_thin_list",
            f"{label}: counts",
            [
                Column(wording.dimension(dimension).capitalize(), "name"),
                Column("Sessions", "number", f"A rate takes {RULE} to be shown"),
                *(
                    Column(RATES[rate].title, "number", f"{RATES[rate].noun}s that {RATES[rate].hit}")
                    for rate in columns
                ),
            ],
            [_thin_row(dimension, name, by_name[name], columns, leads, rated=bool(opens)) for name in names],
            shown=shown,
        )


def _describe_thin(noun: str, by_name: Mapping[str, Sequence[Slice]]) -> str:
    """Return a phrase that counts slices with too little data, such as “18 models with too few sessions”."""
    named = sum(several[0].is_named for several in by_name.values())
    rest = f" · no {noun} named" if named < len(by_name) else ""
    if not named:
        return f"No {noun} named"
    hardly = any(slice_.share.has_enough for several in by_name.values() for slice_ in several)
    why = "too few sessions or too little known" if hardly else "too few sessions"
    return f"{wording.plural(named, noun)} with {why}{rest}"


def _thin_row(
    dimension: str,
    name: str,
    several: Sequence[Slice],
    rates: Iterable[str],
    leads: Leads | None,
    *,
    rated: bool,
) -> list[Cell]:
    by_rate = {slice_.rate.name: slice_ for slice_ in several}
    sessions = max(slice_.share.sessions or 0 for slice_ in several)
    return [
        name_cell(dimension, name, leads),
        Cell(f"{sessions:,}", order=sessions),
        *(_count_cell(by_rate.get(rate), rated=rated) for rate in rates),
    ]


def rate_column(name: str, scale: IntervalScale) -> Column:
    """Return the header of a column that shows a rate with intervals."""
    rate = RATES[name]
    return Column(rate.title, "rate", f"{rate.meaning}, with its 95% interval", scale=scale.ends())


def name_cell(dimension: str, name: str, leads: Leads | None = None) -> Cell:
    """Return a cell with the slice's name.

    The name links to `leads(name)`. Without `leads`, the name links to the slice's calls.
    """
    if leads is not None:
        href = leads(name)
    else:
        href = filters.page_link("calls", {dimension: name}, {}) if dimension in FILTERED else None
    label = filters.value_label(dimension, name)
    return Cell(
        wording.short_name(label, 60),
        href=href,
        title=wording.one_line(label, 400),
        order=label,
        values={"": label},
    )


def calls_link(rate: RateDefinition, narrowed: Mapping[str, str]) -> str | None:
    """Return a link to the calls in a slice that `rate` counts.

    Returns None when no page can list exactly these calls.
    """
    if rate.calls is None or not set(narrowed) <= set(FILTERED):
        return None
    return filters.page_link("calls", narrowed, rate.calls)


def rate_cell(slice_: Slice | None, scale: IntervalScale | None, href: str | None = None) -> Cell:
    """Return a cell with a rate, k / n, the interval, and the number of unmeasured calls or turns.

    `scale` is the axis of the interval. If `scale` is None, no interval is drawn. `href` links to the calls
    that k counts.
    """
    if slice_ is None:
        return Cell("–", values={"rate": None})
    share, unseen = slice_.share, slice_.total - slice_.share.n
    if share.rate is None:
        return Cell("–", sub="not measured", values={"rate": None, "n": 0, "unmeasured": unseen})
    cell = share_cell(
        share,
        scale,
        href=href if share.k else None,
        unmeasured=unseen if slice_.measured_share < NEARLY_ALL else None,
        pale=not slice_.is_solid,
        title=f"{describe_basis(share)}; {wording.known_share(share.n, slice_.total, slice_.rate.noun)}",
    )
    return replace(cell, values={**(cell.values or {}), "unmeasured": unseen})


def judged_rate_cell(slice_: Slice, scale: IntervalScale, href: str | None = None) -> Cell:
    """Return a cell with a rate and its interval.

    When there is too little data, the cell has only the counts.
    """
    if slice_.is_solid:
        return rate_cell(slice_, scale, href)
    return Cell(
        wording.fraction(slice_.share.k, slice_.share.n) if slice_.share.n else "–",
        sub=describe_little(slice_),
        href=href if slice_.share.k else None,
        pale=True,
        values=count_values(slice_),
    )


def compact_rate_cell(slice_: Slice | None, href: str | None = None, *, heat: float | None = None) -> Cell:
    """Return a narrow cell with a rate and its counts. If there is too little data, show only counts.

    A tooltip has the interval and the number of unmeasured calls or turns. `heat` is the strength of the
    cell's colour.
    """
    if slice_ is None or not slice_.share.n:
        return Cell(
            "–" if slice_ else "", title="not measured" if slice_ else None, pale=True, values={"rate": None}
        )
    share, counts = slice_.share, wording.fraction(slice_.share.k, slice_.share.n)
    coverage = wording.known_share(share.n, slice_.total, slice_.rate.noun)
    if not slice_.is_solid:
        why = f"Too little to tell: {describe_little(slice_)}; {coverage}"
        return Cell(counts, href=href, pale=True, title=why, values=count_values(slice_))
    rate = share.k / share.n
    return Cell(
        wording.fixed_percent(rate, 1),
        sub=counts,
        href=href,
        heat=heat,
        title=f"{wording.interval(share.interval)} · {describe_basis(share)}; {coverage}",
        order=rate,
        values=share_values(share) | {"unmeasured": slice_.total - share.n},
        percentages=Percentages(
            rate, share.n, lambda decimals: (wording.fixed_percent(rate, decimals), counts)
        ),
    )


def describe_little(slice_: Slice) -> str:
    """Return a phrase that says how little data a slice without a verdict has."""
    if not slice_.share.n:
        return "not measured"
    if slice_.share.has_enough:
        return wording.known_share(slice_.share.n, slice_.total, slice_.rate.noun)
    return wording.plural(slice_.share.sessions or 0, "session")


def _count_cell(slice_: Slice | None, *, rated: bool) -> Cell:
    if slice_ is None or not slice_.share.n:
        return Cell("–", title="not measured" if slice_ else None, values={"k": None})
    counts = wording.fraction(slice_.share.k, slice_.share.n)
    return Cell(
        wording.rate(slice_.share.k, slice_.share.n) if rated else counts,
        sub=counts if rated else None,
        pale=rated,
        title=wording.known_share(slice_.share.n, slice_.total, slice_.rate.noun),
        # Slices with equal rates keep the default order: most sessions first.
        order=slice_.share.k / slice_.share.n,
        values=count_values(slice_) | ({"rate": slice_.share.rate} if rated else {}),
    )


def count_values(slice_: Slice) -> dict[str, Any]:
    """Return the values for the download of a slice with too little data: its counts, but no rate."""
    share = slice_.share
    unmeasured = slice_.total - share.n
    return {"k": share.k, "n": share.n, "sessions": share.sessions, "unmeasured": unmeasured}


def describe_basis(share: Share) -> str:
    """Return the basis of a rate: the number of sessions and the kind of interval."""
    return f"{wording.plural(share.sessions or 0, 'session')} · {share.method_name}"


def share_cell(
    share: Share,
    scale: IntervalScale | None,
    *,
    href: str | None = None,
    unmeasured: int | None = None,
    pale: bool | None = None,
    title: str | None = None,
    ordered: bool = True,
) -> Cell:
    """Return a cell with a share, k / n, and its interval, as a drawing and in figures.

    `scale` is the axis of the interval. If `scale` is None, no interval is drawn. `unmeasured` counts
    observations that were not measured. `pale=None` makes the cell pale when there is too little data.
    `ordered` lets the column be sorted by this cell.
    """
    bounds = share.interval

    def write(decimals: int) -> tuple[str, str]:
        figures = [wording.fraction(share.k, share.n)]
        if bounds:
            figures.append(wording.fixed_interval(bounds, decimals))
        missing = f"\n{describe_unmeasured(unmeasured, share.n, decimals)}" if unmeasured else ""
        return wording.fixed_percent(share.rate, decimals), f"{' · '.join(figures)}{missing}"

    drawn = scale if bounds else None
    text, sub = write(1)
    return Cell(
        text,
        href=href,
        sub=sub,
        at=scale.position_of(share.rate or 0.0) if scale else None,
        low=drawn.position_of(bounds.low) if drawn and bounds else None,
        high=drawn.position_of(bounds.high) if drawn and bounds else None,
        pale=not share.has_enough if pale is None else pale,
        title=title,
        order=share.rate if ordered else None,
        values=share_values(share) | ({} if unmeasured is None else {"unmeasured": unmeasured}),
        percentages=None if share.rate is None else Percentages(share.rate, share.n, write),
    )


def share_values(share: Share) -> dict[str, Any]:
    """Return the downloaded values of a share: rate, k, n, 95 % interval, and sessions."""
    bounds = share.interval
    return {
        "rate": share.rate,
        "k": share.k,
        "n": share.n,
        "low": bounds.low if bounds else None,
        "high": bounds.high if bounds else None,
        "sessions": share.sessions,
    }


def part_cell(k: int, n: int, *, href: str | None = None, counts: bool = False) -> Cell:
    """Return a cell with `k` of `n` as a percentage without an interval. Return a dash when `n` is 0.

    With `counts`, k / n is below the percentage.
    """
    if not n:
        return Cell("–", values={"rate": None})

    def write(decimals: int) -> tuple[str, str]:
        return wording.fixed_percent(k / n, decimals), wording.fraction(k, n) if counts else ""

    return Cell(
        wording.fixed_percent(k / n, 1),
        href=href,
        order=k / n,
        values={"rate": k / n, "k": k, "n": n},
        percentages=Percentages(k / n, n, write),
    )


def describe_unmeasured(unmeasured: int, measured: int, decimals: int) -> str:
    share = wording.fixed_percent(unmeasured / (unmeasured + measured), decimals)
    return f"{share} not measured"

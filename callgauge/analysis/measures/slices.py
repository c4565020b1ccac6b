"""Slices: a rate of a group of calls, turns or retry sequences, with the counts for its uncertainty."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from callgauge.analysis.measures.rates import PUBLIC_ERROR, RATES, RateDefinition
from callgauge.stats import Share, place_in_groups, read_days, relate_shares
from callgauge.stats.intervals import Floats

if TYPE_CHECKING:
    import pandas as pd

_DEFINITIONS = {**RATES, PUBLIC_ERROR.name: PUBLIC_ERROR}
MEASURED_ENOUGH = 0.2  # a slice with a smaller measured share gets no rank, and a badge says so


@dataclass(frozen=True, slots=True)
class Slice:
    """One rate of the calls, turns or retry sequences with the value `name` of a dimension.

    `also` is the value of a second dimension. `total` is the number of all calls, turns or sequences.
    `share.n` is the number of those that could be measured. If too few sessions contain the calls,
    `concentration` says why the slice is not ranked. Otherwise it is empty.
    """

    rate: RateDefinition
    name: str
    also: str
    share: Share
    total: int
    concentration: str = ""

    @property
    def measured_share(self) -> float:
        """The share of `total` that could be measured, 0 to 1."""
        return self.share.n / self.total if self.total else 0.0

    @property
    def is_named(self) -> bool:
        """False for the slice of unnamed values, which may mix several values."""
        return self.name != "unknown"

    @property
    def is_rankable(self) -> bool:
        return self.share.n > 0 and self.measured_share >= MEASURED_ENOUGH

    @property
    def is_solid(self) -> bool:
        """True when enough calls in enough sessions were measured for a rank or an alert."""
        return self.is_rankable and self.share.has_enough and not self.concentration

    @property
    def has_enough_to_compare(self) -> bool:
        """True when enough calls in enough sessions were measured to judge a difference."""
        return self.is_rankable and self.share.has_enough_to_compare and not self.concentration


def make_slices(rows: pd.DataFrame, *, related: bool = True) -> list[Slice]:
    """Return a slice for each row of the metric `slices`, or of a metric with the same columns.

    The slices of a rate share one estimate of the intra-session correlation. Use `related=False` for slices
    that are only subsets of other slices.
    """
    columns = (rows[name] for name in ("rate", "slice", "also", "total"))
    slices = [
        Slice(_DEFINITIONS[rate], name, also, share, total)
        for rate, name, also, total, share in zip(*columns, read_shares(rows), strict=True)
    ]
    return relate_slices(slices) if related else slices


def read_shares(rows: pd.DataFrame) -> list[Share]:
    """Return the share of each row of a metric with the columns k, n, sessions and the group columns.

    If the metric also has the day columns, the shares contain the counts by day.
    """
    by_group = place_in_groups(rows["group_ids"], rows["group_k"], rows["group_n"])
    by_day = read_days(rows["days"], rows["day_k"], rows["day_n"]) if "days" in rows else [None] * len(rows)
    counts = zip(rows["k"], rows["n"], rows["sessions"], by_group, by_day, strict=True)
    return [Share(*row) for row in counts]


def sum_groups(rows: Iterable[Mapping[Any, Any]], *columns: str) -> Floats:
    """Return the sums over all rows by random group of sessions, as an array of shape (columns, GROUPS)."""
    listed_rows = list(rows)
    counts = ([row[f"group_{column}"] for row in listed_rows] for column in columns)
    sums: Floats = place_in_groups([row["group_ids"] for row in listed_rows], *counts).sum(axis=0)
    return sums


def relate_slices(several: Sequence[Slice]) -> list[Slice]:
    """Return the slices. The slices of each rate share one estimate of the intra-session correlation."""
    related = relate_shares([slice_.share for slice_ in several], [one.rate.name for one in several])
    return [replace(slice_, share=share) for slice_, share in zip(several, related, strict=True)]


def merge_slices(several: Iterable[Slice], name: str = "all") -> Slice | None:
    """Return the sum of several slices of one rate. Return None for no slices.

    A session that is in several slices counts several times in the number of sessions, but once for the
    interval.
    """
    parts = list(several)
    if not parts:
        return None
    whole = Share.sum_up([part.share for part in parts])
    return Slice(parts[0].rate, name, "all", whole, sum(part.total for part in parts))


def rank_slices(several: Iterable[Slice]) -> list[Slice]:
    """Return the slices, the best first. Slices with too few measurements come last, ordered by size."""
    return sorted(
        several,
        key=lambda slice_: (
            not slice_.is_rankable,
            0.0
            if not slice_.is_rankable
            else (slice_.share.rate or 0.0) * (-1 if slice_.rate.is_good else 1),
            -slice_.share.n,
            slice_.name,
        ),
    )

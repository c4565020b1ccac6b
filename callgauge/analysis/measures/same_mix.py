"""Compares two slices stratum by stratum, as if both slices had the same mix of tools, prompts and so on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from callgauge.analysis import wording
from callgauge.analysis.measures.rates import RateDefinition
from callgauge.analysis.measures.slices import Slice
from callgauge.stats import Share, StandardisedDifference, place_in_groups
from callgauge.stats.day_spread import measure_excesses
from callgauge.stats.intervals import LEVEL
from callgauge.stats.standardisation import standardise_all

if TYPE_CHECKING:
    import pandas as pd

_OF_CALLS = ("model", "tool", "strategy", "prompt")
_OF_TURNS = ("model", "source", "prompt")
_FINEST = 3  # maximum number of dimensions that form a stratum
_UNSEEN = Share(0, 0)
_UNNAMED = "unknown"

Stratum = tuple[str, ...]


def choose_dimensions(rate: RateDefinition, arms: Iterable[str]) -> tuple[str, ...]:
    """Return the dimensions that form the strata of a rate, the most informative first.

    The dimensions `apart`, in which the slices differ, cannot form strata. A turn or a request may call
    several tools, so turns and requests have no strata by tool.
    """
    apart = {"prompt" if name == "prompt_name" else name for name in arms}
    candidates = _OF_TURNS if rate.noun in ("turn", "request") else _OF_CALLS
    return tuple(name for name in candidates if name not in apart)[:_FINEST]


def describe_dimensions(names: Sequence[str]) -> str:
    """Return the names of dimensions in words, such as "tools, strategies and prompts"."""
    if not names:
        return "all work"
    words = [wording.plural_of(wording.dimension(name)) for name in names]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


@dataclass(frozen=True, slots=True)
class SameMix:
    """Two slices at the same mix of the dimensions `by`. `by` is empty if the logs contain no values of the
    dimensions.
    """

    found: StandardisedDifference
    by: tuple[str, ...]

    @property
    def words(self) -> str:
        return describe_dimensions(self.by)


@dataclass(frozen=True, slots=True)
class ArmStrata:
    """The strata of each slice, by the values of `dimensions`."""

    dimensions: tuple[str, ...]
    by_arm: Mapping[str, Mapping[Stratum, Share]]

    def compare(
        self, pairs: Sequence[tuple[tuple[str, Slice], tuple[str, Slice]]], level: float = LEVEL
    ) -> list[SameMix | None]:
        """Return the mix-adjusted difference of each pair, first minus second.

        A pair without common strata gets None. A pair holds the names of two slices and both slices. The
        function uses the finest strata that still contain most observations of both slices. An unnamed value
        matches no other value. A dimension without named values is left out. `level` is the confidence of the
        intervals.
        """
        same_mixes: list[SameMix | None] = [None] * len(pairs)
        excesses = measure_excesses([(slice_.share, other.share) for (_, slice_), (_, other) in pairs])
        named = [self._named_dimensions(name, other) for (name, _), (other, _) in pairs]
        for fewer in range(len(self.dimensions) + 1):
            left = [
                place
                for place, each in enumerate(same_mixes)
                if (each is None or not each.found.is_representative)
                and (len(named[place]) > fewer or not (named[place] or fewer))
            ]
            cuts = [named[place][: len(named[place]) - fewer] for place in left]
            strata = [
                _pair_up(*(self._cut(arm, cut) for arm, _ in pairs[place]))
                for place, cut in zip(left, cuts, strict=True)
            ]
            likeness = [
                (slice_.share.likeness, other.share.likeness)
                for (_, slice_), (_, other) in (pairs[place] for place in left)
            ]
            beyond = [excesses[place] for place in left]
            adjusted = standardise_all(strata, likeness, beyond, level)
            for place, cut, each in zip(left, cuts, adjusted, strict=True):
                present = same_mixes[place]
                if each and (present is None or each.is_representative or not present.found.is_comparable):
                    same_mixes[place] = SameMix(each, tuple(self.dimensions[number] for number in cut))
        return same_mixes

    def within(self, dimension: str, value: str) -> ArmStrata:
        """Return the strata of each slice within one value of a dimension, by the other dimensions."""
        place = self.dimensions.index(dimension)
        return ArmStrata(
            self.dimensions[:place] + self.dimensions[place + 1 :],
            {
                arm: {
                    key[:place] + key[place + 1 :]: share
                    for key, share in strata.items()
                    if key[place] == value
                }
                for arm, strata in self.by_arm.items()
            },
        )

    def _named_dimensions(self, *arms: str) -> list[int]:
        strata = [stratum for arm in arms for stratum in self.by_arm.get(arm, {})]
        return [
            number
            for number in range(len(self.dimensions))
            if any(stratum[number] != _UNNAMED for stratum in strata)
        ]

    def _cut(self, arm: str, dimensions: Sequence[int]) -> dict[Stratum, Share]:
        """Return the strata of a slice by some of the dimensions.

        Unnamed strata match no stratum of another slice.
        """
        cut: dict[Stratum, Share] = {}
        for stratum, share in self.by_arm.get(arm, {}).items():
            key = tuple(stratum[number] for number in dimensions)
            if _UNNAMED in key:
                key = (*key, arm)
            cut[key] = cut[key] + share if key in cut else share
        return cut


def _pair_up(strata: Mapping[Stratum, Share], against: Mapping[Stratum, Share]) -> list[tuple[Share, Share]]:
    return [
        (strata.get(key, _UNSEEN), against.get(key, _UNSEEN)) for key in dict.fromkeys([*strata, *against])
    ]


def make_strata(rows: pd.DataFrame, dimensions: tuple[str, ...]) -> ArmStrata:
    """Return the strata of all slices from the rows of the metric `strata`."""
    by_arm: dict[str, dict[Stratum, Share]] = {}
    columns = [rows[name] for name in ("arm", "first", "second", "third", "k", "n", "sessions")]
    counts = place_in_groups(rows["group_ids"], rows["group_k"], rows["group_n"])
    for (arm, first, second, third, k, n, sessions), groups in zip(
        zip(*columns, strict=True), counts, strict=True
    ):
        if n:
            stratum = (first, second, third)[: len(dimensions)]
            by_arm.setdefault(arm, {})[stratum] = Share(k, n, sessions, groups)
    return ArmStrata(dimensions, by_arm)


@dataclass(frozen=True, slots=True)
class MakeupShift:
    """The numbers of calls of two slices with a `value` of a dimension.

    Slice A has `a` of `a_total` calls with the value, and slice B has `b` of `b_total`.
    """

    dimension: str
    value: str
    a: int
    a_total: int
    b: int
    b_total: int

    @property
    def change(self) -> float:
        """The share of the value in slice B minus the share in slice A."""
        return self.b / self.b_total - self.a / self.a_total


def find_makeup_shifts(a: pd.DataFrame, b: pd.DataFrame, leave_out: Iterable[str] = ()) -> list[MakeupShift]:
    """Return the values whose shares differ between two slices, the largest differences first.

    `a` and `b` are the rows of the metric `makeup` for each slice. Dimensions in `leave_out`, and dimensions
    without calls in one slice, are left out.
    """
    left_out = set(leave_out)
    of_a, of_b = a.to_dict("records"), b.to_dict("records")
    firsts, seconds = (
        {(row["dimension"], row["value"]): row["calls"] for row in rows} for rows in (of_a, of_b)
    )
    first_totals, second_totals = (
        {row["dimension"]: row["total"] for row in rows if row["total"]} for rows in (of_a, of_b)
    )
    shifts = [
        MakeupShift(
            dimension,
            value,
            firsts.get((dimension, value), 0),
            first_totals[dimension],
            seconds.get((dimension, value), 0),
            second_totals[dimension],
        )
        for dimension, value in dict.fromkeys([*firsts, *seconds])
        if dimension not in left_out and dimension in first_totals and dimension in second_totals
    ]
    differing = [shift for shift in shifts if shift.change]
    return sorted(differing, key=lambda shift: (-abs(shift.change), shift.dimension, shift.value))

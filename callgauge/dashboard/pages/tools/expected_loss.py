"""Computes a slice's expected number of bad calls or turns; ranked by rate, rare tools would lead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from callgauge.analysis.measures.slices import Slice


def expected_loss(one: Slice | None) -> float:
    """Return the expected number of bad calls or turns, as if the unmeasured were like the measured.

    Return 0 without a slice or a measurement.
    """
    if one is None or one.share.rate is None:
        return 0.0
    bad = 1 - one.share.rate if one.rate.is_good else one.share.rate
    return bad * one.total


def sort_by_loss(several: Mapping[str, Slice], names: Sequence[str]) -> list[str]:
    """Return the names by expected loss, the largest first; too little measured slices come last."""

    def place(name: str) -> tuple[bool, float, int, str]:
        one = several.get(name)
        return one is None or not one.is_rankable, -expected_loss(one), -(one.total if one else 0), name

    return sorted(names, key=place)

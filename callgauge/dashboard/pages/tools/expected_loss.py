"""Expected loss of slices: a rate alone would put rare calls on top."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from callgauge.dashboard.measures.slices import Slice


def expected_loss(one: Slice | None) -> float:
    """How many are bad by this rate, if those that could not be measured are like the others."""
    if one is None or one.share.rate is None:
        return 0.0
    bad = 1 - one.share.rate if one.rate.is_good else one.share.rate
    return bad * one.total


def sort_by_loss(several: Mapping[str, Slice], names: Sequence[str]) -> list[str]:
    """Names by their expected loss, the largest first; those of which too little was measured stand last."""

    def place(name: str) -> tuple[bool, float, int, str]:
        one = several.get(name)
        return one is None or not one.is_rankable, -expected_loss(one), -(one.total if one else 0), name

    return sorted(names, key=place)

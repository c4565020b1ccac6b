"""Corrects p-values for multiple comparisons."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p: Sequence[float]) -> list[float]:
    """Return the p-values adjusted by Holm's method (Holm 1979), in the order given.

    For a ranked table: the chance that any line of the table is a false positive stays at the level.
    """
    order = sorted(range(len(p)), key=p.__getitem__)
    adjusted, largest = [0.0] * len(p), 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(p) - rank) * p[index]))
        adjusted[index] = largest
    return adjusted


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """Return the p-values adjusted by the method of Benjamini & Hochberg (1995), in the order given.

    The expected share of false positives among the significant results stays at the level.
    """
    order = sorted(range(len(p)), key=p.__getitem__)
    adjusted, smallest = [0.0] * len(p), 1.0
    for rank in range(len(p), 0, -1):
        index = order[rank - 1]
        smallest = min(smallest, p[index] * len(p) / rank)
        adjusted[index] = smallest
    return adjusted

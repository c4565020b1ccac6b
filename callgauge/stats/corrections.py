"""Corrects p-values for multiple comparisons."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p: Sequence[float], weights: Sequence[float] | None = None) -> list[float]:
    """Return the p-values adjusted by Holm's method (Holm 1979), in the order given.

    The chance of any false positive among all p-values stays at the significance level. `weights` says how
    the level is divided among the p-values (Holm's weighted procedure). Without `weights`, it is divided
    equally.
    """
    shares = [1.0] * len(p) if weights is None else list(weights)
    order = sorted(range(len(p)), key=lambda index: p[index] / shares[index])
    adjusted, largest, left = [0.0] * len(p), 0.0, sum(shares)
    for index in order:
        largest = max(largest, p[index], min(1.0, p[index] * left / shares[index]))
        adjusted[index] = largest
        left -= shares[index]
    return adjusted


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """Return the p-values adjusted by the method of Benjamini & Hochberg (1995), in the order given.

    The expected share of false positives among the significant results stays at the significance level.
    """
    order = sorted(range(len(p)), key=p.__getitem__)
    adjusted, smallest = [0.0] * len(p), 1.0
    for rank in range(len(p), 0, -1):
        index = order[rank - 1]
        smallest = min(smallest, p[index] * len(p) / rank)
        adjusted[index] = smallest
    return adjusted

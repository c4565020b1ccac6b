"""Corrects p-values for how many they are."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p: Sequence[float]) -> list[float]:
    """For a ranked table: the chance that any line of it misleads stays at the level (Holm 1979)."""
    order = sorted(range(len(p)), key=p.__getitem__)
    adjusted, largest = [0.0] * len(p), 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(p) - rank) * p[index]))
        adjusted[index] = largest
    return adjusted


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """Correct p-values so that the share of false alerts stays at the level (Benjamini & Hochberg 1995)."""
    order = sorted(range(len(p)), key=p.__getitem__)
    adjusted, smallest = [0.0] * len(p), 1.0
    for rank in range(len(p), 0, -1):
        index = order[rank - 1]
        smallest = min(smallest, p[index] * len(p) / rank)
        adjusted[index] = smallest
    return adjusted

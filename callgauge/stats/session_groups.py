"""Counts by random group of sessions, as arrays."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import chain

import numpy as np

from callgauge.stats.intervals import Floats

GROUPS = 50
"""The number of random groups of sessions, in ingest/store/session_group.sql as well."""


def place_in_groups(ids: Collection[Sequence[int]], *counts: Iterable[Sequence[int]]) -> Floats:
    """Return counts by group as an array of shape (rows, len(counts), GROUPS).

    `ids`: for each row the groups that have an observation. `counts`: for each row the counts of just these.
    """
    found = np.zeros((len(ids), len(counts), GROUPS))
    rows = np.repeat(np.arange(len(ids)), [len(each) for each in ids])
    groups = np.fromiter(chain.from_iterable(ids), int)
    for place, column in enumerate(counts):
        found[rows, place, groups] = np.fromiter(chain.from_iterable(column), float)
    return found

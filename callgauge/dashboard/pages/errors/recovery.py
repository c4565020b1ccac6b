"""Computes the outcomes of retry sequences and what retries cost, from the metric `chains`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callgauge.analysis.measures.slices import sum_groups
from callgauge.stats import Share, relate_shares

Row = Mapping[Any, Any]
MOST = 10  # maximum number of attempts; the daily sums count ten and more attempts as ten


@dataclass(frozen=True, slots=True)
class FunnelStage:
    """One stage of the funnel: the retry sequences that reached attempt `number`.

    `recovered`, `abandoned` and `open` count the sequences that ended with this attempt, by outcome.
    `continued_count` counts the sequences with a further attempt.
    """

    number: int
    reached: int
    recovered: int
    abandoned: int
    open: int

    @property
    def continued_count(self) -> int:
        return self.reached - self.recovered - self.abandoned - self.open


@dataclass(frozen=True, slots=True)
class RetryCost:
    """The cost of all attempts after the first attempt.

    The cost is known for `known` of the `retried` sequences.
    """

    total: float
    known: int
    retried: int

    @property
    def cost_per_chain(self) -> float | None:
        """The mean cost of the retried sequences with known cost, or None when no cost is known."""
        return self.total / self.known if self.known else None


def group_by_slice(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Group the rows by the failure stage, model or tool of the sequence's first call."""
    by_slice: dict[str, list[Row]] = {}
    for row in rows:
        by_slice.setdefault(row["slice"], []).append(row)
    return by_slice


def count_ended(rows: Iterable[Row], ended: str) -> int:
    return sum(row["chains"] for row in rows if row["ended"] == ended)


def build_funnel(rows: Sequence[Row]) -> list[FunnelStage]:
    """Return the stages of the funnel, from the first attempt to the last attempt of the longest sequence."""
    longest = max((row["attempts"] for row in rows), default=0)
    return [
        FunnelStage(
            number,
            sum(row["chains"] for row in rows if row["attempts"] >= number),
            *(
                sum(row["chains"] for row in rows if row["attempts"] == number and row["ended"] == ended)
                for ended in ("recovered", "abandoned", "open")
            ),
        )
        for number in range(1, longest + 1)
    ]


def mean_attempts(rows: Sequence[Row]) -> float:
    """Return the mean number of attempts per retry sequence. Ten or more attempts count as ten."""
    chains = sum(row["chains"] for row in rows)
    return sum(row["attempts"] * row["chains"] for row in rows) / chains if chains else 0.0


def recovery_share(rows: Sequence[Row]) -> Share:
    """Return the share of recovered retry sequences, over sequences with a known end."""
    recovered, abandoned = (
        sum_groups((row for row in rows if row["ended"] == name), "chains")[0]
        for name in ("recovered", "abandoned")
    )
    return Share.from_groups(recovered, recovered + abandoned)


def relate_recoveries(by_slice: Mapping[str, Sequence[Row]]) -> dict[str, Share]:
    """Return the share of recovered sequences for each slice.

    All slices are estimated together, so each interval depends on all slices.
    """
    shares = [recovery_share(rows) for rows in by_slice.values()]
    return dict(zip(by_slice, relate_shares(shares), strict=True))


def retried_share(rows: Sequence[Row]) -> Share:
    """Return the share of retry sequences that have a second attempt."""
    (again,) = sum_groups((row for row in rows if row["attempts"] > 1), "chains")
    return Share.from_groups(again, *sum_groups(rows, "chains"))


def first_retry_share(rows: Sequence[Row], kind: str) -> Share:
    """Return the share of first retries of the given kind that succeeded.

    `kind` is `identical` or `changed`.
    """
    return Share.from_groups(*sum_groups(rows, f"first_{kind}_worked", f"first_{kind}"))


def sum_cost(rows: Sequence[Row], what: str) -> RetryCost:
    """Return the total cost of retries.

    `what` is the unit: `steps`, `tokens` or `ms`. Steps are always known.
    """
    retried = sum(row["chains"] for row in rows if row["attempts"] > 1)
    measured = retried if what == "steps" else sum(row[f"{what}_known"] for row in rows)
    return RetryCost(sum(row[what] for row in rows), measured, retried)

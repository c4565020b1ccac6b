"""Computes the funnel of recovery and the cost of retries from the rows of the metric `chains`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callgauge.analysis.measures.slices import sum_groups
from callgauge.stats import Share, relate_shares

Row = Mapping[Any, Any]
MOST = 10  # attempts; the rollup takes ten and more together


@dataclass(frozen=True, slots=True)
class FunnelStage:
    """One stage of the funnel: the chains that reached attempt `number`.

    `recovered`, `abandoned`, `open`: the chains that ended with this attempt, by their end;
    `continued_count`: the chains with a further attempt.
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
    """The cost of the attempts after the first; it is known for `known` of `retried` chains."""

    total: float
    known: int
    retried: int

    @property
    def cost_per_chain(self) -> float | None:
        """The mean cost of a retried chain with known cost; None when the cost of no chain is known."""
        return self.total / self.known if self.known else None


def group_by_slice(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the rows by the fault layer, model or tool of the first call, as the metric was asked by."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["slice"], []).append(row)
    return found


def count_ended(rows: Iterable[Row], ended: str) -> int:
    """Return the number of chains with this end: recovered, abandoned or open."""
    return sum(row["chains"] for row in rows if row["ended"] == ended)


def build_funnel(rows: Sequence[Row]) -> list[FunnelStage]:
    """Return the stages of the funnel, from the first attempt to the last attempt of the longest chain."""
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


def recovery_share(rows: Sequence[Row]) -> tuple[Share, int]:
    """Return the share of recovered chains among those with a known end, and the number of all chains."""
    recovered, abandoned = (
        sum_groups((row for row in rows if row["ended"] == name), "chains")[0]
        for name in ("recovered", "abandoned")
    )
    return Share.from_groups(recovered, recovered + abandoned), sum(row["chains"] for row in rows)


def relate_recoveries(by_slice: Mapping[str, Sequence[Row]]) -> dict[str, Share]:
    """Return the share of recovered chains of each slice; as one table, they lend each other likeness."""
    shares = [recovery_share(rows)[0] for rows in by_slice.values()]
    return dict(zip(by_slice, relate_shares(shares), strict=True))


def retried_share(rows: Sequence[Row]) -> Share:
    """Return the share of chains with a second attempt among all chains."""
    (again,) = sum_groups((row for row in rows if row["attempts"] > 1), "chains")
    return Share.from_groups(again, *sum_groups(rows, "chains"))


def first_retry_share(rows: Sequence[Row], kind: str) -> Share:
    """Return the share of first retries of the given kind that worked; a chain has one first retry.

    `kind`: `identical` or `changed`.
    """
    return Share.from_groups(*sum_groups(rows, f"first_{kind}_worked", f"first_{kind}"))


def sum_cost(rows: Sequence[Row], what: str) -> RetryCost:
    """Return the summed cost of retries. `what`: `steps` (always known), `tokens`, or `ms`."""
    retried = sum(row["chains"] for row in rows if row["attempts"] > 1)
    known = retried if what == "steps" else sum(row[f"{what}_known"] for row in rows)
    return RetryCost(sum(row[what] for row in rows), known, retried)

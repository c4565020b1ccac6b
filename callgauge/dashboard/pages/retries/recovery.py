"""The funnel of recovery and its cost, from the rows of the metric `chains`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callgauge.stats import Share

Row = Mapping[Any, Any]
MOST = 10  # attempts; the rollup takes ten and more together


@dataclass(frozen=True, slots=True)
class FunnelStage:
    """One stage of the funnel: chains that made this attempt, and how those that ended with it did.

    `went_on` made another one.
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
    """What the attempts after the first took; `known` of `retried` chains tell it."""

    total: float
    known: int
    retried: int

    @property
    def cost_per_chain(self) -> float | None:
        """Return the cost of each chain that was tried again."""
        return self.total / self.known if self.known else None


def group_by_layer(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """The rows by the fault layer at which the chains began."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["fault_layer"], []).append(row)
    return found


def build_funnel(rows: Sequence[Row]) -> list[FunnelStage]:
    """Return the steps of the funnel, from the first attempt of all chains to the last that any made."""
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
    """Chains that recovered, of those whose end is known; and how many there are in all."""
    ended = {name: sum(row["chains"] for row in rows if row["ended"] == name) for name in _ENDS}
    return Share(ended["recovered"], ended["recovered"] + ended["abandoned"]), sum(ended.values())


_ENDS = ("recovered", "abandoned", "open")


def retried_share(rows: Sequence[Row]) -> Share:
    """Chains with a second attempt, of all."""
    return Share(
        sum(row["chains"] for row in rows if row["attempts"] > 1), sum(row["chains"] for row in rows)
    )


def first_retry_share(rows: Sequence[Row], kind: str) -> Share:
    """First retries of the kind, `identical` or `changed`, that worked, of all of it: one a chain."""
    return Share(sum(row[f"first_{kind}_worked"] for row in rows), sum(row[f"first_{kind}"] for row in rows))


def sum_cost(rows: Sequence[Row], what: str) -> RetryCost:
    """Sum what was spent. `what`: steps, which are always known, tokens, or ms."""
    retried = sum(row["chains"] for row in rows if row["attempts"] > 1)
    known = retried if what == "steps" else sum(row[f"{what}_known"] for row in rows)
    return RetryCost(sum(row[what] for row in rows), known, retried)

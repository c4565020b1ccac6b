"""Tests retry sequences that were counted by hand."""

from __future__ import annotations

from typing import Any

import pytest

from callgauge.dashboard.pages.errors import recovery
from callgauge.stats import Share

_BY_GROUP = ("first_identical", "first_identical_worked", "first_changed", "first_changed_worked", "chains")


def spread_out(number: int, groups: int) -> list[int]:
    """Divide a number into nearly equal integers, one for each group. The first groups may get 1 more."""
    return [number // groups + (group < number % groups) for group in range(groups)]


def rows_of(
    attempts: int,
    ended: str,
    chains: int,
    layer: str = "schema",
    *,
    groups: tuple[int, ...] = (3, 8),
    **fields: Any,
) -> dict[str, Any]:
    """Return a row of the metric `chains`. The row's sessions are in these `groups`."""
    nothing = dict.fromkeys(
        (
            "retries",
            "first_identical",
            "first_identical_worked",
            "first_changed",
            "first_changed_worked",
            "steps",
            "tokens",
        ),
        0,
    )
    row: dict[str, Any] = (
        nothing
        | {"tokens_known": 0, "ms": 0.0, "ms_known": 0, "slice": layer}
        | {"attempts": attempts, "ended": ended, "chains": chains}
        | fields
    )
    by_group = {f"group_{name}": spread_out(row[name], len(groups)) for name in _BY_GROUP}
    return row | {"group_ids": list(groups)} | by_group


ROWS = [
    rows_of(1, "abandoned", 4, groups=(0, 3)),
    rows_of(1, "open", 2, "execution", groups=(49,)),
    rows_of(
        2,
        "recovered",
        10,
        first_changed=9,
        first_changed_worked=9,
        first_identical=1,
        first_identical_worked=1,
        steps=10,
    ),
    rows_of(
        3,
        "recovered",
        3,
        first_changed=4,
        first_changed_worked=3,
        first_identical=2,
        steps=6,
        tokens=900,
        tokens_known=2,
    ),
    rows_of(3, "abandoned", 1, "execution", first_changed=2, steps=2),
]


def test_each_stage_holds_the_chains_that_got_so_far_and_where_they_ended() -> None:
    stages = recovery.build_funnel(ROWS)
    assert [
        (stage.number, stage.reached, stage.recovered, stage.abandoned, stage.open) for stage in stages
    ] == [
        (1, 20, 0, 4, 2),
        (2, 14, 10, 0, 0),
        (3, 4, 3, 1, 0),
    ]
    assert [stage.continued_count for stage in stages] == [14, 4, 0]


def test_recovery_leaves_out_the_chains_whose_end_is_not_known() -> None:
    share = recovery.recovery_share(ROWS)
    assert share == Share(13, 18)
    assert share.by_group is not None
    counts_by_group = {
        group: share.by_group[:, group].tolist() for group in range(50) if share.by_group[1, group]
    }
    assert counts_by_group == {0: [0, 2], 3: [7, 10], 8: [6, 6]}, (
        "the two that are open, in group 49, are left out"
    )


def test_chains_stand_under_the_layer_at_which_they_began() -> None:
    assert {layer: len(rows) for layer, rows in recovery.group_by_slice(ROWS).items()} == {
        "schema": 3,
        "execution": 2,
    }


def test_retries_of_a_kind_and_those_that_worked() -> None:
    changed = recovery.first_retry_share(ROWS, "changed")
    assert changed == Share(12, 15)
    assert changed.by_group is not None
    assert changed.by_group[:, [3, 8]].tolist() == [[7, 5], [8, 7]]
    assert recovery.first_retry_share(ROWS, "identical") == Share(1, 3)
    assert recovery.retried_share(ROWS) == Share(14, 20)


def test_cost_is_told_for_each_chain_that_tells_it() -> None:
    assert recovery.sum_cost(ROWS, "steps") == recovery.RetryCost(18, 14, 14)
    assert recovery.sum_cost(ROWS, "tokens") == recovery.RetryCost(900, 2, 14)
    assert recovery.sum_cost(ROWS, "tokens").cost_per_chain == pytest.approx(450)
    assert recovery.sum_cost(ROWS, "ms").cost_per_chain is None


def test_the_mean_number_of_attempts_is_over_all_sequences() -> None:
    assert recovery.mean_attempts(ROWS) == pytest.approx((6 * 1 + 10 * 2 + 4 * 3) / 20)
    assert recovery.mean_attempts([]) == 0


def test_no_chains_give_no_stages() -> None:
    assert recovery.build_funnel([]) == []
    assert recovery.recovery_share([]) == Share(0, 0)

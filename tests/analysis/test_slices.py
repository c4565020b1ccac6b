"""Tests how the slices of a metric are loaded, sorted and added up."""

from __future__ import annotations

import pandas as pd
import pytest

from callgauge.analysis.measures.slices import make_slices, merge_slices, rank_slices, sum_groups
from tests.analysis.session_shares import count_by_group, of_sessions, of_slice, place_sessions


def test_the_best_comes_first_and_the_hardly_measured_last() -> None:
    slices = [
        of_slice("b", 5, 100),
        of_slice("hardly", 0, 10, total=100),
        of_slice("a", 1, 100),
        of_slice("unseen", 0, 0, total=9),
    ]
    assert [slice_.name for slice_ in rank_slices(slices)] == ["a", "b", "hardly", "unseen"]
    turns = [of_slice("low", 5, 100, rate="derived_ok"), of_slice("high", 90, 100, rate="derived_ok")]
    assert [slice_.name for slice_ in rank_slices(turns)] == ["high", "low"]


@pytest.mark.parametrize(
    ("n", "total", "sessions", "is_rankable", "is_solid"),
    [
        (30, 30, 30, True, True),
        (29, 29, 29, True, False),
        (300, 300, 9, True, False),
        (300, 300, 12, True, True),
        (30, 150, 30, True, True),
        (30, 151, 30, False, False),
        (0, 10, 0, False, False),
    ],
)
def test_a_verdict_takes_thirty_observations_ten_sessions_and_a_fifth_measured(
    n: int, total: int, sessions: int, is_rankable: bool, is_solid: bool
) -> None:
    slice_ = of_slice("a", 0, n, total=total, sessions=sessions)
    assert (slice_.is_rankable, slice_.is_solid) == (is_rankable, is_solid)


def test_slices_add_up() -> None:
    whole = merge_slices([of_slice("a", 1, 10, total=12), of_slice("b", 2, 20)])
    assert whole is not None
    assert (whole.share.k, whole.share.n, whole.total, whole.share.sessions) == (3, 30, 32, 30)
    assert whole.name == "all"
    assert merge_slices([]) is None


def row(rate: str, name: str, groups: dict[int, tuple[int, int]], sessions: int) -> dict[str, object]:
    counts = list(groups.values())
    k, n = ([pair[place] for pair in counts] for place in (0, 1))
    return {
        "rate": rate, "slice": name, "also": "all", "k": sum(k), "n": sum(n), "total": sum(n) + 5,
        "sessions": sessions, "group_ids": list(groups), "group_k": k, "group_n": n,
    }  # fmt: skip


def test_a_slice_is_made_of_each_row_with_its_groups() -> None:
    rows = [
        row("parse_error", "a", {3: (1, 10), 7: (0, 10)}, 2),
        row("execution", "a", {0: (5, 5)}, 1),
        row("parse_error", "b", {}, 0),
    ]
    slices = make_slices(pd.DataFrame(rows))
    assert [
        (slice_.rate.name, slice_.name, slice_.share.k, slice_.share.n, slice_.total) for slice_ in slices
    ] == [
        ("parse_error", "a", 1, 20, 25),
        ("execution", "a", 5, 5, 10),
        ("parse_error", "b", 0, 0, 5),
    ]
    assert slices[0].share.by_group is not None
    assert slices[0].share.by_group[:, 3].tolist() == [1, 10]
    assert slices[0].share.interval == of_sessions([(1, 10), (0, 10)], [3, 7]).interval
    assert slices[2].share.interval is None
    assert make_slices(pd.DataFrame(columns=list(rows[0]))) == []


def test_the_slices_of_a_rate_lend_each_other_their_likeness_and_those_of_another_do_not() -> None:
    counts = count_by_group([(20, 20)] * 20 + [(0, 20)] * 60, place_sessions(80))
    groups = {group: (int(k), int(n)) for group, (k, n) in enumerate(counts.T) if n}
    few = {group: (1 if group == 41 else 0, 10) for group in range(35, 47)}
    rows = [row("parse_error", "many", groups, 80), row("parse_error", "few", few, 12)]
    rows += [row("execution", "few", few, 12)]
    many, with_many, alone = make_slices(pd.DataFrame(rows))
    assert many.share.design_effect > 5
    assert with_many.share.likeness is not None
    assert alone.share.likeness is None
    unrelated = make_slices(pd.DataFrame(rows), related=False)
    assert [slice_.share.likeness for slice_ in unrelated] == [None] * 3
    assert unrelated[1].share.interval == alone.share.interval


def test_counts_are_summed_by_group() -> None:
    rows: list[dict[str, list[int]]] = [
        {"group_ids": [0, 7], "group_calls": [1, 2], "group_bad": [0, 1]},
        {"group_ids": [7, 49], "group_calls": [10, 20], "group_bad": [5, 0]},
        {"group_ids": [], "group_calls": [], "group_bad": []},
    ]
    calls, bad = sum_groups(rows, "calls", "bad")
    assert {group: int(number) for group, number in enumerate(calls) if number} == {0: 1, 7: 12, 49: 20}
    assert {group: int(number) for group, number in enumerate(bad) if number} == {7: 6}
    assert sum_groups([], "calls", "bad").tolist() == [[0.0] * 50] * 2

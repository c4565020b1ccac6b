"""Tests comparisons of several slices: their verdicts, their ranks, and the choice of the reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs

from callgauge.analysis.measures.comparisons import (
    SMALLEST,
    Place,
    RankedTable,
    SliceComparison,
    Standing,
    choose_reference,
    compare_pairs,
    limit_ranked,
    rank_table,
)
from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.measures.same_mix import ArmStrata, Stratum
from callgauge.analysis.measures.slices import Slice, merge_slices
from callgauge.analysis.verdicts.rankings import write_ranking
from callgauge.stats import DayCounts, Share, holm, relate_shares
from tests.analysis.session_shares import draw_share, of_sessions, of_slice, place_sessions

KIDNEY_STONES: Mapping[str, Mapping[Stratum, tuple[int, int]]] = {
    "A": {("small",): (6, 87), ("large",): (71, 263)},
    "B": {("small",): (36, 270), ("large",): (25, 80)},
}
"""Failures in Charig et al. (1986). Treatment A fails less often in each stratum, but more often in total."""


def is_by_mix(table: RankedTable) -> bool:
    return any(row.is_at_same_mix and row.p is not None for row in table.rows)


def hold(slice_: Slice, other: Slice | None) -> SliceComparison:
    (comparison,) = compare_pairs([(slice_, other)])
    return comparison


def arms_of(
    several: Mapping[str, Mapping[Stratum, tuple[int, int]]], *, times: int = 1, rate: str = "parse_error"
) -> tuple[ArmStrata, dict[str, Slice]]:
    """Return the strata and the total of each slice. Each call has its own session."""
    strata: dict[str, dict[Stratum, Share]] = {}
    wholes = {}
    for seed, (name, by_stratum) in enumerate(several.items()):
        strata[name] = {
            stratum: of_sessions(
                [(1, 1)] * (times * k) + [(0, 1)] * (times * (n - k)),
                place_sessions(times * n, 100 * seed + place),
            )
            for place, (stratum, (k, n)) in enumerate(by_stratum.items())
        }
        shares = list(strata[name].values())
        whole = sum(shares[1:], shares[0])
        wholes[name] = Slice(RATES[rate], name, "all", whole, whole.n)
    return ArmStrata(("tool",), strata), wholes


# --- one against another ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("slice_", "other", "standing"),
    [
        (of_slice("a", 10, 1000), of_slice("b", 100, 1000), Standing.BETTER),
        (of_slice("a", 100, 1000), of_slice("b", 10, 1000), Standing.WORSE),
        (
            of_slice("a", 900, 1000, rate="derived_ok"),
            of_slice("b", 500, 1000, rate="derived_ok"),
            Standing.BETTER,
        ),
        (
            of_slice("a", 500, 1000, rate="derived_ok"),
            of_slice("b", 900, 1000, rate="derived_ok"),
            Standing.WORSE,
        ),
        (of_slice("a", 10, 1000, rate="refused"), of_slice("b", 100, 1000, rate="refused"), Standing.LESS),
        (of_slice("a", 100, 1000, rate="refused"), of_slice("b", 10, 1000, rate="refused"), Standing.MORE),
        (of_slice("a", 10, 100), of_slice("b", 12, 100), Standing.UNDECIDED),
        (of_slice("a", 100, 10_000), of_slice("b", 100, 10_000), Standing.ALIKE),
        (of_slice("a", 100, 10_000), of_slice("b", 150, 10_000), Standing.ALIKE),
        (of_slice("a", 20, 29), of_slice("b", 1, 1000), Standing.TOO_FEW),
        (of_slice("a", 1, 1000), of_slice("b", 20, 29), Standing.TOO_FEW),
        (of_slice("a", 180, 300, sessions=4), of_slice("b", 1, 1000), Standing.TOO_FEW),
        (of_slice("a", 180, 300, sessions=5), of_slice("b", 1, 1000), Standing.WORSE),
        (of_slice("a", 90, 100, total=501), of_slice("b", 1, 1000), Standing.TOO_FEW),
        (of_slice("a", 0, 0), of_slice("b", 1, 1000), Standing.UNMEASURED),
        (of_slice("a", 1, 1000), of_slice("b", 0, 0), Standing.UNMEASURED),
        (of_slice("a", 1, 1000), None, Standing.REFERENCE),
    ],
)
def test_what_may_be_said_of_a_slice_beside_another(
    slice_: Slice, other: Slice | None, standing: Standing
) -> None:
    comparison = hold(slice_, other)
    assert comparison.standing(SMALLEST) is standing
    assert (comparison.p is None) == (standing in (Standing.TOO_FEW, Standing.UNMEASURED, Standing.REFERENCE))


def test_what_the_logs_do_not_name_gets_no_verdict_in_a_table() -> None:
    unknown, named = of_slice("unknown", 10, 500), of_slice("named", 100, 900)
    (_, row) = sorted(rank_table([unknown, named], named).rows, key=lambda row: row.slice.name)
    assert row.slice is unknown
    assert row.standing() is Standing.UNNAMED
    assert row.difference is not None
    assert row.difference.is_decisive


def test_of_mostly_different_work_no_verdict_is_given() -> None:
    strata, wholes = arms_of(
        {"A": {("read",): (4, 100), ("edit",): (80, 200)}, "B": {("read",): (5, 100), ("search",): (0, 200)}}
    )
    a, b = wholes.values()
    (comparison,) = compare_pairs([(a, b)], strata.compare([(("A", a), ("B", b))]))
    assert comparison.standing() is Standing.OTHER_WORK
    assert comparison.p is None
    assert not comparison.is_decisive
    assert comparison.plain is not None
    assert comparison.plain.is_decisive


def test_of_entirely_different_work_no_verdict_is_given() -> None:
    strata, wholes = arms_of({"A": {("edit",): (80, 200)}, "B": {("search",): (0, 200)}})
    a, b = wholes.values()
    (comparison,) = compare_pairs([(a, b)], strata.compare([(("A", a), ("B", b))]))
    assert comparison.standing() is Standing.OTHER_WORK
    assert (comparison.p, comparison.same_mix) == (None, None)
    table = rank_table([a, b], a, strata)
    assert table.ranks == {}
    assert [row.standing() for row in table.rows if row.other] == [Standing.OTHER_WORK]


def test_too_few_is_said_before_anything_of_the_work() -> None:
    strata, wholes = arms_of({"A": {("edit",): (8, 20)}, "B": {("search",): (0, 200)}})
    a, b = wholes.values()
    (comparison,) = compare_pairs([(a, b)], strata.compare([(("A", a), ("B", b))]))
    assert comparison.standing() is Standing.TOO_FEW


def test_every_standing_is_reached_by_an_example_above() -> None:
    """Some verdicts on the reference appear with the parameters of the first test, and the others in the next
    two tests.
    """
    marks = test_what_may_be_said_of_a_slice_beside_another.pytestmark  # type: ignore[attr-defined]
    listed = {standing for _, _, standing in marks[0].args[1]}
    others = {Standing.UNNAMED, Standing.OTHER_WORK, Standing.TOO_FEW_DAYS, Standing.MEASURED_APART}
    assert listed | others == set(Standing)


def test_slices_that_were_not_measured_alike_get_no_rank_and_no_verdict() -> None:
    several = [of_slice("a", 10, 1000), of_slice("b", 300, 1000)]
    table = rank_table(several, several[0], is_alike=False)
    assert (table.ranks, table.wins, dict(table.pairs)) == ({}, frozenset(), {})
    assert [row.standing() for row in table.rows if row.other] == [Standing.MEASURED_APART]


def test_a_difference_over_time_is_judged_from_five_days_on_one_side() -> None:
    """The slices have no day in common. With fewer than five days, the variation between days is unknown."""
    before = [(3, 50)] * 4
    for days, standing in ((4, Standing.TOO_FEW_DAYS), (5, Standing.WORSE)):
        newer, older = of_days("b", [(20, 50)] * days, first=20), of_days("a", before, first=0)
        assert hold(newer, older).standing() is standing
    side_by_side = hold(of_days("b", [(20, 50)] * 2, first=0), of_days("a", before, first=0))
    assert side_by_side.standing() is Standing.WORSE


def of_days(name: str, counts: Sequence[tuple[int, int]], first: int) -> Slice:
    """Return a slice with k hits of n calls on each day. The first day is `first` days after 2024-10-04."""
    each = [of_slice(f"{name}{day}", k, n) for day, (k, n) in enumerate(counts)]
    whole = merge_slices(each, name)
    assert whole is not None
    k, n = (np.array(column, dtype=float) for column in zip(*counts, strict=True))
    days = 20_000 + first + np.arange(len(counts))
    return replace(whole, share=structs.replace(whole.share, by_day=DayCounts(days, k, n)))


def test_alike_is_said_of_a_decisive_difference_that_does_not_matter() -> None:
    comparison = hold(of_slice("a", 100, 10_000), of_slice("b", 150, 10_000))
    assert comparison.is_decisive
    assert comparison.standing(0.02) is Standing.ALIKE
    assert comparison.standing(0.01) is Standing.ALIKE
    assert comparison.standing(0.005) is Standing.BETTER


def test_alike_takes_the_whole_interval_within_the_smallest_difference() -> None:
    comparison = hold(of_slice("a", 100, 1000), of_slice("b", 100, 1000))
    assert comparison.difference is not None
    reach = max(-comparison.difference.low, comparison.difference.high)
    assert comparison.standing(reach + 1e-6) is Standing.ALIKE
    assert comparison.standing(reach - 1e-6) is Standing.UNDECIDED


def test_a_difference_among_many_is_decisive_only_if_it_survives_holm() -> None:
    reference = of_slice("reference", 100, 1000)
    alone = compare_pairs([(of_slice("a", 70, 1000), reference)])
    assert alone[0].is_decisive
    others = [(of_slice(f"b{number}", 100, 1000), reference) for number in range(20)]
    many = compare_pairs([(of_slice("a", 70, 1000), reference), *others])
    assert many[0].difference == alone[0].difference
    assert many[0].difference is not None
    assert many[0].difference.is_decisive
    assert not many[0].is_decisive
    assert (alone[0].compared, many[0].compared) == (1, 21)
    plain = [comparison.difference.p for comparison in many if comparison.difference]
    assert [comparison.p for comparison in many] == pytest.approx(holm(plain))


def test_pairs_that_get_no_verdict_do_not_count_in_the_correction() -> None:
    reference = of_slice("reference", 100, 1000)
    comparisons = compare_pairs(
        [
            (reference, None),
            (of_slice("few", 1, 20), reference),
            (of_slice("a", 70, 1000), reference),
            (of_slice("unseen", 0, 0), reference),
        ]
    )
    assert [comparison.compared for comparison in comparisons] == [1, 1, 1, 1]
    assert comparisons[2].difference is not None
    assert comparisons[2].p == pytest.approx(comparisons[2].difference.p)
    assert [comparison.p is None for comparison in comparisons] == [True, True, False, True]


# --- at the same mix --------------------------------------------------------------------------------------


def test_of_the_kidney_stones_the_better_treatment_is_named() -> None:
    strata, wholes = arms_of(KIDNEY_STONES, times=10)
    a, b = wholes["A"], wholes["B"]
    (comparison,) = compare_pairs([(a, b)], strata.compare([(("A", a), ("B", b))]))
    assert comparison.plain is not None
    assert comparison.plain.low > 0, "as they are, A fails more often"
    assert comparison.is_at_same_mix
    assert comparison.standing() is Standing.BETTER
    assert hold(a, b).standing() is Standing.WORSE, "without its strata"
    table = rank_table([a, b], b, strata)
    assert table.ranks == {"A": (1, 1), "B": (2, 2)}
    assert [row.slice.name for row in table.rows] == ["A", "B"]
    assert [slice_.name for slice_ in table.best] == ["A"]
    assert is_by_mix(table)
    assert rank_table([a, b], b).ranks == {"A": (2, 2), "B": (1, 1)}


def test_where_the_mixes_are_equal_the_plain_difference_is_told() -> None:
    strata, wholes = arms_of(
        {"A": {("x",): (20, 200), ("y",): (90, 300)}, "B": {("x",): (60, 200), ("y",): (150, 300)}}
    )
    a, b = wholes.values()
    (comparison,) = compare_pairs([(a, b)], strata.compare([(("A", a), ("B", b))]))
    assert not comparison.is_at_same_mix
    assert comparison.difference is comparison.plain
    assert comparison.same_mix is not None
    assert not is_by_mix(rank_table([a, b], b, strata))


# --- tables -----------------------------------------------------------------------------------------------


def test_the_reference_is_the_slice_with_most_sessions_and_not_the_best() -> None:
    best, busy = of_slice("best", 0, 5000, sessions=100), of_slice("busy", 300, 1000, sessions=200)
    worst = of_slice("worst", 900, 900, sessions=150)
    unknown = of_slice("unknown", 0, 9000, sessions=900)
    hidden = of_slice("hidden", 3, 400, total=9000, sessions=400)
    for several in ([best, busy, worst, unknown, hidden], [unknown, hidden, worst, busy, best]):
        assert choose_reference(several).name == "busy"


def test_the_reference_does_not_depend_on_any_rate() -> None:
    random = np.random.default_rng(51)
    for _ in range(50):
        sizes = [(f"m{number}", int(random.integers(10, 300))) for number in range(6)]
        references = set()
        for _ in range(4):
            several = [
                of_slice(name, int(random.integers(0, 10 * many + 1)), 10 * many, sessions=many)
                for name, many in sizes
            ]
            references.add(choose_reference(several).name)
        assert len(references) == 1


def test_where_nothing_is_named_or_enough_some_slice_is_the_reference() -> None:
    assert choose_reference([of_slice("unknown", 1, 50)]).name == "unknown"
    assert choose_reference([of_slice("a", 0, 0), of_slice("b", 1, 3)]).name == "b"
    assert choose_reference([of_slice("unknown", 1, 50), of_slice("b", 1, 3)]).name == "b"


def test_a_table_has_a_rank_for_each_slice_that_may_be_judged() -> None:
    low, high = of_slice("low", 10, 1000), of_slice("high", 300, 1000)
    middle, few = of_slice("middle", 40, 400), of_slice("few", 0, 20)
    unseen, unknown = of_slice("unseen", 0, 0, total=40), of_slice("unknown", 0, 500)
    table = rank_table([few, unseen, high, unknown, middle, low], high)
    assert table.ranks == {"low": (1, 1), "middle": (2, 2), "high": (3, 3)}
    assert [row.slice.name for row in table.rows] == ["low", "middle", "high", "unknown", "few", "unseen"]
    assert [slice_.name for slice_ in table.judged] == ["low", "middle", "high"]
    assert [slice_.name for slice_ in table.best] == ["low"]
    assert table.wins == {("low", "middle"), ("low", "high"), ("middle", "high")}
    assert len(table.pairs) == 3
    standing = {row.slice.name: row.standing() for row in table.rows}
    assert standing == {
        "high": Standing.REFERENCE,
        "low": Standing.BETTER,
        "middle": Standing.BETTER,
        "few": Standing.TOO_FEW,
        "unseen": Standing.UNMEASURED,
        "unknown": Standing.UNNAMED,
    }


def test_slices_that_are_tied_share_a_place_and_the_next_is_behind_all_of_them() -> None:
    several = [of_slice("a", 10, 1000), of_slice("b", 12, 1000), of_slice("few", 0, 20)]
    several += [of_slice("unknown", 0, 500), of_slice("c", 300, 1000)]
    table = rank_table(several, several[0])
    assert table.places == {
        "a": Place(1, is_shared=True),
        "b": Place(1, is_shared=True),
        "c": Place(3, is_shared=False),
    }


def test_the_tie_group_at_the_top_comes_first_even_where_a_thin_one_of_it_has_a_high_rate() -> None:
    """No slice is known to be better than the slice with few sessions. The best slice is known to be better
    than the third.
    """
    several = [of_slice("sure", 50, 2000), of_slice("thin", 3, 40), of_slice("worse", 120, 2000)]
    table = rank_table(several, several[0])
    assert table.wins == {("sure", "worse")}
    assert [row.slice.name for row in table.rows] == ["sure", "thin", "worse"]
    assert [table.places[name].number for name in ("sure", "thin", "worse")] == [1, 1, 3]
    assert {slice_.name for slice_ in table.best} == {"sure", "thin"}


def test_the_most_used_of_which_enough_is_known_are_ranked() -> None:
    several = [of_slice("a", 1, 100), of_slice("b", 1, 300), of_slice("c", 1, 200), of_slice("few", 0, 9)]
    ranked, thin = limit_ranked(several, 2)
    assert [slice_.name for slice_ in ranked] == ["b", "c"]
    assert [slice_.name for slice_ in thin] == ["few"]


def test_where_neither_end_is_better_nothing_has_a_place() -> None:
    several = [of_slice("a", 10, 1000, rate="refused"), of_slice("b", 300, 1000, rate="refused")]
    assert rank_table(several, several[0]).places == {}


def test_a_reference_that_may_not_be_judged_gets_no_rank_and_the_others_do() -> None:
    few, low, high = of_slice("few", 0, 20), of_slice("low", 10, 1000), of_slice("high", 300, 1000)
    table = rank_table([few, low, high], few)
    assert table.ranks == {"low": (1, 1), "high": (2, 2)}
    assert len(table.pairs) == 1
    assert [row.standing() for row in table.rows] == [Standing.TOO_FEW, Standing.TOO_FEW, Standing.REFERENCE]
    assert table.rows[-1].slice is few


def test_of_one_slice_there_is_no_rank_to_tell() -> None:
    alone = of_slice("alone", 10, 1000)
    table = rank_table([alone], alone)
    assert (table.ranks, list(table.best), table.pairs) == ({}, [], {})
    assert [row.standing() for row in table.rows] == [Standing.REFERENCE]


def test_three_that_beat_each_other_in_a_ring_leave_no_best_one() -> None:
    """Each pair of slices has a different tool in common. So the comparisons form a cycle, and no slice is
    the best.
    """
    strata, wholes = arms_of(
        {
            "A": {("x",): (5, 500), ("z",): (100, 500)},
            "B": {("y",): (5, 500), ("x",): (100, 500)},
            "C": {("z",): (5, 500), ("y",): (100, 500)},
        }
    )
    table = rank_table(list(wholes.values()), wholes["A"], strata)
    assert table.wins == {("A", "B"), ("B", "C"), ("C", "A")}
    assert set(table.ranks.values()) == {(2, 2)}
    assert table.places == {}
    assert list(table.best) == []


# --- what holds for any table -----------------------------------------------------------------------------


def draw_table(random: np.random.Generator, arms: int, rate: str) -> list[Slice]:
    """Generate slices of several sizes. Two of the five slices have the same rate, and some slices have few
    measured calls.
    """
    drawn = [
        draw_share(
            random, int(random.integers(5, 150)), int(random.integers(1, 12)),
            float(random.choice([0.1, 0.1, 0.02, 0.3, 0.5])), float(random.choice([0.0, 0.2])),
        )
        for _ in range(arms)
    ]  # fmt: skip
    shares = relate_shares([Share(share.k, share.n, share.sessions or 0, share.by_group) for share in drawn])
    names = ["unknown" if random.random() < 0.05 else f"m{number}" for number in range(arms)]
    if names.count("unknown") > 1:
        names = [f"m{number}" for number in range(arms)]
    return [
        Slice(RATES[rate], name, "all", share, share.n * (6 if random.random() < 0.1 else 1))
        for name, share in zip(names, shares, strict=True)
    ]


def split_by_tool(random: np.random.Generator, several: Sequence[Slice]) -> ArmStrata:
    """Return the strata of each slice. The slice's calls are divided among three tools at random."""
    by_arm: dict[str, dict[Stratum, Share]] = {}
    for slice_ in several:
        groups = slice_.share.by_group
        assert groups is not None
        k, left = (part.astype(int) for part in (groups[0], groups[1] - groups[0]))
        parts = random.dirichlet([0.5] * 3)
        hits, misses = (random.multinomial(part, parts) for part in (k, left))
        by_arm[slice_.name] = {
            (f"t{tool}",): Share.from_groups(
                hits[:, tool].astype(float), (hits + misses)[:, tool].astype(float), slice_.share.sessions
            )
            for tool in range(3)
        }
    return ArmStrata(("tool",), by_arm)


def check(table: RankedTable, several: Sequence[Slice], smallest: float) -> int:
    """Assert that verdicts, ranks, wins and the best group agree. Return the number of wins."""
    reference = table.reference.name
    assert sorted(row.slice.name for row in table.rows) == sorted(slice_.name for slice_ in several)
    number, best = len(table.ranks), {slice_.name for slice_ in table.best}
    for better, worse in table.wins:
        assert table.ranks[better][1] < number
        assert table.ranks[worse][0] > 1
        assert worse not in best
        assert (worse, better) not in table.wins
    for name, (first, last) in table.ranks.items():
        assert 1 <= first <= last <= number
        assert (first == 1) == (name in best)
        losses = sum(worse == name for _, worse in table.wins)
        assert first - 1 == max(losses, name not in best)
        assert number - last == sum(better == name for better, _ in table.wins)
    for row in table.rows:
        name, standing = row.slice.name, row.standing(smallest)
        won, lost = (name, reference) in table.wins, (reference, name) in table.wins
        if standing is Standing.BETTER:
            assert won
        if standing is Standing.WORSE:
            assert lost
        if standing in (Standing.UNDECIDED, Standing.TOO_FEW, Standing.UNNAMED, Standing.OTHER_WORK):
            assert not won
            assert not lost
        if standing is Standing.ALIKE:
            assert row.difference is not None
            assert max(-row.difference.low, row.difference.high) < smallest
        if row.p is not None:
            assert row.difference is not None
            assert row.p >= row.difference.p - 1e-12
            assert (row.difference.p < 0.05) == row.difference.is_decisive
            assert name in table.ranks
            assert row.is_decisive == (won or lost)
        if not row.slice.is_solid or name == "unknown":
            assert name not in table.ranks
            assert row.p is None
    return len(table.wins)


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("rate", ["parse_error", "derived_ok"])
@pytest.mark.parametrize("by_mix", [False, True])
def test_in_any_table_verdicts_and_ranks_agree(rate: str, by_mix: bool) -> None:
    random = np.random.default_rng(61)
    wins = tied = at_mix = 0
    for _ in range(60):
        several = draw_table(random, int(random.integers(1, 8)), rate)
        reference = choose_reference(several)
        strata = split_by_tool(random, several) if by_mix else None
        table = rank_table(several, reference, strata)
        wins += check(table, several, float(random.choice([0.005, 0.02, 0.1])))
        tied += len(table.best) > 1
        at_mix += is_by_mix(table)
    assert wins > 50
    assert tied > 10
    assert (at_mix > 10) == by_mix


def test_the_order_of_the_slices_does_not_matter() -> None:
    random = np.random.default_rng(62)
    for _ in range(20):
        several = draw_table(random, 6, "parse_error")
        reference = choose_reference(several)
        table = rank_table(several, reference)
        other = rank_table(several[::-1], reference)
        assert (table.ranks, table.wins, len(table.pairs)) == (other.ranks, other.wins, len(other.pairs))
        assert [row.slice.name for row in table.rows] == [row.slice.name for row in other.rows]
        assert {row.slice.name: row.p for row in table.rows} == pytest.approx(
            {row.slice.name: row.p for row in other.rows}
        )


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("arms", [3, 5, 12])
@pytest.mark.parametrize("by_mix", [False, True])
def test_what_is_best_does_not_depend_on_the_reference(arms: int, by_mix: bool) -> None:
    random = np.random.default_rng(63)
    decided = 0
    for _ in range(12):
        several = draw_table(random, arms, "parse_error")
        strata = split_by_tool(random, several) if by_mix else None
        tables = [rank_table(several, slice_, strata) for slice_ in several]
        first, *others = tables
        decided += bool(first.wins)
        for table in others:
            assert (table.wins, table.ranks, table.places) == (first.wins, first.ranks, first.places)
            assert [row.slice.name for row in table.rows] == [row.slice.name for row in first.rows]
            assert [slice_.name for slice_ in table.best] == [one.name for one in first.best]
            assert write_ranking(table, {}, "model") == write_ranking(first, {}, "model")
    assert decided > 3

"""Tests the strata of variants: which dimensions define the strata, and how variants are compared within a
stratum.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import pytest

from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.measures.same_mix import (
    ArmStrata,
    SameMix,
    Stratum,
    choose_dimensions,
    describe_dimensions,
    make_strata,
)
from callgauge.analysis.measures.slices import Slice
from callgauge.stats import Share, standardise
from tests.analysis.session_shares import of_sessions, place_sessions

Arms = Mapping[str, Mapping[Stratum, tuple[int, int]]]


@pytest.mark.parametrize(
    ("rate", "apart", "dimensions"),
    [
        ("parse_error", ["model"], ("tool", "strategy", "prompt")),
        ("parse_error", ["provider", "model"], ("tool", "strategy", "prompt")),
        ("parse_error", ["provider"], ("model", "tool", "strategy")),
        ("parse_error", ["strategy"], ("model", "tool", "prompt")),
        ("parse_error", ["tool"], ("model", "strategy", "prompt")),
        ("parse_error", ["prompt"], ("model", "tool", "strategy")),
        ("parse_error", ["prompt_name"], ("model", "tool", "strategy")),
        ("parse_error", ["day"], ("model", "tool", "strategy")),
        ("parse_error", [], ("model", "tool", "strategy")),
        ("recovered", ["model"], ("tool", "strategy", "prompt")),
        ("derived_ok", ["model"], ("source", "prompt")),
        ("derived_ok", ["prompt"], ("model", "source")),
        ("retried", ["source"], ("model", "prompt")),
    ],
)
def test_work_is_told_apart_by_what_does_not_tell_the_arms_apart(
    rate: str, apart: list[str], dimensions: tuple[str, ...]
) -> None:
    assert choose_dimensions(RATES[rate], apart) == dimensions


def test_dimensions_are_listed_in_words() -> None:
    assert describe_dimensions(["tool"]) == "tools"
    assert describe_dimensions(["tool", "strategy", "prompt"]) == "tools, strategies and prompts"


def arms_of(dimensions: tuple[str, ...], arms: Arms) -> tuple[ArmStrata, dict[str, Slice]]:
    """Return the strata and the total of each variant, from k hits of n calls in each stratum. A session has
    one call.
    """
    strata: dict[str, dict[Stratum, Share]] = {}
    wholes = {}
    for seed, (name, by_stratum) in enumerate(arms.items()):
        strata[name] = {
            stratum: of_sessions([(1, 1)] * k + [(0, 1)] * (n - k), place_sessions(n, 100 * seed + place))
            for place, (stratum, (k, n)) in enumerate(by_stratum.items())
        }
        shares = list(strata[name].values())
        whole = sum(shares[1:], shares[0])
        wholes[name] = Slice(RATES["parse_error"], name, "all", whole, whole.n)
    return ArmStrata(dimensions, strata), wholes


def compare(dimensions: tuple[str, ...], arms: Arms) -> SameMix | None:
    strata, wholes = arms_of(dimensions, arms)
    first, other = wholes.items()
    (same_mix,) = strata.compare([(first, other)])
    return same_mix


def test_arms_are_compared_in_the_finest_strata_of_which_they_share_most() -> None:
    fine: Arms = {
        "a": {("read", "p1"): (10, 100), ("read", "p2"): (20, 100), ("edit", "p1"): (40, 100)},
        "b": {("read", "p1"): (5, 50), ("read", "p2"): (10, 50), ("edit", "p1"): (80, 200)},
    }
    same_mix = compare(("tool", "prompt"), fine)
    assert same_mix is not None
    assert same_mix.by == ("tool", "prompt")
    assert (same_mix.found.strata, same_mix.found.covered) == (3, 1.0)
    assert same_mix.found.difference.estimate == pytest.approx(0)
    assert same_mix.words == "tools and prompts"


def test_where_each_arm_has_prompts_of_its_own_they_are_compared_by_tool() -> None:
    same_mix = compare(
        ("tool", "prompt"),
        {
            "a": {("read", "p1"): (10, 100), ("edit", "p2"): (40, 100)},
            "b": {("read", "p3"): (5, 50), ("edit", "p4"): (80, 200)},
        },
    )
    assert same_mix is not None
    assert same_mix.by == ("tool",)
    assert (same_mix.found.strata, same_mix.found.covered) == (2, 1.0)
    assert same_mix.found.difference.estimate == pytest.approx(0)


def test_what_only_one_arm_does_counts_as_not_covered() -> None:
    same_mix = compare(
        ("tool",),
        {
            "a": {("read",): (10, 100), ("search",): (0, 60)},
            "b": {("read",): (10, 100), ("edit",): (30, 60)},
        },
    )
    assert same_mix is not None
    assert same_mix.found.covered == pytest.approx(100 / 160)
    assert same_mix.found.is_comparable
    assert not same_mix.found.is_representative


def test_coarser_strata_are_no_better_where_neither_represents_the_work() -> None:
    """The strata that both variants have cover 75 % of the calls, whether strata are tools, or tools with
    prompts. So the finer strata are used.
    """
    same_mix = compare(
        ("tool", "prompt"),
        {
            "a": {("read", "p1"): (10, 90), ("search", "p1"): (0, 30)},
            "b": {("read", "p1"): (10, 90), ("edit", "p1"): (20, 30)},
        },
    )
    assert same_mix is not None
    assert same_mix.by == ("tool", "prompt")
    assert same_mix.found.covered == pytest.approx(0.75)


def test_arms_without_common_work_are_not_compared() -> None:
    assert compare(("tool",), {"a": {("read",): (1, 50)}, "b": {("edit",): (10, 50)}}) is None
    strata, wholes = arms_of(("tool",), {"a": {("read",): (1, 50)}})
    assert strata.compare([(("a", wholes["a"]), ("nobody", wholes["a"]))]) == [None]


def test_what_the_logs_do_not_name_is_the_same_as_nothing_else() -> None:
    same_mix = compare(
        ("tool", "prompt"),
        {
            "a": {("read", "p1"): (10, 100), ("unknown", "p1"): (0, 20)},
            "b": {("read", "p1"): (10, 100), ("unknown", "p1"): (20, 20)},
        },
    )
    assert same_mix is not None
    assert same_mix.found.covered == pytest.approx(200 / 240)
    assert same_mix.found.difference.estimate == pytest.approx(0)


def test_a_dimension_that_is_named_in_neither_arm_is_left_out() -> None:
    same_mix = compare(
        ("tool", "prompt"),
        {
            "a": {("read", "unknown"): (10, 100), ("edit", "unknown"): (40, 100)},
            "b": {("read", "unknown"): (5, 50), ("edit", "unknown"): (80, 200)},
        },
    )
    assert same_mix is not None
    assert same_mix.by == ("tool",)
    assert same_mix.found.covered == 1.0


def test_where_nothing_is_named_the_arms_are_compared_as_they_are() -> None:
    same_mix = compare(("tool",), {"a": {("unknown",): (10, 100)}, "b": {("unknown",): (30, 100)}})
    assert same_mix is not None
    assert same_mix.by == ()
    assert same_mix.found.difference.estimate == pytest.approx(-0.2)
    assert same_mix.found.by_mix == 0


def test_several_pairs_are_compared_at_once_as_each_alone() -> None:
    several: Arms = {
        "a": {("read", "p1"): (10, 100), ("edit", "p1"): (40, 100)},
        "b": {("read", "p1"): (5, 50), ("edit", "p2"): (80, 200)},
        "c": {("search", "p9"): (5, 50)},
        "d": {("read", "p2"): (9, 90), ("edit", "p2"): (8, 100)},
    }
    strata, wholes = arms_of(("tool", "prompt"), several)
    names = [("a", "b"), ("a", "c"), ("a", "d"), ("b", "d"), ("d", "b")]
    pairs = [((name, wholes[name]), (other, wholes[other])) for name, other in names]
    same_mixes = strata.compare(pairs)
    assert same_mixes == [strata.compare([pair])[0] for pair in pairs]
    assert [each and each.by for each in same_mixes] == [("tool",), None, ("tool",), ("tool",), ("tool",)]
    assert same_mixes[3] is not None
    assert same_mixes[4] is not None
    assert same_mixes[3].found.difference.estimate == pytest.approx(-same_mixes[4].found.difference.estimate)


def test_strata_are_read_from_the_rows_of_the_metric() -> None:
    columns = ("arm", "first", "second", "third", "k", "n", "sessions", "group_ids", "group_k", "group_n")
    rows = [
        ("a", "read", "p1", None, 3, 30, 3, [1, 4, 9], [1, 0, 2], [10, 10, 10]),
        ("a", "edit", "p1", None, 1, 10, 2, [4, 9], [1, 0], [5, 5]),
        ("b", "read", "p1", None, 0, 0, 0, [], [], []),
        ("b", "edit", "p1", None, 2, 10, 2, [0, 49], [1, 1], [5, 5]),
    ]
    strata = make_strata(pd.DataFrame(rows, columns=columns), ("tool", "prompt"))
    assert strata.dimensions == ("tool", "prompt")
    assert {arm: dict(shares) for arm, shares in strata.by_arm.items()} == {
        "a": {("read", "p1"): Share(3, 30, 3), ("edit", "p1"): Share(1, 10, 2)},
        "b": {("edit", "p1"): Share(2, 10, 2)},
    }
    share = strata.by_arm["a"]["read", "p1"]
    assert share.by_group is not None
    assert share.by_group[:, [0, 1, 4, 9]].tolist() == [[0, 1, 0, 2], [0, 10, 10, 10]]
    again = standardise([(strata.by_arm["a"]["edit", "p1"], strata.by_arm["b"]["edit", "p1"])])
    assert again is not None
    assert again.difference.estimate == pytest.approx(-0.1)

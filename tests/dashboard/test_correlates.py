"""Which trait goes with failure most, from classes whose rates are known."""

from __future__ import annotations

import pandas as pd

from callgauge.dashboard.pages.errors.correlates import (
    TraitClass,
    describe_standout,
    find_standouts,
    trait_classes,
)
from tests.dashboard.session_shares import count_by_group, fill_sessions, place_sessions


def a_class(trait: str, number: int, k: int, n: int, sessions: int | None = None) -> dict[str, object]:
    """Return a row of the metric `traits`; each call is a session of its own unless `sessions` are told."""
    its = fill_sessions(k, n, n if sessions is None else sessions)
    by_group = count_by_group(its, place_sessions(len(its), seed=number))
    ids = [group for group, calls in enumerate(by_group[1]) if calls]
    groups = {"group_ids": ids, "group_k": by_group[0, ids].tolist(), "group_n": by_group[1, ids].tolist()}
    return {"trait": trait, "class": number, "k": k, "n": n, "sessions": len(its)} | groups


def classes_of(*rows: dict[str, object]) -> list[TraitClass]:
    return trait_classes(pd.DataFrame(list(rows)))


def test_the_trait_with_the_largest_decisive_difference_stands_first() -> None:
    classes = classes_of(
        a_class("length", 5, 10, 1000),
        a_class("length", 12, 80, 200),
        a_class("turn", 1, 60, 800),
        a_class("turn", 4, 30, 400),
    )
    first, second = find_standouts(classes)
    assert (first.worst.trait, first.worst.class_words) == ("length", "4,096 to 8,191 bytes")
    assert second.worst.trait == "turn"
    told = describe_standout([first, second])
    assert told.startswith(
        "Length of the arguments goes with failure most: at 4,096 to 8,191 bytes, 40.0% fail (80 / 200); "
        "at all others 1.00% (10 / 1,000); difference +39.0 points ("
    )
    assert told.endswith("It goes together; it need not be the cause.")


def test_a_class_with_few_calls_is_not_the_worst() -> None:
    rows = [a_class("depth", 1, 1, 500), a_class("depth", 2, 1, 500), a_class("depth", 5, 10, 10)]
    (found,) = find_standouts(classes_of(*rows))
    assert found.worst.number in (1, 2)
    many_calls_few_sessions = [*rows[:2], a_class("depth", 5, 100, 100, sessions=9)]
    assert find_standouts(classes_of(*many_calls_few_sessions))[0].worst.number in (1, 2)
    assert find_standouts(classes_of(*rows[:2], a_class("depth", 5, 100, 100)))[0].worst.number == 5


def test_a_class_whose_failures_are_those_of_two_sessions_stands_out_nowhere() -> None:
    """Sixty of sixty calls failed in each of them: as calls that would be far beyond chance."""
    apart = classes_of(a_class("turn", 1, 20, 1000), a_class("turn", 4, 120, 1200))
    assert describe_standout(find_standouts(apart)).startswith("Turn of the session goes with failure most")
    alike = classes_of(a_class("turn", 1, 20, 1000), a_class("turn", 4, 120, 1200, sessions=20))
    assert describe_standout(find_standouts(alike)).startswith("No trait stands out")


def test_even_rates_stand_out_nowhere() -> None:
    found = find_standouts(classes_of(*(a_class("turn", number, 20, 200) for number in (1, 2, 3))))
    assert found
    assert describe_standout(found).startswith("No trait stands out")


def test_a_single_class_or_none_cannot_be_compared() -> None:
    assert describe_standout(find_standouts(classes_of(a_class("turn", 1, 20, 200)))) == (
        "No trait can be compared: it takes two classes with 30 observed and 10 sessions each."
    )
    assert describe_standout(find_standouts([])).startswith("No trait can be compared")


def test_unknown_traits_and_empty_classes_are_left_out() -> None:
    known = a_class("turn", 2, 1, 30)
    (found,) = classes_of(a_class("moon", 1, 2, 30), a_class("turn", 1, 0, 0), known)
    assert (found.trait, found.number) == ("turn", 2)
    assert classes_of(a_class("moon", 1, 2, 30), a_class("turn", 1, 0, 0)) == []

"""Tests which trait of tool calls correlates most with failures."""

from __future__ import annotations

import random

import pandas as pd
import pytest

from callgauge.dashboard.pages.errors.correlates import (
    TraitClass,
    describe_standout,
    find_apart,
    find_standouts,
    trait_classes,
)
from tests.analysis.session_shares import count_by_group, fill_sessions, place_sessions


def a_class(trait: str, number: int, k: int, n: int, sessions: int | None = None) -> dict[str, object]:
    """Return a row of the metric `traits`. Without `sessions`, each tool call has its own session."""
    by_session = fill_sessions(k, n, n if sessions is None else sessions)
    by_group = count_by_group(by_session, place_sessions(len(by_session), seed=number))
    ids = [group for group, calls in enumerate(by_group[1]) if calls]
    groups = {"group_ids": ids, "group_k": by_group[0, ids].tolist(), "group_n": by_group[1, ids].tolist()}
    return {"trait": trait, "class": number, "k": k, "n": n, "sessions": len(by_session)} | groups


def classes_of(*rows: dict[str, object]) -> list[TraitClass]:
    return trait_classes(pd.DataFrame(list(rows)))


def test_the_trait_that_goes_with_failure_is_told_by_its_split() -> None:
    classes = classes_of(
        a_class("length", 5, 10, 1000),
        a_class("length", 12, 80, 200),
        a_class("turn", 1, 60, 800),
        a_class("turn", 4, 30, 400),
    )
    first, second = find_standouts(classes)
    assert (first.start.trait, first.start.class_words) == ("length", "4,096 to 8,191 bytes")
    assert second.start.trait == "turn"
    text = describe_standout([first, second])
    assert text.startswith(
        "Length of the arguments correlates most with failures. From 4,096 to 8,191 bytes on, 40.0% fail "
        "(80 / 200); below that, 1.0% (10 / 1,000). The difference is +39.0 points ("
    )
    assert text.endswith("It may not be the cause.")


def test_a_class_with_few_calls_counts_with_those_below_or_above_it() -> None:
    rows = [a_class("depth", 1, 1, 500), a_class("depth", 2, 90, 500), a_class("depth", 5, 10, 10)]
    (standout,) = find_standouts(classes_of(*rows))
    assert (standout.start.number, standout.above.n, standout.compared) == (2, 510, 1)
    many_calls_few_sessions = [*rows[:2], a_class("depth", 5, 100, 100, sessions=9)]
    assert find_standouts(classes_of(*many_calls_few_sessions))[0].compared == 1
    assert find_standouts(classes_of(*rows[:2], a_class("depth", 5, 100, 100)))[0].compared == 2


def test_a_trait_with_which_calls_fail_less_stands_out_too() -> None:
    (standout,) = find_standouts(classes_of(a_class("length", 4, 60, 400), a_class("length", 8, 4, 400)))
    assert standout.is_decisive
    assert "From 256 to 511 bytes on, 1.0% fail (4 / 400); below that, 15.0%" in describe_standout([standout])


def test_a_class_whose_failures_are_those_of_one_session_stands_out_nowhere() -> None:
    """All 60 failed calls are in one session. For independent calls, the difference would be significant."""
    apart = classes_of(a_class("turn", 1, 20, 1000), a_class("turn", 4, 60, 1200))
    assert describe_standout(find_standouts(apart)).startswith(
        "Turn of the session correlates most with failures"
    )
    alike = classes_of(a_class("turn", 1, 20, 1000), a_class("turn", 4, 60, 1200, sessions=20))
    assert describe_standout(find_standouts(alike)).startswith(
        "No trait clearly correlates with failures after correction for 1 comp"
    )


def test_even_rates_stand_out_nowhere() -> None:
    classes = classes_of(*(a_class("turn", number, 20, 200) for number in (1, 2, 3)))
    assert find_apart(classes) is None
    assert describe_standout(find_standouts(classes)) == (
        "No trait clearly correlates with failures after correction for 2 comparisons."
    )


def test_what_is_significant_alone_is_said_to_be_so() -> None:
    rows = [a_class(trait, number, 20, 200) for trait in ("turn", "offered") for number in (1, 2, 3, 4)]
    standouts = find_standouts(
        classes_of(a_class("length", 4, 12, 200), a_class("length", 8, 26, 200), *rows)
    )
    text = describe_standout(standouts)
    assert text.startswith(
        "No trait clearly correlates with failures after correction for 7 comparisons. "
        "Length of the arguments is significant alone (p 0.0"
    )
    assert text.endswith("From 256 to 511 bytes on, 13.0% fail (26 / 200); below that, 6.0% (12 / 200).")


def test_intervals_that_do_not_touch_are_never_passed_over() -> None:
    """The middle class has a better rate than the other classes. Dividing all classes into two halves does
    not show this.
    """
    rows = [a_class("turn", number, k, 300) for number, k in ((1, 45), (2, 20), (3, 45))]
    classes = classes_of(*rows, *(a_class("offered", number, 30, 300) for number in (0, 1, 2, 3, 4)))
    standouts, apart = find_standouts(classes), find_apart(classes)
    assert not standouts[0].is_decisive
    assert apart is not None
    assert {trait_class.class_words for trait_class in apart} == {"2nd", "1st"}
    assert describe_standout(standouts, apart).endswith(
        "Turn of the session: the intervals of 2nd and 1st do not touch, but with so many classes that can "
        "be chance."
    )


@pytest.mark.thorough(quick=10)
@pytest.mark.parametrize("seed", range(40))
def test_words_and_intervals_agree(seed: int) -> None:
    """For any counts: if two intervals do not overlap, the sentence must not deny a difference."""
    chance = random.Random(seed)
    rows = [
        a_class(trait, number, chance.randint(0, 40), 200)
        for trait in ("turn", "offered") for number in range(1, 5)
    ]  # fmt: skip
    classes = classes_of(*rows)
    apart = find_apart(classes)
    text = describe_standout(find_standouts(classes), apart)
    if apart:
        assert "correlates most with failures" in text or "do not touch" in text
    if "correlates most with failures" in text:
        assert find_standouts(classes)[0].p < 0.05


def test_a_single_class_or_none_cannot_be_compared() -> None:
    assert describe_standout(find_standouts(classes_of(a_class("turn", 1, 20, 200)))) == (
        "No trait can be compared: it takes two classes with 30 observations and 10 sessions each."
    )
    assert describe_standout(find_standouts([])).startswith("No trait can be compared")


def test_unknown_traits_and_empty_classes_are_left_out() -> None:
    class_of_turns = a_class("turn", 2, 1, 30)
    (only_class,) = classes_of(a_class("moon", 1, 2, 30), a_class("turn", 1, 0, 0), class_of_turns)
    assert (only_class.trait, only_class.number) == ("turn", 2)
    assert classes_of(a_class("moon", 1, 2, 30), a_class("turn", 1, 0, 0)) == []

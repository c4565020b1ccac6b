"""Which trait goes with failure most, from classes whose rates are known."""

from __future__ import annotations

from typing import Any

from callgauge.dashboard.pages.errors.correlates import describe_standout, find_standouts, trait_classes


def a_class(trait: str, number: int, k: int, n: int) -> dict[str, Any]:
    """Each call a session of its own."""
    return {"trait": trait, "class": number, "k": k, "n": n, "sessions": n, "kk": k, "kn": k, "nn": n}


def test_the_trait_with_the_largest_decisive_difference_stands_first() -> None:
    rows = [
        a_class("length", 5, 10, 1000),
        a_class("length", 12, 80, 200),
        a_class("turn", 1, 60, 800),
        a_class("turn", 4, 30, 400),
    ]
    classes = trait_classes(rows)
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
    assert all(one.worst.number != 5 for one in find_standouts(trait_classes(rows)))


def test_even_rates_stand_out_nowhere() -> None:
    rows = [a_class("turn", number, 20, 200) for number in (1, 2, 3)]
    assert describe_standout(find_standouts(trait_classes(rows))).startswith("No trait stands out")


def test_a_single_class_or_none_cannot_be_compared() -> None:
    assert describe_standout(find_standouts(trait_classes([a_class("turn", 1, 20, 200)]))).startswith(
        "No trait can be"
    )
    assert describe_standout(find_standouts([])).startswith("No trait can be compared")


def test_unknown_traits_and_empty_classes_are_left_out() -> None:
    assert trait_classes([a_class("moon", 1, 2, 30), a_class("turn", 1, 0, 0)]) == []

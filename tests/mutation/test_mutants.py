"""Tests the mistakes that `./dev mutate` makes."""

from __future__ import annotations

from tests.mutation.mutants import find_mutants


def changes(source: str) -> list[str]:
    return [mutant.apply_to(source.encode()).decode() for mutant in find_mutants(source.encode())]


def test_each_mutant_is_one_change_of_the_text() -> None:
    assert changes("ä = 'é' if x < 3 else y\n") == [
        "ä = ('é')\n",
        "ä = (y)\n",
        "ä = 'é' if (x <= 3) else y\n",
        "ä = 'é' if x < 4 else y\n",
    ]


def test_conditions_operators_and_jumps_are_changed() -> None:
    assert changes("a and not b") == ["((a) or (not b))", "a and bool(b)"]
    assert changes("a + b") == ["(a - b)"]
    assert changes("for a in b:\n    continue\n") == ["for a in b:\n    break\n"]


def test_types_are_left_alone() -> None:
    assert changes("def f(a: Literal[1]) -> Literal[2]: ...") == []

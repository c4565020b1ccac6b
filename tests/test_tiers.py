"""Tests the selection of thorough tests, which only `./dev test --all` executes."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from tests.conftest import thorough_tests

ROOT = Path(__file__).parents[1]


class Collected:
    """A collected test that has only the attributes which decide whether it is thorough."""

    def __init__(self, nodeid: str, *markers: pytest.Mark) -> None:
        self.nodeid = nodeid
        self.markers = markers

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return next((marker for marker in self.markers if marker.name == name), None)


def left_out(tests: list[Collected]) -> list[str]:
    return sorted(test.nodeid for test in thorough_tests(cast("list[Any]", tests)))


def test_a_marked_test_is_left_out_with_all_its_parameters() -> None:
    marker = pytest.mark.thorough.mark
    tests = [Collected("a::plain"), Collected("a::long[0]", marker), Collected("a::long[1]", marker)]
    assert left_out(tests) == ["a::long[0]", "a::long[1]"]


def test_a_marker_leaves_parameters_from_the_whole_list_in_the_quick_tier() -> None:
    marker = pytest.mark.thorough(quick=3).mark
    tests = [Collected(f"a::cut[{number}]", marker) for number in range(9)]
    assert sorted({test.nodeid for test in tests} - set(left_out(tests))) == [
        "a::cut[0]",
        "a::cut[3]",
        "a::cut[6]",
    ]


def test_a_marker_asks_for_no_more_parameters_than_a_test_has() -> None:
    tests = [Collected("a::cut[0]", pytest.mark.thorough(quick=3).mark)]
    assert left_out(tests) == []


@pytest.mark.parametrize("name", ["dev", "README.md", "CONTRIBUTING.md"])
def test_a_reader_learns_how_to_run_everything(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert "./dev test" in text
    assert "--all" in text.split("./dev test", 1)[1]

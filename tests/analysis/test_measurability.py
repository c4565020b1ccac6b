"""Tests slices in which different rates were measured. The slices are compared by a rate that both slices
have.
"""

from __future__ import annotations

import pytest

from callgauge.analysis.measures.measurability import (
    compare_by,
    describe_definitions,
    describe_gap,
    describe_reported,
    find_definition_share,
    find_definition_shares,
    rates_to_compare,
)
from callgauge.analysis.measures.rates import HEADLINES, LISTED, RATES
from callgauge.analysis.measures.slices import Slice
from callgauge.stats import Share


def make_slice(rate: str, name: str, k: int, n: int, also: str = "all") -> Slice:
    return Slice(RATES[rate], name, also, Share(k, n), n)


def with_definitions(**shares: int) -> list[Slice]:
    """Return slices of 100 calls. `shares` maps the name of a slice to the number of its calls with a tool
    definition.
    """
    return [
        part
        for name, defined in shares.items()
        for part in (make_slice("defined", name, defined, 100), make_slice("syntax_error", name, 0, 100))
    ]


def reported(**shares: int) -> list[Slice]:
    return [
        part
        for name, count in shares.items()
        for part in (make_slice("recorded_ok", name, 0, count), make_slice("turn_success", name, 9, 100))
    ]


def test_slices_with_like_definitions_are_compared_by_parse_errors() -> None:
    basis = compare_by("parse_error", with_definitions(a=100, b=95))
    assert (basis.rate, basis.reason, basis.shares) == ("parse_error", "", {"a": 1.0, "b": 0.95})
    assert compare_by("parse_error", with_definitions(a=0, b=0)).rate == "parse_error"


@pytest.mark.parametrize(
    ("shares", "reason"),
    [
        ({"a": 100, "b": 0}, "the logs of b have no tool definitions"),
        ({"a": 100, "b": 48}, "half of the calls of b have no tool definition"),
        ({"a": 100, "b": 94}, "6.0% of the calls of b have no tool definition"),
        ({"a": 100, "b": 0, "c": 0}, "the logs of b and c have no tool definitions"),
        ({"a": 100, "b": 50, "c": 20}, "up to 80% of the calls of c and b have no tool definition"),
        ({"a": 9, "b": 0, "c": 0, "d": 0, "e": 0}, "the logs of b, c and 2 more have no tool definitions"),
    ],
)
def test_slices_with_unlike_definitions_are_compared_on_syntax(shares: dict[str, int], reason: str) -> None:
    basis = compare_by("parse_error", with_definitions(**shares))
    assert basis.rate == "syntax_error"
    assert basis.reason == f"compared on JSON syntax only: {reason}"


@pytest.mark.parametrize("rate", ["repaired", "retried", "execution", "derived_ok", "turn_success"])
def test_what_a_definition_changes_is_not_compared_where_definitions_are_unlike(rate: str) -> None:
    """A failure that only the tool definition reveals starts a retry sequence, and makes the turn fail."""
    basis = compare_by(rate, [*with_definitions(a=100, b=0), *reported(a=0, b=0)])
    assert (basis.rate, basis.reason) == (
        None,
        "not comparable: the logs of b have no tool definitions",
    )


def test_turn_success_is_compared_as_derived_where_the_logs_report_unlike_shares() -> None:
    basis = compare_by("turn_success", reported(a=80, b=0))
    assert basis.rate == "derived_ok"
    assert basis.reason == (
        "compared by derived turn success: the logs report it for 80% of the turns of a and 0% of those of b"
    )
    assert compare_by("turn_success", reported(a=80, b=78)).rate == "turn_success"


def test_reported_success_is_compared_whether_there_are_definitions_or_not() -> None:
    slices = [*with_definitions(a=100, b=0), *reported(a=100, b=96)]
    assert compare_by("turn_success", slices).rate == "turn_success"


def test_slices_of_one_name_add_up() -> None:
    days = [make_slice("defined", "a", k, 50, day) for day, k in (("1", 50), ("2", 0))]
    days += [make_slice("syntax_error", "a", 0, 50, day) for day in "12"]
    assert compare_by("parse_error", days).shares == {"a": 0.5}


def test_a_slice_of_which_nothing_was_measured_does_not_change_the_rate() -> None:
    slices = [
        *with_definitions(a=100),
        make_slice("defined", "b", 0, 0),
        make_slice("syntax_error", "b", 0, 0),
    ]
    assert compare_by("parse_error", slices).rate == "parse_error"


@pytest.mark.parametrize("rate", ["parse_error", "turn_success", "repaired", "emission"])
def test_the_rates_to_ask_for_are_those_that_are_read(rate: str) -> None:
    named = rates_to_compare(rate)
    assert named[0] == rate
    slices = [make_slice(name, "a", 1, 9) for name in named]
    assert compare_by(rate, slices).rate == rate
    assert set(named) <= set(RATES)


def test_a_caption_says_what_parse_errors_do_not_cover() -> None:
    slices = [
        make_slice("parse_error", "a", 0, 100), make_slice("defined", "a", 60, 100),
        make_slice("parse_error", "b", 0, 100), make_slice("defined", "b", 0, 100),
    ]  # fmt: skip
    shares = find_definition_shares(slices)
    assert {name: describe_definitions(share) for name, share in shares.items()} == {
        "a": "JSON syntax only on 40% of calls: no tool definition",
        "b": "JSON syntax only: no tool definitions",
    }
    assert find_definition_share(slices) == 0.3
    assert [describe_gap(share) for share in (None, 1.0, 0.6, 0.0)] == [
        "",
        "",
        "Parse errors cover JSON syntax only on 40% of calls: these have no tool definition.",
        "Parse errors cover JSON syntax only: the logs have no tool definitions.",
    ]
    assert describe_definitions(0.999) == describe_definitions(None) == ""


def test_who_says_that_turns_succeeded_is_told() -> None:
    assert [describe_reported(reported, 9) for reported in (9, 0, 3)] == [
        "reported by the log",
        "derived",
        "33% reported by the log, the others derived",
    ]


def test_rates_that_say_how_others_were_measured_are_in_no_list() -> None:
    assert set(RATES) - set(LISTED) == {"defined", "disagree"}
    assert set(HEADLINES) <= set(LISTED)

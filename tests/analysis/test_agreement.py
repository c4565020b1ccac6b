"""Whether several rates name the same best slice, in a sentence."""

from __future__ import annotations

from collections.abc import Mapping

from callgauge.analysis.measures.comparisons import RankedTable, rank_table
from callgauge.analysis.verdicts.sentences import describe_agreement
from tests.analysis.session_shares import of_slice


def ranked(rate: str, hits: Mapping[str, int]) -> RankedTable:
    several = [of_slice(name, k, 1000, rate=rate) for name, k in hits.items()]
    return rank_table(several, several[0])


ERRORS = ranked("parse_error", {"a": 10, "b": 12, "c": 300})


def test_rates_that_name_the_same_agree() -> None:
    others = [
        ranked("retried", {"a": 10, "b": 12, "c": 300}),
        ranked("derived_ok", {"a": 900, "b": 905, "c": 400}),
    ]
    assert describe_agreement(ERRORS, others, {}) == "Retry rate and Turn success, derived agree."


def test_of_a_tie_the_rates_may_agree_on_one() -> None:
    others = [ranked("retried", {"a": 10, "b": 200, "c": 300})]
    assert describe_agreement(ERRORS, others, {"a": "A"}) == "Retry rate agrees on A."


def test_a_rate_that_names_another_is_said() -> None:
    others = [
        ranked("retried", {"a": 10, "b": 12, "c": 300}),
        ranked("derived_ok", {"a": 300, "b": 305, "c": 900}),
    ]
    assert describe_agreement(ERRORS, others, {"c": "C"}) == (
        "Retry rate agrees. Turn success, derived names C instead."
    )


def test_a_rate_that_ranks_nothing_tells_nothing() -> None:
    assert describe_agreement(ERRORS, [ranked("retried", {"a": 1})], {}) == ""
    assert describe_agreement(ranked("parse_error", {"a": 1}), [ERRORS], {}) == ""

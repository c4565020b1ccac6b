"""Tests the main sentences of the page Errors."""

from __future__ import annotations

from datetime import date

import pytest

from callgauge.analysis import wording
from callgauge.analysis.measures.slices import Slice
from callgauge.analysis.verdicts.calls import describe_failures, describe_new_errors
from callgauge.analysis.verdicts.retries import (
    describe_cost,
    describe_recovery,
    find_given_up,
    write_given_up,
)
from callgauge.analysis.verdicts.sentences import RULE
from callgauge.analysis.verdicts.tools import judge_tools
from callgauge.stats import Share
from tests.analysis.session_shares import of_slice


def a_tool(name: str, given_up: int, sequences: int) -> Slice:
    return of_slice(name, sequences - given_up, sequences, rate="recovered")


def answer(*tools: Slice) -> str:
    return write_given_up(judge_tools(tools))


def test_the_tool_given_up_on_most_is_named_with_the_range_of_the_others() -> None:
    tools = [a_tool("write_file", 175, 264), a_tool("search", 198, 666), a_tool("mail", 101, 251)]
    assert answer(*tools) == (
        "write_file is given up on most: in 66.3% of its retry sequences (175 of 264; the 2 others 30–40%)."
    )
    assert answer(*reversed(tools)) == answer(*tools)
    most = find_given_up(judge_tools(tools))
    assert most is not None
    assert most.name == "write_file"


def test_the_count_does_not_decide() -> None:
    """The busy tool has ten times as many given-up retry sequences as the hard tool, but the hard tool has
    the higher rate. So the sentence names the hard tool.
    """
    assert answer(a_tool("busy", 1000, 10_000), a_tool("hard", 100, 200)).startswith("hard is given up on")


def test_without_a_clear_one_the_sentence_says_what_would_not_show() -> None:
    tools = [a_tool("a", 30, 100), a_tool("b", 32, 100), a_tool("c", 29, 100)]
    sentence = answer(*tools)
    assert sentence.startswith(
        "No tool is clearly given up on most: it may be any of these 3 (91 of 300 retry sequences given up; "
        "a difference below about "
    )
    assert sentence.endswith(" points would not show yet).")
    assert find_given_up(judge_tools(tools)) is None


def test_of_two_that_are_alike_both_are_named_the_higher_share_first() -> None:
    tools = [a_tool("a", 300, 500), a_tool("b", 124, 200), a_tool("fine", 20, 500)]
    assert answer(*tools) == (
        "b (62.0%) or a (60.0%) is given up on most; the other tool less often than one of them."
    )


@pytest.mark.parametrize(
    ("tools", "sentence"),
    [
        (
            [a_tool("rare", 9, 10)],
            f"Not enough data to say which tool is given up on most: it takes retry sequences with {RULE}.",
        ),
        (
            [a_tool("rare", 9, 10), a_tool("grep", 40, 112)],
            "Only grep has enough data: 40 of 112 retry sequences were given up (35.7%).",
        ),
        (
            [a_tool("a", 0, 60), a_tool("b", 0, 50)],
            "None of the 2 tools with enough data was given up on: all 110 retry sequences recovered.",
        ),
    ],
    ids=["few data", "one tool only", "nothing given up"],
)
def test_no_tool_is_named_without_data_for_it(tools: list[Slice], sentence: str) -> None:
    assert answer(*tools) == sentence


def test_tools_without_definitions_are_not_compared() -> None:
    """A tool definition reveals failures that a log does not report. So tools with a definition have more
    retry sequences.
    """
    tools = [a_tool("a", 300, 500), a_tool("b", 50, 500), a_tool("blind", 490, 500)]
    measured = [
        of_slice(name, defined if rate == "defined" else 0, 1000, rate=rate)
        for name, defined in (("a", 1000), ("b", 1000), ("blind", 0))
        for rate in ("parse_error", "defined")
    ]
    assert write_given_up(judge_tools(tools, measured)) == (
        "a is given up on most: in 60.0% of its retry sequences (300 of 500; the other tool 10%). "
        "1 tool was not compared: no tool definition."
    )


def test_what_retries_fixed_and_took() -> None:
    assert describe_recovery(Share(1312, 2057)) == (
        "Overall, a retry fixed 63.8% of failures (1,312 of 2,057 retry sequences)."
    )
    assert describe_recovery(Share(0, 0)) == "No retry sequence has a known end."
    assert describe_cost(1793, 8_664_236, 1381, 1381) == "Retries took 1,793 model calls and 8.7M tokens."
    assert describe_cost(30, 900, 2, 20) == (
        "Retries took 30 model calls and 900 tokens (measured on 10% of retried sequences)."
    )
    assert describe_cost(30, 0, 0, 20) == "Retries took 30 model calls."
    assert not describe_cost(0, 0, 0, 0)


def failures(**calls: int) -> str:
    counted = dict.fromkeys((*wording.STAGES, "none", "unknown"), 0) | calls
    return describe_failures([{"layer": layer, "calls": count} for layer, count in counted.items()])


def test_failed_calls_are_counted_and_those_nobody_judged_are_apart() -> None:
    assert failures(syntax=287, schema=189, execution=378, none=3643, unknown=15) == (
        "854 of 4,512 calls failed, 476 because of their arguments. 15 could not be judged."
    )
    assert failures(execution=2, none=1) == "2 of 3 calls failed, none because of its arguments."
    assert failures(none=3, unknown=2) == "No failure was seen in 5 calls. 2 could not be judged."


def test_new_errors_are_counted_for_the_day() -> None:
    day = date(2026, 11, 15)
    assert describe_new_errors(0, day) == "No new errors on 15 Nov."
    assert describe_new_errors(1, day, earlier=2) == "1 new error on 15 Nov. 2 more in the six days before."
    assert describe_new_errors(0, day, returned=1) == "No new errors on 15 Nov. 1 fixed error is back."

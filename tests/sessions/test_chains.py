"""Tests retry sequences: which tool call retries which, and how a sequence ends."""

from __future__ import annotations

from dataclasses import dataclass

from ingest.events import FaultLayer
from ingest.sessions.chains import ChainOutcome, Link, RetryKind, link_attempts


@dataclass(frozen=True)
class Try:
    step: int
    tool: str | None
    fault_layer: FaultLayer | None = None
    comparable_arguments: str | None = "{}"
    tool_call_id: str | None = None
    retry_of: str | None = None


SYNTAX, EXECUTION = FaultLayer.SYNTAX, FaultLayer.EXECUTION


def test_a_faulted_call_and_the_same_tool_in_a_later_step_are_one_recovered_chain() -> None:
    links = link_attempts([Try(0, "read", SYNTAX, '{"a'), Try(1, "read", None, '{"a":1}')])
    assert links == [
        Link(0, 1, None, ChainOutcome.RECOVERED),
        Link(0, 2, RetryKind.CHANGED, ChainOutcome.RECOVERED),
    ]


def test_the_same_arguments_again_are_an_identical_retry() -> None:
    links = link_attempts([Try(0, "read", EXECUTION), Try(2, "read", EXECUTION)])
    assert links[1] == Link(0, 2, RetryKind.IDENTICAL, ChainOutcome.ABANDONED)


def test_a_call_of_the_same_step_is_no_retry() -> None:
    links = link_attempts([Try(0, "read", SYNTAX), Try(0, "read")])
    assert links == [Link(0, 1, None, ChainOutcome.ABANDONED), None]


def test_calls_without_a_fault_are_in_no_chain() -> None:
    assert link_attempts([Try(0, "read"), Try(1, "read"), Try(2, "write")]) == [None, None, None]


def test_another_tool_does_not_continue_a_chain() -> None:
    links = link_attempts([Try(0, "read", SYNTAX), Try(1, "write"), Try(2, "read")])
    assert links == [
        Link(0, 1, None, ChainOutcome.RECOVERED),
        None,
        Link(0, 2, RetryKind.IDENTICAL, ChainOutcome.RECOVERED),
    ]


def test_a_recovered_chain_is_closed() -> None:
    links = link_attempts([Try(0, "read", SYNTAX), Try(1, "read"), Try(2, "read", EXECUTION)])
    assert links[2] == Link(2, 1, None, ChainOutcome.ABANDONED)


def test_two_faulted_calls_of_one_step_are_continued_in_their_order() -> None:
    links = link_attempts(
        [
            Try(0, "read", SYNTAX, "x"),
            Try(0, "read", SYNTAX, "y"),
            Try(1, "read", None, "x"),
            Try(1, "read", None, "y"),
        ]
    )
    assert [(link.first, link.retry_kind) for link in links if link] == [
        (0, None),
        (1, None),
        (0, "identical"),
        (1, "identical"),
    ]


def test_a_call_that_lost_its_name_is_continued_by_the_next_step_only() -> None:
    lost = Try(0, None, SYNTAX, "{")
    assert link_attempts([lost, Try(1, "read")])[1] == Link(0, 2, RetryKind.CHANGED, ChainOutcome.RECOVERED)
    assert link_attempts([lost, Try(2, "read")])[1] is None


def test_a_failed_chain_of_a_turn_that_may_go_on_is_neither_recovered_nor_abandoned() -> None:
    calls = [Try(0, "read", SYNTAX), Try(1, "read", SYNTAX)]
    assert [link.outcome for link in link_attempts(calls, may_go_on=True) if link] == [None, None]
    assert [link.outcome for link in link_attempts(calls) if link] == ["abandoned", "abandoned"]


def test_the_logs_own_word_beats_the_tools_name() -> None:
    links = link_attempts(
        [Try(0, "read", SYNTAX, tool_call_id="a"), Try(1, "write", tool_call_id="b", retry_of="a")]
    )
    assert links == [
        Link(0, 1, None, ChainOutcome.RECOVERED),
        Link(0, 2, RetryKind.CHANGED, ChainOutcome.RECOVERED),
    ], "another tool"


def test_the_log_may_name_a_call_that_did_not_fault() -> None:
    links = link_attempts([Try(0, "read", tool_call_id="a"), Try(1, "read", retry_of="a")])
    assert links == [
        Link(0, 1, None, ChainOutcome.RECOVERED),
        Link(0, 2, RetryKind.IDENTICAL, ChainOutcome.RECOVERED),
    ]


def test_a_named_call_that_is_not_there_starts_nothing() -> None:
    assert link_attempts([Try(0, "read", retry_of="gone")]) == [None]


def test_unknown_arguments_are_neither_identical_nor_changed() -> None:
    links = link_attempts([Try(0, "read", SYNTAX, None), Try(1, "read")])
    assert links[1] == Link(0, 2, None, ChainOutcome.RECOVERED)

"""Tests token counts by price class."""

from __future__ import annotations

from typing import Any

import pytest

from ingest.decoding.fields import count_input_parts, count_whole_input
from ingest.events import StepMade
from ingest.formats.provider_messages import (
    anthropic_messages,
    gemini_content,
    openai_chat,
    openai_responses,
)
from tests.sessions.log import started, turn_of

COUNTED = ("counted_steps", "counted_input", "counted_cached", "counted_cache_write", "counted_output")


def test_a_turn_sums_its_tokens_in_parts_that_do_not_overlap() -> None:
    log = started()
    log.add(StepMade, input_tokens=100, cached_tokens=60, cache_write_tokens=30, output_tokens=7)
    row = turn_of(log.add(StepMade, text="done", input_tokens=50, output_tokens=3))
    assert [row[name] for name in COUNTED] == [2, 60, 60, 30, 10]
    assert (row["input_tokens"], row["output_tokens"]) == (150, 10)


def test_a_step_counts_only_when_input_and_output_are_known() -> None:
    log = started().add(StepMade, input_tokens=100, cached_tokens=60)
    row = turn_of(log.add(StepMade, output_tokens=3).add(StepMade, input_tokens=5, output_tokens=1))
    assert [row[name] for name in COUNTED] == [1, 5, 0, 0, 1]
    assert row["steps"] == 4  # the first step has no counts


def test_a_call_has_the_tokens_of_its_step() -> None:
    log = started().add(StepMade, input_tokens=9, cached_tokens=4, cache_write_tokens=2, output_tokens=1)
    (call,) = log.raw("{}").rows()["tool_calls"]
    names = ("input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens")
    assert [call[name] for name in names] == [9, 4, 2, 1]


def counts(*numbers: int | None) -> dict[str, int | None]:
    return dict(zip(("input_tokens", "cached_tokens", "cache_write_tokens"), numbers, strict=True))


@pytest.mark.parametrize(
    ("counted", "expected"),
    [
        (count_whole_input(100, 60, 30), (100, 60, 30)),
        (count_whole_input(100), (100, None, None)),
        # The total (10) is smaller than the cached tokens (60 and 30), so all three are added.
        (count_whole_input(10, 60, 30), (100, 60, 30)),
        (count_whole_input(0, 0, 0), (None, None, None)),
        (count_whole_input("9", True, -1), (None, None, None)),
        (count_input_parts(10, 60, 30), (100, 60, 30)),
        (count_input_parts(None, 60), (60, 60, None)),
        (count_input_parts(0), (None, None, None)),
    ],
)
def test_input_is_all_of_it_and_the_cache_is_a_part_of_it(counted: Any, expected: tuple[Any, ...]) -> None:
    assert counted == counts(*expected)


@pytest.mark.parametrize(
    ("counted", "expected"),
    [
        # The input count of Anthropic does not include cached tokens. Those of OpenAI, DeepSeek, Moonshot and
        # Gemini do.
        (
            anthropic_messages.count_input(
                {"input_tokens": 3, "cache_read_input_tokens": 50, "cache_creation_input_tokens": 7}
            ),
            (60, 50, 7),
        ),
        (
            openai_chat.count_input({"prompt_tokens": 60, "prompt_tokens_details": {"cached_tokens": 50}}),
            (60, 50, None),
        ),
        (
            openai_chat.count_input({"input_tokens": 60, "input_tokens_details": {"cached_tokens": 50}}),
            (60, 50, None),
        ),
        (openai_chat.count_input({"prompt_tokens": 60, "prompt_cache_hit_tokens": 50}), (60, 50, None)),
        (openai_chat.count_input({"prompt_tokens": 60, "cached_tokens": 50}), (60, 50, None)),
        (
            openai_chat.count_input(
                {"prompt_tokens": 60, "prompt_tokens_details": None, "cache_read_input_tokens": 50}
            ),
            (60, 50, None),
        ),
        (
            gemini_content.count_input({"promptTokenCount": 60, "cachedContentTokenCount": 50}),
            (60, 50, None),
        ),
        (
            gemini_content.count_input({"prompt_token_count": 60, "cached_content_token_count": 50}),
            (60, 50, None),
        ),
    ],
)
def test_providers_count_their_cache_differently(counted: Any, expected: tuple[Any, ...]) -> None:
    assert counted == counts(*expected)


def test_a_response_of_openai_tells_its_cache_within_the_input() -> None:
    usage = {"input_tokens": 60, "input_tokens_details": {"cached_tokens": 50}, "output_tokens": 2}
    (reply,) = openai_responses.read_replies({"output": [], "usage": usage})
    assert (reply.input_tokens, reply.cached_tokens, reply.output_tokens) == (60, 50, 2)

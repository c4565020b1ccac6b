"""Tests the fuzz targets with seeded bytes, without a fuzzer."""

from __future__ import annotations

import random

import pytest

from tests.fuzz.choices import Choices
from tests.fuzz.shrink import shrunk
from tests.fuzz.targets import TARGETS
from tests.fuzz.texts import raw_arguments

SEEDS = range(300)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("name", TARGETS)
def test_seeded_bytes_break_no_promise(name: str) -> None:
    for seed in SEEDS:
        chosen = random.Random(seed)
        TARGETS[name](chosen.randbytes(chosen.choice((4, 10, 20, 40, 80, 200))))


@pytest.mark.parametrize("name", TARGETS)
def test_bytes_that_have_run_out_are_an_input_too(name: str) -> None:
    TARGETS[name](b"")


def test_the_same_bytes_make_the_same_text_and_others_another() -> None:
    texts = {seed: raw_arguments(Choices(random.Random(seed).randbytes(60))) for seed in SEEDS}
    assert texts == {seed: raw_arguments(Choices(random.Random(seed).randbytes(60))) for seed in SEEDS}
    assert len(set(map(repr, texts.values()))) > len(SEEDS) * 0.9


def test_a_text_shrinks_to_what_the_question_is_about() -> None:
    assert shrunk("some {long} text with a \0 in it", lambda text: "{" in text and "\0" in text) == "{\0"

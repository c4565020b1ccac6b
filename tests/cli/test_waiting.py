"""Tests that a command waits for a locked store until a time limit or Ctrl-C."""

from __future__ import annotations

import pytest

from callgauge.cli.render.terminal import make_patience


def test_it_says_once_for_whom_and_gives_up_when_the_time_is_up(capsys: pytest.CaptureFixture[str]) -> None:
    slept: list[float] = []
    patience = make_patience(1.0, clock=lambda: sum(slept), sleep=slept.append)
    answers = [patience("process 7 on h\x1b[2J is loading") for _ in range(6)]
    assert answers == [True, True, True, True, False, False]
    assert capsys.readouterr().err == "callgauge: waiting: process 7 on h\\x1b[2J is loading\n"


def test_without_a_limit_it_waits_until_it_is_stopped() -> None:
    slept: list[float] = []
    patience = make_patience(stopped=lambda: len(slept) == 1_000, sleep=slept.append)
    while patience("another process"):
        pass
    assert len(slept) == 1_000


def test_no_time_at_all_is_one_look() -> None:
    assert not make_patience(0.0)("another process")

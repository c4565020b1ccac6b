"""Tests the checks of trials: BFCL's rules for calls, checks of answers, and custom checks in their own
process.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from callgauge.checked_files.file_problems import Mistake
from callgauge.trials.planning.task import Task
from callgauge.trials.planning.task_file import read_task
from callgauge.trials.results.checks import Verdict, check_turn
from tests.conftest import CASES
from tests.trials.made_turns import make_turn

CASES_OF_CHECKS = json.loads((CASES / "trials" / "checks.json").read_text(encoding="utf-8"))


def task_that(expect: dict[str, Any] | None) -> Task:
    mistakes: list[Mistake] = []
    fields = {"id": "a", "input": "Do it."} | ({"expect": expect} if expect is not None else {})
    task = read_task(fields, mistakes)
    assert task is not None, mistakes
    return task


@pytest.mark.parametrize("case", CASES_OF_CHECKS, ids=[case["name"] for case in CASES_OF_CHECKS])
def test_a_turn_is_what_its_task_expects_or_the_verdict_says_why_not(case: dict[str, Any]) -> None:
    turn = make_turn(case["calls"], case.get("answer", "Done."))
    assert check_turn(task_that(case["expect"]), turn) == Verdict(case["ok"], case.get("why"))


CHECKS = """
import os, sys, time

def says_yes(task, turn):
    print("this is no part of the conversation")
    return task.id == "a" and turn.calls[0].read.request.arguments == {"city": "Rome"}

def says_no(task, turn): return False
def says_why(task, turn): return "the city\\n is wrong"
async def waits(task, turn): return True
def says_nothing(task, turn): pass
def raises(task, turn): raise KeyError("city")
def leaves(task, turn): sys.exit(3)
def ends(task, turn): os._exit(7)
def hangs(task, turn):
    while True: time.sleep(0.01)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("plan")
    (made / "own_checks.py").write_text(CHECKS, encoding="utf-8")
    return made


@pytest.mark.parametrize(
    ("name", "ok", "why"),
    [
        ("own_checks:says_yes", True, None),
        ("own_checks:waits", True, None),
        ("own_checks:says_no", False, "own_checks:says_no returned false"),
        ("own_checks:says_why", False, "the city is wrong"),
        (
            "own_checks:says_nothing",
            None,
            "own_checks:says_nothing returned NoneType; it returns True, False or a sentence",
        ),
        ("own_checks:raises", None, "own_checks:raises failed: KeyError: 'city'"),
        ("own_checks:leaves", None, "own_checks:leaves failed: SystemExit: 3"),
        ("own_checks:ends", None, "own_checks:ends ended its process: exit code 7"),
        (
            "own_checks:gone",
            None,
            "own_checks:gone failed: AttributeError: module 'own_checks' has no attribute 'gone'",
        ),
        (
            "no_module:x",
            None,
            "no_module:x failed: ModuleNotFoundError: No module named 'no_module'",
        ),
    ],
)
def test_an_own_check_decides_and_its_failure_is_not_the_models(
    folder: Path, name: str, ok: bool | None, why: str | None
) -> None:
    turn = make_turn([["get_weather", '{"city": "Rome"}']])
    assert check_turn(task_that({"check": name}), turn, folder=folder) == Verdict(ok, why)


def test_a_check_that_hangs_is_ended_and_the_next_one_answers(folder: Path) -> None:
    turn = make_turn([["get_weather", '{"city": "Rome"}']])
    hanging = check_turn(task_that({"check": "own_checks:hangs"}), turn, folder=folder, seconds=0.3)
    assert hanging == Verdict(None, "own_checks:hangs did not answer within 0.3 seconds")
    assert check_turn(task_that({"check": "own_checks:says_yes"}), turn, folder=folder).ok is True


def test_a_pattern_that_never_ends_is_ended() -> None:
    turn = make_turn(answer="a" * 40 + "!")
    verdict = check_turn(task_that({"answer": {"regex": "(a+)+$"}}), turn, seconds=0.3)
    assert verdict == Verdict(None, "(a+)+$ did not answer within 0.3 seconds")


def test_what_is_wrong_besides_is_told_before_a_check_that_fails(folder: Path) -> None:
    expect = {"calls": ["book"], "check": "own_checks:raises"}
    assert check_turn(task_that(expect), make_turn(), folder=folder).why == "book was not called"


def test_a_turn_that_cannot_be_handed_over_leaves_the_check_unmeasured(folder: Path) -> None:
    turn = make_turn([["get_weather", '{"city": "Rome"}']], kept=threading.Lock())
    verdict = check_turn(task_that({"check": "own_checks:says_yes"}), turn, folder=folder)
    assert verdict.ok is None
    assert verdict.why == (
        "own_checks:says_yes cannot be given this turn: cannot pickle '_thread.lock' object"
    )


def test_several_threads_may_check_at_once(folder: Path) -> None:
    task = task_that({"check": "own_checks:says_yes"})
    turns = [make_turn([["get_weather", json.dumps({"city": city})]]) for city in ("Rome", "Oslo") * 4]
    verdicts: dict[int, bool | None] = {}

    def check(place: int) -> None:
        verdicts[place] = check_turn(task, turns[place], folder=folder).ok

    threads = [threading.Thread(target=check, args=(place,)) for place in range(len(turns))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [verdicts[place] for place in range(len(turns))] == [True, False] * 4

"""Finds corrupted inputs for which three other JSON repairers agree, but our parser differs.

The three others may be wrong, so each input is only a possible bug. `intended` is True if they return the
original value. The three packages are installed by hand in a separate environment, see tests/fuzz/README.md.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from lenient import Outcome, parse_arguments
from tests.fuzz.choices import Choices
from tests.fuzz.corruptions import CORRUPTIONS
from tests.fuzz.promises import same
from tests.fuzz.texts import json_text

_UNREAD = object()
_VALUES = (
    "main.py", 'print("hi")', "it's", "a, b", "a: b", "line one\nline two\n", "C:\\dir\\new", "\\d+",
    '{"k": [1]}', "http://x.y/z", '<b class="c">x</b>', "", "word", "two words", "Paris", "2024-01-02",
    "汉字", "# no", "x = {}", 1, 0, -2, 1.5, True, False, None, 12345,
)  # fmt: skip
_NAMES = ("path", "content", "limit", "tags", "filters", "city", "query")


class Disagreement(NamedTuple):
    """An input with different results. `silent` is True if our parser reports neither an error nor a loss."""

    corruption: str
    text: str
    theirs: Any
    ours: Any
    intended: bool
    silent: bool


def readers() -> list[Callable[[str], Any]]:
    import json_repair
    import jsonmend
    import parse_broken_json

    return [json_repair.loads, jsonmend.loads, parse_broken_json.loads]


def value(choices: Choices, depth: int = 0) -> Any:
    result: dict[str, Any] = {}
    for _ in range(1 + choices.below(3)):
        kind = choices.below(6)
        inner: Any = choices.one_of(_VALUES)
        if kind == 0 and depth < 2:
            inner = value(choices, depth + 1)
        elif kind == 1:
            inner = [choices.one_of(_VALUES) for _ in range(choices.below(3))]
        result[choices.one_of(_NAMES)] = inner
    return result


def _too_slow(*_: object) -> None:
    raise TimeoutError


def read_by(reader: Callable[[str], Any], text: str) -> Any:
    """Return the result of a parser. Return `_UNREAD` if the parser fails or takes more than one second."""
    signal.setitimer(signal.ITIMER_REAL, 1)
    try:
        return reader(text)
    except Exception:
        return _UNREAD
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def compared(readers: list[Callable[[str], Any]], choices: Choices) -> Disagreement | None:
    intended = value(choices)
    name = choices.one_of(tuple(CORRUPTIONS))
    text = CORRUPTIONS[name](json_text(choices, intended), choices)
    theirs = read_by(readers[0], text)
    if not isinstance(theirs, dict) or any(not same(theirs, read_by(other, text)) for other in readers[1:]):
        return None
    request = parse_arguments(text)
    if same(request.arguments, theirs):
        return None
    silent = request.outcome is not Outcome.FAILED and not request.lossy
    ours = request.arguments if request.outcome is not Outcome.FAILED else request.parse_error
    return Disagreement(name, text, theirs, ours, same(theirs, intended), silent)


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m tests.fuzz.oracles", description=__doc__)
    options.add_argument("--texts", type=int, default=20_000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--each", type=int, default=5, help="how many of each corruption are shown")
    chosen = options.parse_args()
    signal.signal(signal.SIGALRM, _too_slow)
    all_readers, disagreements = readers(), list[Disagreement]()
    for number in range(chosen.texts):
        choices = Choices(random.Random(chosen.seed * 1_000_003 + number).randbytes(200))
        if (disagreement := compared(all_readers, choices)) is not None:
            disagreements.append(disagreement)
    show(disagreements, chosen.each)
    return 0


def show(disagreements: list[Disagreement], each: int) -> None:
    """Print the shortest input of each kind, with the most likely bugs first."""
    shown: Counter[tuple[bool, bool, str]] = Counter()
    for disagreement in sorted(
        disagreements, key=lambda d: (not d.intended, not d.silent, d.corruption, len(d.text))
    ):
        kind = (disagreement.intended, disagreement.silent, disagreement.corruption)
        shown[kind] += 1
        if shown[kind] <= each:
            label = "theirs is intended" if disagreement.intended else "nobody knows"
            print(f"[{disagreement.corruption}] {label}{', ours is silent' if disagreement.silent else ''}")
            print(
                f"   text   {disagreement.text!r}\n   theirs {disagreement.theirs!r}\n"
                f"   ours   {disagreement.ours!r}"
            )
    for (intended, silent, corruption), number in sorted(shown.items(), reverse=True):
        print(f"{number:6} {corruption} intended={intended} silent={silent}")


if __name__ == "__main__":
    sys.exit(main())

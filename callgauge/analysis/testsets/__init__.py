"""Makes a file of test cases from stored tool calls, in the format of an evaluation or training tool.

A case contains the input of the model before the call: the system prompt, the user's message, the earlier
steps of the turn (texts, calls and results), and the definitions of the called tools. Calls that cannot be
exported are counted by reason.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from callgauge.analysis.testsets.cases import (
    MOST_EARLIER,
    Ask,
    NotExportedError,
    TestsetCase,
    find_definitions,
    make_case,
    read_turns,
)
from callgauge.analysis.testsets.shapes import SHAPES, TestsetShape

__all__ = [
    "BATCH",
    "MOST",
    "MOST_BYTES",
    "REASONS",
    "Ask",
    "CaseFile",
    "find_case",
    "make_case_file",
]

MOST = 1_000  # maximum number of calls that are read
MOST_BYTES = 32 * 1024 * 1024  # maximum size of a file
BATCH = 25
"""The number of calls whose turns are in memory together."""

REASONS = {
    "text": "the store has no text of the call",
    "definition": "the tool has no definition",
    "user": "the user's message is not in the log",
    "history": "an earlier call of the turn has no text",
    "long": f"more than {MOST_EARLIER} calls came before it in its turn",
    "uncorrected": "it failed or was repaired, and no later attempt with other arguments worked",
    "name": "OpenAI does not accept the tool's name",
    "templates": "text of it would be read as a template",
    "undecidable": "its right arguments are not known, and the definition accepts wrong ones",
    "unread": "the line could not be read again",
    "result": "an earlier call of its turn has no result in the log",
    "cut": "an earlier message or result is stored only in part",
    "untold": "the message before the call is not in the log",
    "step": "another call of the same step makes the same task",
    "version": "its tool had a different definition than in most tasks",
}
"""The reasons why a call is left out, in words."""


@dataclass(slots=True)
class CaseFile:
    """A file of test cases: the content, the number of lines, and the left-out calls by reason.

    `full` is True if the file ended early because it reached MOST_BYTES.
    """

    data: bytes = b""
    lines: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    full: bool = False


def make_case_file(shape: str, call_ids: Sequence[str], ask: Ask) -> CaseFile:
    """Return the first MOST calls as a JSON Lines file in the format `shape`, a key of SHAPES.

    The calls are in the order of the metric `testset_calls`. `ask` answers metrics.
    """
    chosen = SHAPES[shape]
    made = CaseFile()
    written: list[bytes] = []
    size = 0
    for case in _make_cases(call_ids[:MOST], ask, made.left_out):
        try:
            line = _write_line(chosen, case)
        except NotExportedError as refused:
            made.left_out[refused.reason] += 1
            continue
        if size + len(line) > MOST_BYTES:
            made.full = True
            break
        size += len(line)
        written.append(line)
    made.data, made.lines = b"".join(written), len(written)
    return made


def find_case(call_id: str, ask: Ask) -> TestsetCase:
    """Return the case of one call.

    Raises NotExportedError with the reason if the call cannot become a case.
    """
    left_out: Counter[str] = Counter()
    for case in _make_cases([call_id], ask, left_out):
        return case
    raise NotExportedError(next(iter(left_out), "unread"))


def _write_line(shape: TestsetShape, case: TestsetCase) -> bytes:
    try:
        text = json.dumps(shape.line(case), ensure_ascii=False, allow_nan=False)
        line = text.encode() + b"\n"
    except ValueError:  # JSON cannot contain NaN, and UTF-8 cannot encode a lone surrogate
        raise NotExportedError("unread") from None
    shape.check(json.loads(line), case)
    return line


def _make_cases(call_ids: Sequence[str], ask: Ask, left_out: Counter[str]) -> Iterator[TestsetCase]:
    find_definition = find_definitions(ask)
    for first in range(0, len(call_ids), BATCH):
        rows = ask("testset_calls", {"calls": list(call_ids[first : first + BATCH])})
        steps = read_turns(ask, "testset_steps", [row for row in rows if row["earlier"]])
        for row in rows:
            try:
                case = make_case(row, steps.get(row["turn_id"], []), find_definition)
            except NotExportedError as refused:
                left_out[refused.reason] += 1
            else:
                yield case

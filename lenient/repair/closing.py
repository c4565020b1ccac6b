"""A closing bracket, or the text's end with brackets open → what is closed, and where the missing bracket
belongs.

Knows nothing of values.
"""

from __future__ import annotations

from lenient.repair.brackets import Verdict, judge
from lenient.repair.follows import CLOSERS
from lenient.repair.frames import Frame
from lenient.repair.nesting import find_strays, is_open_question
from lenient.repair.reading import Reading

_EARLIER = "The missing bracket may belong before an earlier member."


def take_closer(reading: Reading, frame: Frame, sign: str) -> None:
    """Pass the closing bracket here, or close the one that is missing before it."""
    close, at = CLOSERS[sign], reading.position
    if not frame.filled and frame.comma >= 0:
        reading.report("trailing_comma", frame.comma, frame.comma + 1, found=reading.text[frame.comma])
        frame.comma = -1
    verdict = Verdict.CLOSES if close == frame.also else judge(reading.text, at, close, reading.stack)
    if verdict is Verdict.MISSING:
        reading.report("missing_closer", at, at, became=frame.close)
        reading.pop()
        return
    if verdict is not Verdict.CLOSES:
        is_wrong = verdict is Verdict.WRONG
        code = "wrong_closer" if is_wrong else "extra_closer"
        reading.report(code, at, at + 1, found=sign, became=frame.close if is_wrong else None)
    elif sign not in "}])":
        reading.report("fullwidth_punctuation", at, at + 1, found=sign, became=close)
    reading.position += 2 if frame.doubled and reading.text.startswith("}}", at) else 1
    if verdict is not Verdict.EXTRA:
        reading.pop()


def close_all(reading: Reading) -> None:
    """The text ends with brackets open."""
    end = len(reading.text)
    frame = reading.stack[-1]
    if not frame.filled and not reading.dropped:
        reading.report("truncated_text", end, end)
    missing = "".join(frame.close for frame in reversed(reading.stack))
    if frame.close != "}" or not frame.filled or not _moved_out(reading, frame):
        reading.report("missing_closer", end, end, became=missing)
    while reading.stack:
        reading.pop()


def _moved_out(reading: Reading, frame: Frame) -> bool:
    """Take out of the last inner object what the definition declares for this one: the missing bracket
    belongs before it. Says so where nothing decides.
    """
    strays = find_strays(frame.children, frame.marks, frame.fields)
    if strays is None:
        if is_open_question(frame.children, frame.fields):
            end = len(reading.text)
            reading.report("ambiguous", end, end, hint=_EARLIER)
        return False
    reading.report("missing_closer", strays.end, strays.end, became="}")
    for name in strays.names:
        frame.children[name] = strays.inner.pop(name)
        frame.marks[name] = strays.marks.pop(name)
    return len(reading.stack) == 1

"""Lists the inputs that a parser reads incorrectly, for developers who improve the parser."""

from __future__ import annotations

import orjson

from bench.parser.accuracy import Accuracy, Judged, JudgedCalls
from bench.parser.scoring import Verdict


def shown(accuracy: Accuracy, reader: str) -> list[str]:
    """Return every input that a parser reads incorrectly or changes without a report.

    Each entry shows the intended and the actual result.
    """
    lines: list[str] = []
    for judgement in accuracy.judged:
        missed = judgement.part == "defects" and not judgement.located
        if judgement.reader == reader and (
            judgement.verdict is not Verdict.RIGHT or judgement.unsaid or missed
        ):
            lines += _shown(judgement, missed)
    for calls in accuracy.calls:
        if calls.verdict is not Verdict.RIGHT:
            lines += _shown_calls(calls)
    return lines


def _shown(judgement: Judged, missed: bool) -> list[str]:
    entry, reading = judgement.entry, judgement.reading
    notes = [f"unsaid: {', '.join(judgement.unsaid)}"] * bool(judgement.unsaid)
    if missed:
        notes.append(f"not reported at {entry.place}: {' or '.join(entry.codes)}")
    findings = "; ".join(
        f"{finding.code}@{finding.start}:{finding.end}{'!' if finding.warns else ''}"
        for finding in reading.findings
    )
    got = _json(reading.value) if reading.refusal is None else f"refused: {reading.refusal}"
    refused = f"   refused: {', '.join(entry.refused)}" if entry.refused else ""
    return [
        f"--- {judgement.part}/{entry.group}/{entry.id}: {judgement.verdict}  {'  '.join(notes)}",
        f"  raw      {entry.raw!r}",
        f"  intended {_json(entry.intended)}{refused}",
        f"  got      {got}",
        f"  said     {findings or 'nothing'}",
    ]


def _shown_calls(judgement: JudgedCalls) -> list[str]:
    intended = [(call["name"], call["arguments"]) for call in judgement.entry.calls]
    return [
        (
            f"--- calls/{judgement.entry.dialect}/{judgement.entry.id}: "
            f"{judgement.verdict}, {'with' if judgement.with_dialect else 'without'} the dialect"
        ),
        f"  text     {judgement.entry.text!r}",
        f"  intended {_json(intended)}",
        f"  got      {_json(judgement.got)}  as {', '.join(judgement.dialects) or 'no dialect'}",
    ]


def _json(value: object) -> str:
    try:
        return orjson.dumps(value, default=str).decode()
    except TypeError:  # a lone surrogate or a huge integer
        return repr(value)

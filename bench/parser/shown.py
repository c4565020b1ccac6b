"""Measurements → the texts that a reader does not get right, for whoever improves it."""

from __future__ import annotations

import orjson

from bench.parser.accuracy import Accuracy, Judged, JudgedCalls
from bench.parser.scoring import Verdict


def shown(accuracy: Accuracy, reader: str) -> list[str]:
    """Every text that a reader gets wrong or does not speak of, with what was intended and what came."""
    lines: list[str] = []
    for one in accuracy.judged:
        missed = one.part == "defects" and not one.located
        if one.reader == reader and (one.verdict is not Verdict.RIGHT or one.unsaid or missed):
            lines += _shown(one, missed)
    for calls in accuracy.calls:
        if calls.verdict is not Verdict.RIGHT:
            lines += _shown_calls(calls)
    return lines


def _shown(one: Judged, missed: bool) -> list[str]:
    entry, reading = one.entry, one.reading
    notes = [f"unsaid: {', '.join(one.unsaid)}"] * bool(one.unsaid)
    if missed:
        notes.append(f"not reported at {entry.place}: {' or '.join(entry.codes)}")
    found = "; ".join(
        f"{finding.code}@{finding.start}:{finding.end}{'!' if finding.warns else ''}"
        for finding in reading.findings
    )
    got = _json(reading.value) if reading.refusal is None else f"refused: {reading.refusal}"
    refused = f"   refused: {', '.join(entry.refused)}" if entry.refused else ""
    return [
        f"--- {one.part}/{entry.group}/{entry.id}: {one.verdict}  {'  '.join(notes)}",
        f"  raw      {entry.raw!r}",
        f"  intended {_json(entry.intended)}{refused}",
        f"  got      {got}",
        f"  said     {found or 'nothing'}",
    ]


def _shown_calls(one: JudgedCalls) -> list[str]:
    intended = [(call["name"], call["arguments"]) for call in one.entry.calls]
    return [
        f"--- calls/{one.entry.dialect}/{one.entry.id}: {one.verdict}, {'told' if one.told else 'untold'}",
        f"  text     {one.entry.text!r}",
        f"  intended {_json(intended)}",
        f"  got      {_json(one.got)}  as {', '.join(one.dialects) or 'no dialect'}",
    ]


def _json(value: object) -> str:
    try:
        return orjson.dumps(value, default=str).decode()
    except TypeError:  # a lone surrogate, a huge integer
        return repr(value)

"""Every log under tests/cases/formats/ becomes the events that stand beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import MISSING, fields
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from ingest.events import Event, Rejected, Where
from ingest.formats import claimants, formats
from ingest.lines import Line, decode_object, read_lines
from tests.conftest import CASES, write_cases

LOGS = sorted((CASES / "formats").glob("*/*.jsonl"))
SAMPLES = sorted((Path(__file__).parents[2] / "sample_data" / "logs").rglob("*.jsonl"))


def lines_of(path: Path) -> list[Line | Rejected]:
    with path.open("rb") as stream:
        return list(read_lines(stream))


def head_of(path: Path) -> list[dict[str, Any]]:
    decoded = (decode_object(line) for line in lines_of(path) if isinstance(line, Line))
    return [record for record in decoded if isinstance(record, dict)][:50]


def plain(event: Event | Rejected) -> dict[str, Any]:
    """An event as its case file shows it: its kind, its line, and what differs from the default."""
    shown: dict[str, Any] = {"event": type(event).__name__, "line": event.where.line}
    for item in fields(event):
        value = getattr(event, item.name)
        default = None if item.default is MISSING else item.default
        if not isinstance(value, Where) and value != default:
            shown[item.name] = value.isoformat() if isinstance(value, datetime) else value
    return shown


def translated_by(name: str, path: Path) -> Iterator[dict[str, Any]]:
    return (plain(event) for event in formats()[name].translate(lines_of(path)))


def case_name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


@pytest.mark.parametrize("path", LOGS, ids=case_name)
def test_a_log_becomes_these_events(path: Path, accept: bool) -> None:
    events = json.loads(json.dumps(list(translated_by(path.parent.name, path)), ensure_ascii=False))
    expected = path.with_suffix(".events.json")
    if accept:
        write_cases(expected, events)
    assert events == json.loads(expected.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", [*LOGS, *SAMPLES], ids=case_name)
def test_a_log_is_recognised_by_its_own_format_only(path: Path) -> None:
    owner = next(name for name in formats() if name in path.parts)
    assert [found.SOURCE.name for found in claimants(head_of(path))] == [owner]


def test_every_expectation_has_its_log() -> None:
    expectations = (CASES / "formats").glob("*/*.events.json")
    assert {path.name.removesuffix(".events.json") for path in expectations} == {path.stem for path in LOGS}

"""Every log under tests/cases/formats/ becomes the events that stand beside it."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ingest.containers import container_of, read_records
from ingest.events import Event, Rejected, Where
from ingest.formats import About, claimants, decoder_of, formats, translated
from ingest.lines import MAX_LINE, Line, decode_object, read_lines
from ingest.reading import Beside
from ingest.records import Record
from ingest.sources.content import bounded
from tests.conftest import CASES, write_cases

_EXPECTED = ".events.json"
_BESIDE = "beside_"  # a file that a log refers to, no log of its own
LOGS = sorted(
    path
    for path in (CASES / "formats").glob("*/*")
    if not path.name.endswith(_EXPECTED) and not path.name.startswith(_BESIDE)
)
SAMPLES = sorted((Path(__file__).parents[2] / "sample_data" / "logs").rglob("*.jsonl"))


def lines_of(path: Path) -> list[Line | Rejected]:
    with path.open("rb") as stream:
        return list(read_lines(stream))


def records_of(path: Path, name: str | None = None) -> list[Record | Rejected]:
    """What stands in a log, decoded for the format of this name, or as plain objects."""
    decode = decoder_of(formats()[name]) if name else decode_object
    with bounded(path, path.stat().st_size).buffered() as stream:
        container = container_of(stream.peek(65536))
        return list(read_records(stream, container, MAX_LINE, decode))


def record_of(name: str, value: Any, line: int) -> Record | Rejected:
    """One object as the record of a line, decoded for the format of this name."""
    data, where = json.dumps(value, default=_in_base64).encode(), Where(line, line * 10)
    decoded = decoder_of(formats()[name])(Line(where, data))
    return decoded if isinstance(decoded, Rejected) else Record(where, decoded, data, where.offset)


def _in_base64(value: bytes) -> dict[str, str]:
    """YAML has bytes, JSON has not: as recorders in JSON keep them."""
    return {"base64_string": base64.b64encode(value).decode()}


def head_of(path: Path) -> list[dict[str, Any]]:
    return [record.value for record in records_of(path) if isinstance(record, Record)][:50]


def events_of(name: str, path: Path) -> list[Event | Rejected]:
    about = About(path.name, "0" * 16, Beside(path.parent, MAX_LINE))
    return list(translated(formats()[name], records_of(path, name), about))


def plain(event: Event | Rejected) -> dict[str, Any]:
    """An event as its case file shows it: its kind, its line, and what differs from the default."""
    shown: dict[str, Any] = {"event": type(event).__name__, "line": event.where.line}
    for item in msgspec.structs.fields(event):
        value = getattr(event, item.name)
        default = None if item.default is msgspec.NODEFAULT else item.default
        if not isinstance(value, Where) and value != default:
            shown[item.name] = value.isoformat() if isinstance(value, datetime) else value
    return shown


def translated_by(name: str, path: Path) -> Iterator[dict[str, Any]]:
    return (plain(event) for event in events_of(name, path))


def case_name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


@pytest.mark.parametrize("path", LOGS, ids=case_name)
def test_a_log_becomes_these_events(path: Path, accept: bool) -> None:
    events = json.loads(json.dumps(list(translated_by(path.parent.name, path)), ensure_ascii=False))
    expected = path.with_name(path.stem + _EXPECTED)
    if accept:
        write_cases(expected, events)
    assert events == json.loads(expected.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", [*LOGS, *SAMPLES], ids=case_name)
def test_a_log_is_recognised_by_its_own_format_only(path: Path) -> None:
    owner = path.parent.name if path in LOGS else next(name for name in formats() if name in path.parts)
    assert [found.SOURCE.name for found in claimants(head_of(path))] == [owner]


def test_every_expectation_has_its_log() -> None:
    expectations = (CASES / "formats").glob(f"*/*{_EXPECTED}")
    found = {(path.parent.name, path.name.removesuffix(_EXPECTED)) for path in expectations}
    assert found == {(path.parent.name, path.stem) for path in LOGS}


@pytest.mark.parametrize("name", sorted(formats()))
def test_every_format_has_a_case(name: str) -> None:
    assert any(path.parent.name == name for path in LOGS)

"""Tests that each log in tests/cases/formats/ gives the events in the file next to it."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ingest.decoding.containers import Container, detect_container, read_batches, read_records
from ingest.decoding.lines import MAX_LINE, Line, cut_snippet, decode_object, read_lines
from ingest.events import Event, LogLine, Rejected
from ingest.formats import claiming_formats, formats, line_decoder, line_skimmer, translate_file
from ingest.log_format import About, Record
from ingest.pipeline.reading.format_recognition import SiblingFiles
from ingest.sources.discovery import find_named
from ingest.sources.local_files import LocalFile
from ingest.sources.log_content import open_log
from tests.conftest import CASES, write_cases

_EXPECTED = ".events.json"
_BESIDE = "beside_"  # prefix of files that belong to a log
LOGS = sorted(
    path
    for path in (CASES / "formats").glob("*/*")
    if not path.name.endswith(_EXPECTED) and not path.name.startswith(_BESIDE)
)
ABOUT = About("", "0" * 16)
SAMPLES = sorted((Path(__file__).parents[2] / "sample_data" / "logs").rglob("*.jsonl"))


def lines_of(path: Path) -> list[Line | Rejected]:
    with path.open("rb") as stream:
        return list(read_lines(stream))


def records_of(path: Path, name: str | None = None) -> list[Record | Rejected]:
    """Return the records of the logs at a file path, decoded for the format with this name."""
    decode = line_decoder(formats()[name]) if name else decode_object
    records: list[Record | Rejected] = []
    for log_file in find_named(path):
        with open_log(log_file).open_buffered() as stream:
            container = detect_container(stream.peek(65536))
            records += read_records(stream, container, MAX_LINE, decode)
    return records


def skimmed_records_of(name: str, data: bytes) -> list[Record | Rejected]:
    """Return the records that a load passes to the format with this name."""
    form = formats()[name]
    batches = read_batches(
        io.BytesIO(data), Container.LINES, MAX_LINE, line_decoder(form), line_skimmer(form)
    )
    return [record for batch in batches for record in batch.records]


def record_of(name: str, value: Any, line: int) -> Record | Rejected:
    """Return one object as the record of a line, decoded for the format with this name."""
    data, where = json.dumps(value, default=_in_base64).encode(), LogLine(line, line * 10)
    decoded = line_decoder(formats()[name])(Line(where, data))
    return decoded if isinstance(decoded, Rejected) else Record(where, decoded, data, where.offset)


def _in_base64(value: bytes) -> dict[str, str]:
    return {"base64_string": base64.b64encode(value).decode()}


def head_of(path: Path) -> list[dict[str, Any]]:
    return [record.value for record in records_of(path) if isinstance(record, Record)][:50]


def about(path: Path) -> About:
    return About(path.name, "0" * 16, SiblingFiles(LocalFile(str(path)), MAX_LINE), path.parent.name)


def events_of(name: str, path: Path) -> list[Event | Rejected]:
    return list(translate_file(formats()[name], records_of(path, name), about(path)))


def plain(event: Event | Rejected) -> dict[str, Any]:
    """Return an event in the form of a case file: the kind, the line, and all values that are no defaults."""
    shown: dict[str, Any] = {"event": type(event).__name__, "line": event.where.line}
    for item in msgspec.structs.fields(event):
        value = getattr(event, item.name)
        if isinstance(event, Rejected) and item.name == "snippet":
            value = cut_snippet(value)
        default = None if item.default is msgspec.NODEFAULT else item.default
        if not isinstance(value, LogLine) and value != default:
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


def is_skimmed(path: Path) -> bool:
    """Return True if the log consists of lines, and the format has a `skim` function, which decodes a line
    faster.
    """
    if line_skimmer(formats()[path.parent.name]) is None:
        return False
    return detect_container(path.read_bytes()) is Container.LINES


@pytest.mark.parametrize("path", [path for path in LOGS if is_skimmed(path)], ids=case_name)
def test_lines_that_are_skimmed_become_the_same_events(path: Path) -> None:
    form = formats()[path.parent.name]
    skimmed = translate_file(form, skimmed_records_of(path.parent.name, path.read_bytes()), ABOUT)
    assert list(skimmed) == list(translate_file(form, records_of(path), ABOUT))


@pytest.mark.parametrize("path", [*LOGS, *SAMPLES], ids=case_name)
def test_a_log_is_recognised_by_its_own_format_only(path: Path) -> None:
    owner = path.parent.name if path in LOGS else next(name for name in formats() if name in path.parts)
    assert [form.SOURCE.name for form in claiming_formats(head_of(path))] == [owner]


def test_every_expectation_has_its_log() -> None:
    expectations = (CASES / "formats").glob(f"*/*{_EXPECTED}")
    expected_names = {(path.parent.name, path.name.removesuffix(_EXPECTED)) for path in expectations}
    assert expected_names == {(path.parent.name, path.stem) for path in LOGS}


@pytest.mark.parametrize("name", sorted(formats()))
def test_every_format_has_a_case(name: str) -> None:
    assert any(path.parent.name == name for path in LOGS)

"""Tests Inspect `.eval` archives. An archive is one log: the header is line 1, and each sample is another
line.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from ingest.decoding.containers import Container, detect_container, read_records
from ingest.events import Rejected
from ingest.log_format import Record
from ingest.sources.discovery import look_at_file
from ingest.sources.log_content import open_log
from tests.sources.archives import ZSTD, zipped

HEADER = {"version": 2, "eval": {"task": "popularity"}}
SAMPLES = [{"id": number, "messages": [{"content": "line\nline"}]} for number in (9, 6, 10)]


def pretty(value: Any) -> bytes:
    return json.dumps(value, indent=2).encode().replace(b"\n", b"\r\n")


def members(header: str = "header.json") -> dict[str, bytes]:
    samples = {f"samples/{sample['id']}_epoch_1.json": pretty(sample) for sample in SAMPLES}
    return {**samples, "summaries.json": b"[]", "_journal/summaries/1.json": b"[]", header: pretty(HEADER)}


def records(path: Path, max_line: int = 100_000) -> list[Record | Rejected]:
    with open_log(look_at_file(str(path))).open_buffered() as stream:
        assert detect_container(stream.peek(4096)) is Container.LINES
        return list(read_records(stream, Container.LINES, max_line))


def values(path: Path) -> list[Any]:
    return [record.value if isinstance(record, Record) else record.code for record in records(path)]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, ZSTD])
def test_the_header_comes_first_then_each_sample_as_archived(tmp_path: Path, method: int) -> None:
    path = zipped(tmp_path / "run.eval", members(), method)
    assert values(path) == [HEADER, *SAMPLES]
    assert [record.where.line for record in records(path)] == [1, 2, 3, 4]


def test_a_run_that_crashed_has_its_start_for_a_header(tmp_path: Path) -> None:
    path = zipped(tmp_path / "run.eval", members("_journal/start.json"))
    assert values(path) == [HEADER, *SAMPLES]


def test_the_header_beats_the_start(tmp_path: Path) -> None:
    both = {"_journal/start.json": b'{"started": true}', **members()}
    assert values(zipped(tmp_path / "run.eval", both))[0] == HEADER


def test_a_sample_that_is_rewritten_counts_as_it_was_written_last(tmp_path: Path) -> None:
    path = zipped(tmp_path / "run.eval", members())
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("samples/6_epoch_1.json", b'{"id": 6, "again": true}')
    assert {"id": 6, "again": True} in values(path)
    assert len(values(path)) == 4


def test_a_sample_over_the_limit_costs_itself(tmp_path: Path) -> None:
    long = {"samples/1_epoch_1.json": pretty({"text": "x" * 5_000}), **members()}
    first, second, *rest = records(zipped(tmp_path / "run.eval", long), max_line=4_096)
    assert isinstance(first, Record)
    assert isinstance(second, Rejected)
    assert (second.code, second.where.line) == ("line_too_long", 2)
    assert [record.value for record in rest if isinstance(record, Record)] == SAMPLES


def test_a_sample_that_is_no_json_costs_itself(tmp_path: Path) -> None:
    broken = {"samples/1_epoch_1.json": b'{"text": "a raw\nline break"}', **members()}
    assert values(zipped(tmp_path / "run.eval", broken)) == [HEADER, "not_json", *SAMPLES]


def test_the_fingerprint_is_of_the_content_not_of_the_packing(tmp_path: Path) -> None:
    prints = set()
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, ZSTD):
        path = zipped(tmp_path / f"{method}.eval", members(), method)
        with open_log(look_at_file(str(path))) as content:
            content.readall()
            prints.add(content.fingerprint)
    assert len(prints) == 1

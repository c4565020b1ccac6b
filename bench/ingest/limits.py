"""Measures how the largest promised inputs are loaded in a given working folder."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson

from bench.apart import Ran, run_module
from bench.ingest import night

_LINE = 1_000_000_000
_MANY = 100_000


@dataclass(frozen=True, slots=True)
class Limit:
    """The measurement of one input: wall seconds, peak memory in megabytes, and the outcome."""

    name: str
    clock: float
    peak_mb: float
    outcome: str


def limits(work: Path, large_gb: int) -> Iterator[Limit]:
    yield _long_line(work)
    yield _large_file(work, large_gb)
    yield from _many_files(work)


def _long_line(work: Path) -> Limit:
    folder = _folder(work)
    path = folder / "long.jsonl"
    night.write_file(path, 1_000_000)
    with path.open("ab") as stream:
        stream.write(b'{"type":"user","text":"')
        for _ in range(_LINE // 1_000_000):
            stream.write(b"x" * 1_000_000)
        stream.write(b'"}\n')
    ran = _load(folder, work)
    return _limit(
        "a line of 1 GB", ran, f"{ran.output['calls']:,} calls, {ran.output['rejects']} line rejected"
    )


def _large_file(work: Path, gigabytes: int) -> Limit:
    folder = _folder(work)
    night.write_file(folder / "large.jsonl", gigabytes * 1_000_000_000)
    ran = _load(folder, work)
    speed = gigabytes * 1000 / ran.output["clock"]
    return _limit(f"a file of {gigabytes} GB", ran, f"{ran.output['calls']:,} calls, {speed:.0f} MB/s")


def _many_files(work: Path) -> Iterator[Limit]:
    folder = _folder(work)
    for number in range(_MANY):
        (folder / f"{number:06d}.jsonl").write_bytes(_small(number))
    first = _load(folder, work)
    yield _limit(f"{_MANY:,} small files", first, f"{first.output['lines']:,} lines")
    again = _load(folder, work, "again")
    yield _limit("the same again", again, f"{again.output['unchanged']:,} unchanged")


def _small(number: int) -> bytes:
    """Return a session with one question and its answer. As in real logs, few sessions have the same size."""
    common = {"uuid": f"u{number}", "parentUuid": None, "sessionId": f"s{number}", "isSidechain": False}
    common |= {"version": "2.1.0", "timestamp": "2026-11-20T10:00:00.000Z"}
    question = {"role": "user", "content": "why? " * (number % 997)}
    answered: dict[str, object] = {
        "role": "assistant",
        "id": f"m{number}",
        "model": "m",
        "stop_reason": "end_turn",
    }
    answered |= {"content": [{"type": "text", "text": "because"}]}
    records = (
        {**common, "type": "user", "message": question},
        {**common, "type": "assistant", "uuid": f"a{number}", "message": answered},
    )
    return b"".join(orjson.dumps(record) + b"\n" for record in records)


def _folder(work: Path) -> Path:
    for name in ("limit", "store"):
        shutil.rmtree(work / name, ignore_errors=True)
    folder = work / "limit"
    folder.mkdir(parents=True)
    return folder


def _load(folder: Path, work: Path, reader: str = "callgauge") -> Ran:
    return run_module("bench.ingest.contender", reader, folder, work / "store")


def _limit(name: str, ran: Ran, outcome: str) -> Limit:
    return Limit(name, ran.output["clock"], ran.peak_mb, outcome)

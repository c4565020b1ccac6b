"""Tests compressed logs."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from ingest.decoding.zstd import CompressionParameter, ZstdCompressor, compress
from ingest.errors import DamagedFileError
from ingest.pipeline.load import load
from ingest.sources.archives import decompression
from ingest.sources.archives.decompression import Compression, DecompressedStream, detect_compression
from ingest.sources.archives.streams import StreamPart
from ingest.sources.discovery import look_at_file
from ingest.sources.local_files import LocalFile
from ingest.sources.log_content import open_log
from tests.sources.archives import COMPRESSED
from tests.store.night import ask, count, rows_by_reference, session

LOG = (session("s1") + session("s2", turns=(3,))).encode()
KINDS = sorted(COMPRESSED)


def content_of(path: Path) -> bytes:
    with open_log(look_at_file(str(path))).open_buffered() as stream:
        return stream.read()


def reason(logs: Path, store: Path) -> str:
    report = load([logs], store)
    assert not report.loaded
    (rejected,) = report.rejected
    assert "\n" not in rejected.reason
    return rejected.reason


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [0, 1, 100, 70_000, 3_000_000])
def test_content_comes_out_as_it_went_in_whatever_the_name(tmp_path: Path, kind: str, size: int) -> None:
    data = (LOG * (size // len(LOG) + 1))[:size]
    (tmp_path / "night").write_bytes(COMPRESSED[kind](data))
    assert content_of(tmp_path / "night") == data


@pytest.mark.parametrize("kind", KINDS)
def test_several_streams_one_after_another_are_one_log(tmp_path: Path, kind: str) -> None:
    half = len(LOG) // 2
    pack = COMPRESSED[kind]
    (tmp_path / "night").write_bytes(pack(LOG[:half]) + pack(LOG[half:]))
    assert content_of(tmp_path / "night") == LOG


@pytest.mark.parametrize("kind", ["gz", "xz"])
def test_zeros_behind_the_end_are_padding(tmp_path: Path, kind: str) -> None:
    (tmp_path / "night").write_bytes(COMPRESSED[kind](LOG) + bytes(1024))
    assert content_of(tmp_path / "night") == LOG


def test_a_skippable_frame_of_zstd_is_skipped(tmp_path: Path) -> None:
    skippable = b"\x50\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"aside"
    (tmp_path / "night").write_bytes(skippable + compress(LOG))
    assert content_of(tmp_path / "night") == LOG


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("kind", KINDS)
def test_a_compressed_log_loads_as_the_log_itself(logs: Path, store: Path, kind: str) -> None:
    (logs / f"night.jsonl.{kind}").write_bytes(COMPRESSED[kind](LOG))
    report = load([logs], store)
    assert (report.loaded, report.sessions, report.bytes) == (1, 2, len(LOG))
    plain = store.with_name("plain")
    (logs / f"night.jsonl.{kind}").write_bytes(LOG)
    load([logs], plain)
    assert rows_by_reference(store) == rows_by_reference(plain)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("kind", KINDS)
def test_a_log_that_is_compressed_later_is_recognised(logs: Path, store: Path, kind: str) -> None:
    (logs / "night.jsonl").write_bytes(LOG)
    load([logs], store)
    before = rows_by_reference(store)
    (logs / "night.jsonl").unlink()
    (logs / f"night.jsonl.{kind}").write_bytes(COMPRESSED[kind](LOG))
    report = load([logs], store)
    assert (report.loaded, report.moved) == (0, 1)
    assert rows_by_reference(store) == before
    assert ask(store, "SELECT path FROM files") == [(str(logs / f"night.jsonl.{kind}"),)]
    assert load([logs], store).generation is None


@pytest.mark.thorough
def test_a_log_that_is_unpacked_later_is_recognised(logs: Path, store: Path) -> None:
    (logs / "night.gz").write_bytes(gzip.compress(LOG))
    load([logs], store)
    (logs / "night.gz").unlink()
    (logs / "night").write_bytes(LOG)
    assert load([logs], store).moved == 1


@pytest.mark.thorough
def test_a_compressed_copy_is_looked_into_once(
    logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (logs / "night").write_bytes(LOG)
    load([logs], store)
    (logs / "night.gz").write_bytes(gzip.compress(LOG))
    report = load([logs], store)
    assert (report.loaded, report.unchanged) == (0, 2)
    assert ask(store, "SELECT path FROM copies") == [(str(logs / "night.gz"),)]
    monkeypatch.setattr(LocalFile, "open", not_to_be_opened)
    assert load([logs], store).unchanged == 2


def not_to_be_opened(place: LocalFile) -> io.RawIOBase:
    raise AssertionError(f"{place} was opened")


@pytest.mark.thorough
def test_a_copy_keeps_the_content_of_a_log_that_is_rewritten(logs: Path, store: Path) -> None:
    (logs / "night").write_bytes(LOG)
    (logs / "night.gz").write_bytes(gzip.compress(LOG))
    load([logs], store)
    (logs / "night").write_text(session("s3"))
    report = load([logs], store)
    assert (report.loaded, report.unchanged) == (1, 1)
    assert sorted(ask(store, "SELECT session_id FROM sessions")) == [("s1",), ("s2",), ("s3",)]
    assert sorted(ask(store, "SELECT regexp_extract(path, '[^/]+$'), status FROM files")) == [
        ("night", "loaded"), ("night.gz", "loaded"),
    ]  # fmt: skip
    assert count(store, "copies") == 0
    assert load([logs], store).generation is None


@pytest.mark.thorough
def test_copies_that_differ_only_behind_their_first_bytes_are_both_read(logs: Path, store: Path) -> None:
    same = LOG * 50
    (logs / "a").write_bytes(same + session("s3").encode())
    load([logs], store)
    (logs / "b.gz").write_bytes(gzip.compress(same + session("s4").encode()))
    assert load([logs], store).loaded == 1


@pytest.mark.thorough
def test_a_compressed_log_that_grows_is_read_anew(logs: Path, store: Path) -> None:
    (logs / "night.gz").write_bytes(gzip.compress(session("s1").encode()))
    load([logs], store)
    with (logs / "night.gz").open("ab") as file:
        file.write(gzip.compress(session("s2").encode()))
    load([logs], store)
    assert sorted(ask(store, "SELECT session_id FROM sessions")) == [("s1",), ("s2",)]
    assert count(store, "files") == 1


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("kind", KINDS)
def test_of_a_compressed_log_that_is_cut_the_whole_lines_are_read_and_the_rest_when_it_is_there(
    logs: Path, store: Path, kind: str
) -> None:
    data = LOG + b"".join(session(f"r{n}", raw=f'{{"path": "{n * n}"}}').encode() for n in range(50))
    whole = COMPRESSED[kind](data)
    (logs / "night").write_bytes(whole[:-20])
    report = load([logs], store)
    if not report.loaded:
        assert "data ends in the middle" in report.rejected[0].reason
    else:
        places = ask(store, "SELECT line, byte_offset, code, reason FROM rejects")
        ((line, offset, code, reason),) = places
        assert (code, report.rejects, report.new_rejects) == ("cut_off", 1, 1)
        assert reason.endswith("data ends in the middle, here; the lines before are in")
        assert line == data[:offset].count(b"\n") + 1
        assert ask(store, "SELECT max(line) < any_value(lines) + 2 FROM tool_calls, files") == [(True,)]
    (logs / "night").write_bytes(whole)
    report = load([logs], store)
    assert (report.loaded, report.rejects, report.sessions_replaced) == (1, 0, 0)
    plain = store.with_name("plain")
    (logs / "night").write_bytes(data)
    load([logs], plain)
    assert rows_by_reference(store) == rows_by_reference(plain)


def test_a_document_that_is_cut_is_refused(logs: Path, store: Path) -> None:
    packed = gzip.compress(b'{\n "messages": [' + bytes(range(65, 91)) * 300)
    (logs / "night.json").write_bytes(packed[:-9])
    assert "gzip data ends in the middle" in reason(logs, store)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("kind", KINDS)
def test_a_flipped_bit_is_noticed(logs: Path, store: Path, kind: str) -> None:
    packed = bytearray(COMPRESSED[kind](bytes(range(256)) * 40 + LOG))
    packed[len(packed) // 2] ^= 0x10
    (logs / "night").write_bytes(packed)
    assert "data cannot be unpacked" in reason(logs, store)


def test_rubbish_behind_the_end_is_not_passed_over_in_silence(logs: Path, store: Path) -> None:
    (logs / "night").write_bytes(gzip.compress(LOG) + b"rubbish")
    assert "gzip data cannot be unpacked" in reason(logs, store)


def test_a_log_that_is_compressed_twice_is_refused(logs: Path, store: Path) -> None:
    (logs / "night").write_bytes(gzip.compress(bz2.compress(LOG)))
    assert reason(logs, store) == (
        "cannot be read: it is compressed twice, with gzip and bzip2; unpack it once"
    )


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("kind", KINDS)
def test_a_bomb_costs_neither_memory_nor_the_night(
    logs: Path, store: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decompression, "SUSPECT", 16 * 1024 * 1024)
    (logs / "bomb").write_bytes(COMPRESSED[kind](bytes(48 * 1024 * 1024)))
    load([logs], store)  # the first load imports modules, and this time must not count below
    tracemalloc.start()
    (rejected,) = load([logs], store, max_line=100_000).rejected
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "too many for a log; if this is intended, unpack it first" in rejected.reason
    assert peak < (60 if kind == "zst" else 24) * 1024 * 1024


def test_a_stream_that_asks_for_too_much_memory_is_refused(logs: Path, store: Path) -> None:
    packer = ZstdCompressor(options={CompressionParameter.window_log: 28})
    (logs / "night").write_bytes(packer.compress(LOG) + packer.flush())
    assert "cannot be unpacked" in reason(logs, store)
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 29}]
    (logs / "night").write_bytes(lzma.compress(LOG, filters=filters))
    assert "cannot be unpacked (Memory usage limit" in reason(logs, store)


def test_what_only_begins_like_a_compressed_file_is_none() -> None:
    assert detect_compression(b"BZh is how this text begins") is None
    assert detect_compression(b"") is None


@pytest.mark.parametrize("kind", [kind for kind in Compression if kind is not Compression.DEFLATE])
@pytest.mark.parametrize("step", [1, 7, 4_096])
def test_small_steps_lose_nothing_and_a_cut_is_noticed_at_any_of_them(kind: Compression, step: int) -> None:
    names = {"gzip": "gz", "bzip2": "bz2", "zstd": "zst"}
    packed = COMPRESSED[names.get(kind, kind)](LOG)

    def read(data: bytes) -> bytes:
        with DecompressedStream(StreamPart(BytesRaw(data)), kind) as stream:
            return b"".join(iter(lambda: stream.read(step) or b"", b""))

    assert read(packed) == LOG
    for cut in range(1, len(packed), 29):
        with pytest.raises(DamagedFileError):
            read(packed[:cut])


class BytesRaw(io.RawIOBase):
    """A raw stream that returns its bytes in small pieces."""

    def __init__(self, data: bytes) -> None:
        self._stream = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._stream.readinto(memoryview(buffer)[:5])

"""Tests `replace_private`: private files are replaced completely or not at all, and stay private."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
import threading
from pathlib import Path

import pytest

from ingest import safe_files
from ingest.safe_files import replace_private

needs_modes = pytest.mark.skipif(os.name != "posix", reason="Windows has no modes")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def file_mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@needs_modes
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
@pytest.mark.parametrize("old_mode", [None, 0o644, 0o600, 0o400])
def test_a_replaced_file_is_private_for_any_umask_and_any_old_mode(
    tmp_path: Path, umask: int, old_mode: int | None
) -> None:
    path = tmp_path / "users.json"
    if old_mode is not None:
        path.write_bytes(b"old")
        path.chmod(old_mode)
    before = os.umask(umask)
    try:
        replace_private(path, b"new")
        assert os.umask(umask) == umask, "the umask did not change"
    finally:
        os.umask(before)
    assert (path.read_bytes(), file_mode(path), names(tmp_path)) == (b"new", 0o600, ["users.json"])


@needs_modes
def test_a_group_gets_access_only_if_the_caller_asks_for_it(tmp_path: Path) -> None:
    path = tmp_path / "access.jsonl"
    before = os.umask(0o077)
    try:
        replace_private(path, b"lines", 0o660)
    finally:
        os.umask(before)
    assert file_mode(path) == 0o660


@pytest.mark.parametrize("step", ["fsync", "replace", "mkstemp"])
def test_a_full_disk_leaves_the_old_file_and_no_other_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = tmp_path / "users.json"
    path.write_bytes(b"old")

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    place = {"fsync": os, "replace": Path, "mkstemp": tempfile}[step]
    monkeypatch.setattr(place, step, fail)
    with pytest.raises(OSError, match="No space left on device"):
        replace_private(path, b"new")
    monkeypatch.undo()
    assert (path.read_bytes(), names(tmp_path)) == (b"old", ["users.json"])


def test_the_new_content_is_on_the_disk_before_it_replaces_the_old_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    flush, replace, flush_folder = os.fsync, Path.replace, safe_files.flush_to_disk

    def note_fsync(descriptor: int) -> None:
        steps.append(
            f"fsync {os.fstat(descriptor).st_size}" if stat.S_ISREG(os.fstat(descriptor).st_mode) else ""
        )
        flush(descriptor)

    def note_replace(old: Path, new: Path) -> Path:
        steps.append("replace")
        return replace(old, new)

    def note_folder(folder: Path) -> None:
        steps.append(f"flush {folder.name}")
        flush_folder(folder)

    monkeypatch.setattr(os, "fsync", note_fsync)
    monkeypatch.setattr(Path, "replace", note_replace)
    monkeypatch.setattr(safe_files, "flush_to_disk", note_folder)
    replace_private(tmp_path / "users.json", b"12345")
    assert [step for step in steps if step] == ["fsync 5", "replace", f"flush {tmp_path.name}"]


def test_threads_that_replace_one_file_never_mix_their_contents(tmp_path: Path) -> None:
    path = tmp_path / "signed_out.json"
    contents = [bytes([65 + number]) * (50_000 * (number + 1)) for number in range(4)]
    replace_private(path, contents[0])
    start = threading.Barrier(len(contents) + 1)
    problems: list[object] = []

    def write(content: bytes) -> None:
        start.wait()
        try:
            for _ in range(15):
                replace_private(path, content)
        except OSError as problem:
            problems.append(problem)

    writers = [threading.Thread(target=write, args=(content,)) for content in contents]
    for writer in writers:
        writer.start()
    start.wait()
    while any(writer.is_alive() for writer in writers):
        if (content := path.read_bytes()) not in contents:
            problems.append(len(content))
    for writer in writers:
        writer.join()
    assert (problems, names(tmp_path)) == ([], ["signed_out.json"])


@needs_modes
def test_a_symbolic_link_stays_and_its_file_gets_the_new_content(tmp_path: Path) -> None:
    real, store = tmp_path / "real", tmp_path / "store"
    real.mkdir()
    store.mkdir()
    (real / "log.jsonl").write_bytes(b"a deleted id")
    (store / "access.jsonl").symlink_to("../real/log.jsonl")
    (store / "users.json").symlink_to(real / "not-made-yet.json")
    replace_private(store / "access.jsonl", b"no id")
    replace_private(store / "users.json", b"{}")
    assert (store / "access.jsonl").is_symlink()
    assert (store / "users.json").is_symlink()
    assert (real / "log.jsonl").read_bytes() == b"no id"
    assert (real / "not-made-yet.json").read_bytes() == b"{}"
    assert (names(real), names(store)) == (["log.jsonl", "not-made-yet.json"], ["access.jsonl", "users.json"])

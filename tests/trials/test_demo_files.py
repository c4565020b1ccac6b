"""Tests that the trial demo leaves no incomplete folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from callgauge.trials.demo import PLAN, write_demo

FILES = {"orders-old.json", "orders-new.json", "tasks.jsonl", PLAN}


def test_the_demo_writes_its_files_and_keeps_those_that_are_there(tmp_path: Path) -> None:
    (tmp_path / "tasks.jsonl").write_text("mine", encoding="utf-8")
    write_demo(tmp_path, 1234)
    assert {path.name for path in tmp_path.iterdir()} == FILES
    assert (tmp_path / "tasks.jsonl").read_text(encoding="utf-8") == "mine"


def test_a_full_disk_leaves_no_folder_and_no_half_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.write_text

    def fill(path: Path, text: str, **options: str) -> int:
        if path.name == "tasks.jsonl":
            real(path, text[:10], **options)
            raise OSError(28, "No space left on device")
        return real(path, text, **options)

    monkeypatch.setattr(Path, "write_text", fill)
    (tmp_path / "there").mkdir()
    for name in ("new", "there"):
        with pytest.raises(OSError, match="No space left"):
            write_demo(tmp_path / name, 1234)
    assert [path.name for path in tmp_path.rglob("*")] == ["there"]

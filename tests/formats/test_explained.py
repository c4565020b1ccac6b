"""Tests the messages for files that a format recognises but cannot read."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ingest.pipeline.reading.format_explanation import explain_files

CASES = Path(__file__).parents[1] / "cases" / "formats" / "text_captures"
NAME = "a_call_in_a_dialect_of_its_own"
BELONGS = "is read with 0141.json"
ALONE = "if it is a captured reply: 0141.json, which is needed to read it, is not next to it"


def reason(path: Path) -> str:
    (claim,) = explain_files(path)
    assert claim.name is None
    assert claim.reason is not None
    return claim.reason


@pytest.mark.parametrize("reply", ["", "No call.\n", '{"tool_call": "fetch_url"}\n'], ids=repr)
def test_a_reply_names_the_file_that_it_is_read_with(tmp_path: Path, reply: str) -> None:
    text = tmp_path / "0141.txt"
    text.write_text(reply)
    assert reason(text).endswith(ALONE)
    shutil.copy(CASES / f"{NAME}.json", tmp_path / "0141.json")
    assert reason(text) == BELONGS


@pytest.mark.parametrize("beside", [b"", b"[]", b"{", b'{"prompt": 1}', b"\xff\xfe{}", b"{" * 100_000])
def test_another_file_of_that_name_is_not_taken_for_it(tmp_path: Path, beside: bytes) -> None:
    (tmp_path / "0141.txt").write_text("No call.\n")
    (tmp_path / "0141.json").write_bytes(beside)
    assert reason(tmp_path / "0141.txt").endswith("bytes checked)")


def test_a_hostile_name_is_shown_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "a\n\x1b[31m\udcff.txt"
    path.write_text("No call.\n")
    assert "\n" not in reason(path)
    assert reason(path).encode()


def test_other_texts_say_nothing_of_replies(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text("No call.\n")
    assert "reply" not in reason(path)

"""Tests `callgauge formats FILE`."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ingest.formats import formats
from ingest.pipeline.reading import format_explanation
from ingest.pipeline.reading.format_explanation import explain_files
from tests.formats.test_cases import LOGS, case_name, head_of
from tests.sources.archives import zipped
from tests.store.night import session

Recognise = Callable[[Sequence[dict[str, Any]]], bool]
FILE = {"type": "b", "a": {"b": 1}, "list": [{"c": 2}], "n": None}


def reason(recognise: Recognise) -> str:
    """Return the reason why a format with this `recognise` function does not read a file of two objects."""
    return format_explanation.explain_refusal(SimpleNamespace(recognise=recognise), [FILE, FILE])


@pytest.mark.parametrize(
    ("recognise", "expected"),
    [
        (lambda head: "missing" in head[0], "needs `missing`: not there"),
        (lambda head: head[0].get("missing"), "needs `missing`: not there"),
        (lambda head: {"x", "type", "b"} <= head[0].keys(), "needs `b`, `x`: not there"),
        (lambda head: head[0].keys() >= {"type", "z"}, "needs `z`: not there"),
        (lambda head: head[0]["a"].get("missing"), "needs `a.missing`: not there"),
        (lambda head: head[0]["list"][0].get("missing"), "needs `list[].missing`: not there"),
        (lambda head: head[0]["type"] == "a", "goes by `type`: another log's"),
        (lambda head: not head[0].keys() & {"a", "z"}, "goes by `a`: another log's"),
        (lambda head: {"y", "z"} & head[0].keys(), "asks for one of `y`, `z`: not there"),
        (lambda head: any(n in head[0] for n in "01234"),
         "needs `0`, `1`, `2`, `3` and 1 more: not there"),
        (lambda head: len(head) == 1, format_explanation._BEFORE),
        (lambda head: bool(int(head)), "checks whole objects"),
    ],
)  # fmt: skip
def test_a_reason_is_what_the_format_asked_for(recognise: Recognise, expected: str) -> None:
    assert reason(recognise) == expected


@pytest.mark.parametrize("path", LOGS, ids=case_name)
def test_being_watched_changes_no_answer(path: Path) -> None:
    """An object that records which keys are read must behave like a plain object."""
    (claim,) = explain_files(path)
    assert claim.name == path.parent.name
    assert set(claim.others) == formats().keys() - {claim.name}
    assert all(why and "\n" not in why for why in claim.others.values())
    head = head_of(path)
    for form in formats().values():
        watched = [
            format_explanation.WatchedObject(value, format_explanation.LookedUpKeys()) for value in head
        ]
        assert bool(form.recognise(watched)) == bool(form.recognise(head))


def test_every_log_in_an_archive_and_in_a_folder_is_answered_for(tmp_path: Path) -> None:
    zipped(tmp_path / "x.zip", {"a": session("s1").encode(), "b": b"nothing"})
    (tmp_path / "y.gz").write_bytes(gzip.compress(session("s2").encode()))
    claims = {claim.file.rpartition("/")[2]: claim.name for claim in explain_files(tmp_path)}
    assert claims == {"x.zip!a": "session_history", "x.zip!b": None, "y.gz": "session_history"}


def test_two_that_claim_a_file_are_both_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text(session("s1"))
    monkeypatch.setattr(formats()["codex"], "recognise", lambda head: True)
    (claim,) = explain_files(tmp_path / "a")
    assert claim.name is None
    assert "matches several formats (codex and session_history)" in (claim.reason or "")
    assert not {"codex", "session_history"} & claim.others.keys()


def test_the_last_resort_says_that_another_format_came_first(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    reply = {"object": "chat.completion", "choices": [{"message": messages[1]}]}
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"messages": messages, "model": "m", "response": reply}))
    (claim,) = explain_files(path)
    assert claim.name == "request_log"
    assert claim.others["chat_jsonl"] == "reads only files that no other format reads"

"""Tests the command `callgauge report`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from callgauge.cli.main import app
from tests.report.servers import serve_webhook

CONFIGURATION = """
store = "store"
[report]
address = "https://gauge.example.com"
[[report.webhooks]]
kind = "json"
url = "env:TEST_REPORT_HOOK"
"""


def run(*words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["report", *words])
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.thorough
def test_a_report_is_sent_once_however_often_it_is_asked_for(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = store.parent / "callgauge.toml"
    file.write_text(CONFIGURATION, encoding="utf-8")
    words = ["--config", str(file), "--send", "--since", "2026-11-18"]
    with serve_webhook(200) as place:
        environment = {**os.environ, "TEST_REPORT_HOOK": place.address}
        command = [sys.executable, "-m", "callgauge", "report", *words]
        first = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert first.returncode == 0, first.stderr
        assert "json (TEST_REPORT_HOOK): sent, answered 200" in first.stderr
        monkeypatch.setenv("TEST_REPORT_HOOK", place.address)
        code, _, output = run(*words)
        assert (code, "sent before" in output) == (0, True)
        assert len(place.got) == 1
        assert json.loads(place.got[0][1])["sentences"][0]["link"].startswith("https://gauge.example.com/")
    monkeypatch.delenv("TEST_REPORT_HOOK")
    assert "SECRET" not in first.stderr + output


def test_a_channel_that_did_not_get_it_is_an_exit_code(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = store.parent / "callgauge.toml"
    file.write_text(CONFIGURATION, encoding="utf-8")
    monkeypatch.delenv("TEST_REPORT_HOOK", raising=False)
    code, _, output = run("--config", str(file), "--send")
    assert code == 1
    assert "json (TEST_REPORT_HOOK): failed, the variable TEST_REPORT_HOOK is not set" in output


def test_a_report_is_printed_or_written(published: Path, tmp_path: Path) -> None:
    code, text, _ = run("--store", str(published), "--since", "2026-11-18")
    assert code == 0
    assert text.startswith("# Callgauge, ")
    page = tmp_path / "report.html"
    code, text, _ = run("--store", str(published), "--format", "html", "-o", str(page))
    assert (code, text) == (0, "")
    assert page.read_text("utf-8").startswith("<!doctype html>")
    assert not (published / "memory.sqlite").exists()
    assert not (published / "reports").exists()


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ([], 2, "name --store DIR or --config FILE"),
        (["--store", "x", "--send"], 2, "--send takes --config"),
        (["--store", "x", "--since", "soon"], 2, "use today, yesterday"),
        (["--store", "x"], 1, "callgauge ingest"),
        (["--config", "no-such.toml"], 2, "no-such.toml"),
    ],
)
def test_what_cannot_be_done_is_told_with_the_next_step(words: list[str], code: int, message: str) -> None:
    exit_code, _, errors = run(*words)
    assert exit_code == code
    assert message in errors


def test_a_file_that_cannot_be_written_is_told(published: Path, tmp_path: Path) -> None:
    code, _, output = run("--store", str(published), "-o", str(tmp_path / "none" / "report.md"))
    assert code == 1
    assert "cannot write" in output

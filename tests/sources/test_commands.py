"""Tests `callgauge ingest`."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from tests.test_cli import EXAMPLE, refused, run

ROOT = Path(__file__).parents[2]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return Path(shutil.copy(EXAMPLE, tmp_path / "night.jsonl"))


@pytest.mark.thorough
def test_files_can_be_piped_in_listed_and_named_by_pattern(log: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    piped = run("ingest", "-", "--store", store, stdin=log.read_bytes())
    assert (piped.exit_code, "1 file loaded: 1 read" in piped.stdout) == (0, True), piped.output
    (tmp_path / "list").write_text("# last night\nnight.jsonl\n")
    listed = run("ingest", "--manifest", tmp_path / "list", "--store", store)
    assert "1 file loaded: 0 read, 0 unchanged, 1 moved" in listed.stdout
    pattern = run("ingest", tmp_path / "n*.jsonl", "--store", store)
    assert "1 file loaded: 0 read, 1 unchanged" in pattern.stdout


@pytest.mark.thorough
def test_a_dry_run_says_what_a_load_would_do(log: Path, tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"")
    result = run("ingest", tmp_path, "--store", tmp_path / "store", "--dry-run")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].split()[:4] == ["new", "session_history", "1", "files"]
    assert lines[-2] == f"unreadable: {tmp_path / 'other'} is empty"
    assert lines[-1].startswith("a load would read 1 files, ")
    assert not (tmp_path / "store").exists()
    as_json = json.loads(run("ingest", log, "--store", tmp_path / "store", "--dry-run", "--json").stdout)
    assert [share["would"] for share in as_json["shares"]] == ["new"]


def test_what_is_left_out_is_said_and_is_no_failure(log: Path, tmp_path: Path) -> None:
    second = tmp_path / "second.jsonl"
    second.write_text(log.read_text().replace("2026", "2027"))
    limited = run("ingest", log, second, "--store", tmp_path / "store", "--limit", "1")
    assert (limited.exit_code, "skipped: 1 files (--since, --limit)" in limited.stdout) == (0, True)
    none = run("ingest", log, second, "--store", tmp_path / "empty", "--since", "2099-01-01")
    assert (none.exit_code, "skipped: 2 files" in none.stdout) == (0, True)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "nothing to load: name files or folders, use --manifest for a list of them, or --mine"),
        (["x", "--since", "soon"], "--since “soon” is not a time; use today"),
        (["x", "--format", "nonsense"], "unknown format 'nonsense'; `callgauge formats` lists all formats"),
        (["-", "--watch"], "standard input cannot be watched; name a folder"),
        (["x", "--watch", "--dry-run"], "--watch and --dry-run cannot be combined"),
        (["--manifest", "nowhere"], "cannot read the list of files nowhere: No such file or directory"),
        (["ftp://host/x"], "ftp://host/x cannot be read: addresses begin with one of s3://"),
    ],
)
def test_wrong_words_for_a_load_are_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").write_text("")
    assert sentence in refused(run("ingest", *words, "--store", tmp_path / "store"), 2)


@pytest.mark.thorough
def test_watching_loads_what_grows_and_ends_with_ctrl_c(log: Path, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "callgauge",
        "ingest",
        str(log),
        "--store",
        str(tmp_path / "store"),
        "--watch",
    ]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONPATH": str(ROOT)}
    with (
        subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=heed_ctrl_c,  # noqa: PLW1509 - the process that starts it has one thread
        ) as watching,
        ended(watching),
    ):
        assert watching.stdout is not None
        until(watching.stdout, "published gen-000001.duckdb")
        with log.open("a") as file:
            file.write(log.read_text().replace("2026", "2027"))
        until(watching.stdout, "published gen-000002.duckdb")
        log.unlink()
        assert watching.stderr is not None
        until(watching.stderr, "does not exist; check the spelling")
        watching.send_signal(signal.SIGINT)
        stderr = watching.stderr.read()
    assert (watching.returncode, "Traceback" in stderr) == (0, False)
    assert f"stopped watching; all loaded data is in {tmp_path / 'store'}" in stderr


def heed_ctrl_c() -> None:
    """Restore the handler of SIGINT, which child processes of a shell's background processes ignore."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def ended(process: subprocess.Popen[str]) -> Iterator[None]:
    """End a process that a failed test left behind, because Popen would wait for it forever."""
    try:
        yield
    except BaseException:
        process.kill()
        raise


def until(lines: IO[str], text: str) -> None:
    assert any(text in line for line in iter(lines.readline, "")), f"it ended without saying {text!r}"

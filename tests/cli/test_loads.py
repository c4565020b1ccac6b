"""Tests the output of a load in a terminal, in a pipe, and with --quiet."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace
from typer.testing import CliRunner

from callgauge.cli import main as cli
from callgauge.cli.render import loads
from callgauge.cli.render.loads import (
    Pace,
    current_file,
    format_duration,
    load_report,
    progress_figures,
)
from ingest.load_report import LoadReport, Progress, RejectedFile
from tests.store.night import session

ROOT = Path(__file__).parents[2]
NOW = Progress(
    name="/logs/" + "deep/" * 20 + "a.jsonl",
    files_done=3,
    files_total=12,
    bytes_done=25_000_000,
    bytes_total=100_000_000,
    rejects=7,
)
REPORT = LoadReport(
    loaded=2,
    unchanged=1,
    moved=0,
    left=0,
    rejected=(),
    companions=(),
    lines=1_234,
    bytes=24_000_000,
    sessions=3,
    turns=9,
    calls=50,
    duplicates=10,
    rejects=0,
    new_rejects=0,
    new_rejected=0,
    sessions_replaced=0,
    sessions_removed=0,
    calls_fewer=0,
    faults={"syntax": 1, "tool_rejected": 3},
    judged=20,
    unread=0,
    notes=(),
    newest=None,
    generation="gen-000001.duckdb",
    seconds=2.0,
)


def test_the_line_says_bytes_rate_time_left_files_rejects_and_the_file() -> None:
    assert (
        progress_figures(NOW, 5_000_000)
        == " 25 % of 100.0 MB  5.0 MB/s  15 s left  3 of 12 files  7 unreadable lines"
    )
    assert current_file(NOW, 20) == "…p/deep/deep/a.jsonl"
    assert current_file(replace(NOW, files_done=12), 20) == "writing the store"


def test_a_files_name_cannot_move_the_terminal() -> None:
    assert current_file(replace(NOW, name="a\x1b[2J.jsonl"), 80) == r"a\x1b[2J.jsonl"


def test_the_rate_is_that_of_the_last_seconds() -> None:
    clock = iter([0.0, 10.0, 40.0, 50.0])
    pace = Pace(lambda: next(clock))
    assert pace.rate_at(0) is None
    assert pace.rate_at(1_000) == 100
    pace.rate_at(1_000)
    assert pace.rate_at(51_000) == 5_000


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (59, "59 s"), (61, "1 min 1 s"), (7_500, "2 h 5 min")]
)
def test_a_duration_is_said_as_people_say_it(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


def test_without_a_terminal_there_is_a_line_every_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 0.0, 1.0, 11.0])
    monkeypatch.setattr("callgauge.cli.render.loads.time.monotonic", lambda: next(clock))
    out = io.StringIO()
    with loads.show_progress(stream=out) as tell:
        for done in (3, 4, 5):
            tell(replace(NOW, files_done=done))
    assert [line.split(" of 12")[0][-1] for line in out.getvalue().splitlines()] == ["5"]


def test_the_closing_table_has_what_was_read_and_the_rates_of_the_store() -> None:
    rates = [("parse errors", "1 of 4 calls (25%)"), ("mended", "0 of 4 calls (0%)")]
    text = load_report(REPORT, Path("s"), rates)
    lines = dict(line.strip().split(maxsplit=1) for line in text.splitlines())
    assert lines["tool"] == "calls  50 (10 copies counted once)"
    assert lines["read"] == "24.0 MB in 2.0 s (12.0 MB/s)"
    assert text.endswith("  parse errors  1 of 4 calls (25%)\n  mended        0 of 4 calls (0%)")


def test_a_file_that_is_read_together_with_another_is_no_failure() -> None:
    beside = (RejectedFile("/logs/a.txt", "is read with a.json"),)
    text = load_report(replace(REPORT, companions=beside), Path("s"))
    assert text.startswith("3 files loaded: 2 read, 1 unchanged, 0 moved; 1 side file\n")
    assert "rejected" not in text


def test_the_closing_lines_name_refused_files_and_what_waits() -> None:
    refused = tuple(RejectedFile(f"/logs/{number}\n", "is empty") for number in range(12))
    text = load_report(replace(REPORT, rejected=refused, unread=3), Path("s"))
    assert "unreadable: /logs/0\\n is empty" in text
    assert "… and 2 more unreadable files" in text
    assert "stopped: 3 files are left; run the same command to read them" in text


def test_a_quiet_load_says_only_what_went_wrong(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(session("s1"))
    words = ["ingest", str(tmp_path / "a.jsonl"), "--store", str(tmp_path / "store"), "--quiet"]
    done = CliRunner().invoke(cli.app, words)
    assert (done.exit_code, done.output) == (0, "")
    (tmp_path / "empty.jsonl").write_text("")
    words[1:2] = [str(tmp_path / "a.jsonl"), str(tmp_path / "empty.jsonl")]
    done = CliRunner().invoke(cli.app, words)
    assert (done.exit_code, done.stdout) == (3, "")
    assert done.stderr.startswith("callgauge: unreadable: ")


@pytest.mark.thorough
def test_on_a_terminal_there_is_a_bar_that_is_gone_in_the_end(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(session("s1"))
    command = [
        sys.executable,
        "-m",
        "callgauge",
        "ingest",
        tmp_path / "a.jsonl",
        "--store",
        tmp_path / "store",
    ]
    ours, theirs = pty.openpty()
    with subprocess.Popen(list(map(str, command)), cwd=ROOT, stdout=theirs, stderr=theirs):
        os.close(theirs)
        shown = b""
        while piece := _read(ours):
            shown += piece
    os.close(ours)
    drawn, _, report = shown.partition(b"1 file loaded")
    assert b"published gen-000001" in report
    assert b"the whole store, all days" in report
    assert b"looking at the files" in drawn
    assert b"writing the store" in drawn
    assert drawn.rstrip().endswith(b"\x1b[2K") or b"\x1b[?25h" in drawn[-80:], (
        "the line is cleared, the cursor is back"
    )


@pytest.mark.thorough
def test_a_small_load_imports_only_what_it_needs(tmp_path: Path) -> None:
    """Without a terminal, nobody reads the rates of the store, so no query of the pages is imported."""
    log = tmp_path / "log.jsonl"
    log.write_text(session("s1"), "utf-8")
    program = (
        "import sys\nfrom callgauge.cli.main import main\n"
        "try: main()\nexcept SystemExit as end: print(*sys.modules, end.code, sep='\\n', file=sys.stderr)"
    )
    command = [sys.executable, "-c", program, "ingest", log, "--store", tmp_path / "store"]
    process = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True, check=True)
    assert "published gen-000001" in process.stdout
    needless = {
        "callgauge.analysis", "ingest.pipeline.workers.ray_cluster", "pandas", "plotly", "pyarrow.compute",
        "rich", "streamlit", "tomllib", "urllib.request", "yaml",
    }  # fmt: skip
    assert needless & set(process.stderr.splitlines()) == set()
    assert "leaked" not in process.stderr


def _read(handle: int) -> bytes:
    try:
        return os.read(handle, 4096)
    except OSError:  # on Linux, reading a closed terminal raises OSError
        return b""

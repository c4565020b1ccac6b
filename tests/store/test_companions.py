"""Tests files that a format reads together with another file."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from callgauge.cli.main import app
from ingest.pipeline.dry_run import PlannedAction, forecast_load
from ingest.pipeline.load import load
from tests.sources.archives import zipped
from tests.store.night import ask

CASE = (
    Path(__file__).parents[1] / "cases" / "formats" / "text_captures" / "a_call_in_a_dialect_of_its_own.json"
)
STATUS = "SELECT status, reason FROM files ORDER BY path"
BOTH_READ = [("loaded", None), ("companion", "is read with 0141.json")]


@pytest.fixture
def logs(logs: Path) -> Path:
    shutil.copy(CASE, logs / "0141.json")
    (logs / "0141.txt").write_text("No call.\n")
    return logs


def test_a_reply_beside_its_request_is_read_with_it(logs: Path, store: Path) -> None:
    report = load([logs], store)
    assert (report.loaded, report.rejected) == (1, ())
    assert [(Path(companion.path).name, companion.reason) for companion in report.companions] == [
        ("0141.txt", "is read with 0141.json")
    ]
    assert ask(store, STATUS) == BOTH_READ
    assert ask(store, "SELECT files_rejected FROM ingest_runs") == [(0,)]
    again = load([logs], store)
    assert (again.generation, again.unchanged, len(again.companions)) == (None, 1, 1)


def test_the_exit_code_is_that_of_a_load_without_trouble(logs: Path, store: Path) -> None:
    done = CliRunner().invoke(app, ["ingest", str(logs), "--store", str(store), "--quiet"])
    assert (done.exit_code, done.output) == (0, "")


@pytest.mark.thorough
def test_a_reply_without_its_request_is_rejected_until_it_comes(logs: Path, store: Path) -> None:
    (logs / "0141.json").rename(logs.parent / "away")
    (rejected,) = load([logs], store).rejected
    assert "0141.json, which is needed to read it, is not next to it" in rejected.reason
    (logs.parent / "away").rename(logs / "0141.json")
    assert load([logs], store).rejected == ()
    assert ask(store, STATUS) == BOTH_READ
    (logs / "0141.json").unlink()
    assert len(load([logs], store).rejected) == 1
    assert ask(store, STATUS)[1][0] == "rejected"


@pytest.mark.thorough
def test_a_reply_that_comes_a_day_later_is_read_then(logs: Path, store: Path) -> None:
    (logs / "0141.txt").rename(logs.parent / "away")
    assert (load([logs], store).rejects, ask(store, "SELECT count(*) FROM turns")) == (1, [(0,)])
    assert load([logs], store).generation is None
    (logs.parent / "away").rename(logs / "0141.txt")
    shares = forecast_load([logs], store).shares
    assert [share.would for share in shares] == [PlannedAction.AGAIN, PlannedAction.COMPANION]
    report = load([logs], store)
    assert (report.loaded, report.rejects, report.rejected) == (1, 0, ())
    assert ask(store, STATUS) == BOTH_READ
    assert ask(store, "SELECT answer_text FROM turns") == [("No call.\n",)]
    assert load([logs], store).generation is None


@pytest.mark.thorough
@pytest.mark.parametrize("workers", [1, 2])
def test_several_processes_tell_the_same(logs: Path, store: Path, workers: int) -> None:
    for number in range(5):
        shutil.copy(CASE, logs / f"{number}.json")
        (logs / f"{number}.txt").write_text(f"No call {number}.\n")
    report = load([logs], store, workers=workers)
    assert (report.rejected, len(report.companions)) == ((), 6)


@pytest.mark.thorough
def test_members_of_an_archive_are_no_failures_either(logs: Path, store: Path) -> None:
    files = {name: (logs / name).read_bytes() for name in ("0141.json", "0141.txt")}
    for name in files:
        (logs / name).unlink()
    zipped(logs / "archive", files)
    first, again = load([logs], store), load([logs], store)
    assert (first.rejected, again.rejected) == ((), ())
    assert len(first.companions) == len(again.companions) == 1


def test_a_dry_run_foretells_it(logs: Path, store: Path) -> None:
    for _ in range(2):
        outlook = forecast_load([logs], store)
        assert outlook.rejected == ()
        assert [Path(companion.path).name for companion in outlook.companions] == ["0141.txt"]
        assert (PlannedAction.COMPANION, None, 1) in [
            (share.would, share.form, share.files) for share in outlook.shares
        ]
        load([logs], store)

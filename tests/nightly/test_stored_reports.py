"""Tests that retention deletes stored reports, which quote logs."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from callgauge.cli.main import app
from callgauge.nightly.stored_reports import list_report_nights, remove_old_reports
from ingest.errors import StoreError
from ingest.pipeline.load import load
from tests.store.night import session


def write_reports(store: Path, *nights: date) -> Path:
    folder = store / "reports"
    folder.mkdir(parents=True, exist_ok=True)
    for night in nights:
        for kind in ("html", "json"):
            (folder / f"{night}.{kind}").write_text("what a log said")
    return folder


def test_reports_of_days_before_the_limit_go_and_nothing_else(tmp_path: Path) -> None:
    """The limit is 10 November. The report of this day is about 9 November, so it is deleted, too."""
    nights = [date(2026, 11, day) for day in (8, 9, 10, 11)]
    folder = write_reports(tmp_path, *nights)
    strangers = ["20261101.html", "2026-11-01.html.bak", "2026-11-01.txt", "2026-13-01.json", "index.html"]
    for name in strangers:
        (folder / name).touch()
    assert remove_old_reports(tmp_path, date(2026, 11, 10), dry_run=True) == 3
    assert list_report_nights(tmp_path) == nights
    assert remove_old_reports(tmp_path, date(2026, 11, 10)) == 3
    assert sorted(file.name for file in folder.iterdir()) == sorted(
        [*strangers, "2026-11-11.html", "2026-11-11.json"]
    )
    assert remove_old_reports(tmp_path, date(2026, 11, 10)) == 0
    assert remove_old_reports(tmp_path / "none", date(2026, 11, 10)) == 0


def test_a_report_that_cannot_be_removed_is_told(tmp_path: Path) -> None:
    (tmp_path / "reports" / "2026-11-08.html").mkdir(parents=True)
    with pytest.raises(
        StoreError, match=r"2026-11-08\.html is older than the retention limit and cannot be deleted"
    ):
        remove_old_reports(tmp_path, date(2026, 11, 10))


@pytest.mark.thorough
def test_retain_and_forget_tell_of_reports(tmp_path: Path) -> None:
    log, store = tmp_path / "log.jsonl", tmp_path / "store"
    log.write_text(session("s"), encoding="utf-8")
    load([log], store)
    today = datetime.now(UTC).date()
    write_reports(store, today - timedelta(400), today)

    def run(*words: str) -> str:
        return CliRunner().invoke(app, [words[0], "--store", str(store), *words[1:]]).stdout

    trial = run("retain", "--text-days", "300", "--dry-run")
    assert trial.splitlines() == [
        f"no content to delete (of sessions last active before {today - timedelta(300)})",
        f"1 nightly report from before {today - timedelta(300)}",
        "nothing was deleted (dry run)",
    ]
    assert len(list_report_nights(store)) == 2
    assert json.loads(run("retain", "--text-days", "300", "--json"))["reports_removed"] == 1
    assert list_report_nights(store) == [today]
    forgotten = run("forget", "--session", "s")
    assert (
        f"1 nightly report in {store / 'reports'} may quote the deleted errors; delete the reports that do"
        in forgotten
    )

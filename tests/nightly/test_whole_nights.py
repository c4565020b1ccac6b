"""Tests complete nightly runs. A killed nightly run, when continued, must give the same result as an
undisturbed one.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from callgauge.memory.nights.night_steps import OVER
from callgauge.nightly.nightly_run import NIGHT_STEPS, NightExit
from ingest.store.generations import LOCK
from tests.configuration.team import TOML, write_team
from tests.nightly.nights import do_night
from tests.store.night import ask

ROOT = Path(__file__).parents[2]
FULL = (
    TOML
    + """[retention]
text_days = 30
[backup]
to = "backup"
[report]
address = "https://callgauge.test"
"""
)


def test_a_night_lets_old_texts_go_backs_up_and_reports(tmp_path: Path) -> None:
    file = write_team(tmp_path, FULL)
    reports = tmp_path / "store" / "reports"
    reports.mkdir(parents=True)
    (reports.parent / LOCK).touch()
    for name in ("2020-01-03.html", "2020-01-03.json", "notes.html"):
        (reports / name).write_text("ENOENT of somebody")
    (tmp_path / "backup").touch()
    result = do_night(file)
    assert {name: step.outcome for name, step in result.steps.items()} == {
        "load": "done", "retention": "done", "backup": "failed", "report": "done",
    }  # fmt: skip
    assert result.exit_code == NightExit.FAILED
    assert ask(tmp_path / "store", "SELECT count(*), count(nullif(raw_arguments, '')) FROM tool_calls") == [
        (12, 0)
    ]
    assert result.steps["retention"].figures["calls_without_text"] == 12
    assert result.steps["retention"].figures["reports_removed"] == 1
    assert sorted(file.name for file in reports.iterdir() if "2020" in file.name) == []
    assert (reports / "notes.html").exists()
    (tmp_path / "backup").unlink()
    second = do_night(file)
    assert {name: step.outcome for name, step in second.steps.items()} == {"backup": "done", "report": "done"}
    assert (second.exit_code, second.steps["backup"].figures["backups"]) == (NightExit.DONE, 1)
    assert [step.step for step in second.before] == ["load", "retention"]
    assert Path(second.steps["report"].figures["file"]).is_file()


def kill_night(folder: Path, *steps: str) -> list[dict[str, Any]]:
    write_team(folder, FULL)
    output = subprocess.run(
        [sys.executable, "-m", "tests.nightly.killed_nights", str(folder), *steps],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [json.loads(line) for line in output.splitlines()]


@pytest.mark.thorough
def test_a_night_that_was_killed_goes_on_to_the_same_end(tmp_path: Path) -> None:
    """The nightly run is killed at each record that it writes, and when a load publishes."""
    of_load = ["load begins", "load begun", "switch", "load ends"]
    of_others = [f"{step} {when}" for step in list(NIGHT_STEPS)[1:] for when in ("begins", "begun", "ends")]
    *between, after = kill_night(tmp_path / "killed", *of_load, "load ended", *of_others)
    (whole,) = kill_night(tmp_path / "whole")
    assert (after["calls"], after["sources"]) == (whole["calls"], whole["sources"])
    assert [step for step, (outcome, _) in after["steps"].items() if outcome in OVER] == list(NIGHT_STEPS)
    assert [night.get("load") for night in between[:5]] == [
        None,
        [None, 1],
        [None, 2],
        [None, 3],
        ["done", 4],
    ]

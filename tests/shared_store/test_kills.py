"""Tests a killed load into a shared store."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.store.night import session


@pytest.mark.thorough
@pytest.mark.timeout(300)
def test_a_killed_load_is_finished_by_the_next(s3: Any, logs: Path, tmp_path: Path) -> None:
    (logs / "a").write_text(session("s1"))
    (logs / "b").write_text(session("s2"))
    command = [sys.executable, "-m", "tests.shared_store.killed_loads", str(logs), str(tmp_path / "out")]
    (tmp_path / "out").mkdir()
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    outcomes = {outcome["step"]: outcome for outcome in map(json.loads, ran.stdout.splitlines())}
    assert {"upload", "commit", "committed", "switch"} <= outcomes.keys()
    for step, outcome in outcomes.items():
        is_published = step in ("committed", "switch", "switched", "remove")
        assert outcome["seen"] == (2 if is_published else 1), outcome
        assert outcome["others"] == ("loads" if step == "lease" else "waits"), outcome
        assert outcome["then"] == 2, outcome
        assert outcome["left"] == ["CURRENT", "lease"], outcome

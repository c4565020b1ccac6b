"""A load into a shared store that is killed loses nothing and shows nothing that is half there."""

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
    told = {one["step"]: one for one in map(json.loads, ran.stdout.splitlines())}
    assert {"upload", "commit", "committed", "switch"} <= told.keys()
    for step, one in told.items():
        is_published = step in ("committed", "switch", "switched", "remove")
        assert one["seen"] == (2 if is_published else 1), one
        assert one["others"] == ("loads" if step == "lease" else "waits"), one
        assert one["then"] == 2, one
        assert one["left"] == ["CURRENT", "lease"], one

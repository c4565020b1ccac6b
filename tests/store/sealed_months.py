"""Makes loads write all rows and sums into segments, even small or new ones. Also makes logs of several
months.
"""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path

import pytest

from ingest.store import building_months, building_segments
from tests.store.night import claude_code_session, session

Patched = AbstractContextManager[pytest.MonkeyPatch]
SEALING = (
    "segment copy", "month back", "month", "month checkpoint", "segment", "segment checkpoint", "rewrite",
    "rewritten", "segment sync", "name", "switch", "switched", "remove",
)  # fmt: skip
"""The writes of a load that puts all rows into segments, and the writes that publish the store."""


def seal_everything(patched: pytest.MonkeyPatch) -> None:
    """Make loads write their new rows into a segment, and write the sums of all months."""
    patched.setattr(building_segments, "SEAL_AT", 0)
    seal_months(patched)


def seal_months(patched: pytest.MonkeyPatch) -> None:
    patched.setattr(building_months, "SEAL_AT", 0)
    patched.setattr(building_months, "KEPT_OPEN", timedelta(-3650))


def in_month(text: str, month: int) -> str:
    return text.replace("2026-11-", f"2026-{month:02}-")


def task_session(name: str, *, day: int = 1, raw: str = '{"path": "a.py"}') -> str:
    """Return a session whose first message is long enough to count as a task."""
    lines = [json.loads(line) for line in session(name, day=day, raw=raw).splitlines()]
    for line in lines:
        if line["type"] == "turn_start":
            line["content"] = f"What is in the file, says {name}? " * 3
    return "".join(json.dumps(line) + "\n" for line in lines)


def over_months(name: str, months: tuple[int, int]) -> str:
    lines = session(name, turns=(2, 2), raw="]").splitlines(keepends=True)
    second = next(place for place, line in enumerate(lines) if '"turn": 2' in line)
    parts = ("".join(lines[:second]), "".join(lines[second:]))
    return "".join(in_month(part, month) for part, month in zip(parts, months, strict=True))


def first_night(logs: Path) -> None:
    for month in (7, 8, 9, 11):
        text = task_session("task", day=2) + session("broken", raw="]") + session("two", day=28)
        text = text.replace('"task"', f'"task{month}"').replace('"broken"', f'"broken{month}"')
        (logs / f"{month}.jsonl").write_text(in_month(text.replace('"two"', f'"two{month}"'), month))
    (logs / "long.jsonl").write_text(over_months("long", (8, 9)))
    (logs / "claude.jsonl").write_text(claude_code_session("c"))


def late_log(logs: Path) -> None:
    (logs / "late.jsonl").write_text(in_month(session("late", day=5, raw="{'path': 1,}"), 8))


def grown_log(logs: Path) -> None:
    with (logs / "7.jsonl").open("a") as stream:
        stream.write(in_month(task_session("more", day=9), 7))


def session_that_goes_on(logs: Path) -> None:
    (logs / "long-2.jsonl").write_text(over_months("long", (8, 9)) + in_month(session("n", day=3), 10))


def other_content(logs: Path) -> None:
    (logs / "9.jsonl").write_text(in_month(session("x", day=4, raw="{'path': 1,}"), 8))


def copies(logs: Path) -> None:
    (logs / "copy.jsonl").write_text((logs / "8.jsonl").read_text() + in_month(session("y", day=6), 7))


def new_night(logs: Path) -> None:
    (logs / "new.jsonl").write_text(session("new", day=7) + session("newer", day=8, raw="]"))


LOADS = (
    first_night, late_log, grown_log, session_that_goes_on, other_content, copies, new_night,
)  # fmt: skip

"""Makes a folder with the logs of two gateways, and with a callgauge.toml that loads these logs."""

from __future__ import annotations

from pathlib import Path

from tests.store.night import session

NEWEST = "2020-01-02T10:00:00+00:00"
TOML = """store = "store"
[sources.eu]
paths = "eu"
[sources.us]
paths = "us"
"""


def write_team(folder: Path, text: str = TOML) -> Path:
    """Write callgauge.toml and two logs of one session for each source. Return the path of callgauge.toml."""
    for name in ("eu", "us"):
        (folder / name).mkdir(parents=True)
        write_log(folder / name / "a.jsonl", f"{name}-a")
        write_log(folder / name / "b.jsonl", f"{name}-b", "2019-12-31")
    path = folder / "callgauge.toml"
    path.write_text(text, encoding="utf-8")
    return path


def write_log(path: Path, name: str, day: str = "2020-01-02") -> None:
    """Write a log of one session with three tool calls."""
    path.write_text(session(name).replace("2026-11-01", day), encoding="utf-8")

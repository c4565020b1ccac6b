"""Makes the folder of a trial run, as `callgauge trial run` writes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.store.night import session

RUN = "orders.7f3a"
ARMS = ("old", "new")
BROKEN = '{"path": "a.py", "lines": [1, 2'


def lock(run: str = RUN, arms: Sequence[str] = ARMS, tasks: int = 3, **changed: Any) -> dict[str, Any]:
    """Return the lock file of a trial run. `changed` replaces fields."""
    arm = {
        "model": "falcon-3-8b",
        "prompt": "agent-12",
        "strategy": "auto",
        "compensations": 1,
        "policy": "safe",
    }
    return {
        "callgauge_trial": 1,
        "run": run,
        "name": "orders",
        "question": "Do enums lower refusals?",
        "created_at": "2026-11-20T08:00:00Z",
        "versions": {"callgauge": "1.0", "parser": "9"},
        "measure": {
            "primary": "refused",
            "smallest": 0.05,
            "reference": None,
            "looks": 2,
            "alpha": 0.05,
            "secondary": ["right"],
            "expected_rate": None,
        },
        "budget": {"cost": 5.0, "tokens": 2_000_000, "minutes": None},
        "run_plan": {"repeats": 1, "seed": 7, "max_steps": 8},
        "arms": [{"name": name, "definitions": name, **arm} for name in arms],
        "tasks": [f"t{number}" for number in range(tasks)],
        "groups": {},
        "look_at": [1, tasks],
        "boundaries": [2.96, 1.97],
        "hashes": {"plan": "ab12"},
        "definitions": {name: ["read"] for name in arms},
        "prices": {"falcon-3-8b": {"input": 0.1, "output": 0.4}},
        "endpoints": {"local": {"wire": "openai-chat", "server": "vllm"}},
    } | changed


def look(number: int, arm: str = "new", run: str = RUN, **changed: Any) -> dict[str, Any]:
    """Return one interim analysis of a variant. `changed` replaces fields."""
    return {
        "look": number,
        "arm": arm,
        "tasks": number,
        "planned": 3,
        "estimate": -0.5,
        "low": -0.9,
        "high": 0.1,
        "statistic": -1.4,
        "boundary": 2.96,
        "decision": "go on",
        "missing": 0,
        "at": f"2026-11-20T09:0{number}:00Z",
        "run": run,
    } | changed


def offered(description: str) -> dict[str, Any]:
    """Return the definition of the tool that the sessions call."""
    properties = {"path": {"type": "string"}}
    return {
        "name": "read",
        "description": description,
        "input_schema": {"type": "object", "properties": properties, "required": ["path"]},
    }


def of_trial(text: str, run: str, arm: str | None, task: str, repeat: int = 1) -> str:
    """Return a session history in the form of a trial's log."""
    lines = text.splitlines(keepends=True)
    start = json.loads(lines[0])
    trial = {"run": run, "repeat": repeat} | ({"arm": arm} if arm else {})
    start["meta"] |= {"trial": trial, "task": task, "model": "falcon-3-8b", "provider": "trial-host"}
    start["meta"]["prompt"] = {"name": "trial-prompt", "version": "12"}
    start["meta"]["tools"] = [offered(f"Reads a file, as {arm} has it.")]
    return json.dumps(start) + "\n" + "".join(lines[1:])


def trial_session(run: str, arm: str, number: int, day: int = 20) -> str:
    """Return the log of a trial. Only the first variant's calls have invalid arguments."""
    raw = BROKEN if arm == ARMS[0] else '{"path": "a.py"}'
    return of_trial(session(f"{run}/{arm}/t{number}", turns=(2,), day=day, raw=raw), run, arm, f"t{number}")


def write_run(
    folder: Path, run: str = RUN, arms: Sequence[str] = ARMS, tasks: int = 3, looks: int = 1, day: int = 20
) -> Path:
    """Write the folder of a trial run that has this number of interim analyses. Return the folder."""
    root = folder / run
    root.mkdir(parents=True)
    (root / "plan.toml").write_text('name = "orders"\n')
    (root / "lock.json").write_text(json.dumps(lock(run, arms, tasks), indent=2))
    (root / "looks.jsonl").write_text(_lines(look(n + 1, arms[-1], run) for n in range(looks)))
    (root / "report.json").write_text(json.dumps({"callgauge_trial_report": 1, "run": run}))
    (root / "report.md").write_text("# orders\n")
    probe = {"trial": {"run": run}, "probe": {"ok": True, "id": f"probe-{run}"}, "model": "falcon-3-8b"}
    start = {
        "ts": f"2026-11-{day:02}T08:00:00Z",
        "sessionId": f"{run}/probe",
        "type": "session_start",
        "meta": probe,
    }
    (root / "probes.jsonl").write_text(json.dumps(start) + "\n")
    outcomes = []
    for arm in arms:
        (root / "sessions" / arm).mkdir(parents=True)
        for number in range(tasks):
            path = root / "sessions" / arm / f"t{number}.1.jsonl"
            path.write_text(trial_session(run, arm, number, day))
            outcomes.append(
                {
                    "arm": arm,
                    "task": f"t{number}",
                    "repeat": 1,
                    "status": "ok",
                    "calls": 2,
                    "refused": 0,
                    "mended": 0,
                }
            )
    (root / "ledger.jsonl").write_text(_lines(outcomes))
    return root


def _lines(rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)

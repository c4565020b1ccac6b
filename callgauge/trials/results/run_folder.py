"""The folder of a run: the names of its files, and what a line of each is."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Decision = Literal["better", "worse", "alike", "go on", "not decided", "withheld"]

NO_REPLY = "no_reply"
"""The status of a trial for which the endpoint gave no reply."""


@dataclass(frozen=True, slots=True)
class TrialOutcome:
    """A line of the ledger: one trial that ended, with its counts. Equal to what ingest finds in its log.

    `status`: that of the turn, or `no_reply` where the endpoint gave none: such a trial measures nothing.
    `calls` counts calls and lost attempts; `refused` those with a fault of syntax or schema, `mended` those
    that are coerced or repaired, `misses` results for which no recorded answer fitted. `right`: the verdict
    of the task's checks, None without any. `cost` in USD, None where unpriced. `milliseconds`: wall time.
    """

    arm: str
    task: str
    repeat: int
    status: str
    calls: int = 0
    refused: int = 0
    mended: int = 0
    misses: int = 0
    right: bool | None = None
    why: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cost: float | None = None
    milliseconds: float = 0.0
    ended_at: str = ""


@dataclass(frozen=True, slots=True)
class ArmLook:
    """What one look says of an arm against the reference: `estimate` is arm − reference.

    `low`, `high`: the repeated interval at this look's boundary; `statistic` and `boundary` in units of z.
    `tasks` that both arms have, `planned` tasks of the whole run; `missing`: trials without a reply, of both.
    `run`: the run's name, as in the lock. A line of `looks.jsonl` without it belongs to no run, and ingest
    rejects it (`ingest.formats.trial_run`).
    """

    look: int
    arm: str
    tasks: int
    planned: int
    estimate: float | None
    low: float | None
    high: float | None
    statistic: float | None
    boundary: float | None
    decision: Decision
    missing: int = 0
    at: str = ""
    run: str = ""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The paths of a run; nothing is read or made."""

    root: Path
    plan: Path = field(init=False)
    lock: Path = field(init=False)
    ledger: Path = field(init=False)
    looks: Path = field(init=False)
    probes: Path = field(init=False)
    sessions: Path = field(init=False)
    spent: Path = field(init=False)
    report: Path = field(init=False)
    report_text: Path = field(init=False)

    def __post_init__(self) -> None:
        for name, file in (
            ("plan", "plan.toml"),
            ("lock", "lock.json"),
            ("ledger", "ledger.jsonl"),
            ("looks", "looks.jsonl"),
            ("probes", "probes.jsonl"),
            ("sessions", "sessions"),
            ("spent", "spent.jsonl"),
            ("report", "report.json"),
            ("report_text", "report.md"),
        ):
            object.__setattr__(self, name, self.root / file)

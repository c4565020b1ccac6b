"""The folder of a trial run: the names of its files, the lines of the ledger and the looks, and the lock."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, TypeVar

import orjson

Decision = Literal["better", "worse", "alike", "go on", "not decided", "withheld"]

NO_REPLY = "no_reply"
"""The status of a trial for which the endpoint gave no reply."""


class FolderError(Exception):
    """A run's folder cannot be read or written; the message names the file and the next step."""


@dataclass(frozen=True, slots=True)
class TrialOutcome:
    """A line of the ledger: one trial that ended, with its counts. Equal to what ingest finds in its log.

    `status` is the turn's status, or `no_reply` when the endpoint gave no reply: such a trial measures
    nothing. `calls` counts calls and lost attempts. `refused` counts calls with a syntax or schema error.
    `mended` counts calls that were coerced or repaired; it is None if the server may have rewritten the
    arguments. `misses` counts results for which no recorded answer fitted. `right` is the verdict of the
    task's checks; None without checks. `cost` is in USD; None without a price. `milliseconds` is the
    wall-clock time.
    """

    arm: str
    task: str
    repeat: int
    status: str
    calls: int = 0
    refused: int = 0
    mended: int | None = 0
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
    """The paths of a run. Reads and makes no file."""

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


Line = TypeVar("Line", TrialOutcome, ArmLook)


def read_ledger(path: Path) -> tuple[TrialOutcome, ...]:
    """Return the outcomes of a ledger, in the order of its lines; () without a ledger.

    Skips lines that are not an outcome, such as the half line of a killed process: `running` writes them
    again from the session logs.
    """
    return _read_lines(path, TrialOutcome)


def read_looks(path: Path) -> tuple[ArmLook, ...]:
    """Return the looks of a run, in the order of their lines; () without the file."""
    return _read_lines(path, ArmLook)


def write_line(line: TrialOutcome | ArmLook) -> bytes:
    """Return an outcome or a look as one line of JSON."""
    return orjson.dumps(asdict(line), option=orjson.OPT_APPEND_NEWLINE)


def make_outcome(values: Mapping[str, Any]) -> TrialOutcome | None:
    """Return the outcome with the values of a line, None where they are not those of an outcome."""
    return _make_line(values, TrialOutcome)


def _read_lines(path: Path, kind: type[Line]) -> tuple[Line, ...]:
    try:
        lines: Iterable[bytes] = path.read_bytes().splitlines()
    except FileNotFoundError:
        return ()
    read = (_make_line(values, kind) for values in map(_read_object, lines))
    return tuple(line for line in read if line is not None)


def _read_object(line: bytes) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return None


def _make_line(values: Any, kind: type[Line]) -> Line | None:
    names = {member.name for member in fields(kind)}
    try:
        return kind(**{name: value for name, value in values.items() if name in names})
    except (TypeError, AttributeError):
        return None


def read_lock(folder: RunFolder) -> dict[str, Any] | None:
    """Return the object of `lock.json`, None where no run has begun in the folder. Raises FolderError."""
    try:
        lock = orjson.loads(folder.lock.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FolderError(f"{folder.lock} cannot be read: {error.strerror}") from None
    except orjson.JSONDecodeError as error:
        raise FolderError(
            f"{folder.lock} is not JSON ({error}): it was cut or changed. Start a new run with --anew"
        ) from None
    if not isinstance(lock, dict) or lock.get("callgauge_trial") != 1 or not isinstance(lock.get("run"), str):
        raise FolderError(
            f"{folder.lock} is not a run lock of this version: callgauge_trial is not 1, "
            "or it names no run. Start a new run with --anew"
        )
    return lock

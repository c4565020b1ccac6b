"""Names the files in the folder of a trial run, and reads and writes their lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, TypeVar

import orjson

Decision = Literal["better", "worse", "alike", "go on", "not decided", "withheld"]

NO_REPLY = "no_reply"
"""The status of a trial for which the endpoint sent no reply."""


class FolderError(Exception):
    """Raised when the folder of a trial run cannot be read or written. The message names the file and the
    next step.
    """


@dataclass(frozen=True, slots=True)
class TrialOutcome:
    """A line of ledger.jsonl: the counts of one finished trial. Ingest computes the same counts from the
    trial's log.

    `status` is the status of the turn. It is `no_reply` when the endpoint sent no reply; such a trial is not
    measured. `calls` includes attempts that could not be parsed. `refused` counts tool calls with a syntax or
    schema error. `mended` counts the coerced or repaired tool calls. It is None if the server may have
    rewritten the arguments. `misses` counts the tool results without a matching recorded result. `right` is
    the verdict of the task's checks, or None without a verdict. `cost` is in USD, or None if the model has no
    price. `milliseconds` is the wall time.
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
    """The result of one interim analysis for one variant. `estimate` is variant − reference.

    `low` and `high` are the repeated confidence interval at this analysis. `statistic` and `boundary` are in
    units of z. `tasks` is the number of tasks that the variant and the reference have finished. `planned` is
    the number of tasks in the trial run. `missing` is the number of trials without a reply in the variant and
    the reference. `run` is the trial run's name in `lock.json`; ingest rejects a line without it.
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
    """The paths of the files of a trial run."""

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
    """Return the outcomes in ledger.jsonl, in file order. Return () when there is no file.

    A line that is not an outcome is skipped, such as a line that a killed process wrote only in part.
    """
    return _read_lines(path, TrialOutcome)


def read_looks(path: Path) -> tuple[ArmLook, ...]:
    """Return the results of the trial run's interim analyses, in file order.

    Return () when there is no file.
    """
    return _read_lines(path, ArmLook)


def write_line(line: TrialOutcome | ArmLook) -> bytes:
    """Return an outcome, or the result of an interim analysis, as one line of JSON."""
    return orjson.dumps(asdict(line), option=orjson.OPT_APPEND_NEWLINE)


def make_outcome(values: Mapping[str, Any]) -> TrialOutcome | None:
    """Return the outcome with the values of a line. Return None if the values are not valid."""
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
    """Return the object in `lock.json`.

    Return None if the folder contains no trial run. Raises FolderError.
    """
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

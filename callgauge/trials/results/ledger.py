"""The ledger of a run: one line a trial that ended, and how the lines are read again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

import orjson

from callgauge.trials.results.run_folder import ArmLook, TrialOutcome

Line = TypeVar("Line", TrialOutcome, ArmLook)


def read_ledger(path: Path) -> tuple[TrialOutcome, ...]:
    """Return the outcomes of a ledger, in the order of its lines; () where there is none.

    Lines that are no outcome, such as the half line of a killed process, are left out: `running` writes them
    anew from the session logs.
    """
    return _read_lines(path, TrialOutcome)


def read_looks(path: Path) -> tuple[ArmLook, ...]:
    """Return the looks of a run, in the order of its lines; () where there are none."""
    return _read_lines(path, ArmLook)


def write_line(line: TrialOutcome | ArmLook) -> bytes:
    """Return an outcome or a look as one line of JSON."""
    return orjson.dumps(asdict(line), option=orjson.OPT_APPEND_NEWLINE)


def make_outcome(told: Mapping[str, Any]) -> TrialOutcome | None:
    """Return the outcome that a line's object holds, None where it is none."""
    return _make_line(told, TrialOutcome)


def _read_lines(path: Path, kind: type[Line]) -> tuple[Line, ...]:
    try:
        lines: Iterable[bytes] = path.read_bytes().splitlines()
    except FileNotFoundError:
        return ()
    read = (_make_line(told, kind) for told in map(_read_object, lines))
    return tuple(line for line in read if line is not None)


def _read_object(line: bytes) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return None


def _make_line(told: Any, kind: type[Line]) -> Line | None:
    known = {one.name for one in fields(kind)}
    try:
        return kind(**{name: value for name, value in told.items() if name in known})
    except (TypeError, AttributeError):
        return None

"""Reads tasks from the data sets of other evaluation programs: BFCL, Inspect, K2-Vendor-Verifier, promptfoo.

Each reader converts the records to tasks in Callgauge's own format. A record without an equivalent task is an
error that names the line number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from callgauge.trials.planning.foreign_tasks import bfcl, inspect_samples, k2vv, promptfoo
from callgauge.trials.planning.foreign_tasks.records import (
    ForeignTaskError,
    read_first_record,
    read_records,
)

__all__ = ["FOREIGN_FORMATS", "OWN_FORMAT", "ForeignTaskError", "find_format", "read_foreign_tasks"]

_RECOGNISED: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    "bfcl": bfcl.is_entry,
    "inspect": inspect_samples.is_sample,
    "k2vv": k2vv.is_request,
    "promptfoo": promptfoo.is_test,
}
OWN_FORMAT = "callgauge"
FOREIGN_FORMATS = tuple(_RECOGNISED)
"""The values of a plan's key `format` for files of other tools."""
ReadLine = Callable[[], dict[str, Any]]


def find_format(path: Path) -> str | None:
    """Return the format of a file, judged by the first record. Return None when the format is unknown.

    Every CSV file is read in Inspect's format, and every YAML file in promptfoo's format.
    """
    if path.suffix.lower() in (".csv", ".tsv"):
        return "inspect"
    if path.suffix.lower() in (".yaml", ".yml"):
        return "promptfoo"
    try:
        first = read_first_record(path)
    except ForeignTaskError:
        return None
    return next((name for name, fits in _RECOGNISED.items() if fits(first)), None)


def read_foreign_tasks(path: Path, form: str) -> list[tuple[int, ReadLine]]:
    """Return the line number of each record, and a function that converts the record to a task.

    If the record has a mistake, the function raises ForeignTaskError. `form` is one of FOREIGN_FORMATS.
    Raises ForeignTaskError when the file cannot be read.
    """
    records = read_records(path)
    if form == "promptfoo":
        return promptfoo.read_tests(records, path.parent)
    if form == "bfcl":
        answers = bfcl.read_answers(path)
        return [(record.line, partial(_read_safely, bfcl.read_entry, record, answers)) for record in records]
    read = k2vv.read_request if form == "k2vv" else inspect_samples.read_sample
    return [(record.line, partial(_read_safely, read, record)) for record in records]


def _read_safely(read: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
    """Call a reader. If a file lacks a required key, raise ForeignTaskError."""
    try:
        return read(*arguments)
    except KeyError as missing:
        raise ForeignTaskError(f"it has no {missing.args[0]!r}") from None

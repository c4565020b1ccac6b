"""Reads the rows of a CSV file that people write, each with the number of its line."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from callgauge.checked_files.file_problems import CheckedFileError, Problem, quote_value


class CsvRow(msgspec.Struct, frozen=True):
    """One row. `line` counts from 1. `fields` holds the values by column name, without spaces at their
    ends.
    """

    line: int
    fields: Mapping[str, str]


def read_csv_rows(
    path: Path, text: str, required: Sequence[str], optional: Sequence[str]
) -> tuple[list[CsvRow], list[Problem]]:
    """Return the rows of a CSV file, and a problem for each line that is not a row.

    The first line names the columns. Empty lines, and lines that begin with #, are skipped. A row is one
    line: a quoted value must not contain a line break. A row may leave out the last columns. Raises
    CheckedFileError if the first line does not name the columns.
    """
    lines = _list_lines(text)
    head = next(lines, None)
    if head is None:
        return [], []
    columns = f"write the columns {','.join(required)}; optional: {','.join(optional)}"
    names = _split(head[1])
    if problems := [
        Problem(path, head[0], "", what, columns) for what in _find_column_faults(names, required, optional)
    ]:
        raise CheckedFileError(problems)
    rows, problems = [], []
    for number, line in lines:
        values = _split(line)
        if isinstance(values, str):
            problems.append(Problem(path, number, "", f"not CSV: {values}", "write one row per line"))
        elif len(values) > len(names):
            what = f"{len(values)} values for {len(names)} columns"
            problems.append(Problem(path, number, "", what, "quote values with commas"))
        else:
            rows.append(CsvRow(number, dict(zip(names, values, strict=False))))
    return rows, problems


def _list_lines(text: str) -> Iterator[tuple[int, str]]:
    # `splitlines` would also split at characters that may be part of a name, such as U+2028.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, line.removesuffix("\r")


def _split(line: str) -> list[str] | str:
    """Return the values of a line, or the reason why the line is not CSV."""
    try:
        return [value.strip() for value in next(csv.reader([line], strict=True))]
    except csv.Error as problem:
        return str(problem)


def _find_column_faults(
    names: list[str] | str, required: Sequence[str], optional: Sequence[str]
) -> Iterator[str]:
    if isinstance(names, str):
        yield f"not CSV: {names}"
        return
    missing = [name for name in required if name not in names]
    unknown = [name for name in names if name not in (*required, *optional)]
    twice = sorted({name for name in names if names.count(name) > 1})
    for what, wrong in (("lacks", missing), ("has unknown", unknown), ("repeats", twice)):
        if wrong:
            shown = ", ".join(quote_value(name).strip('"') for name in wrong[:10])
            yield f"{what} columns {shown}"

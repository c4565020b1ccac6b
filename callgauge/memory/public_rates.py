"""Public error rates of tool calls, which others published. The team imports the rates from a CSV file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from callgauge.checked_files.csv_rows import CsvRow, read_csv_rows
from callgauge.checked_files.file_problems import CheckedFileError, Problem, quote_value, read_text
from callgauge.memory.memory_file import MemoryFile

COLUMNS = ("model", "host", "date", "rate", "source")
OPTIONAL_COLUMNS = ("n", "measure")
MEASURES = ("error_rate", "schema_accuracy")
SELECT_PUBLIC_RATES = (
    "SELECT model, host, day, rate, source, n FROM public_rates ORDER BY model, host, day, source"
)
_INSERT = "INSERT OR REPLACE INTO public_rates (model, host, day, rate, source, n) VALUES (?, ?, ?, ?, ?, ?)"
_REMOVE = "DELETE FROM public_rates WHERE source = ?"
_MOST_BYTES = 16 << 20
_LONGEST = 500  # A name has at most this many characters.
_SHARE = re.compile(r"(?:0(?:\.[0-9]{1,12})?|1(?:\.0{1,12})?|\.[0-9]{1,12})")
_PERCENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,10})?) ?%")
_COUNT = re.compile(r"[1-9][0-9]{0,11}")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True, slots=True)
class PublicRate:
    """The published error rate of a model on a host: the share of requests with a wrong tool call, 0 to 1.

    `day` is the day of the measurement, or of its publication. `source` says who published the rate. `n` is
    the number of requests, or None if it was not published.
    """

    model: str
    host: str
    day: date
    rate: float
    source: str
    n: int | None = None

    @property
    def key(self) -> tuple[str, str, date, str]:
        return self.model, self.host, self.day, self.source


def make_public_rate(row: Sequence[Any]) -> PublicRate:
    """Return the public rate of a row of `SELECT_PUBLIC_RATES`."""
    model, host, day, rate, source, n = row
    return PublicRate(model, host, date.fromisoformat(day), rate, source, n)


def save_public_rates(file: MemoryFile, rates: Iterable[PublicRate], removed: str | None = None) -> None:
    """Save all rates. A stored rate with the same model, host, day and source is replaced.

    First, all stored rates of the source `removed` are removed. If one rate cannot be saved, nothing changes.
    """
    rows = [(each.model, each.host, each.day.isoformat(), each.rate, each.source, each.n) for each in rates]
    file.write((_REMOVE, [(removed,)] if removed is not None else []), (_INSERT, rows))


def read_public_rate_file(path: Path) -> list[PublicRate]:
    """Return the rates of a CSV file, in order.

    Required columns: model, host, date, rate, source. Optional columns: n, measure. A rate is a share (0.031)
    or a percentage (3.1%). If `measure` is `schema_accuracy`, the error rate is 1 minus the rate. Raises
    CheckedFileError, which lists every bad line.
    """
    try:
        text = read_text(path, _MOST_BYTES)
    except ValueError as problem:
        advice = f"name a CSV file with the columns {','.join(COLUMNS)}"
        raise CheckedFileError([Problem(path, None, "", str(problem), advice)]) from None
    rows, problems = read_csv_rows(path, text, COLUMNS, OPTIONAL_COLUMNS)
    if not rows and not problems:
        advice = f"write the columns {','.join(COLUMNS)} in line 1, and one rate per line"
        what = "has no rate" if text.strip() else "is empty"
        raise CheckedFileError([Problem(path, None, "", what, advice)])
    rates: list[PublicRate] = []
    lines: dict[tuple[str, str, date, str], int] = {}
    for row in rows:
        faults = [Problem(path, row.line, name, what, advice) for name, what, advice in _find_faults(row)]
        problems += faults
        if faults:
            continue
        rate = _make_rate(row.fields)
        if rate.key in lines:
            what = f"same model, host, date and source as line {lines[rate.key]}"
            problems.append(Problem(path, row.line, "", what, "keep one of the two lines"))
        lines.setdefault(rate.key, row.line)
        rates.append(rate)
    if problems:
        raise CheckedFileError(sorted(problems, key=lambda problem: problem.line or 0))
    return rates


def _find_faults(row: CsvRow) -> Iterator[tuple[str, str, str]]:
    """Yield the column, the problem and the advice for each bad value of a row."""
    fields = row.fields
    for name in ("model", "host", "source"):
        value = fields.get(name, "")
        if not value or len(value) > _LONGEST:
            yield name, _describe(value), f"write a text of 1 to {_LONGEST} characters"
    day = _read_day(fields.get("date", ""))
    if day is None:
        yield "date", _describe(fields.get("date")), "write a day such as 2026-11-01"
    elif day > datetime.now(UTC).date() + timedelta(days=1):
        yield "date", f"{day} is in the future", "write the day of the measurement"
    if _read_rate(fields.get("rate", "")) is None:
        value = fields.get("rate", "")
        # A number over 1 is no share. Its writer probably meant a percentage.
        percentage = f"{value}%, if you mean percent; or " if _read_rate(f"{value}%") is not None else ""
        yield (
            "rate",
            _describe(value),
            f"write {percentage}a share from 0 to 1 (0.031) or a percentage (3.1%)",
        )
    if (n := fields.get("n")) and not _COUNT.fullmatch(n):
        yield "n", _describe(n), "write the number of requests, such as 1250, or leave it out"
    if (measure := fields.get("measure")) and measure not in MEASURES:
        yield "measure", _describe(measure), f"write {' or '.join(MEASURES)}, or leave it out"


def _describe(value: str | None) -> str:
    return f"{quote_value(value)} cannot be used" if value else "is empty"


def _make_rate(fields: Mapping[str, str]) -> PublicRate:
    rate, n = _read_rate(fields["rate"]) or 0.0, fields.get("n")
    if fields.get("measure") == "schema_accuracy":
        rate = round(1 - rate, 12)
    return PublicRate(
        fields["model"],
        fields["host"],
        _read_day(fields["date"]) or date.min,
        rate,
        fields["source"],
        int(n) if n else None,
    )


def _read_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if _DAY.fullmatch(text) else None
    except ValueError:
        return None


def _read_rate(text: str) -> float | None:
    """Return a share from 0 to 1. Return None if the text is not a share or a percentage."""
    if percentage := _PERCENT.fullmatch(text):
        share = round(float(percentage[1]) / 100, 12)
        return share if share <= 1 else None
    return float(text) if _SHARE.fullmatch(text) else None

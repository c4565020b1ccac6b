"""Reads a price file in CSV or JSON. The error lists every invalid line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from callgauge.checked_files.csv_rows import read_csv_rows
from callgauge.checked_files.file_problems import CheckedFileError
from callgauge.memory.records import ModelPrice

REQUIRED = ("model", "from_day", "input", "output")
OPTIONAL = ("cached_input", "cache_write", "currency", "source")
_COLUMNS = (*REQUIRED, *OPTIONAL)
_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{1,12})?")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_CURRENCY = re.compile(r"[A-Z]{3}")
_LONGEST = 500  # A model name has at most this many characters.
_MOST_PROBLEMS = 20  # An error message lists at most this many problems.


class PriceFileError(Exception):
    """Raised when a price file cannot be used. The message has one line for each problem."""


class _Entry(NamedTuple):
    where: str
    fields: Mapping[str, Any]


def read_price_file(path: Path) -> list[ModelPrice]:
    """Return the prices of a CSV or JSON file, in order. Raises PriceFileError.

    A CSV file begins with its column names. Lines that begin with # are skipped. A JSON file is a list of
    objects. Required columns: model, from_day, input, output. Optional columns: cached_input, cache_write,
    currency (default USD), source.
    """
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else "it is not UTF-8 text"
        raise PriceFileError(f"{path} cannot be read: {reason}") from None
    entries = list(_read_json(path, text) if text.lstrip().startswith(("[", "{")) else _read_csv(path, text))
    if not entries:
        raise PriceFileError(f"{path} has no price; add a line for each model and day")
    prices: list[tuple[str, ModelPrice]] = []
    problems: list[str] = []
    for entry in entries:
        faults = list(_find_problems(entry.fields))
        problems += [f"{path}, {entry.where}: {problem}" for problem in faults]
        if not faults:
            prices.append((entry.where, _make_price(entry.fields)))
    problems += [f"{path}, {where}: {problem}" for where, problem in _find_contradictions(prices)]
    if problems:
        more = len(problems) - _MOST_PROBLEMS
        lines = [*problems[:_MOST_PROBLEMS], *([f"… and {more} more problems"] if more > 0 else [])]
        raise PriceFileError("\n".join([*lines, "No price was loaded: correct the file and load it again"]))
    return [price for _, price in prices]


def _read_csv(path: Path, text: str) -> Iterator[_Entry]:
    try:
        rows, problems = read_csv_rows(path, text, REQUIRED, OPTIONAL)
    except CheckedFileError as mistakes:
        rows, problems = [], list(mistakes.problems)
    if problems:
        lines = [
            f"{path}, line {each.line}: {each.what}: {each.advice}" for each in problems[:_MOST_PROBLEMS]
        ]
        raise PriceFileError("\n".join(lines))
    for row in rows:
        yield _Entry(f"line {row.line}", row.fields)


def _read_json(path: Path, text: str) -> Iterator[_Entry]:
    try:
        records = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise PriceFileError(f"{path} is not JSON ({problem}): write a list of objects") from None
    if not isinstance(records, list):
        raise PriceFileError(f"{path} is not a list: write [{{'model': …, 'from_day': …}}, …]")
    for number, fields in enumerate(records, 1):
        if not isinstance(fields, dict):
            raise PriceFileError(f"{path}, entry {number}: not an object with {', '.join(REQUIRED)}")
        yield _Entry(f"entry {number}", fields)


def _find_problems(fields: Mapping[str, Any]) -> Iterator[str]:
    model = fields.get("model")
    if not isinstance(model, str) or not model.strip() or len(model) > _LONGEST:
        yield f"model is {_quote(model)}: write the model's name, up to {_LONGEST} characters"
    if _read_day(fields.get("from_day")) is None:
        yield f"from_day is {_quote(fields.get('from_day'))}: write a day such as 2026-11-01"
    for name in ("input", "output", "cached_input", "cache_write"):
        value = fields.get(name)
        if not (_is_empty(value) and name in OPTIONAL) and _read_amount(value) is None:
            yield f"{name} is {_quote(value)}: write the price per million tokens, such as 2.50"
    currency = fields.get("currency")
    if not _is_empty(currency) and not (isinstance(currency, str) and _CURRENCY.fullmatch(currency)):
        yield f"currency is {_quote(currency)}: write three letters such as USD"
    if unknown := [name for name in fields if name not in _COLUMNS]:
        yield f"unknown fields {', '.join(map(_quote, unknown[:5]))}: leave them out"


def _make_price(fields: Mapping[str, Any]) -> ModelPrice:
    amounts = {name: _read_amount(fields.get(name)) for name in ("input", "output", *OPTIONAL[:2])}
    return ModelPrice(
        model=fields["model"].strip(),
        from_day=_read_day(fields["from_day"]) or date.min,
        input=amounts["input"] or 0.0,
        output=amounts["output"] or 0.0,
        cached_input=amounts["cached_input"],
        cache_write=amounts["cache_write"],
        currency=fields.get("currency") or "USD",
        source=str(fields.get("source") or ""),
    )


def _find_contradictions(prices: list[tuple[str, ModelPrice]]) -> Iterator[tuple[str, str]]:
    """Yield a problem for each price that contradicts an earlier price in the file."""
    seen: set[tuple[str, date]] = set()
    for where, price in prices:
        first = prices[0][1].currency
        if price.currency != first:
            yield where, f"{price.currency} after {first}, which are never added up: use one currency"
        if (price.model, price.from_day) in seen:
            yield where, f"{_quote(price.model)} has two prices from {price.from_day} on: keep one"
        seen.add((price.model, price.from_day))


def _is_empty(value: Any) -> bool:
    return value is None or value == ""


def _read_day(value: Any) -> date | None:
    try:
        return date.fromisoformat(value) if isinstance(value, str) and _DAY.fullmatch(value) else None
    except ValueError:
        return None


def _read_amount(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if 0 <= value < 1e9 else None
    return float(value) if isinstance(value, str) and _NUMBER.fullmatch(value) else None


def _quote(value: Any) -> str:
    """Return a value of the file for an error message: shortened, on one line, without control characters."""
    if _is_empty(value):
        return "empty"
    text = str(value)
    return repr(text if len(text) <= 60 else text[:60] + "…")

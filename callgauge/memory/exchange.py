"""Export the decisions and notes of a team as JSON, and merge an exported file into another memory.

Records of nightly runs, deliveries and tokens are not exported.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from callgauge.checked_files.field_types import (
    REQUIRED,
    UNREAD,
    AnyTable,
    Choice,
    Field,
    Flag,
    KeyedTable,
    ListOf,
    NamedTables,
    Number,
    Schema,
    Text,
)
from callgauge.checked_files.file_problems import (
    CheckedFileError,
    KeyPath,
    Mistake,
    Problem,
    quote_value,
    read_text,
    write_key,
)
from callgauge.memory.alert_rules import RULE_KINDS
from callgauge.memory.decisions import FrozenComparison, FrozenSide
from callgauge.memory.kept_slices import PARAMETERS
from callgauge.memory.memory_file import LONGEST, LONGEST_LINK, SCHEMA_VERSION, MemoryFile, Statement
from callgauge.memory.notes import SUBJECT_KINDS
from callgauge.memory.signature_states import STATES

_MARK = "callgauge_memory"
_MOST_BYTES = 64 << 20
_LONGEST_ALERT = 100_000  # Alert keys are long because they contain names from logs.
_LINK = rf"[a-z]{{1,40}}(\?[!-~]{{0,{LONGEST_LINK}}})?"
_WHAT = "name a file that `callgauge memory export` wrote"


@dataclass(frozen=True, slots=True)
class _Bounded:
    """A string that UTF-8 can encode, with a maximum length."""

    may_be_empty: bool = True
    longest: int = LONGEST

    def read(self, value: Any, key: KeyPath, mistakes: list[Mistake]) -> Any:
        text = Text(may_be_empty=self.may_be_empty).read(value, key, mistakes)
        if text is UNREAD:
            return UNREAD
        try:
            is_short = (len(text.encode("utf-8")) and len(text) <= self.longest) or not text
        except UnicodeEncodeError:
            is_short = False
        if is_short:
            return text
        advice = f"write up to {self.longest:,} characters, without half of a surrogate pair"
        mistakes.append(Mistake(key, f"{quote_value(value)!a} cannot be kept", advice))
        return UNREAD

    def to_schema(self) -> Schema:
        return {"type": "string", "maxLength": self.longest}


@dataclass(frozen=True, slots=True)
class _Moment:
    """A day. If `has_time` is True, a time in UTC. If `is_optional` is True, null is allowed."""

    has_time: bool = False
    is_optional: bool = False

    def read(self, value: Any, key: KeyPath, mistakes: list[Mistake]) -> Any:
        if value is None and self.is_optional:
            return None
        try:
            if self.has_time:
                return dt.datetime.fromisoformat(value).astimezone(dt.UTC).isoformat(timespec="seconds")
            return dt.date.fromisoformat(value).isoformat()
        except (TypeError, ValueError, OverflowError):
            advice = f"write {'2026-11-09T06:00:00+00:00' if self.has_time else '2026-11-09'}"
            what = f"{quote_value(value)!a} is not a {'time' if self.has_time else 'date'}"
            mistakes.append(Mistake(key, what, advice))
            return UNREAD

    def to_schema(self) -> Schema:
        return {"type": "string", "format": "date-time" if self.has_time else "date"}


@dataclass(frozen=True, slots=True)
class _Optional:
    """A value of the given type, or null."""

    type: Number

    def read(self, value: Any, key: KeyPath, mistakes: list[Mistake]) -> Any:
        return None if value is None else self.type.read(value, key, mistakes)

    def to_schema(self) -> Schema:
        return {"anyOf": [self.type.to_schema(), {"type": "null"}]}


def _need(kind: Any) -> Field:
    return Field(kind, "every record has it", REQUIRED)


_WORDS, _TEXT = _need(_Bounded(may_be_empty=False)), _need(_Bounded())
_AT = _need(_Moment(has_time=True))
_DAY, _DAY_OR_NONE = _need(_Moment()), Field(_Moment(is_optional=True), "a day, or null")
_SHARE, _PRICE = _need(Number(0, 1)), _need(Number(0))
_SLICE = Field(
    NamedTables(ListOf(_Bounded(may_be_empty=False)), Text(pattern="|".join(PARAMETERS))),
    "lists of values by dimension",
    {},
)
_COUNT_OR_NONE = Field(_Optional(Number(1, 1e12, is_whole=True)), "a count, or null")
_OR_NONE = Field(_Optional(Number()), "a number, or null")
_SIDE = KeyedTable(
    {
        "name": _TEXT,
        "k": _need(Number()),
        "n": _need(Number(0)),
        "total": _need(Number(0, is_whole=True)),
        "low": _OR_NONE,
        "high": _OR_NONE,
        "parameters": Field(AnyTable(), "parameters of the metrics", {}),
    }
)
_FIGURES = KeyedTable(
    {
        "measure": _WORDS,
        "sentence": _TEXT,
        "of": _need(_SIDE),
        "against": _need(_SIDE),
        **dict.fromkeys(("difference", "low", "high", "p"), _OR_NONE),
        "method": Field(_Bounded(), "what the difference rests on", ""),
        "run": Field(_Bounded(), "the run of trials", ""),
    }
)
if set(_FIGURES.fields) != set(FrozenComparison.__slots__) or set(_SIDE.fields) != set(FrozenSide.__slots__):
    raise AssertionError("an export contains the whole stored comparison")


@dataclass(frozen=True, slots=True)
class _Table:
    """An SQL table of the memory with the types of its columns and the names of its key columns."""

    columns: Mapping[str, Field]
    key: tuple[str, ...]

    @property
    def time(self) -> str | None:
        """The column with the time at which a row was written, or None for prices and public rates."""
        return "at" if "at" in self.columns else None


_TABLES: Mapping[str, _Table] = {
    "acknowledgements": _Table(
        {
            "alert": _need(_Bounded(may_be_empty=False, longest=_LONGEST_ALERT)),
            "note": _TEXT,
            "by": _TEXT,
            "at": _AT,
        },
        ("alert",),
    ),
    "goals": _Table({"rate": _WORDS, "goal": _SHARE, "by": _TEXT, "at": _AT}, ("rate",)),
    "baselines": _Table(
        {"name": _WORDS, "first_day": _DAY, "last_day": _DAY, "slice": _SLICE, "by": _TEXT, "at": _AT},
        ("name",),
    ),
    "prices": _Table(
        {
            "model": _WORDS,
            "from_day": _DAY,
            "input": _PRICE,
            "output": _PRICE,
            "cached_input": Field(_Optional(Number(0)), "a price, or null"),
            "cache_write": Field(_Optional(Number(0)), "a price, or null"),
            "currency": _WORDS,
            "source": _TEXT,
        },
        ("model", "from_day"),
    ),
    "views": _Table(
        {
            "name": _WORDS,
            "owner": _TEXT,
            "page": _need(Text(pattern="[a-z]{1,40}")),
            "query": _need(_Bounded(longest=LONGEST_LINK)),
            "shared": _need(Flag()),
            "at": _AT,
        },
        ("owner", "name"),
    ),
    "notes": _Table(
        {
            "id": _need(Text(pattern="[0-9a-f]{1,64}")),
            "subject_kind": _need(Choice(SUBJECT_KINDS)),
            "subject": _TEXT,
            "day": _DAY_OR_NONE,
            "text": _WORDS,
            "by": _TEXT,
            "at": _AT,
        },
        ("id",),
    ),
    "decisions": _Table(
        {
            "id": _need(Text(pattern="[0-9a-f]{1,64}")),
            "title": _WORDS,
            "reason": _TEXT,
            "link": _need(Text("write an address within Callgauge: page?query", _LINK)),
            "figures": _need(_FIGURES),
            "by": _TEXT,
            "at": _AT,
        },
        ("id",),
    ),
    "alert_rules": _Table(
        {
            "name": _WORDS,
            "rate": _WORDS,
            "slice": _SLICE,
            "kind": _need(Choice(RULE_KINDS)),
            "bound": _SHARE,
            "muted_until": _DAY_OR_NONE,
            "by": _TEXT,
            "at": _AT,
        },
        ("name",),
    ),
    "signature_states": _Table(
        {
            "signature": _WORDS,
            "state": _need(Choice(STATES)),
            "fixed_in": _TEXT,
            "fixed_day": _DAY_OR_NONE,
            "note": _TEXT,
            "by": _TEXT,
            "at": _AT,
        },
        ("signature",),
    ),
    "public_rates": _Table(
        {
            "model": _WORDS,
            "host": _WORDS,
            "day": _DAY,
            "source": _WORDS,
            "rate": _SHARE,
            "n": _COUNT_OR_NONE,
        },
        ("model", "host", "day", "source"),
    ),
}
_FILE = KeyedTable(
    {
        _MARK: _need(Number(1, SCHEMA_VERSION, is_whole=True)),
        **{name: Field(AnyTable(), "a list of records", ()) for name in _TABLES},
    }
)
_OF_JSON = ("slice", "figures")


@dataclass(frozen=True, slots=True)
class ImportCount:
    """The number of new, replaced and skipped rows in one SQL table of an import.

    A row is skipped when the memory has the same row or a newer row with the same key.
    """

    added: int
    replaced: int
    left: int


def export_memory(file: MemoryFile) -> str:
    """Return all decisions and notes as JSON. The rows of each SQL table are sorted by key."""
    queries = [
        f"SELECT {_list(table.columns)} FROM {name} ORDER BY {_list(table.key)}"  # noqa: S608 - our names
        for name, table in _TABLES.items()
    ]
    exported: dict[str, Any] = {_MARK: SCHEMA_VERSION}
    for (name, table), rows in zip(_TABLES.items(), file.read_rows(*queries), strict=True):
        exported[name] = [_decode(dict(zip(table.columns, row, strict=True))) for row in rows]
    return json.dumps(exported, ensure_ascii=False, indent=1) + "\n"


def _decode(row: dict[str, Any]) -> dict[str, Any]:
    read = {name: json.loads(value) if name in _OF_JSON else value for name, value in row.items()}
    return {name: bool(value) if name == "shared" else value for name, value in read.items()}


def import_memory(file: MemoryFile, path: Path) -> Mapping[str, ImportCount]:
    """Merge all records of a file into the memory by key. After an error, no record is merged.

    Of two rows with the same key, the newer row stays. Prices and public rates have no time, so imported
    rows replace stored rows. Raises CheckedFileError, which lists every mistake in the file. Raises
    MemoryProblemError when the memory cannot be written.
    """
    imported = _read_file(path)
    stored_rows = file.read_rows(
        *(f"SELECT {_list(_timed_key(table))} FROM {name}" for name, table in _TABLES.items())  # noqa: S608
    )
    statements, counts = [], {}
    for (name, table), rows in zip(_TABLES.items(), stored_rows, strict=True):
        times = {row[: len(table.key)]: row[-1] for row in rows}
        keys = [_key_of(row, table) for row in imported[name]]
        newer = [
            table.time is None or row[table.time] > times[key]
            for key, row in zip(keys, imported[name], strict=True)
            if key in times
        ]
        counts[name] = ImportCount(len(keys) - len(newer), sum(newer), len(newer) - sum(newer))
        statements.append(_make_statement(name, table, imported[name]))
    file.write(*statements)
    return counts


def _list(columns: Iterable[str]) -> str:
    return ", ".join(columns)


def _timed_key(table: _Table) -> tuple[str, ...]:
    return (*table.key, table.time or table.key[0])


def _key_of(row: Mapping[str, Any], table: _Table) -> tuple[Any, ...]:
    return tuple(row[name] for name in table.key)


def _make_statement(name: str, table: _Table, rows: Sequence[Mapping[str, Any]]) -> Statement:
    """Return the SQL statement that merges rows. Changes of the memory since it was read do no harm."""
    columns = [column for column in table.columns if column not in table.key]
    newer = f" WHERE excluded.{table.time} > {name}.{table.time}" if table.time else ""
    query = (
        f"INSERT INTO {name} ({_list(table.columns)}) VALUES ({_list('?' * len(table.columns))}) "  # noqa: S608
        f"ON CONFLICT ({_list(table.key)}) DO UPDATE SET "
        f"{_list(f'{column} = excluded.{column}' for column in columns)}{newer}"
    )
    values = [
        [
            json.dumps(row[column], ensure_ascii=False, default=list) if column in _OF_JSON else row[column]
            for column in table.columns
        ]
        for row in rows
    ]
    return query, values


def _read_file(path: Path) -> dict[str, list[dict[str, Any]]]:
    try:
        imported = json.loads(read_text(path, _MOST_BYTES))
    except RecursionError:
        raise CheckedFileError([Problem(path, None, "", "is nested too deeply", _WHAT)]) from None
    except json.JSONDecodeError as problem:
        what = f"invalid JSON: {problem.msg}"
        raise CheckedFileError([Problem(path, problem.lineno, "", what, _WHAT)]) from None
    except ValueError as problem:
        raise CheckedFileError([Problem(path, None, "", str(problem), _WHAT)]) from None
    if not isinstance(imported, dict) or _MARK not in imported:
        raise CheckedFileError([Problem(path, None, "", "is not an export of a memory", _WHAT)])
    mistakes: list[Mistake] = []
    tables = {name: imported.pop(name, []) for name in _TABLES}
    _FILE.read(imported, (), mistakes)
    read = {name: list(_read_rows(name, rows, mistakes)) for name, rows in tables.items()}
    if mistakes:
        raise CheckedFileError(
            Problem(path, None, write_key(mistake.key), mistake.what, mistake.advice) for mistake in mistakes
        )
    return read


def _read_rows(name: str, rows: Any, mistakes: list[Mistake]) -> Iterator[dict[str, Any]]:
    table, keys = _TABLES[name], set()
    if not isinstance(rows, list):
        mistakes.append(Mistake((name,), f"{quote_value(rows)} is not a list", "write a list of records"))
        return
    for place, row in enumerate(rows):
        before = len(mistakes)
        read = KeyedTable(table.columns).read(row, (name, place), mistakes)
        if len(mistakes) > before:
            continue
        if (row_key := _key_of(read, table)) in keys:
            mistakes.append(Mistake((name, place), "is listed twice", "name each once"))
        keys.add(row_key)
        if name == "baselines" and read["first_day"] > read["last_day"]:
            mistakes.append(Mistake((name, place), "its first day is after its last", "swap them"))
        if read.get("state") == "fixed" and read["fixed_day"] is None:
            mistakes.append(Mistake((name, place), "a fixed error has the day of its fix", "add fixed_day"))
        yield read

"""Types of fields in files that people write. Each type parses a value and has a JSON Schema.

`read` returns the Python value. If the value is invalid, `read` records the mistake and returns UNREAD.
"""

from __future__ import annotations

import datetime as dt
import functools
import math
import re
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Annotated, Any, Protocol, get_args, get_origin
from urllib.parse import urlsplit

import msgspec
from msgspec import structs

from callgauge.checked_files.file_problems import KeyPath, Mistake, quote_value, suggest_name


class _Mark(Enum):
    UNREAD = "unread"
    REQUIRED = "required"


UNREAD: Any = _Mark.UNREAD
REQUIRED: Any = _Mark.REQUIRED
Schema = dict[str, Any]
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(ms|s|m|min|h)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


class FieldType(Protocol):
    """Says how the value of a field is parsed, and which JSON Schema editors use for it."""

    def read(self, value: Any, key: KeyPath, mistakes: list[Mistake]) -> Any: ...

    def to_schema(self) -> Schema: ...


def _refuse(value: Any, key: KeyPath, mistakes: list[Mistake], what: str, advice: str) -> Any:
    shown = quote_value(value)
    mistakes.append(Mistake(key, f"{shown} {what}", advice))
    return UNREAD


def _show_number(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:g}"


def _name_kind(value: Any) -> str:
    if isinstance(value, bool):
        return "is true or false"
    for kinds, phrase in (
        ((int, float), "is a number"),
        (str, "is a text"),
        ((list, tuple), "is a list"),
        (Mapping, "is a table"),
        ((dt.date, dt.time), "is a date"),
    ):
        if isinstance(value, kinds):
            return phrase
    return "is nothing"


class Text(msgspec.Struct, frozen=True):
    """A string of at least one character.

    `pattern` must match the whole string. `advice` describes valid strings. With `is_secret`, messages never
    contain the value.
    """

    advice: str = "write a text in quotes"
    pattern: str | None = None
    may_be_empty: bool = False
    is_secret: bool = False

    def read(self, value: Any, key: KeyPath, mistakes: list[Mistake]) -> Any:
        if not isinstance(value, str):
            shown = "this value" if self.is_secret else quote_value(value)
            mistakes.append(Mistake(key, f"{shown} {_name_kind(value)}, not a text", self.advice))
            return UNREAD
        if not value.strip() and not self.may_be_empty:
            return _refuse(value, key, mistakes, "is empty", self.advice)
        if self.pattern is not None and re.fullmatch(self.pattern, value) is None:
            shown = "this value" if self.is_secret else quote_value(value)
            mistakes.append(Mistake(key, f"{shown} is not allowed", self.advice))
            return UNREAD
        return value

    def to_schema(self) -> Schema:
        if self.pattern is not None:
            return {"type": "string", "pattern": f"^(?:{self.pattern})$"}
        return {"type": "string"} if self.may_be_empty else {"type": "string", "pattern": r"\S"}


class Address(msgspec.Struct, frozen=True):
    """The URL of a server, http:// or https://, without user name and password."""

    def read(self, value: Any, key: KeyPath, mistakes: list[Mistake]) -> Any:
        advice = 'write an address such as "http://127.0.0.1:8080/v1"'
        if not isinstance(value, str):
            return _refuse(value, key, mistakes, f"{_name_kind(value)}, not a text", advice)
        try:
            parts = urlsplit(value)
            is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            is_address = False
        if "@" in value.partition("//")[2].partition("/")[0]:
            advice = 'remove it, and name the variable with the key: key = "env:NAME"'
            mistakes.append(Mistake(key, "the address contains a user's name or password", advice))
            return UNREAD
        return value if is_address else _refuse(value, key, mistakes, "is not an address", advice)

    def to_schema(self) -> Schema:
        return {"type": "string", "pattern": "^https?://[^/@]+(?:/.*)?$"}


class Choice(msgspec.Struct, frozen=True):
    """One word of a fixed list."""

    words: tuple[str, ...]

    def read(self, value: Any, key: KeyPath, mistakes: list[Mistake]) -> Any:
        if isinstance(value, str) and value in self.words:
            return value
        advice = suggest_name(value, self.words) if isinstance(value, str) else f"known: {self._list()}"
        return _refuse(value, key, mistakes, "is not known here", advice)

    def _list(self) -> str:
        return ", ".join(self.words)

    def to_schema(self) -> Schema:
        return {"enum": list(self.words)}


class Number(msgspec.Struct, frozen=True):
    """A finite number from `low` to `high`. `is_above` excludes `low`, and `is_below` excludes `high`."""

    low: float | None = None
    high: float | None = None
    is_whole: bool = False
    is_above: bool = False
    is_below: bool = False

    def read(self, value: Any, key: KeyPath, mistakes: list[Mistake]) -> Any:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return _refuse(value, key, mistakes, f"{_name_kind(value)}, not a number", self._advise())
        if not math.isfinite(value) or (self.is_whole and not float(value).is_integer()):
            return _refuse(value, key, mistakes, "cannot be used", self._advise())
        if self.low is not None and (value < self.low or (self.is_above and value == self.low)):
            return _refuse(value, key, mistakes, "is too small", self._advise())
        if self.high is not None and (value > self.high or (self.is_below and value == self.high)):
            return _refuse(value, key, mistakes, "is too large", self._advise())
        return int(value) if self.is_whole else float(value)

    def _advise(self) -> str:
        least = (
            f" {'above' if self.is_above else 'from'} {_show_number(self.low)}"
            if self.low is not None
            else ""
        )
        most = (
            f" {'below' if self.is_below else 'to'} {_show_number(self.high)}"
            if self.high is not None
            else ""
        )
        return f"write a {'whole ' if self.is_whole else ''}number{least}{most}"

    def to_schema(self) -> Schema:
        made: Schema = {"type": "integer" if self.is_whole else "number"}
        if self.low is not None:
            made["exclusiveMinimum" if self.is_above else "minimum"] = self.low
        if self.high is not None:
            made["exclusiveMaximum" if self.is_below else "maximum"] = self.high
        return made


class Flag(msgspec.Struct, frozen=True):
    """A boolean: true or false."""

    def read(self, value: Any, key: KeyPath, mistakes: list[Mistake]) -> Any:
        if isinstance(value, bool):
            return value
        return _refuse(value, key, mistakes, _name_kind(value), "write true or false, without quotes")

    def to_schema(self) -> Schema:
        return {"type": "boolean"}


class Duration(msgspec.Struct, frozen=True):
    """A positive duration, parsed to seconds.

    The file contains "500ms", "60s", "2m", "1h", or a number of seconds.
    """

    def read(self, value: Any, key: KeyPath, mistakes: list[Mistake]) -> Any:
        seconds = math.nan
        if isinstance(value, str) and (match := _DURATION.fullmatch(value)):
            seconds = float(match[1]) * _SECONDS[match[2]]
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            seconds = float(value)
        if math.isfinite(seconds) and seconds > 0:
            return seconds
        return _refuse(value, key, mistakes, "is not a duration", 'write "60s", "500ms", "2m" or "1h"')

    def to_schema(self) -> Schema:
        return {
            "anyOf": [
                {"type": "number", "exclusiveMinimum": 0},
                {"type": "string", "pattern": f"^(?=[^1-9]*[1-9])(?:{_DURATION.pattern})$"},
            ]
        }


class ListOf(msgspec.Struct, frozen=True):
    """A list of distinct values of one type.

    With `takes_one`, a single value counts as a list with one value.
    """

    item: FieldType
    fewest: int = 1
    takes_one: bool = False

    def read(self, value: Any, key: KeyPath, mistakes: list[Mistake]) -> Any:
        if not isinstance(value, list):
            if self.takes_one:
                item = self.item.read(value, key, mistakes)
                return UNREAD if item is UNREAD else (item,)
            return _refuse(value, key, mistakes, f"{_name_kind(value)}, not a list", "write it in [ ]")
        if len(value) < self.fewest:
            return _refuse(value, key, mistakes, "is too short", f"name {self.fewest} or more")
        before = len(mistakes)
        read = [self.item.read(item, (*key, place), mistakes) for place, item in enumerate(value)]
        if len(mistakes) > before:
            return UNREAD
        for place, item in enumerate(value):
            if isinstance(item, (str, int, float)) and item in value[:place]:
                _refuse(item, (*key, place), mistakes, "is listed twice", "name each once")
                return UNREAD
        return tuple(read)

    def to_schema(self) -> Schema:
        item = self.item.to_schema()
        made: Schema = {"type": "array", "items": item, "uniqueItems": True}
        if self.fewest:
            made["minItems"] = self.fewest
        return {"anyOf": [item, made]} if self.takes_one else made


class AnyValue(msgspec.Struct, frozen=True):
    """Any value. The value is not changed."""

    def read(self, value: Any, _key: KeyPath, _mistakes: list[Mistake]) -> Any:
        return value

    def to_schema(self) -> Schema:
        return {}


class AnyTable(msgspec.Struct, frozen=True):
    """A TOML table with any keys. The value is not changed."""

    advice: str = "write a table, { key = value }"

    def read(self, value: Any, key: KeyPath, mistakes: list[Mistake]) -> Any:
        if isinstance(value, Mapping):
            return dict(value)
        return _refuse(value, key, mistakes, f"{_name_kind(value)}, not a table", self.advice)

    def to_schema(self) -> Schema:
        return {"type": "object"}


class NamedTables(msgspec.Struct, frozen=True):
    """A TOML table with any keys, whose values are tables. `name` is the type of the keys."""

    item: FieldType
    name: Text

    def read(self, value: Any, key: KeyPath, mistakes: list[Mistake]) -> Any:
        if not isinstance(value, Mapping):
            advice = f"write [{'.'.join(map(str, key))}.NAME]"
            return _refuse(value, key, mistakes, f"{_name_kind(value)}, not a table", advice)
        read = {}
        for name, table in value.items():
            is_name = self.name.read(name, (*key, name), mistakes) is not UNREAD
            item = self.item.read(
                table, (*key, name), mistakes
            )  # the table is read even if its name is invalid, to report all mistakes
            if is_name:
                read[name] = item
        return read

    def to_schema(self) -> Schema:
        return {
            "type": "object",
            "propertyNames": self.name.to_schema(),
            "additionalProperties": self.item.to_schema(),
        }


class Field(msgspec.Struct, frozen=True):
    """A field of a TOML table: its type, its default, and its description for editors and docs."""

    type: FieldType
    about: str
    default: Any = None


class KeyedTable(msgspec.Struct, frozen=True):
    """A TOML table with fixed keys. Of each set of keys in `exactly_one`, the table must have exactly one.

    `declared_by` is the struct from which `declare_table` made the table, or None.
    """

    fields: Mapping[str, Field]
    exactly_one: Sequence[tuple[str, ...]] = ()
    declared_by: type[Any] | None = None

    def read(self, value: Any, key: KeyPath, mistakes: list[Mistake]) -> Any:
        if not isinstance(value, Mapping):
            advice = f"write a table with {', '.join(self.fields)}"
            return _refuse(value, key, mistakes, f"{_name_kind(value)}, not a table", advice)
        for name in value:
            if name not in self.fields:
                what = "unknown key"
                mistakes.append(Mistake((*key, name), what, suggest_name(name, tuple(self.fields))))
        read: dict[str, Any] = {}
        for name, entry in self.fields.items():
            if name in value:
                read[name] = entry.type.read(value[name], (*key, name), mistakes)
            elif entry.default is REQUIRED:
                mistakes.append(Mistake((*key, name), "is missing", f"add it: {entry.about}"))
                read[name] = UNREAD
            else:
                read[name] = entry.default
        for names in self.exactly_one:
            present = [name for name in names if name in value]
            if len(present) != 1:
                what = f"has {' and '.join(present)}" if present else f"has neither {' nor '.join(names)}"
                mistakes.append(Mistake(key, what, f"write one of {', '.join(names)}"))
        return read

    def to_schema(self) -> Schema:
        made: Schema = {
            "type": "object",
            "properties": {
                name: {"description": entry.about, **entry.type.to_schema()}
                for name, entry in self.fields.items()
            },
            "additionalProperties": False,
        }
        if required := [name for name, entry in self.fields.items() if entry.default is REQUIRED]:
            made["required"] = required
        if self.exactly_one:
            made["allOf"] = [
                {"oneOf": [{"required": [name]} for name in names]} for names in self.exactly_one
            ]
        return made


class Key(msgspec.Struct, frozen=True):
    """The name that a declared field has in the file.

    With `is_required`, the file must have the key, even if the class has a default.
    """

    name: str
    is_required: bool = False


def declare_table(declaration: type[msgspec.Struct]) -> KeyedTable:
    """Return the TOML table that a struct declares.

    Example of a field: `keep: Annotated[int, Number(1), "Kept backups."] = 7`. The key has the name of the
    field, or the name in the field's `Key`. Fields without a field type do not become keys.
    """
    keys = {}
    for attribute, key, field_type, about in list_declared(declaration):
        default = None if attribute.default is msgspec.NODEFAULT else attribute.default
        if key.is_required or attribute.required:
            default = REQUIRED
        keys[key.name] = Field(field_type, about, default)
    return KeyedTable(keys, declared_by=declaration)


@functools.cache
def list_declared(
    declaration: type[msgspec.Struct],
) -> tuple[tuple[structs.FieldInfo, Key, FieldType, str], ...]:
    """Return the fields that a struct declares, each with its key, type and description."""
    declared = []
    for attribute in structs.fields(declaration):
        if get_origin(attribute.type) is Annotated:
            _, field_type, about, *keys = get_args(attribute.type)
            declared.append((attribute, (keys or [Key(attribute.name)])[0], field_type, about))
    return tuple(declared)

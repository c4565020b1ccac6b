"""Lint of names and descriptions: finds demands that they state and that the schema lacks.

Every pattern here runs in linear time. Doubtful findings are not reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from lenient.definitions.json_schema.schema_walk import SchemaPlace
from lenient.definitions.json_schema.value_kinds import type_names
from lenient.lint.findings import LintFinding

MAX_DESCRIPTION = 1_024
_READ = 2_000  # characters of a description that are looked at


def _compile_words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_LISTED = _compile_words(
    r"\b(?:(?:must|can|should|may) be(?: one of)?|one of|either|(?:allowed |valid |possible )?values|options)"
    r"(?: are| is| either| one of|:)*[ \t]+(?:the following:?[ \t]+)?([^.;()\n]{3,300})"
)
_ITEM = re.compile(r"""["'`“‘]?([A-Za-z0-9][\w.+/-]{0,40})["'`”’]?""")
_SEPARATOR = re.compile(r"\s*(?:,\s*or\b|,\s*and\b|,|\||/|\bor\b|\band\b)\s*")
_QUOTED = re.compile(r"""["'`“‘]""")
_OPEN_ENDED = _compile_words(r"\b(?:e\.?g|etc|such as|for example|for instance|like)\b|\.\.\.|…")
_OPTIONAL = _compile_words(r"^\W*optional\b|\(optional\)|\bis optional\b|\bif omitted\b|\bdefaults? to\b")
_REQUIRED = _compile_words(
    r"(?:^\W*required\b|\(required\)|\bis required\b|\bmust be provided\b)"
    r"(?! (?:parameters?|arguments?|for|when|if|only|by|unless|in|with|to)\b)"
)
_NUMBER = _compile_words(
    r"^\W*(?:(?:the|a|maximum|minimum|max|min|total) )*(?:number|count|amount) of\b|^\W*how many\b"
)
_BOOLEAN = _compile_words(r"^\W*(?:whether|if true|true if|set to true|true or false|boolean)\b")
_LIST = _compile_words(
    r"\b(?:comma|semicolon|space|newline|pipe)[ -]?(?:separated|delimited)\b"
    r"|^\W*(?:(?:a|the) )?(?:list|array) of\b"
)
_JSON = _compile_words(
    r"\bJSON[ -]?(?:string|text|encoded|formatted|object|array)\b|\bstringified\b|\bas JSON\b"
)
_DATE = _compile_words(r"(?:^|_)date$|^(?:date|birthday)(?:_|$)")
_MOMENT = _compile_words(
    r"(?:^|_)(?:datetime|date_time|timestamp)(?:_|$)|_at$|^(?:since|until)$|(?:^|_)(?:start|end)_time$"
)
_FORMAT_SAID = _compile_words(r"yyyy|iso|rfc|epoch|unix|\d{4}-\d\d|format|%[YmdHMS]|\d\d:\d\d")
_MEASURE = _compile_words(
    r"(?:^|_)(?:timeout|duration|delay|interval|ttl|latency|distance|weight|temperature|speed|max_age)$"
)
_UNIT_SAID = _compile_words(
    r"second|minute|hour|\bday|week|month|year|millis|micros|nanos"
    r"|\b(?:ms|s|sec|min|h|km|m|cm|mm|mi|ft|kg|g|lbs?|oz|°?[cf]|kmh|mph|kph)\b"
    r"|met(?:er|re)|mile|feet|foot|inch|gram|pound|ounce|celsius|fahrenheit|kelvin|percent|byte|\bunits?\b"
    r"|character|token"
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def check_description(place: SchemaPlace) -> Iterator[LintFinding]:
    """Yield the findings about the name and the description of one place."""
    described = find_description(place)
    if not described.strip():
        if place.name is not None:
            yield LintFinding("parameter_description_missing")
    elif len(described) > MAX_DESCRIPTION:
        yield LintFinding("description_too_long", f"{len(described):,} characters")
    if place.name is None:
        return
    if place.required and _OPTIONAL.search(described[:_READ]):
        yield LintFinding("required_contradicted", "required, but described as optional")
    elif not place.required and _REQUIRED.search(described[:_READ]):
        yield LintFinding("required_contradicted", "optional, but described as required")
    if _is_free_text(place.schema):
        yield from _check_free_text(place.name, described[:_READ])
    elif {"integer", "number"} & set(type_names(place.schema)) and not place.schema.get("enum"):
        words = _CAMEL.sub("_", place.name).lower()
        if _MEASURE.search(words) and not _UNIT_SAID.search(described[:_READ]):
            yield LintFinding("unit_missing")


def find_description(place: SchemaPlace) -> str:
    """Return the description at a place, else that of its reference's target; '' when there is none."""
    for schema in (place.own, place.schema):
        if isinstance(schema.get("description"), str):
            return str(schema["description"])
    return ""


def _is_free_text(schema: Any) -> bool:
    types = [name for name in type_names(schema) if name != "null"]
    return (
        types == ["string"] and not {"enum", "const", "pattern", "format", "contentEncoding"} & schema.keys()
    )


def _check_free_text(name: str, described: str) -> Iterator[LintFinding]:
    words = _CAMEL.sub("_", name).lower()
    listed = find_listed_values(described)
    if listed:
        yield LintFinding("enum_in_prose", ", ".join(listed), {"enum": listed})
    elif _NUMBER.search(described):
        yield LintFinding("number_as_text", None, {"type": "number" if "amount" in described else "integer"})
    elif _BOOLEAN.search(described):
        yield LintFinding("boolean_as_text", None, {"type": "boolean"})
    elif _LIST.search(described):
        yield LintFinding("list_as_text", None, {"type": "array", "items": {"type": "string"}})
    elif _JSON.search(described):
        yield LintFinding(
            "json_as_text", None, {"type": "array" if "array" in described.lower() else "object"}
        )
    elif not _FORMAT_SAID.search(described):
        if _MOMENT.search(words):
            yield LintFinding("format_missing", None, {"format": "date-time"})
        elif _DATE.search(words):
            yield LintFinding("format_missing", None, {"format": "date"})


def find_listed_values(described: str) -> list[str]:
    """Return the values that a description lists as the only ones; [] when the list may be open."""
    for found in _LISTED.finditer(described):
        text = found.group(1).strip()
        after = described[found.end() : found.end() + 4]
        if _OPEN_ENDED.search(text) or _OPEN_ENDED.search(after):
            continue
        parts = [part for part in _SEPARATOR.split(text) if part]
        items = [_ITEM.fullmatch(part.strip()) for part in parts]
        several = len(items) >= (2 if _QUOTED.search(text) or ":" in found.group() else 3)
        if several and all(items):
            return list(dict.fromkeys(item.group(1) for item in items if item is not None))
    return []

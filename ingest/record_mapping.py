"""Maps fields of a record to the fields of chat transcripts, for example `messages` to `.request.messages`.

A path begins with a dot: `.request.messages`, `.choices[0].message`, `.choices[-1]`, `["gen_ai.model"].name`.
A path can enter JSON that is stored as a string. A value at a mapped path has priority over a value under the
field's usual name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import msgspec
import orjson

# The fields that can be mapped, each with the key that the chat format reads first.
# A field of `usage` has two keys, one for each level.
FIELDS: Mapping[str, tuple[str, ...]] = {
    "messages": ("messages",),
    "response": ("response",),
    "system": ("system",),
    "tools": ("tools",),
    "model": ("model",),
    "provider": ("provider",),
    "session_id": ("session_id",),
    "id": ("id",),
    "timestamp": ("timestamp",),
    "usage": ("usage",),
    "input_tokens": ("usage", "prompt_tokens"),
    "output_tokens": ("usage", "completion_tokens"),
    "latency_ms": ("latency_ms",),
    "stop_reason": ("finish_reason",),
    "user": ("user",),
    "task": ("task",),
}
_OTHER_NAMES = {
    "conversation_id": "session_id", "thread_id": "session_id", "session": "session_id",
    "conversations": "messages", "time": "timestamp", "created": "timestamp", "created_at": "timestamp",
    "functions": "tools", "completion": "response", "output": "response", "reply": "response",
    "prompt_tokens": "input_tokens", "completion_tokens": "output_tokens", "duration_ms": "latency_ms",
    "latency": "latency_ms", "finish_reason": "stop_reason", "system_prompt": "system", "model_name": "model",
    "request_id": "id", "user_id": "user", "task_id": "task",
}  # fmt: skip
_NAMES_BELOW: Mapping[str, tuple[frozenset[str], tuple[type, ...]]] = {
    "model": (frozenset(("model", "model_name", "model_id", "modelname", "llm", "engine")), (str,)),
    "timestamp": (
        frozenset(("timestamp", "ts", "time", "created", "created_at", "started_at", "date")),
        (str, int, float),
    ),
}
"""The names of keys for each field, in lower case, and the types of their values."""
_STEP = re.compile(
    r"""\.(?P<key>[^.\[\]"\s]+)|\.?\[(?P<index>-?[0-9]{1,9})\]|\.?\[(?P<quoted>"(?:[^"\\]|\\.)+")\]"""
)
_HOW = 'write one such as .request.messages, .choices[0].message or .attributes["gen_ai.request.model"]'
_KINDS = {str: "a text", bool: "a boolean", int: "a number", float: "a number", dict: "an object"}
_SHOWN = 8  # largest number of keys that a message lists
_LONGEST = 60  # characters; a longer key is not shown, because it could contain part of a secret
_DEEPEST = 4  # nested objects are searched for messages down to this level
_LOOKED_AT = 500  # largest number of values that are searched for messages


class BadMappingError(Exception):
    """A field or a path that cannot be used.

    The message continues a sentence that begins with the position of the path.
    """


class FieldPath(msgspec.Struct, frozen=True):
    """A path into a record. `steps` are the keys and array indexes from the record to the value."""

    text: str
    steps: tuple[str | int, ...]

    @classmethod
    def parse(cls, text: str) -> FieldPath:
        """Return the path that a string describes. Raises BadMappingError."""
        steps: list[str | int] = []
        at = 0
        for step in _STEP.finditer(text):
            if step.start() != at:
                break
            at = step.end()
            key, index, quoted = step.groups()
            try:
                steps.append(json.loads(quoted) if quoted else int(index) if index else key)
            except ValueError:
                break
        else:
            if steps and at == len(text):
                return cls(text, tuple(steps))
        dotted = text[1:] if text.startswith("$") else f".{text}"
        if not text.startswith((".", "[")) and re.fullmatch(rf"(?:{_STEP.pattern})+", dotted):
            raise BadMappingError(f"{text!r} is not a path: a path begins with a dot; write {dotted}")
        raise BadMappingError(f"{text!r} is not a path; {_HOW}")

    def find(self, record: Any, opened: dict[int, Any] | None = None) -> Any:
        """Return the value at the path, or None if the record has no such value.

        `opened` caches JSON strings of the record in decoded form.
        """
        value = record
        for step in self.steps:
            value = _take_step(value, step, opened)
            if value is None:
                return None
        return value

    def explain_gap(self, record: Any) -> str:
        """Return why `find` returns None for a record. The reason names the missing segment of the path."""
        value, before = record, ""
        for step in self.steps:
            inner = _take_step(value, step, None)
            if inner is None:
                return _describe_gap(_open_text(value), step, before)
            before += _write_step(step)
            value = inner
        return ""


class RecordMapping(msgspec.Struct, frozen=True):
    """The path of each field in a field mapping."""

    paths: tuple[tuple[str, FieldPath], ...]

    @classmethod
    def parse(cls, paths: Mapping[str, str]) -> RecordMapping:
        """Return the mapping of fields to these paths. Raises BadMappingError."""
        if unknown := next((name for name in paths if name not in FIELDS), None):
            raise BadMappingError(f"{unknown!r} is not a field; {_suggest_field(unknown)}")
        return cls(tuple((name, _parse_path(name, paths[name])) for name in FIELDS if name in paths))

    @classmethod
    def from_json(cls, text: str) -> RecordMapping:
        """Return the mapping from a string that `to_json` returned. Raises BadMappingError."""
        return cls.parse(json.loads(text))

    def to_json(self) -> str:
        """Return the mapping as JSON. Mappings with equal paths give equal strings."""
        return json.dumps({name: path.text for name, path in self.paths}, ensure_ascii=False)

    def find_fields(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of a record by field. A field is omitted if its path finds nothing."""
        opened: dict[int, Any] = {}
        values = ((name, path.find(record, opened)) for name, path in self.paths)
        return {name: value for name, value in values if value is not None}

    def apply(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return a copy of a record in which the keys of the fields have the values of `find_fields`."""
        return put_fields(record, self.find_fields(record))

    def apply_all(self, records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the records for which `skips` is False, each changed by `apply`."""
        mapped = (self.apply(record) for record in records)
        return [record for record in mapped if not self.skips(record)]

    def skips(self, mapped: Mapping[str, Any]) -> bool:
        """Return True when `messages` has a mapped path but the record has no value at this path."""
        maps_messages = any(name == "messages" for name, _ in self.paths)
        return maps_messages and mapped.get("messages") is None and mapped.get("conversations") is None

    def list_gaps(self, records: Sequence[Mapping[str, Any]]) -> Iterator[str]:
        """Yield each field whose path finds nothing in any of these records. Also yield the reason for the
        first record.
        """
        for name, path in self.paths:
            if records and all(path.find(record) is None for record in records):
                yield f"{name} at {path.text} ({path.explain_gap(records[0])})"


def find_message_lists(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the paths of arrays in a record that look like lists of messages, the least nested first."""
    for path, _, value in _walk(record):
        first = value[0] if isinstance(value, list) and value else None
        if isinstance(first, dict) and ("role" in first or "from" in first):
            yield path


def find_model_and_time(record: Mapping[str, Any]) -> dict[str, str]:
    """Return by field the paths at which a record seems to have its model and its time.

    Only nested values are searched. The chat format itself finds values at the top level.
    """
    paths: dict[str, str] = {}
    for path, key, value in _walk(record):
        for field, (names, kinds) in _NAMES_BELOW.items():
            is_named = key.lower() in names and not names & record.keys()
            if is_named and path != _write_step(key) and value and isinstance(value, kinds):
                paths.setdefault(field, path)
    return paths


def _walk(record: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Yield the path, key and value of each member of a record. The least nested members come first.

    JSON that is stored as a string is decoded. A large or deep record is not searched completely.
    """
    left: list[tuple[str, str, Any]] = [("", "", record)]
    for path, key, value in left:
        inner = _open_text(value)
        if path:
            yield path, key, inner
        if isinstance(inner, dict) and path.count(".") < _DEEPEST and len(left) < _LOOKED_AT:
            left += [(path + _write_step(name), name, part) for name, part in inner.items()]


def _parse_path(name: str, text: str) -> FieldPath:
    try:
        return FieldPath.parse(text)
    except BadMappingError as problem:
        raise BadMappingError(f"{name}: {problem}") from problem


def put_fields(record: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a record that has each field's value under the key that the chat format looks up."""
    mapped = dict(record)
    for name, value in fields.items():
        key, *inner = FIELDS[name]
        outer = mapped.get(key)
        mapped[key] = {**(outer if isinstance(outer, dict) else {}), inner[0]: value} if inner else value
    return mapped


def _take_step(value: Any, step: str | int, opened: dict[int, Any] | None) -> Any:
    inner = value
    if isinstance(value, str):
        inner = opened.get(id(value)) if opened is not None else None
        if inner is None:
            inner = _open_text(value)
            if opened is not None:
                opened[id(value)] = inner  # the text exists as long as its record, so its id() stays valid
    if isinstance(step, str):
        return inner.get(step) if isinstance(inner, dict) else None
    return inner[step] if isinstance(inner, list) and -len(inner) <= step < len(inner) else None


def _open_text(value: Any) -> Any:
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        return orjson.loads(value)
    except ValueError:
        return value


def _describe_gap(value: Any, step: str | int, before: str) -> str:
    where = before or "the record"
    if isinstance(step, str) and isinstance(value, dict):
        keys = [key if len(key) <= _LONGEST else "…" for key in list(value)[:_SHOWN]]
        shown = ", ".join(keys) + (", …" if len(value) > _SHOWN else "")
        empty = step in value
        return f"{where} has {step} = null" if empty else f"{where} has the keys {shown or '(none)'}"
    if isinstance(value, list):
        if isinstance(step, int):
            return f"{where} has {len(value)} items"
        return f"{where} is an array of {len(value)}; write {before}[0] for its first item"
    return f"{where} is {_KINDS[type(value)]}"


def _write_step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if re.fullmatch(r'[^.\[\]"\s]+', step) else f"[{json.dumps(step, ensure_ascii=False)}]"


def _suggest_field(name: str) -> str:
    other_name = _OTHER_NAMES.get(name)
    near = get_close_matches(name, [*FIELDS, *_OTHER_NAMES], 1)
    suggested = other_name or (_OTHER_NAMES.get(near[0], near[0]) if near else None)
    hint = f"did you mean {suggested}? " if suggested else ""
    return f"{hint}the fields are {', '.join(FIELDS)}"

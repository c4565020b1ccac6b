"""The parsers that `lenient` is compared with, and `lenient` itself, each with the same two functions.

The compared parsers read strings, so bytes are decoded first and invalid bytes are replaced. Each parser has
its most favourable documented setting, and must report repairs.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import orjson

from bench.parser import baml, typed
from bench.parser.readings import Finding, Reader, Reading, Tool
from lenient import PARSER_VERSION, Diagnostic, ToolCallRequest, ToolDefinition, parse_arguments
from lenient.diagnostics.codes import Severity, Stage

OURS = "lenient"


@dataclass(frozen=True, slots=True)
class Peer:
    """One parser. `package` is the distribution that must be installed.

    `typed` parsers check against a definition. `strict` parsers read only valid JSON.
    """

    name: str
    package: str
    prepare: Callable[[Tool | None], Reader]
    typed: bool = False
    strict: bool = False

    @property
    def version(self) -> str | None:
        """The installed version, or None if the package is not installed."""
        if self.name == OURS:
            return PARSER_VERSION
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None


def read_with(reader: Reader, raw: str | bytes) -> Reading:
    """Read one input with one parser. Any exception counts as a refusal."""
    try:
        return reader.reading(raw, reader.read(raw))
    except Exception as refused:  # a parser may raise anything
        return Reading(refusal=f"{type(refused).__name__}: {refused}"[:200])


# --- ours ----------------------------------------------------------------------------------------------


def _lenient(tool: Tool | None) -> Reader:
    definition = ToolDefinition.from_json_schema(name=tool.name, schema=tool.schema) if tool else None
    return Reader(lambda raw: parse_arguments(raw, definition), lambda _, request: reading_of(request))


def reading_of(request: ToolCallRequest) -> Reading:
    refusal = (request.parse_error or "no object") if request.arguments is None else None
    return Reading(request.arguments, refusal, tuple(map(finding_of, request.diagnostics)))


def finding_of(diagnostic: Diagnostic) -> Finding:
    error = diagnostic.severity is Severity.ERROR
    return Finding(
        diagnostic.code, diagnostic.start, diagnostic.end, diagnostic.path, error or diagnostic.lossy, error,
        diagnostic.stage in (Stage.UNWRAP, Stage.REPAIR),
    )  # fmt: skip


# --- readers of text -------------------------------------------------------------------------------------


def _text(raw: str | bytes) -> str:
    return raw if isinstance(raw, str) else raw.decode("utf-8", "replace")


def _plain(_: Any, value: Any) -> Reading:
    return Reading(value)


def _orjson(_: Tool | None) -> Reader:
    return Reader(orjson.loads, _plain)


def _json_repair(tool: Tool | None, schema: Any = None) -> Reader:
    module: Any = importlib.import_module("json_repair")

    def reading(raw: str | bytes, value: Any) -> Reading:
        log = module.loads(_text(raw), schema=schema, logging=True)[1] if isinstance(value, dict) else []
        return Reading(value, None, tuple(Finding(entry["text"]) for entry in log))

    return Reader(lambda raw: module.loads(_text(raw), schema=schema), reading)


def _json_repair_with_schema(tool: Tool | None) -> Reader:
    return _json_repair(tool, tool.schema if tool else None)


_CUT = "closed_unterminated_string"  # fast-json-repair reports this code for a text that ends too early


def _fast_json_repair(_: Tool | None) -> Reader:
    module: Any = importlib.import_module("fast_json_repair")

    def reading(raw: str | bytes, value: Any) -> Reading:
        text = _text(raw)
        log = module.repair_json(text, return_objects=True, logging=True)[1]
        encoded = text.encode("utf-8", "replace")
        places = [
            (entry["type"], len(encoded[: entry["position"]].decode("utf-8", "ignore"))) for entry in log
        ]
        return Reading(
            value,
            None,
            tuple(Finding(code, place, place, warns=code == _CUT) for code, place in places),
        )

    return Reader(lambda raw: module.loads(_text(raw)), reading)


def _jsonmend(_: Tool | None) -> Reader:
    module: Any = importlib.import_module("jsonmend")
    return Reader(lambda raw: module.loads(_text(raw), strict=True), _plain)


def _parse_broken_json(_: Tool | None) -> Reader:
    module: Any = importlib.import_module("parse_broken_json")

    def reading(_: Any, result: Any) -> Reading:
        cut = not result.complete
        findings = tuple(
            Finding(repair.message, repair.position, repair.position, warns=cut) for repair in result.repairs
        )
        return Reading(result.value, None if result.found else "nothing found", findings)

    return Reader(lambda raw: module.parse_broken_json_result(_text(raw)), reading)


# --- readers that check against a definition -------------------------------------------------------------


def _pydantic(tool: Tool | None) -> Reader:
    pydantic: Any = importlib.import_module("pydantic")
    if tool is None:
        adapter = pydantic.TypeAdapter(dict[str, Any])
        return Reader(adapter.validate_json, _plain)
    model = typed.pydantic_model(tool.schema)
    # for an object without properties, the model is a plain dict
    if not hasattr(model, "model_validate_json"):
        adapter = pydantic.TypeAdapter(model)
        return Reader(adapter.validate_json, _plain)
    return Reader(
        model.model_validate_json,
        lambda _, made: Reading(made.model_dump(by_alias=True, exclude_unset=True)),
    )


def _msgspec(tool: Tool | None) -> Reader:
    msgspec: Any = importlib.import_module("msgspec")
    kind = typed.msgspec_struct(tool.schema) if tool else dict[str, Any]
    decoder = msgspec.json.Decoder(kind, strict=False)
    return Reader(
        decoder.decode, lambda _, made: Reading(msgspec.to_builtins(made, builtin_types=(datetime,)))
    )


def _baml(tool: Tool | None) -> Reader:
    read = baml.reader(tool.schema if tool else None)
    return Reader(lambda raw: read(_text(raw)), _plain)


PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in (
        Peer(OURS, OURS, _lenient),
        Peer("json-repair", "json-repair", _json_repair),
        Peer("json-repair + schema", "json-repair", _json_repair_with_schema, typed=True),
        Peer("fast-json-repair", "fast-json-repair", _fast_json_repair),
        Peer("jsonmend", "jsonmend", _jsonmend),
        Peer("parse-broken-json", "parse-broken-json", _parse_broken_json),
        Peer("baml", "baml-py", _baml, typed=True),
        Peer("pydantic", "pydantic", _pydantic, typed=True, strict=True),
        Peer("msgspec", "msgspec", _msgspec, typed=True, strict=True),
        Peer("orjson", "orjson", _orjson, strict=True),
    )
}

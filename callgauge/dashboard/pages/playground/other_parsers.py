"""Parses a text with json.loads, pydantic and json-repair, to compare them with the lenient parser.

pydantic and json-repair are optional. Each parser gets only texts that it parses quickly. json-repair runs in
a process that is killed after PATIENCE seconds.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import platform
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal

from callgauge.dashboard.pages.playground.pydantic_models import NotSimpleError, make_pydantic_model
from lenient import ToolCallRequest
from lenient.definitions.json_schema.json_values import same_json

Verdict = Literal["parsed", "rejected", "not asked", "not installed"]

PATIENCE = 2.0  # time limit for json-repair in seconds, including the start of its process
# Longest text for each parser, in characters.
_LONGEST = {"json.loads": 1_000_000, "pydantic": 200_000, "json-repair": 20_000}
_VALUE = 2_000  # maximum number of characters of a value
_REASON = 300
_ERRORS = 3
_REPAIR = (
    "import sys, json, json_repair\n"
    "value = json_repair.loads(sys.stdin.buffer.read().decode())\n"
    "sys.stdout.buffer.write(json.dumps(value).encode())"
)


@dataclass(frozen=True, slots=True)
class ParserReading:
    """The result of one parser.

    `value` is the parsed value as JSON, cut to a maximum length. `same` says whether `value` equals the
    arguments of the lenient parser. It is None when one of the two parsers has no value.
    """

    reader: str
    version: str
    verdict: Verdict
    value: str | None = None
    reason: str = ""
    same: bool | None = None


class ParserRefusedError(Exception):
    """Another parser rejected the text. The message is from that parser."""


def read_with_others(raw: str, ours: ToolCallRequest) -> list[ParserReading]:
    """Return the result of each parser other than the lenient parser, whose result is `ours`."""
    arguments = ours.arguments
    return [
        _make_reading("json.loads", platform.python_version(), raw, arguments, json.loads),
        _read_if_installed(
            "pydantic", "pydantic", raw, arguments, lambda text: _read_with_pydantic(text, ours)
        ),
        _read_if_installed("json-repair", "json_repair", raw, arguments, _read_with_json_repair),
    ]


def _read_if_installed(
    reader: str, module: str, raw: str, ours: Any, read: Callable[[str], Any]
) -> ParserReading:
    if importlib.util.find_spec(module) is None:
        return ParserReading(reader, "", "not installed")
    try:
        release = version(reader)
    except PackageNotFoundError:
        release = ""
    return _make_reading(reader, release, raw, ours, read)


def _make_reading(
    reader: str, release: str, raw: str, ours: Any, read: Callable[[str], Any]
) -> ParserReading:
    if len(raw) > _LONGEST[reader]:
        why = f"The text is longer than {_LONGEST[reader]:,} characters."
        return ParserReading(reader, release, "not asked", reason=why)
    try:
        value = read(raw)
        text = json.dumps(value, ensure_ascii=False)
        same = None if ours is None else same_json(value, ours)
    except NotSimpleError as why_not:
        return ParserReading(reader, release, "not asked", reason=str(why_not))
    except RecursionError:
        return ParserReading(reader, release, "rejected", reason="RecursionError: nested too deep")
    except Exception as refused:
        name = "" if isinstance(refused, ParserRefusedError) else f"{type(refused).__name__}: "
        return ParserReading(reader, release, "rejected", reason=f"{name}{refused}"[:_REASON])
    return ParserReading(reader, release, "parsed", value=text[:_VALUE], same=same)


def _read_with_pydantic(raw: str, ours: ToolCallRequest) -> Any:
    pydantic: Any = importlib.import_module("pydantic")
    if ours.tool is None:
        raise NotSimpleError("There is no definition to make a model from.")
    model = make_pydantic_model(ours.tool)
    try:
        return model.model_validate_json(raw).model_dump(mode="json", by_alias=True, exclude_unset=True)
    except pydantic.ValidationError as refused:
        errors = refused.errors(include_url=False, include_context=False, include_input=False)
        listed = "; ".join(
            ".".join(map(str, error["loc"])) + (": " if error["loc"] else "") + error["msg"]
            for error in errors[:_ERRORS]
        )
        more = f"; and {len(errors) - _ERRORS} more" if len(errors) > _ERRORS else ""
        raise ParserRefusedError(listed + more) from None


def _read_with_json_repair(raw: str) -> Any:
    # With -P, modules in the server's working folder cannot replace the modules that the process imports.
    command = [sys.executable, "-P", "-c", _REPAIR]
    try:
        done = subprocess.run(command, input=raw.encode(), capture_output=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        raise ParserRefusedError(f"No answer within {PATIENCE:g} seconds; it was ended.") from None
    if done.returncode:
        last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise ParserRefusedError(last or f"It ended with code {done.returncode}.")
    return json.loads(done.stdout)

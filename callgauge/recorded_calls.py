"""Checks recorded tool calls against tool definitions, for tests of agents."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from callgauge.analysis import wording
from ingest.decoding.containers import read_records
from ingest.decoding.lines import MAX_LINE
from ingest.events import ArgsSource, CallMade, Rejected
from ingest.formats import line_decoder, translate_file
from ingest.formats.provider_messages.message_parts import MessageParts, read_call
from ingest.pipeline.reading.format_recognition import UnusableFileError, recognise_content
from ingest.sources.discovery import look_at_file
from ingest.sources.log_content import open_log
from lenient import Policy, ToolCatalog, ToolDefinition, ToolDefinitionError, parse_arguments
from lenient.definitions.json_schema.json_values import to_json_text

_MOST_SHOWN = 20
_LONGEST = 300
Definitions = ToolCatalog | ToolDefinition | str | Path | Mapping[str, Any] | list[Any]


class RecordedCallsError(Exception):
    """Raised when calls or definitions cannot be read."""


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One recorded tool call.

    `where` is the position of the call, for messages. `raw` is None if the record has no arguments.
    """

    where: str
    tool: str | None
    raw: str | None


@dataclass(frozen=True, slots=True)
class UnreadPart:
    """A line or value of a log that cannot be read."""

    where: str
    reason: str


@dataclass(slots=True)
class CheckedCalls:
    """The result of a check.

    `checked` counts calls with arguments. `not_measured` counts calls without arguments. `failed` counts
    calls whose arguments the policy does not accept, and unreadable lines. `report` describes the first
    failures with their diagnostics.
    """

    checked: int = 0
    not_measured: int = 0
    failed: int = 0
    report: list[str] = field(default_factory=list)

    def add_failure(self, place: str, reasons: Iterable[str]) -> None:
        self.failed += 1
        if self.failed <= _MOST_SHOWN:
            self.report.append(f"  {wording.one_line(place, _LONGEST)}:")
            self.report += [f"    {wording.one_line(reason, _LONGEST)}" for reason in reasons]

    def describe(self) -> str:
        """Return the failures as lines of text. The text is empty when every call is valid."""
        if not self.failed:
            return "" if self.checked else self._describe_nothing()
        more = [f"… and {self.failed - _MOST_SHOWN:,} more"] if self.failed > _MOST_SHOWN else []
        head = f"{wording.plural(self.failed, 'problem')} in {wording.plural(self.checked, 'checked call')}:"
        return "\n".join([head, *self.report, *more])

    def _describe_nothing(self) -> str:
        if self.not_measured:
            return f"the log has {wording.plural(self.not_measured, 'call')}, all of them without arguments"
        return "there is no tool call to check"


def check_recorded_calls(
    calls: str | os.PathLike[str] | Iterable[Any], definitions: Definitions, policy: str = Policy.LENIENT
) -> CheckedCalls:
    """Return which recorded calls fit the definitions of their tools.

    `calls` is the path of a log in any format that Callgauge reads, or a list of calls or messages of any
    provider. `policy` is strict, safe or lenient. Raises RecordedCallsError.
    """
    catalog, chosen = _load_catalog(definitions), _read_policy(policy)
    result = CheckedCalls()
    recorded: Iterable[RecordedCall | UnreadPart]
    recorded = _read_log(Path(calls)) if isinstance(calls, str | os.PathLike) else _read_objects(calls)
    for part in recorded:
        if isinstance(part, UnreadPart):
            result.add_failure(part.where, [part.reason])
        elif part.raw is None:
            result.not_measured += 1
        else:
            result.checked += 1
            request = parse_arguments(part.raw, catalog, policy=chosen, tool_name=part.tool or "")
            if not request.accepted_under(chosen):
                reasons = [f"{each.severity}: {each.code} {each.message}" for each in request.diagnostics]
                result.add_failure(f"{part.where}, {part.tool or 'no tool name'}", reasons)
    return result


def _load_catalog(definitions: Definitions) -> ToolCatalog:
    if isinstance(definitions, ToolCatalog):
        return definitions
    if isinstance(definitions, ToolDefinition):
        return ToolCatalog.from_definitions([definitions])
    try:
        return ToolCatalog.load(definitions)
    except ToolDefinitionError as problem:
        raise RecordedCallsError(f"cannot read the tool definitions: {problem}") from None


def _read_policy(policy: str) -> Policy:
    try:
        return Policy(policy)
    except ValueError:
        raise RecordedCallsError(f"unknown policy {policy!r}; use {', '.join(Policy)}") from None


def _read_objects(calls: Iterable[Any]) -> Iterator[RecordedCall]:
    """Yield the tool calls in a list of objects.

    An object is a tool call, a message with tool calls, or an SDK object that can become a dict.
    """
    listed = [calls] if isinstance(calls, Mapping) or hasattr(calls, "model_dump") else calls
    for number, each in enumerate(listed):
        value = each.model_dump() if hasattr(each, "model_dump") else each
        if not isinstance(value, Mapping):
            raise RecordedCallsError(f"calls[{number}] is a {type(value).__name__}; use a dict for each call")
        for call in _find_calls(dict(value)):
            if call.name is None:
                keys = ", ".join(map(str, list(value)[:8])) or "no keys"
                raise RecordedCallsError(f"calls[{number}] names no tool: it has {keys}")
            sent = call.arguments
            raw = sent if isinstance(sent, str) else to_json_text({} if sent is None else sent)
            yield RecordedCall(f"calls[{number}]", call.name, raw)


def _find_calls(value: dict[str, Any]) -> Iterable[Any]:
    if isinstance(value.get("params"), dict):  # MCP: {"method": "tools/call", "params": {…}}
        return [read_call(value["params"])]
    if isinstance(listed := value.get("tool_calls"), list):
        return [read_call(each) for each in listed if isinstance(each, dict)]
    if "role" in value and ("content" in value or "parts" in value):
        parts = MessageParts()
        parts.take(value.get("content", value.get("parts")))
        return parts.calls
    return [read_call(value)]


def _read_log(path: Path) -> Iterator[RecordedCall | UnreadPart]:
    """Yield the tool calls of a log file, and each line or value that cannot be read."""
    file = look_at_file(path)
    if file.problem is not None:
        raise RecordedCallsError(f"{path} {file.problem}")
    try:
        with open_log(file, rewinds=True) as content:
            log = recognise_content(content, file, MAX_LINE)
            about = replace(log.about, read_sibling=log.siblings)
            with closing(content.open_buffered()) as stream:
                records = read_records(stream, log.container, MAX_LINE, line_decoder(log.form))
                for event in translate_file(log.form, records, about):
                    if isinstance(event, Rejected):
                        yield UnreadPart(f"{path}:{event.where.line}", f"{event.code}: {event.reason}")
                    elif isinstance(event, CallMade):
                        yield _read_event(event, path)
    except (UnusableFileError, OSError) as problem:
        reason = f"cannot be read: {problem.strerror}" if isinstance(problem, OSError) else str(problem)
        raise RecordedCallsError(f"{path} {reason}") from None
    # The code of a log format must not fail a test with a traceback.
    except Exception as error:
        raise RecordedCallsError(f"{path} broke its format: {type(error).__name__}: {error}") from error


def _read_event(call: CallMade, path: Path) -> RecordedCall:
    raw = None
    if call.args_source in (ArgsSource.RAW, ArgsSource.UNATTRIBUTED):
        raw = call.raw_arguments
    elif call.args_source is ArgsSource.RESERIALISED:
        raw = to_json_text(call.arguments)
    return RecordedCall(f"{path}:{call.where.line}", call.tool, raw)

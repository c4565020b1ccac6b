"""Tool calls found in a reply: `FoundCall` has raw arguments, and `TextCall` has parsed arguments."""

from __future__ import annotations

from dataclasses import dataclass

from lenient.arguments.parse import parse_arguments
from lenient.arguments.request import Outcome, ToolCallRequest
from lenient.definitions.tools import ToolCatalog
from lenient.diagnostics import Diagnostic
from lenient.diagnostics.codes import Severity


@dataclass(frozen=True, slots=True)
class FoundCall:
    """One tool call that a dialect found: the tool's name, the raw arguments `raw` and the span `start:end`.

    `complete` is False when the reply ends within the tool call. `offset` is where `raw` begins in the reply,
    or None when `raw` was built from separately written parameters. `built` contains the diagnostics of
    building `raw`, with spans in `raw`. `around` contains the diagnostics of repairs outside of the
    arguments, with spans in the reply.
    """

    name: str
    raw: str
    start: int
    end: int
    complete: bool
    offset: int | None = None
    call_id: str | None = None
    built: tuple[Diagnostic, ...] = ()
    around: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class TextCall:
    """One tool call found in a text, with the parsed arguments.

    `text[start:end]` is the tool call: the name, the arguments and the delimiter tokens that belong only to
    this tool call. `complete` is False when the text ends within the tool call. `request` contains the parsed
    arguments, and diagnostics whose spans point into `request.raw_arguments`.

    `offset` is where the raw arguments begin in the text, so `offset + span` is a position in the text. Some
    dialects (tags, Python, Gemma) write each parameter separately. For such dialects, the raw arguments are
    built, `offset` is None and spans cannot point into the text.

    `diagnostics` are the repairs outside of the arguments, with spans that point into the text.
    """

    dialect: str
    name: str
    start: int
    end: int
    complete: bool
    request: ToolCallRequest
    offset: int | None = None
    diagnostics: tuple[Diagnostic, ...] = ()


def missing_opening(start: int) -> Diagnostic:
    """Return the diagnostic for a tool call that lacks its opening token and begins at the offset `start`."""
    return Diagnostic("missing_opening_tag", "$", start, start)


def read_call(dialect: str, call: FoundCall, catalog: ToolCatalog | None) -> TextCall:
    """Return the found tool call with parsed arguments.

    A name that is not in the catalog gets the diagnostic `unknown_tool`.
    """
    request = parse_arguments(call.raw, catalog, tool_name=call.name, tool_call_id=call.call_id)
    if call.built:
        request = _add_findings(request, call.built)
    return TextCall(
        dialect, call.name, call.start, call.end, call.complete, request, call.offset, call.around
    )


def _add_findings(request: ToolCallRequest, built: tuple[Diagnostic, ...]) -> ToolCallRequest:
    """Return the request with the diagnostics of building the raw arguments before all other diagnostics.

    Building counts as a repair: the outcome becomes REPAIRED, or FAILED when the request has an error.
    """
    refused = any(diagnostic.severity is Severity.ERROR for diagnostic in request.diagnostics)
    outcome = Outcome.FAILED if refused else Outcome.REPAIRED
    return request._replace(diagnostics=built + request.diagnostics, outcome=outcome)

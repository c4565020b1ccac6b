"""A call found in a text: as its dialect found it, and as the caller gets it, with its arguments read."""

from __future__ import annotations

from dataclasses import dataclass

from lenient.arguments.parse import parse_arguments
from lenient.arguments.request import Outcome, ToolCallRequest
from lenient.definitions.tools import ToolCatalog
from lenient.diagnostics import Diagnostic
from lenient.diagnostics.codes import Severity


@dataclass(frozen=True, slots=True)
class FoundCall:
    """One call as its dialect found it: a name, raw arguments and a place.

    `offset` is where `raw` begins in the text; None when `raw` was built from parameters that the dialect
    writes one by one. `built` are findings made while building it, with spans in `raw`; `around` are mends
    of what stands around the arguments, with spans in the text.
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
    """One call found in a text.

    `text[start:end]` is the call: its name, its arguments and the tokens that belong to it alone.
    `complete` is False when the text ends before the call does. Spans in `request.diagnostics` point into
    `request.raw_arguments`. `offset` is where these begin in the text, so that `offset + span` is the place
    there; it is None in the dialects that write parameters one by one (tags, Python, Gemma): their raw
    arguments are built, and no span can honestly point into the text. `diagnostics` are the mends of what
    stands around the arguments; their spans point into the text.
    """

    dialect: str
    name: str
    start: int
    end: int
    complete: bool
    request: ToolCallRequest
    offset: int | None = None
    diagnostics: tuple[Diagnostic, ...] = ()


def read_call(dialect: str, found: FoundCall, catalog: ToolCatalog | None) -> TextCall:
    """Return the call with its arguments read.

    With a catalog, a name that it does not hold is an unknown tool.
    """
    request = parse_arguments(found.raw, catalog, tool_name=found.name, tool_call_id=found.call_id)
    if found.built:
        request = _add_findings(request, found.built)
    return TextCall(
        dialect, found.name, found.start, found.end, found.complete, request, found.offset, found.around
    )


def _add_findings(request: ToolCallRequest, built: tuple[Diagnostic, ...]) -> ToolCallRequest:
    """Return the request with what building its raw arguments changed, which is a repair."""
    refused = any(found.severity is Severity.ERROR for found in request.diagnostics)
    outcome = Outcome.FAILED if refused else Outcome.REPAIRED
    return request._replace(diagnostics=built + request.diagnostics, outcome=outcome)

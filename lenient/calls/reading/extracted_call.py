"""Calls found in a text: `FoundCall` as a dialect finds it, `TextCall` with its arguments parsed."""

from __future__ import annotations

from dataclasses import dataclass

from lenient.arguments.parse import parse_arguments
from lenient.arguments.request import Outcome, ToolCallRequest
from lenient.definitions.tools import ToolCatalog
from lenient.diagnostics import Diagnostic
from lenient.diagnostics.codes import Severity


@dataclass(frozen=True, slots=True)
class FoundCall:
    """One call as a dialect found it: its name, its raw arguments `raw` and its span `start:end` in the text.

    `complete` is False when the text ends before the call does. `offset` is where `raw` begins in the text;
    None when `raw` was built from parameters that the dialect writes one by one. `built` holds the
    diagnostics of building `raw`, with spans in `raw`; `around` holds the diagnostics of repairs outside of
    the arguments, with spans in the text.
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
    """One call found in a text, with its arguments parsed.

    `text[start:end]` is the call: its name, its arguments and the tokens that belong only to it. `complete`
    is False when the text ends before the call does. `request` holds the parsed arguments; the spans of its
    diagnostics point into `request.raw_arguments`. `offset` is where the raw arguments begin in the text, so
    that `offset + span` is a place in the text. `offset` is None in the dialects that write parameters one by
    one (tags, Python, Gemma): the raw arguments are built there, and no span can point into the text.
    `diagnostics` are the repairs outside of the arguments; their spans point into the text.
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
    """Return the diagnostic for a call that lacks its opening token and begins at `start` in the text."""
    return Diagnostic("missing_opening_tag", "$", start, start)


def read_call(dialect: str, call: FoundCall, catalog: ToolCatalog | None) -> TextCall:
    """Return the found call with its arguments parsed.

    With a catalog, a name that the catalog does not hold gets the diagnostic `unknown_tool`.
    """
    request = parse_arguments(call.raw, catalog, tool_name=call.name, tool_call_id=call.call_id)
    if call.built:
        request = _add_findings(request, call.built)
    return TextCall(
        dialect, call.name, call.start, call.end, call.complete, request, call.offset, call.around
    )


def _add_findings(request: ToolCallRequest, built: tuple[Diagnostic, ...]) -> ToolCallRequest:
    """Return the request with the diagnostics of building its raw arguments added in front.

    Building counts as a repair: the outcome becomes REPAIRED, or FAILED when the request has an error.
    """
    refused = any(diagnostic.severity is Severity.ERROR for diagnostic in request.diagnostics)
    outcome = Outcome.FAILED if refused else Outcome.REPAIRED
    return request._replace(diagnostics=built + request.diagnostics, outcome=outcome)

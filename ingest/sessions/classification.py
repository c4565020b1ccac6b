"""Classifies a call: its outcome, its failure stage, and which kinds of failure the log can show.

Two sources are used: what the agent recorded in the log, and the result of `lenient`, which parses the
arguments again. The failure stage is the first stage at which either source reports a failure.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
import orjson

from ingest.events import ArgsSource, CallMade, FaultLayer, ResultSeen, ResultStatus, Visibility
from ingest.sessions.stored_text import cut_message, json_text
from lenient import (
    Outcome,
    ToolCallRequest,
    ToolCatalog,
    ToolDefinition,
    ToolDefinitionError,
    clean_tool_name,
    parse_arguments,
)
from lenient.diagnostics.codes import Stage

LAYERS = tuple(FaultLayer)  # in the order in which a call passes the stages
ARGUMENT_LAYERS = frozenset({FaultLayer.SYNTAX, FaultLayer.SCHEMA})
_ABOUT_VALUES = frozenset({Stage.COERCE, Stage.CHECK})
# Looking up an Enum member is slow, so each member is looked up only once.
_RAW, _RESERIALISED = ArgsSource.RAW, ArgsSource.RESERIALISED
_UNATTRIBUTED = ArgsSource.UNATTRIBUTED
_EMISSION, _SYNTAX, _SCHEMA, _, _EXECUTION, _REFUSED = LAYERS
_ERROR, _DENIED = ResultStatus.ERROR, ResultStatus.DENIED
_CLEAN, _COERCED = Outcome.CLEAN, Outcome.COERCED
_FAILED, _UNMEASURED = Outcome.FAILED, Outcome.UNMEASURED
_FULL, _FAILURES, _NONE = Visibility.FULL, Visibility.FAILURES, Visibility.NONE
_MESSAGE = 200  # number of characters of the agent's message that are copied to `parse_error`


class ToolSize(NamedTuple):
    """The length of a tool's definition in the list of tools that a model was offered."""

    tool: str
    size: int  # bytes of JSON


class CallDefinitions(msgspec.Struct, frozen=True):
    """The tool definitions for judging a call. Definitions in the log have priority over definitions of
    --tools.

    If the log lists definitions, a tool without any definition is unknown. If the log lists no definitions, a
    missing definition proves nothing. `recalled` are definitions of tools that were called in an earlier part
    of the log. `sizes` has one entry for each definition in `offered`.
    """

    given: ToolCatalog
    offered: ToolCatalog | None = None
    recalled: ToolCatalog | None = None
    sizes: tuple[ToolSize, ...] = ()

    def find(self, tool: str | None) -> tuple[ToolDefinition | None, str | None]:
        """Return the definition of a tool and the origin of the definition, "log" or "tools".

        Return (None, None) when there is no definition.
        """
        if tool is None or (self.offered is None and self.recalled is None and not len(self.given)):
            return None, None
        name = tool if tool.isidentifier() else clean_tool_name(tool)[0]
        for catalog, origin in ((self.offered, "log"), (self.recalled, "log"), (self.given, "tools")):
            if catalog is not None and (definition := catalog.get(name)) is not None:
                return definition, origin
        return None, None


class CallClassification(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The classification of one call. Calls without messages share their classifications."""

    outcome: Outcome
    syntax_seen: Visibility
    schema_seen: Visibility
    fault_layer: FaultLayer | None
    harness_verdict: str | None  # "accepted", the stage at which the agent rejected the arguments, or None
    harness_message: str | None
    parse_error: str | None
    parse_warning: str | None
    definition_origin: str | None  # "log" or "tools"
    tools_offered: bool


class ClassifiedCall(NamedTuple):
    """A classification, and what it is based on.

    `request` is the result of `lenient`, or None when there were no arguments to parse. `definition` is the
    tool's definition, or None when there is none.
    """

    verdict: CallClassification
    request: ToolCallRequest | None
    definition: ToolDefinition | None


class LoggedCall(NamedTuple):
    """What the log says about a call and its result, without their content.

    `status` is None when there is no result.
    """

    args_source: ArgsSource
    refused_by_harness: FaultLayer | None
    syntax_seen: Visibility
    schema_seen: Visibility
    status: ResultStatus | None
    result_layer: FaultLayer | None

    @property
    def refused_at(self) -> FaultLayer | None:
        """The stage at which the agent rejected the call: emission, syntax or schema.

        None when the agent did not reject the call. The log may record the rejection with the call or with
        the call's result.
        """
        if self.refused_by_harness is not None:
            return self.refused_by_harness
        return self.result_layer if self.result_layer in ARGUMENT_LAYERS else None


def classify_call(call: CallMade, result: ResultSeen | None, definitions: CallDefinitions) -> ClassifiedCall:
    definition, origin = definitions.find(call.tool)
    if result is None:
        status = layer = result_message = None
    else:
        status, layer, result_message = result.status, result.fault_layer, result.message
    message = cut_message(call.harness_message or result_message)
    request = _parse_call(call, definition, definitions)
    # This key is a plain tuple, because building named fields would take as long as the look-up in the cache.
    facts = (call.args_source, call.refused_by_harness, call.syntax_seen, call.schema_seen, status, layer)
    defined = definition is not None and _describes_arguments(definition)
    offered = definitions.offered is not None or origin == "log"
    if message is None and (request is None or not request.diagnostics):
        outcome = None if request is None else request.outcome
        verdict = _classify_without_text(facts, outcome, defined, origin, offered)
    else:
        verdict = _make_verdict(LoggedCall(*facts), message, request, defined, origin, offered)
    return ClassifiedCall(verdict, request, definition)


# Most calls of a load differ only in their texts, which are not in the key of the cache.
@lru_cache(maxsize=1024)
def _classify_without_text(
    facts: tuple[Any, ...], outcome: Outcome | None, defined: bool, origin: str | None, offered: bool
) -> CallClassification:
    request = None if outcome is None else ToolCallRequest(None, None, "", None, outcome)
    return _make_verdict(LoggedCall(*facts), None, request, defined, origin, offered)


def _make_verdict(
    logged_call: LoggedCall,
    message: str | None,
    request: ToolCallRequest | None,
    defined: bool,
    origin: str | None,
    offered: bool,
) -> CallClassification:
    refused_at = logged_call.refused_at
    outcome = _decide_outcome(logged_call, request, refused_at, defined=defined)
    parse_error = request.parse_error if request else None
    parser_layer = _parser_fault_layer(request) if request and parse_error is not None else None
    return CallClassification(
        outcome=outcome,
        syntax_seen=_syntax_visibility(logged_call, refused_at),
        schema_seen=_schema_visibility(logged_call, request, refused_at, defined=defined),
        fault_layer=_first_layer(refused_at, parser_layer, result_fault_layer(logged_call)),
        harness_verdict=_harness_verdict(logged_call, refused_at),
        harness_message=message,
        parse_error=parse_error if parse_error is not None else _describe_refusal(outcome, message),
        parse_warning=request.parse_warning if request else None,
        definition_origin=origin,
        tools_offered=offered,
    )


def _parse_call(
    call: CallMade, definition: ToolDefinition | None, definitions: CallDefinitions
) -> ToolCallRequest | None:
    """Return the result of `lenient` for a call. Return None when the call is not parsed.

    Arguments that the log truncated are not parsed, because the model did not cause the error.
    """
    if call.refused_by_harness is _EMISSION:
        return None
    if call.args_source in (_RAW, _UNATTRIBUTED) and call.raw_arguments is not None:
        raw = call.raw_arguments
    elif call.args_source is _RESERIALISED and (definition or definitions.offered is not None):
        raw = json_text(call.arguments)
    else:
        return None
    catalog_or_definition = (
        definitions.offered if definition is None and call.tool is not None else definition
    )
    return parse_arguments(raw, catalog_or_definition, tool_name=call.tool, tool_call_id=call.tool_call_id)


def _describes_arguments(definition: ToolDefinition) -> bool:
    """Return False for a definition with an empty schema, because such a schema accepts any arguments.

    The built-in tools of providers have such definitions.
    """
    return definition.schema is None or len(definition.schema) > 0


def _decide_outcome(
    logged_call: LoggedCall, request: ToolCallRequest | None, refused_at: FaultLayer | None, *, defined: bool
) -> Outcome:
    if logged_call.args_source is _RAW and request is not None:
        # Without a definition, the expected types are unknown, so nobody can tell whether values were
        # coerced.
        return request.outcome if defined or request.outcome not in (_CLEAN, _COERCED) else _UNMEASURED
    if refused_at in ARGUMENT_LAYERS:
        return _FAILED
    if request is not None and (request.outcome is _FAILED or (defined and request.outcome is _COERCED)):
        return request.outcome
    # Without the model's own text, nobody can tell whether a repair was needed.
    return _UNMEASURED


def _syntax_visibility(logged_call: LoggedCall, refused_at: FaultLayer | None) -> Visibility:
    if refused_at is _EMISSION:
        return _NONE
    if logged_call.args_source is _RAW:
        return _FULL
    return _FAILURES if refused_at is _SYNTAX else logged_call.syntax_seen


def _schema_visibility(
    logged_call: LoggedCall, request: ToolCallRequest | None, refused_at: FaultLayer | None, *, defined: bool
) -> Visibility:
    if refused_at is _EMISSION or (refused_at is _SYNTAX and request is None):
        return _NONE
    if request is not None and (defined or _is_unknown_tool(request)):
        return _FULL
    if refused_at is _SCHEMA:
        return _FAILURES
    # A call without a result does not show that the arguments were accepted.
    return logged_call.schema_seen if logged_call.status is not None else _NONE


def _is_unknown_tool(request: ToolCallRequest) -> bool:
    return any(finding.code == "unknown_tool" for finding in request.diagnostics)


def _parser_fault_layer(request: ToolCallRequest) -> FaultLayer:
    errors = (finding for finding in request.diagnostics if finding.severity == "error")
    about_text = any(finding.stage not in _ABOUT_VALUES for finding in errors)
    return _SYNTAX if about_text else _SCHEMA


def result_fault_layer(logged_call: LoggedCall) -> FaultLayer | None:
    if logged_call.result_layer is not None:
        return logged_call.result_layer
    if logged_call.status is _ERROR:
        return _EXECUTION
    return _REFUSED if logged_call.status is _DENIED else None


def _first_layer(*layers: FaultLayer | None) -> FaultLayer | None:
    if not any(layers):
        return None
    return min((layer for layer in layers if layer is not None), key=LAYERS.index, default=None)


def _harness_verdict(logged_call: LoggedCall, refused_at: FaultLayer | None) -> str | None:
    if refused_at is not None:
        return refused_at.value
    return "accepted" if logged_call.status is not None and logged_call.status is not _DENIED else None


def _describe_refusal(outcome: Outcome, message: str | None) -> str | None:
    if outcome is not Outcome.FAILED:
        return None
    return f"refused_by_harness:{' '.join((message or 'no reason logged').split())[:_MESSAGE]}"


def add_log_definitions(catalog: ToolCatalog, offered: tuple[str, ...]) -> tuple[CallDefinitions, list[str]]:
    """Return the definitions for a call, and a sentence for each offered definition that cannot be read.

    `offered` has the definitions that the log lists, as JSON.
    """
    loaded = [_load_definition(text) for text in offered]
    definitions = [
        definition for outcome in loaded if isinstance(outcome, ToolCatalog) for definition in outcome
    ]
    sizes = {size.tool: size for text in offered for size in _measure_definitions(text)}
    return CallDefinitions(
        catalog, ToolCatalog.from_definitions(definitions), sizes=tuple(sizes[name] for name in sorted(sizes))
    ), [outcome for outcome in loaded if isinstance(outcome, str)]


def restore_definition(tool: str, description: str, text: str) -> ToolDefinition:
    """Return the tool definition that a row of `tool_definitions` contains."""
    return ToolDefinition.from_json_schema(name=tool, schema=orjson.loads(text), description=description)


@lru_cache(maxsize=4096)  # a log repeats the same definitions in every session
def _load_definition(text: str) -> ToolCatalog | str:
    try:
        return ToolCatalog.load(text)
    except ToolDefinitionError as unreadable:
        return str(unreadable)


@lru_cache(maxsize=4096)
def _measure_definitions(text: str) -> tuple[ToolSize, ...]:
    loaded = _load_definition(text)
    if isinstance(loaded, str):
        return ()
    if len(loaded) == 1:
        return tuple(
            ToolSize(definition.name, len(text.encode("utf-8", "surrogatepass"))) for definition in loaded
        )
    return tuple(
        ToolSize(definition.name, len(json_text(definition.to_anthropic()) or "")) for definition in loaded
    )

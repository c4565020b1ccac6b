"""Makes the event fields for the calls in a trace, for their results, and for failures shown by results.

A framework that could not run a call answers with a fixed text, mostly without an error flag. Each row of
`_ROWS` is one such text from a framework's source code. A pattern that begins with `^` matches the
framework's answer and proves a failure. Any other pattern only finds the failure stage of a call that is
known to have failed.
"""

from __future__ import annotations

import json
from typing import Any

from ingest.events import ArgsSource, FaultLayer, FlagSource, ResultStatus, Visibility
from ingest.formats.provider_messages.embedded_json import open_json
from ingest.formats.provider_messages.exchange import StopReason
from ingest.formats.provider_messages.message_parts import read_result
from ingest.formats.spans.span import UnderstoodSpan
from ingest.formats.traces.span_steps import TracedCall, TracedStep
from lenient.calls.refusals import LIBRARY_REFUSALS, MCP_REFUSALS
from lenient.regex import compile_regex

# These APIs return arguments as an object, so the instrumentation wrote any argument text.
_OBJECT_APIS = ("anthropic", "aws", "amazon", "bedrock", "gcp", "google", "gemini", "vertex", "cohere")
_AT_THE_LIMIT = "the reply was cut off at the token limit in the middle of this call"
_OBJECT_MODELS = ("claude", "gemini")
_LONGEST = 4_000  # maximum number of searched characters; the fixed texts are at the beginning of a result
_ROWS = (
    # LangGraph's ToolNode
    (FaultLayer.SCHEMA, r"^Error: \S{1,200} is not a valid tool, try one of \["),
    (FaultLayer.SCHEMA, r"^Error invoking tool '[^'\n]{1,200}' with kwargs "),
    (FaultLayer.SCHEMA, r"^Error: [^\n]{0,100}\d validation errors? for "),
    # Google ADK
    (
        FaultLayer.SCHEMA,
        r'^(?:\{"error":\s?")?Invoking `[^`\n]{1,200}\(\)` failed as the following mandatory ',
    ),
    # Pydantic AI
    (FaultLayer.SCHEMA, r"^Unknown tool name: "),
    (FaultLayer.SCHEMA, r"^\d{1,9} validation errors?:"),
    # Vercel AI SDK
    (FaultLayer.SCHEMA, r"AI_NoSuchToolError|Model tried to call unavailable tool"),
    (FaultLayer.SYNTAX, r"AI_InvalidTool(?:Input|Arguments)Error[^\n]{0,300}JSON parsing failed"),
    (FaultLayer.SYNTAX, r"Invalid (?:input|arguments) for tool [^\n]{0,300}JSON parsing failed"),
    (FaultLayer.SCHEMA, r"AI_InvalidTool(?:Input|Arguments)Error|Invalid (?:input|arguments) for tool "),
    # OpenAI Agents SDK
    (FaultLayer.SYNTAX, r"^Invalid JSON input for tool "),
    (FaultLayer.SYNTAX, r"ModelBehaviorError: Invalid JSON input for tool "),
    # MCP servers, when the tool itself rejects a call
    *((FaultLayer.TOOL_REJECTED, pattern) for pattern in MCP_REFUSALS),
    # JSON libraries and schema libraries
    (FaultLayer.SYNTAX, r"JSONDecodeError|json\.decoder\.|Unexpected token .{1,40} in JSON|not valid JSON"),
    *((FaultLayer.TOOL_REJECTED, pattern) for pattern in LIBRARY_REFUSALS),
)
_TEXTS = tuple((compile_regex(pattern), layer) for layer, pattern in _ROWS)


def call_fields(step: TracedStep, ordinal: int) -> dict[str, Any]:
    """Return the `CallMade` fields for the arguments of the tool call at index `ordinal` of a step."""
    fields = argument_fields(step.calls[ordinal], step.span)
    last = ordinal + 1 == len(step.calls)
    return {**fields, **cut_fields(fields)} if last and step.stop_reason is StopReason.CUT else fields


def cut_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the `CallMade` fields that change because a tool call was cut off at the token limit.

    Return an empty dict when the raw arguments are a complete JSON object.
    """
    if isinstance(open_json(fields.get("raw_arguments")), dict):
        return {}
    lost: dict[str, Any] = {"refused_by_harness": FaultLayer.EMISSION, "harness_message": _AT_THE_LIMIT}
    nothing = "arguments" in fields and not fields["arguments"]  # An empty object is not the model's text.
    return {**lost, "arguments": None, "args_source": ArgsSource.MISSING} if nothing else lost


def argument_fields(made: TracedCall, request_span: UnderstoodSpan) -> dict[str, Any]:
    call = made.message_call
    sent = call.arguments
    if call.refused is not None:
        refused = {"refused_by_harness": FaultLayer.SYNTAX, "harness_message": call.refused}
        if isinstance(sent, str):
            return {"raw_arguments": sent, "args_source": ArgsSource.RAW, **refused}
        return {"args_source": ArgsSource.MISSING, **refused}
    ran = made.run.facts if made.run is not None else None
    # If the reply was not recorded, use the arguments that the tool received.
    if ran is not None and (sent is None or sent is ran.arguments):
        sent = ran.arguments if ran.by_model else received_arguments(ran.arguments)
    if isinstance(sent, str) and (uses_object_arguments(request_span) or is_rewritten(sent, request_span)):
        decoded = received_arguments(sent)
        sent = sent if decoded is None else decoded
    if isinstance(sent, str):
        return {"raw_arguments": sent, "args_source": ArgsSource.RAW}
    if sent is None:
        return {"args_source": ArgsSource.MISSING}
    visibility = {"syntax_seen": Visibility.FAILURES} if call.marks else {}
    return {"arguments": sent, "args_source": ArgsSource.RESERIALISED, **visibility}


def received_arguments(arguments: Any) -> Any:
    """Return the decoded arguments that a tool received, as an object. Return None for any other value."""
    inner = open_json(arguments)
    return inner if isinstance(inner, dict) else None


def uses_object_arguments(request_span: UnderstoodSpan) -> bool:
    provider, model = request_span.facts.provider, request_span.facts.model
    if provider is not None:
        return provider.startswith(_OBJECT_APIS)
    return model is not None and any(name in model.lower() for name in _OBJECT_MODELS)


def is_rewritten(sent: str, request_span: UnderstoodSpan) -> bool:
    """Return True when this argument text may not be the model's own, because it looks like Python's JSON.

    Such text is written by instrumentations of LangChain, which decodes the arguments.
    """
    if "instrumentation.langchain" not in (request_span.scope or ""):
        return False
    decoded = received_arguments(sent)
    try:
        return sent in (json.dumps(decoded), json.dumps(decoded, ensure_ascii=False))
    except (RecursionError, ValueError):
        return False


def result_fields(made: TracedCall) -> dict[str, Any] | None:
    """Return the `ResultSeen` fields for the result of a tool call. Return None when the file has no result.

    A tool's span without an error counts as successful. If the file contains the result only in a later
    request, the error flag of the request's message is used.
    """
    run, answered = made.run, made.answered
    if run is None and answered is None:
        return None
    content, failed = read_result(run.facts.result) if run is not None else (None, None)
    if answered is not None:
        content = content if content is not None else answered.content
        failed = answered.failed if failed is None else failed
    error = run.error if run is not None else None
    fields: dict[str, Any] = {"content": content, "latency_ms": run.latency_ms if run is not None else None}
    if error is not None or failed:
        message = error or content
        failure = {"fault_layer": fault_layer_in(message), "message": message}
        return {**fields, **failure, "status": ResultStatus.ERROR, "flag_source": FlagSource.EXPLICIT}
    if (layer := fault_shown_by(content)) is not None:
        failure = {"fault_layer": layer, "message": content}
        return {**fields, **failure, "status": ResultStatus.ERROR, "flag_source": FlagSource.DERIVED_TEXT}
    if run is not None or failed is False:
        return {**fields, "status": ResultStatus.OK, "flag_source": FlagSource.EXPLICIT}
    return {**fields, "status": ResultStatus.UNKNOWN, "flag_source": FlagSource.ABSENT}


def fault_shown_by(text: str | None) -> FaultLayer | None:
    """Return the failure stage if the text alone proves that the tool call failed.

    Return None for any other text.
    """
    return first_match(text, alone=True)


def fault_layer_in(text: str | None) -> FaultLayer:
    """Return the failure stage of a tool call that is known to have failed.

    Return EXECUTION when no pattern matches.
    """
    return first_match(text, alone=False) or FaultLayer.EXECUTION


def first_match(text: str | None, *, alone: bool) -> FaultLayer | None:
    if not text:
        return None
    head = text[:_LONGEST]
    for pattern, layer in _TEXTS:
        if (not alone or pattern.pattern.startswith("^")) and pattern.search(head):
            return layer
    return None

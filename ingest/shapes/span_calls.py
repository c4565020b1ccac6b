"""A call of a trace and what is known of its result in, the fields of its events out."""

from __future__ import annotations

import json
from typing import Any

from ingest.events import ArgsSource, FaultLayer, FlagSource, ResultStatus, Seen
from ingest.shapes.exchanges import End
from ingest.shapes.message_parts import read_result
from ingest.shapes.nested import opened
from ingest.shapes.span_steps import Made, Step
from ingest.shapes.spans import Span
from ingest.shapes.tool_faults import layer_in, told_by

# APIs that hand arguments over as an object: a text of them was written by the instrumentation.
_OBJECT_APIS = ("anthropic", "aws", "amazon", "bedrock", "gcp", "google", "gemini", "vertex", "cohere")
_AT_THE_LIMIT = "the reply was cut off at the token limit in the middle of this call"
_OBJECT_MODELS = ("claude", "gemini")


def sent_fields(step: Step, ordinal: int) -> dict[str, Any]:
    """The fields of `CallMade` on the arguments of one of the calls of a step."""
    fields = _sent_fields(step.calls[ordinal], step.span)
    last = ordinal + 1 == len(step.calls)
    return {**fields, **_cut_off(fields)} if last and step.end is End.CUT else fields


def _cut_off(fields: dict[str, Any]) -> dict[str, Any]:
    """What changes for the last call of a reply that reached the limit: nothing if its text is whole."""
    if isinstance(opened(fields.get("raw_arguments")), dict):
        return {}
    lost: dict[str, Any] = {"refused_by_harness": FaultLayer.EMISSION, "harness_message": _AT_THE_LIMIT}
    nothing = "arguments" in fields and not fields["arguments"]  # an empty object is no text of the model's
    return {**lost, "arguments": None, "args_source": ArgsSource.MISSING} if nothing else lost


def _sent_fields(made: Made, asked: Span) -> dict[str, Any]:
    said = made.said
    sent = said.arguments
    if said.refused is not None:
        refused = {"refused_by_harness": FaultLayer.SYNTAX, "harness_message": said.refused}
        if isinstance(sent, str):
            return {"raw_arguments": sent, "args_source": ArgsSource.RAW, **refused}
        return {"args_source": ArgsSource.MISSING, **refused}
    if sent is None and made.run is not None:
        sent = _received(made.run.facts.arguments)
    elif made.run is not None and made.run.facts.arguments is sent:
        sent = _received(sent)  # a reply that was not recorded
    if isinstance(sent, str) and (_hands_objects(asked) or _written_again(sent, asked)):
        decoded = _received(sent)
        sent = sent if decoded is None else decoded
    if isinstance(sent, str):
        return {"raw_arguments": sent, "args_source": ArgsSource.RAW}
    if sent is None:
        return {"args_source": ArgsSource.MISSING}
    seen = {"syntax_seen": Seen.FAILURES} if said.marks else {}
    return {"arguments": sent, "args_source": ArgsSource.RESERIALISED, **seen}


def _received(arguments: Any) -> Any:
    """What a tool was given, which is no longer the model's text; None where it is not an object."""
    inner = opened(arguments)
    return inner if isinstance(inner, dict) else None


def _hands_objects(asked: Span) -> bool:
    provider, model = asked.facts.provider, asked.facts.model
    if provider is not None:
        return provider.startswith(_OBJECT_APIS)
    return model is not None and any(name in model.lower() for name in _OBJECT_MODELS)


def _written_again(sent: str, asked: Span) -> bool:
    """True when a text may be arguments that LangChain decoded, as Python writes JSON.

    Its instrumentations write them again unless LangChain kept the model's own text, which seldom has just
    this form.
    """
    if "instrumentation.langchain" not in (asked.scope or ""):
        return False
    decoded = _received(sent)
    try:
        return sent in (json.dumps(decoded), json.dumps(decoded, ensure_ascii=False))
    except (RecursionError, ValueError):
        return False


def result_fields(made: Made) -> dict[str, Any] | None:
    """The fields of `ResultSeen` on what became of a call; None where the file does not tell.

    A span has a status: one without an error is a run without one (OpenTelemetry leaves a good run's status
    unset). What only a later request tells has the flag of the message, mostly none.
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
        told = {"fault_layer": layer_in(message), "message": message}
        return {**fields, **told, "status": ResultStatus.ERROR, "flag_source": FlagSource.EXPLICIT}
    if (layer := told_by(content)) is not None:
        told = {"fault_layer": layer, "message": content}
        return {**fields, **told, "status": ResultStatus.ERROR, "flag_source": FlagSource.DERIVED_TEXT}
    if run is not None or failed is False:
        return {**fields, "status": ResultStatus.OK, "flag_source": FlagSource.EXPLICIT}
    return {**fields, "status": ResultStatus.UNKNOWN, "flag_source": FlagSource.ABSENT}

"""Checks every general rule about the parser's result for any input, with or without a tool definition.

A broken rule raises AssertionError with the name of the rule.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import orjson

from lenient import (
    Outcome,
    Policy,
    TextCall,
    ToolCallRequest,
    ToolCatalog,
    ToolDefinition,
    extract_tool_calls,
    parse_arguments,
)
from lenient.diagnostics.codes import CODES, Severity, Stage
from tests.fuzz.conformance import misfit

MAX_SECONDS = 2.0
"""Maximum CPU time in seconds for a text of up to `GUARDED` characters, even if a fuzzer counts coverage."""
GUARDED = 64 * 1024
SUSPICIOUS_SECONDS = 0.4
"""Seconds. Of a slower text, one half is also parsed, to check that the time grows linearly."""
Result = TypeVar("Result")

_HALVES = re.compile(r"[\ud800-\udfff]")  # the parser first replaces half surrogate pairs
_TEXT_STAGES = {Stage.UNWRAP, Stage.REPAIR}
_CODES_OF_JSON = {
    "duplicate_key",
    "repeated_member",
    "non_finite_number",
    "string_encoding_removed",
    "empty_arguments",
}
"""These codes are allowed for valid JSON, for example for a repeated key or for 1e999."""
_NOT_QUOTED_WHERE_IT_STANDS = {
    "json_parse_error",  # `found` is only the beginning of the text
    "nested_too_deep",
    "too_many_findings",
    "invalid_utf8",  # `found` describes bytes
    "parameter_name_normalised",  # the span covers the value, but `found` is the name
    "duplicate_key",  # the span includes the quotes, but `found` does not
    "repeated_member",
}
_DECODES = {
    "string_encoding_removed",
    "partial_escaping_removed",
    "string_literal_converted_to_object",
    "string_literal_converted_to_array",
}
"""After these codes, `found` may be text without escapes, while the raw text contains it with escapes."""


def read(raw: str | bytes, tool: ToolDefinition | None = None) -> ToolCallRequest:
    """Return the result of `parse_arguments`, after checking the rules about a single result."""
    request = _in_time(lambda text: parse_arguments(text, tool), raw)
    check_request(request, raw)
    check_fit(request, tool)
    return request


def _in_time(read: Callable[[Any], Result], text: str | bytes) -> Result:
    """Return the result of `read`. Check that the time grows linearly with the length of the input."""
    result, seconds = _timed(read, text)
    assert len(text) > GUARDED or seconds < MAX_SECONDS, f"quick: took {seconds:.1f} s for {len(text)}"
    # The text is parsed again, because compilation and garbage collection slow only the first run.
    if seconds > SUSPICIOUS_SECONDS:
        whole = min(seconds, _timed(read, text)[1])
        half = _timed(read, text[: len(text) // 2])[1]
        linear = whole < max(3 * half, SUSPICIOUS_SECONDS)
        assert linear, f"linear: half of it took {half:.2f} s, all {whole:.2f} s for {len(text)}"
    return result


def _timed(read: Callable[[Any], Result], text: str | bytes) -> tuple[Result, float]:
    started = time.process_time()
    result = read(text)
    return result, time.process_time() - started


def check_request(request: ToolCallRequest, raw: str | bytes, *, built: bool = False) -> None:
    """Check the rules about a result.

    In some dialects, each parameter is written separately, and the parser builds `raw` from the parameters.
    Then `built` is True, and the result does not contain the repairs made while `raw` was built.
    """
    assert type(request.raw_arguments) is type(raw), "the raw text survives: another type"
    assert request.raw_arguments == raw, "the raw text survives: another text"
    text = _HALVES.sub("\ufffd", raw) if isinstance(raw, str) else raw.decode("utf-8", "replace")
    _check_places(request, text, built=built)
    _check_stages(request)
    _check_outcome(request)
    _check_policies(request)
    if not built:
        _check_strict_first(request, raw)
    written(request.arguments).encode()  # half a surrogate pair raises UnicodeEncodeError
    for diagnostic in request.diagnostics:
        assert diagnostic.code in CODES, f"one table of codes: {diagnostic.code}"
        assert diagnostic.message, f"a diagnostic is a sentence: {diagnostic}"
    assert all(step.before != step.after for step in request.steps), "a step changes something"


def _check_places(request: ToolCallRequest, text: str, *, built: bool) -> None:
    """Check that each span is within the raw arguments, and that `found` equals its characters."""
    decoded = built
    for diagnostic in request.diagnostics:
        decoded |= diagnostic.code in _DECODES
        assert (diagnostic.start is None) == (diagnostic.end is None), f"a span has two ends: {diagnostic}"
        if diagnostic.start is None or diagnostic.end is None:
            continue
        assert 0 <= diagnostic.start <= diagnostic.end <= len(text), f"a span lies in the text: {diagnostic}"
        if (
            diagnostic.found is not None
            and not decoded
            and diagnostic.code not in _NOT_QUOTED_WHERE_IT_STANDS
        ):
            shown = diagnostic.found.removesuffix("…")
            assert text.startswith(shown, diagnostic.start), (
                f"what was found stands at its span: {diagnostic}"
            )


def _check_stages(request: ToolCallRequest) -> None:
    """Check that syntax repairs come before conversions of values, except for repairs within a value."""
    values = False
    for diagnostic in request.diagnostics:
        if diagnostic.code in _DECODES and diagnostic.stage is Stage.COERCE:
            return
        values |= diagnostic.stage not in _TEXT_STAGES
        assert not (values and diagnostic.stage in _TEXT_STAGES), (
            f"diagnostics in the order of the stages: {diagnostic}"
        )


def _check_outcome(request: ToolCallRequest) -> None:
    stages = {diagnostic.stage for diagnostic in request.diagnostics}
    refused = any(diagnostic.severity is Severity.ERROR for diagnostic in request.diagnostics)
    expected = Outcome.CLEAN if request.tool is not None else Outcome.UNMEASURED
    if Stage.COERCE in stages:
        expected = Outcome.COERCED
    if stages & _TEXT_STAGES:
        expected = Outcome.REPAIRED
    if refused:
        expected = Outcome.FAILED
    assert request.outcome is expected, f"the outcome follows from the diagnostics: {request.outcome}"
    assert request.arguments is not None or refused, "no arguments without an error"
    assert not request.rejected or refused, "nothing is rejected without an error"
    assert request.lossy == any(diagnostic.lossy for diagnostic in request.diagnostics)


def _check_policies(request: ToolCallRequest) -> None:
    """Check that a policy accepts everything that a stricter policy accepts, with the same diagnostics."""
    accepted = [request.accepted_under(policy) for policy in (Policy.STRICT, Policy.SAFE, Policy.LENIENT)]
    assert accepted == sorted(accepted), f"policies are nested: {accepted}"
    for policy in Policy:
        under = request._replace(policy=policy)
        assert (under.parse_error is None) == policy.accepts(request.diagnostics), f"threshold: {policy}"


def _check_strict_first(request: ToolCallRequest, raw: str | bytes) -> None:
    """Check that a valid JSON object is never repaired, and that any other input gets a diagnostic."""
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        about_text = [diagnostic for diagnostic in request.diagnostics if diagnostic.stage in _TEXT_STAGES]
        refused = request.outcome is Outcome.FAILED
        assert about_text or refused, "text that is no JSON is said to be none"
        return
    if not isinstance(value, dict):
        return
    for diagnostic in request.diagnostics:
        if diagnostic.stage is Stage.COERCE and diagnostic.code in _DECODES:
            return
        allowed = diagnostic.stage not in _TEXT_STAGES or diagnostic.code in _CODES_OF_JSON
        assert allowed, f"valid JSON never meets a repair: {diagnostic}"
    if request.outcome is Outcome.CLEAN:
        sent = json.loads(raw)  # not orjson, because it rounds integers beyond 64 bits
        assert same(request.arguments, sent), f"clean means untouched: {request.arguments!r}"


def check_fit(request: ToolCallRequest, tool: ToolDefinition | None) -> None:
    """Check that the arguments fit the definition, or that an error is reported."""
    if tool is None or request.arguments is None or request.outcome is Outcome.FAILED:
        return
    if any(
        diagnostic.code in ("schema_keyword_unsupported", "pattern_not_checked")
        for diagnostic in request.diagnostics
    ):
        return
    problem = misfit(tool.to_json_schema(), request.arguments)
    assert problem is None, f"the result fits the definition, or there is an error: {problem}"


def check_again(request: ToolCallRequest, tool: ToolDefinition | None = None) -> None:
    """Check that parsing the parser's own output changes nothing."""
    if request.arguments is None or request.outcome is Outcome.FAILED:
        return
    again = parse_arguments(written(request.arguments), tool)
    changes = [diagnostic for diagnostic in again.diagnostics if diagnostic.stage is not Stage.CHECK]
    assert not changes, f"reading our own output changes nothing: {changes}"
    assert same(again.arguments, request.arguments), f"our own output reads alike: {again.arguments!r}"


def check_alike(request: ToolCallRequest, other: ToolCallRequest) -> None:
    assert request.diagnostics == other.diagnostics, "the same text gives the same diagnostics"
    assert same(request.arguments, other.arguments), "the same text gives the same arguments"
    assert same(dict(request.rejected), dict(other.rejected)), "the same text gives the same rejections"


def read_calls(text: str, catalog: ToolCatalog | None = None) -> Sequence[TextCall]:
    """Return the result of `extract_tool_calls`, after checking the rules about it."""
    calls = _in_time(lambda part: extract_tool_calls(part, catalog), text)
    reached = 0
    for call in calls:
        assert reached <= call.start <= call.end <= len(text), f"calls in order, each apart: {call}"
        assert call.name, "a call has a name"
        offset, raw = call.offset, call.request.raw_arguments
        assert offset is None or text.startswith(str(raw), offset), f"the arguments stand at {offset}: {call}"
        check_request(call.request, raw, built=offset is None)
        for diagnostic in call.diagnostics:
            start, end = diagnostic.start or 0, diagnostic.end or 0
            assert 0 <= start <= end <= len(text), f"a span lies in the text: {diagnostic}"
        reached = call.end
    return calls


def same(value: Any, other: Any) -> bool:
    """Return True if values and types are equal. 1 is neither true nor 1.0, and NaN equals NaN."""
    return repr(value) == repr(other)


def written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)

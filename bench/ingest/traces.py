"""Writes OpenTelemetry traces of agents, one OTLP request per line, as the Collector's file exporter does.

Each trace is one turn of five model calls. As in real traces, every model call repeats the definitions and
the whole conversation (`gen_ai.input.messages`), and the span of each tool has the arguments and the result.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

_START = 1_794_216_000_000_000_000  # nanoseconds since 1970
_SECOND = 1_000_000_000
_STEPS = 5
_TRACES_PER_FILE = 200
_MODELS = ("gpt-4.1", "claude-sonnet-4-6", "qwen3-coder")
_WORDS = ("read", "the", "file", "run", "tests", "before", "you", "change", "a", "line", "of", "code")
_DEFINITIONS = [
    {
        "type": "function",
        "name": name,
        "description": f"{name} in the workspace.",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}},
            "required": ["path"],
            "additionalProperties": False,
        },
    }
    for name in ("read_file", "search_code", "run_tests")
]

JsonObject = dict[str, Any]


def write_traces(folder: Path, size: int) -> list[Path]:
    """Write traces into `folder` until `size` bytes are written, and return the files."""
    folder.mkdir(parents=True)
    files: list[Path] = []
    written = 0
    while written < size:
        path = folder / f"traces-{len(files):06d}.jsonl"
        first = len(files) * _TRACES_PER_FILE
        lines = (orjson.dumps(_request(number)) for number in range(first, first + _TRACES_PER_FILE))
        written += path.write_bytes(b"\n".join(lines) + b"\n")
        files.append(path)
    return files


def _request(number: int) -> JsonObject:
    """Return the export request with the spans of one trace."""
    resource = {"attributes": [_attribute("service.name", "agent")]}
    scope_spans = {"scope": {"name": "agent"}, "spans": list(_spans(number))}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [scope_spans]}]}


def _spans(number: int) -> Iterator[JsonObject]:
    pick = random.Random(number)
    trace, model = f"{number + 1:032x}", pick.choice(_MODELS)
    conversation: list[JsonObject] = [_message("user", [_text(pick, 20)])]
    for step in range(_STEPS):
        answer = [_text(pick, 30)] if step == _STEPS - 1 else [_tool_call(pick, f"call_{number}_{step}")]
        begin = _START + (number * 100 + step * 10) * _SECOND
        model_call = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": model,
            "gen_ai.conversation.id": f"session-{number}",
            "gen_ai.tool.definitions": _json(_DEFINITIONS),
            "gen_ai.input.messages": _json(conversation),
            "gen_ai.output.messages": _json([_message("assistant", answer)]),
            "gen_ai.usage.input_tokens": 900 + 200 * step,
            "gen_ai.usage.output_tokens": pick.randint(20, 200),
        }
        yield _span(trace, 2 * step + 2, f"chat {model}", begin, 4, model_call)
        if answer[0]["type"] != "tool_call":
            continue
        result = " ".join(pick.choices(_WORDS, k=pick.randint(5, 80)))
        tool_run = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": answer[0]["name"],
            "gen_ai.tool.call.id": answer[0]["id"],
            "gen_ai.tool.call.arguments": _json(answer[0]["arguments"]),
            "gen_ai.tool.call.result": result,
        }
        yield _span(
            trace, 2 * step + 3, f"execute_tool {answer[0]['name']}", begin + 5 * _SECOND, 1, tool_run
        )
        response = {"type": "tool_call_response", "id": answer[0]["id"], "response": result}
        conversation += [_message("assistant", answer), _message("tool", [response])]
    root = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "agent"}
    yield _span(trace, 1, "invoke_agent", _START + number * 100 * _SECOND, _STEPS * 10, root)


def _span(trace: str, number: int, name: str, begin: int, seconds: int, attributes: JsonObject) -> JsonObject:
    """Return a span. Span 1 is the root of the trace."""
    return {
        "traceId": trace,
        "spanId": trace[-12:] + f"{number:04x}",
        **({} if number == 1 else {"parentSpanId": trace[-12:] + f"{1:04x}"}),
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(begin),
        "endTimeUnixNano": str(begin + seconds * _SECOND),
        "attributes": [_attribute(key, value) for key, value in attributes.items()],
    }


def _attribute(key: str, value: str | int) -> JsonObject:
    return {
        "key": key,
        "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value},
    }


def _message(role: str, parts: list[JsonObject]) -> JsonObject:
    return {"role": role, "parts": parts}


def _text(pick: random.Random, words: int) -> JsonObject:
    return {"type": "text", "content": " ".join(pick.choices(_WORDS, k=words))}


def _tool_call(pick: random.Random, call_id: str) -> JsonObject:
    """Return a call. Every tenth `limit` is text, which the definition does not allow."""
    limit = pick.randint(1, 200)
    arguments = {"path": f"src/{pick.choice(_WORDS)}.py", "limit": str(limit) if limit % 10 == 0 else limit}
    name = pick.choice(_DEFINITIONS)["name"]
    return {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments}


def _json(value: object) -> str:
    return orjson.dumps(value).decode()

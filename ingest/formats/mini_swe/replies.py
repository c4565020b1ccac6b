"""Reads the texts of a mini-swe-agent trajectory: actions, refusals, return codes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ingest.decoding.fields import read_object, read_objects, read_text
from ingest.events import FaultLayer

_FENCES = ("```bash", "```mswea_bash_command")
_ROLES = ("system", "user", "assistant")
_KEYS = frozenset(("role", "content", "timestamp", "extra"))
_ANSWERS = ("<returncode>", "Observation:")
_NOT_ONE = "Please always provide EXACTLY ONE action"


def is_old_list(head: Sequence[Mapping[str, Any]]) -> bool:
    """Return True for bare messages among which a reply with one bash block has the harness's answer."""
    if not all(message.get("role") in _ROLES and message.keys() <= _KEYS for message in head):
        return False
    for reply, answer in pairwise(head):
        words, said = reply.get("content"), answer.get("content")
        if not isinstance(words, str) or not isinstance(said, str) or reply["role"] != "assistant":
            continue
        if answer["role"] == "user" and len(find_bash_blocks(words)) == 1 and said.startswith(_ANSWERS):
            return True
    return False


def find_refusal_openings(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield the beginnings of the harness's answers to malformed replies.

    These are the texts of the templates up to their first variable.
    """
    yield _NOT_ONE
    for part in ("agent", "model"):
        template = read_text(read_object(config.get(part)).get("format_error_template")) or ""
        begin = template.split("{", 1)[0].strip()
        if len(begin) > 10:
            yield begin


def refusal_layer(refusal: str) -> FaultLayer:
    if "Error parsing tool call arguments" in refusal:
        return FaultLayer.SYNTAX
    if "Unknown tool '" in refusal or "Missing 'command' argument" in refusal:
        return FaultLayer.SCHEMA
    return FaultLayer.EMISSION


def find_bash_blocks(words: str) -> list[str]:
    """Return the bodies of the bash blocks in a reply, as both `action_regex` of the agent find them."""
    found: list[str] = []
    position = 0
    while True:
        starts = [(at, fence) for fence in _FENCES if (at := words.find(fence, position)) >= 0]
        if not starts:
            return found
        at, fence = min(starts)
        line = words.find("\n", at)
        end = words.find("\n```", line + 1) if line >= 0 else -1
        if end < 0:
            return found
        if words[at + len(fence) : line].strip():
            position = line
            continue
        found.append(words[line:end].strip())
        position = end + 4


def find_response_calls(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the tool calls of a message in the shape of OpenAI's Responses API."""
    for item in read_objects(message.get("output")):
        if item.get("type") == "function_call":
            yield {"id": item.get("call_id"), "name": item.get("name"), "arguments": item.get("arguments")}


def parse_return_code(words: str) -> int | None:
    code, closed, _ = words.removeprefix("<returncode>").partition("</returncode>")
    if not words.startswith("<returncode>") or not closed:
        return None
    return int(code) if code.lstrip("-").isdecimal() and len(code) < 8 else None

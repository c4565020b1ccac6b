"""Reads samples of Inspect (`inspect_ai.dataset.Sample`) in the formats of json_dataset and csv_dataset.

The task expects an answer that contains a target of the sample, ignoring case, as Inspect's scorer `includes`
does. In Callgauge's own export, the target is the arguments of a later tool call that worked. The task stores
these arguments as a suggestion. Samples with choices, files or a sandbox are errors, because they need
Inspect itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from callgauge.trials.planning.foreign_tasks.chat import read_messages
from callgauge.trials.planning.foreign_tasks.records import ForeignRecord, ForeignTaskError

_SIGNS = ("target", "metadata", "choices", "sandbox", "files", "setup")
_NEEDS_INSPECT = ("choices", "sandbox", "files", "setup")


def is_sample(record: Mapping[str, Any]) -> bool:
    return "input" in record and any(sign in record for sign in _SIGNS)


def read_sample(record: ForeignRecord) -> dict[str, Any]:
    """Return the task that a sample describes. Raises ForeignTaskError."""
    sample = record.value
    for name in _NEEDS_INSPECT:
        if sample.get(name):
            raise ForeignTaskError(
                f"a sample with {name} needs Inspect itself: a trial has messages and tools"
            )
    prompt, metadata = sample.get("input"), _read_metadata(sample.get("metadata"))
    if not isinstance(prompt, str | list) or not prompt:
        raise ForeignTaskError("input is neither a text nor a list of messages")
    sample_id = sample.get("id")
    line: dict[str, Any] = {
        "id": str(sample_id) if sample_id not in (None, "") else f"line-{record.line}",
        "input": prompt if isinstance(prompt, str) else read_messages(prompt),
    }
    tools = metadata.get("tools")
    if isinstance(tools, list) and tools:
        line["definitions"] = tools
    line |= _read_target(sample.get("target"), metadata.get("tool"))
    session = metadata.get("session_id")
    return line | ({"group": session} if isinstance(session, str) and session else {})


def _read_metadata(metadata: Any) -> Mapping[str, Any]:
    if metadata in (None, ""):
        return {}
    try:
        decoded = json.loads(metadata) if isinstance(metadata, str) else metadata
    except (ValueError, RecursionError):
        decoded = None
    if not isinstance(decoded, dict):
        raise ForeignTaskError("metadata is not an object")
    return decoded


def _read_target(target: Any, tool: Any) -> dict[str, Any]:
    targets = target if isinstance(target, list) else [target]
    if not all(text is None or isinstance(text, str) for text in targets):
        raise ForeignTaskError("target is neither a string nor a list of strings")
    texts = [text for text in targets if text]
    if not texts:
        return {}
    if isinstance(tool, str) and tool:
        return {"suggested": {"calls": [_read_call(tool, texts[0])], "more": True}}
    if len(texts) == 1:
        return {"expect": {"answer": {"contains": texts}}}
    return {"expect": {"answer": {"regex": f"(?i:{'|'.join(map(re.escape, texts))})"}}}


def _read_call(tool: str, text: str) -> dict[str, Any]:
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        raise ForeignTaskError(
            f"the target of a sample about the tool {tool} is not a JSON object of its arguments"
        )
    return {tool: {name: [value] for name, value in arguments.items()}}

"""Small real logs in, one large log out: the same records over and over, each time under new ids."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

_MARK = "@repeat@"
# The fields by which the formats tell sessions, messages and calls apart.
_IDS = frozenset(
    {
        "sessionId", "session_id", "uuid", "parentUuid", "leafUuid", "messageId", "requestId", "promptId",
        "id", "tool_use_id", "toolUseID", "parentToolUseID", "sourceToolAssistantUUID",
        "action_id", "action_ids", "retry_of", "agent_id", "agentId",
    }
)  # fmt: skip


def repeated(sources: list[Path], target: Path, size: int) -> int:
    """Write whole repetitions of `sources` to `target` until it has `size` bytes; returns how many."""
    template = b"".join(_templates(sources))
    repeats = 0
    with target.open("wb") as stream:
        while stream.tell() < size:
            stream.write(template.replace(_MARK.encode(), b"-%d" % repeats))
            repeats += 1
    return repeats


def _templates(sources: list[Path]) -> Iterator[bytes]:
    """The records of the files, one a line; a line that is no JSON stays as it is."""
    for source in sources:
        for line in source.read_bytes().splitlines():
            try:
                yield orjson.dumps(_marked(orjson.loads(line))) + b"\n"
            except ValueError:
                yield line + b"\n"


def _marked(value: Any, is_id: bool = False) -> Any:
    if isinstance(value, dict):
        return {key: _marked(inner, key in _IDS) for key, inner in value.items()}
    if isinstance(value, list):
        return [_marked(inner, is_id) for inner in value]
    return f"{value}{_MARK}" if is_id and isinstance(value, str) else value

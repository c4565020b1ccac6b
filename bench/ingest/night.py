"""Writes the session files of one night from small logs: the same records are repeated under new ids.

A Claude Code night has two copies of `context-evaluator.jsonl.xz` for each copy of the sub-agent logs in
sample_data. Each copy shuffles the words of long strings.

`context-evaluator.jsonl.xz` is a whole transcript of PackmindHub/context-evaluator @ 63679d4764 (branch
entire/checkpoints/v1, `26/13abb02349/1/full.jsonl`, Apache-2.0, with the licence text in
sample_data/LICENCES.txt). Home folders are masked, and filler of the same length replaces signatures.

Twelve transcripts of public projects (10 MB, 4,171 lines) have 2,415 bytes per line. One megabyte of these
transcripts contains 94 calls of main agents and 10 calls of sub-agents, and `orjson.loads` reads 546 MB/s.
The generated night has 2,130 bytes per line. One megabyte of the night contains 104 calls of main agents and
5 calls of sub-agents, and `orjson.loads` reads 540 MB/s.
"""

from __future__ import annotations

import lzma
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "sample_data/logs"
TRANSCRIPT = Path(__file__).parent / "context-evaluator.jsonl.xz"
CLAUDE_CODE = (TRANSCRIPT, TRANSCRIPT, SAMPLE / "claude_code/kimi-cli_sub-agents.jsonl")
SESSION_LOGS = tuple(sorted((SAMPLE / "session_history/made").glob("*.jsonl")))[:15]  # three days

_MARK = "@repeat@"
_TEXT, _END = "@text@", "@end@"
_LONG = 150  # in a text of at least this many characters, words are shuffled
# characters at the start of a long text that are not shuffled, because agents recognise events by these
# characters
_KEPT = 100
# In these fields, the log formats store the ids of sessions, messages and calls.
_IDS = frozenset(
    {
        "sessionId", "session_id", "uuid", "parentUuid", "leafUuid", "messageId", "requestId", "promptId",
        "id", "tool_use_id", "toolUseID", "parentToolUseID", "sourceToolAssistantUUID",
        "action_id", "action_ids", "retry_of", "agent_id", "agentId",
    }
)  # fmt: skip


def write_night(
    folder: Path, size: int, sources: Sequence[Path] = CLAUDE_CODE, *, first: int = 0
) -> list[Path]:
    """Write copies of every source until `size` bytes are written, and return the files.

    The files of both nights have 0.8 MB, as real transcripts do. `first` is the number of the first
    copy; other numbers give other sessions.
    """
    folder.mkdir(parents=True)
    templates = [_Template(source) for source in sources]
    files: list[Path] = []
    written = 0
    while written < size:
        path = folder / f"session-{len(files):06d}.jsonl"
        number = first + len(files) * len(templates)
        copies = (template.copy(at) for at, template in enumerate(templates, number))
        written += path.write_bytes(b"".join(copies))
        files.append(path)
    return files


def write_file(path: Path, size: int, sources: Sequence[Path] = CLAUDE_CODE) -> None:
    """Write copies of all sources to a single file."""
    templates = [_Template(source) for source in sources]
    number = 0
    with path.open("wb") as stream:
        while stream.tell() < size:
            stream.write(templates[number % len(templates)].copy(number))
            number += 1


class _Template:
    """A log split into fixed pieces and long strings; each copy shuffles the words of these strings.

    Without shuffling, the store would contain the same strings many times and look smaller than in reality.
    """

    def __init__(self, source: Path) -> None:
        data = source.read_bytes()
        lines = (lzma.decompress(data) if source.suffix == ".xz" else data).splitlines()
        self._parts = re.split(f"{_TEXT}(.*?){_END}".encode(), b"\n".join(map(_marked_line, lines)) + b"\n")

    def copy(self, number: int) -> bytes:
        pick = random.Random(number)
        parts = list(self._parts)
        for text in range(1, len(parts), 2):
            words = parts[text].split(b" ")
            pick.shuffle(words)
            parts[text] = b" ".join(words)
        # Vary the sizes, because for files of equal size a load would also compare the contents.
        parts[0] += b" " * (number % 997)
        return b"".join(parts).replace(_MARK.encode(), b"-%d" % number)


def _marked_line(line: bytes) -> bytes:
    """Return the record with marks at its ids and long strings. A line that is not JSON stays unchanged."""
    try:
        return orjson.dumps(_marked(orjson.loads(line)))
    except ValueError:
        return line


def _marked(value: Any, is_id: bool = False) -> Any:
    if isinstance(value, dict):
        return {key: _marked(inner, key in _IDS) for key, inner in value.items()}
    if isinstance(value, list):
        return [_marked(inner, is_id) for inner in value]
    if not isinstance(value, str):
        return value
    if is_id:
        return f"{value}{_MARK}"
    return f"{value[:_KEPT]}{_TEXT}{value[_KEPT:]}{_END}" if len(value) >= _LONG else value

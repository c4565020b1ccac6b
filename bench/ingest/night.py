"""Make a night of session files from small real logs: the same records repeated, each time under new ids.

The Claude Code night is two parts `context-evaluator.jsonl.xz` to one part of the sub-agents in sample_data.
Words of long texts change places from copy to copy. The first is a whole transcript of
PackmindHub/context-evaluator @ 63679d4764 (branch entire/checkpoints/v1,
`26/13abb02349/1/full.jsonl`, Apache-2.0, the licence's text is in sample_data/LICENCES.txt); home folders are
masked, signatures replaced by filler of their length. Twelve transcripts of public projects (10 MB, 4,171
lines) hold 2,415 bytes a line, 94 calls a megabyte at the top and 10 in sub-agents, and `orjson.loads` reads
them at 546 MB/s; this night holds 2,130, 104 and 5, and is read at 540 MB/s.
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
SESSION_HISTORY = tuple(sorted((SAMPLE / "session_history").rglob("*.jsonl")))

_MARK = "@repeat@"
_TEXT, _END = "@text@", "@end@"
_LONG = 150  # characters from which the words of a text are shuffled
_KEPT = 100  # characters at the start of such a text that stay: agents recognise events by them
# The fields by which the formats distinguish sessions, messages and calls.
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
    """Write copies of every source until `size` bytes are written; return the files.

    Those of the Claude Code night have 0.8 MB, as real transcripts do. `first` is the number of the first
    copy: other numbers make other sessions.
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
    """Write the same as one file."""
    templates = [_Template(source) for source in sources]
    number = 0
    with path.open("wb") as stream:
        while stream.tell() < size:
            stream.write(templates[number % len(templates)].copy(number))
            number += 1


class _Template:
    """A log split into fixed parts, and texts whose words are shuffled in every copy.

    Otherwise the store would contain the same texts many times and look smaller than it is.
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
        # As in real logs, sizes rarely repeat: equal sizes alone would cause a comparison of the contents.
        parts[0] += b" " * (number % 997)
        return b"".join(parts).replace(_MARK.encode(), b"-%d" % number)


def _marked_line(line: bytes) -> bytes:
    """Return the record with its ids and long texts marked; a line that is not JSON stays unchanged."""
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

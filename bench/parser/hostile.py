"""Measures seconds and memory for inputs of 1 MB that try to hang a parser.

Each input is read in a separate process, which `python -m bench.parser.hostile NAME MODE` starts. `lenient`
reads the input in three modes: without a definition, with a definition, or as a model's reply that may
contain tool calls. The compared parsers read the same inputs without a definition.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time

import orjson

from bench.parser.worker import ROOT, Worker
from bench.peers import OURS, PEERS
from lenient import ToolCatalog, ToolDefinition, extract_tool_calls, parse_arguments

SIZE = 1_000_000
MODES = ("no definition", "definition", "calls")
_PATIENCE = 20.0
# A text that takes more seconds is read twice. The shorter time counts, because noise only adds time.
_AGAIN_FROM = 0.5
_TOOL = ToolDefinition.from_json_schema(
    name="write_file",
    schema={
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "content": {"type": "string"},
            "a": {"type": "object", "additionalProperties": {"type": "integer"}},
            "rows": {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "integer"}}}},
        },
        "required": ["path", "content"],
    },
)


def _many(unit: str, before: str = "", after: str = "") -> Callable[[], str]:
    return lambda: before + unit * ((SIZE - len(before) - len(after)) // len(unit)) + after


def _encoded() -> str:
    """Return JSON that is encoded as a string several times.

    The number of backslashes doubles with each layer.
    """
    text = '{"a": "x"}'
    while len(text) < SIZE // 2:
        text = json.dumps(text)
    return text


TEXTS: dict[str, Callable[[], str]] = {
    "[": _many("["),
    "{": _many("{"),
    "]": _many("]"),
    "}": _many("}"),
    '"': _many('"'),
    "'": _many("'"),
    "\\": _many("\\"),
    ",": _many(","),
    ":": _many(":"),
    '{"a": and 1 MB of \\': _many("\\", '{"a": "'),
    "half fences": _many("```json\n{"),
    "fences": _many("```"),
    "nested encodings": _encoded,
    '{"a":{"a":…': _many('{"a":'),
    '[{"a":[{"a":…': _many('[{"a":'),
    "({[ mixed": _many('({["a",'),
    '100,000 deep {"a": closed': lambda: '{"a":' * 100_000 + "1" + "}" * 100_000,
    "100,000 deep [ closed": lambda: '{"a":' + "[" * 100_000 + "]" * 100_000 + "}",
    "unclosed strings": _many('{"a": "b, '),
    '"a": "a": …': _many('"a":', "{"),
    "one string full of quotes": _many('say "x", ', '{"path": "p", "content": "', '"}'),
    "quotes and colons inside": _many('"k": "v", ', '{"path": "p", "content": "', '"}'),
    "commas and quotes inside": _many('", ', '{"path": "p", "content": "', '"}'),
    "half escapes inside": _many("\\u", '{"path": "p", "content": "', '"}'),
    "single quotes inside": _many("it's 'x', ", "{'path': 'p', 'content': '", "'}"),
    "// comments": _many("// note\n", '{"a": 1, '),
    "/* comments": _many("/* ", '{"a": 1, '),
    "# comments": _many("# note\n", '{"a": 1, '),
    "<tag>": _many("<tag>"),
    "<tool_call>{": _many('<tool_call>{"name": '),
    "<invoke": _many('<invoke name="write_file"><parameter name="path">'),
    "{}{}{}": _many('{"a":1}'),
    "members after an object": _many('"k": "v"} ', "{"),
    "the same key": _many('"a": 1, ', "{", '"b": 2}'),
    "missing commas": _many('"k" 1 ', "{", "}"),
    "unquoted words": _many("word: other "),
    "a number of 1 MB": _many("7", '{"a": ', "}"),
    "minus signs": _many("-", '{"a": '),
    "dots": _many("..."),
    "smart quotes": _many("“a”: ", "{"),
    "half surrogates": _many("\\ud83d", '{"a": "', '"}'),
    "triple quotes": _many('"""', '{"a": '),
    "white space": _many(" ", "{"),
    "key=value": _many("key=value\n"),
    "wrong rows": _many('{"id": "x"}, ', '{"path": 1, "rows": [', "]}"),
    "broken rows": _many("{'id': '7',} ", '{"path": 1, "rows": [', "]}"),
}


@dataclass(frozen=True, slots=True)
class Endured:
    """The result for one input in one mode: processor seconds, additional megabytes, and the outcome."""

    text: str
    mode: str
    seconds: float | None  # None if the parser did not finish, or if the process died
    megabytes: float
    outcome: str


@dataclass(frozen=True, slots=True)
class PeerEndured:
    """The number of inputs that a compared parser finished within the time limit, and the inputs that crashed
    or hung it.
    """

    peer: str
    texts: int
    hung: tuple[str, ...]
    crashed: tuple[str, ...]
    too_deep: tuple[str, ...]


def measure() -> Iterator[Endured]:
    return (_in_a_process(name, mode) for mode in MODES for name in TEXTS)


def _in_a_process(name: str, mode: str) -> Endured:
    command = [sys.executable, "-m", "bench.parser.hostile", name, mode]
    try:
        run = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        return Endured(name, mode, None, 0.0, f"more than {_PATIENCE:.0f} s")
    if run.returncode != 0:
        last = (run.stderr.decode("utf-8", "replace").strip() or "no message").splitlines()[-1]
        return Endured(name, mode, None, 0.0, f"exit {run.returncode}: {last}"[:100])
    return Endured(**orjson.loads(run.stdout))


def measure_peers() -> Iterator[PeerEndured]:
    """Measure one variant of each package.

    Without a definition, all variants of a package behave in the same way.
    """
    first = {peer.package: peer for peer in reversed(PEERS.values()) if peer.version is not None}
    return (_peer_endured(peer.name) for peer in reversed(first.values()) if peer.name != OURS)


def _peer_endured(name: str) -> PeerEndured:
    worker = Worker(name)
    refusals = {}
    for text, make in TEXTS.items():
        refusals[text] = worker.read(make(), None).refusal or ""
    worker.stop()
    hung, crashed, too_deep = (
        tuple(text for text, refusal in refusals.items() if refusal.startswith(start))
        for start in ("hung", "crashed", "RecursionError")
    )
    return PeerEndured(name, len(TEXTS), hung, crashed, too_deep)


# --- the child --------------------------------------------------------------------------------------------


def _endure(name: str, mode: str) -> Endured:
    text = TEXTS[name]()
    catalog = ToolCatalog.from_definitions([_TOOL])

    def run() -> str:
        if mode == "calls":
            return f"{len(extract_tool_calls(text, catalog))} calls"
        return str(parse_arguments(text, _TOOL if mode == "definition" else None).outcome)

    parse_arguments("{'a': 1}", _TOOL)  # a first call, so that the costs of the first use are not measured
    before = _resident()
    seconds, outcome = _timed(run)
    megabytes = _peak() - before
    if seconds > _AGAIN_FROM:
        seconds = min(seconds, _timed(run)[0])
    return Endured(name, mode, seconds, megabytes, outcome)


def _timed(run: Callable[[], str]) -> tuple[float, str]:
    started = process_time()
    outcome = run()
    return process_time() - started, outcome


def _resident() -> float:
    status = Path("/proc/self/statm")
    if not status.exists():
        return _peak()
    return int(status.read_text().split()[1]) * resource.getpagesize() / 1e6


def _peak() -> float:
    """Return the peak resident memory of this process in MB.

    On Linux, ru_maxrss may be the parent's memory at the fork, so the value is read from /proc.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e6
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


if __name__ == "__main__":
    sys.stdout.buffer.write(orjson.dumps(asdict(_endure(sys.argv[1], sys.argv[2]))))

"""Counts the Python functions that are called while the arguments of one tool call are parsed.

python tests/house/call_path.py ['{"limit": "10"}']
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

import lenient
from lenient import ToolDefinition, parse_arguments

PACKAGE = str(Path(lenient.__file__).parent)
LIMIT_TOOL = ToolDefinition.from_json_schema(
    name="search", schema={"type": "object", "properties": {"limit": {"type": "integer"}}}
)
MEASURED_CALL = (
    "import sys; sys.path[:0] = [{root!r}, " + repr(str(Path(__file__).parent)) + "]; "
    "from call_path import count_calls; print('%d calls through %d modules' % count_calls())"
)
"""This code runs in a new process and measures the parser below `root`. `root` may be another revision."""


def list_calls(
    raw: str | bytes = '{"limit": "10"}', tool: ToolDefinition | None = LIMIT_TOOL
) -> list[tuple[str, str]]:
    """Return the module and the name of each function of lenient that is called, in order.

    Other arguments are parsed first, so that compiling the tool definition does not count. Comprehensions and
    generators count as functions.
    """
    parse_arguments('{"warm": "up"}', tool)
    calls: list[tuple[str, str]] = []

    def record(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE):
            calls.append((code.co_filename[len(PACKAGE) + 1 :], code.co_qualname))

    before = sys.getprofile()
    sys.setprofile(record)
    try:
        parse_arguments(raw, tool)
    finally:
        sys.setprofile(before)
    return calls


def count_calls(
    raw: str | bytes = '{"limit": "10"}', tool: ToolDefinition | None = LIMIT_TOOL
) -> tuple[int, int]:
    """Return the number of called functions, and the number of modules that define these functions."""
    calls = list_calls(raw, tool)
    return len(calls), len({module for module, _ in calls})


if __name__ == "__main__":
    text = sys.argv[1] if len(sys.argv) > 1 else '{"limit": "10"}'
    for module, function in list_calls(text):
        print(f"{module:45} {function}")
    print("{} calls through {} modules".format(*count_calls(text)))

"""Texts that the gateway sends to the model, or to the user when no tool was run."""

from __future__ import annotations

from collections.abc import Iterable

from lenient import ToolDefinition

USE_TOOLS = "Use the tools by calling them. Do not write JSON or tool calls into your answer."
_WRITE_JSON = """You can use these tools:

{tools}
To use a tool, answer with exactly one fenced block and nothing else, neither before nor after it:

```json
{{"tool": "<name of the tool>", "input": {{<its arguments>}}}}
```

When you need no tool, answer in plain text without such a block."""
FALLBACK_IS_DEPRECATED = (
    "calls are written as JSON into the text: deprecated, for models without tool use only"
)
CALL_BY_INTERFACE = "No tool was run: the call is in your text. Call the tool through its interface instead."
NO_READABLE_BLOCK = (
    "No tool was run: no call could be read in your answer. "
    "Answer with exactly one fenced block as described, and nothing else."
)

NOT_RUN = "(no tool was run) "
"""The beginning of an answer to the user about a call that never ran."""
NO_CALL_READ = f"{NOT_RUN}The model tried to call a tool, but its answer has no readable call."


def say_unreadable(tool: str, problem: str | None) -> str:
    """Return the answer to the user when the arguments of a tool call could not be read."""
    return f"{NOT_RUN}The model's arguments for {tool} could not be read: {problem or 'unreadable'}"


def say_leaked(tool: str) -> str:
    """Return the answer to the user when the model wrote a tool call as text."""
    return f"{NOT_RUN}The model wrote its call of {tool} as text."


def say_server_problem(problem: str) -> str:
    """Return the answer to the user when the server could not parse the model's tool call."""
    return f"{NOT_RUN}The model's server could not read its call: {problem}"


def say_repeated(tool: str, times: int, problem: str) -> str:
    """Return the answer to the user when the model repeats an invalid tool call."""
    return f"{NOT_RUN}The model sent the same invalid call of {tool} {times} times: {problem}"


def write_json_template(tools: Iterable[ToolDefinition]) -> str:
    """Return the template of the JSON fallback, for models without native tool calls."""
    return _WRITE_JSON.format(tools="\n".join(definition.to_markdown() for definition in tools))


def say_unread(raw: str, error: str | None) -> str:
    """Return the text that replaces a tool call in the history when its arguments could not be read."""
    return f"[tool_use parse error] {error or 'unreadable'}; raw: {raw}"


def say_server_refused(error: str) -> str:
    """Return the message to the model about a tool call that the server could not parse."""
    return f"The tool was not run: the server could not read your call ({error}). Call the tool again."

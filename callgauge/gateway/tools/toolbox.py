"""Define tools: a definition, the function to run, and the arguments that the tool accepts."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lenient import Policy, ToolCallRequest, ToolCatalog, ToolDefinition


class ToolRejected(Exception):  # noqa: N818 a tool's word, not a fault of the program
    """Raised by a tool to reject arguments that fit its definition: `raise ToolRejected("limit_out_of_range",
    "…")`.

    `code` is a short word for statistics, `message` is the text for the model.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class ToolFailed(Exception):  # noqa: N818 as above
    """Raised by a tool that ran and failed. The model sees only this exception's message."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool can know about its call, and what the program passes to its tools.

    The executor fills in a parameter with this type, and the definition omits the parameter. `request` holds
    the call as the model sent it and as the parser read it. `environment` is the dict that was given to the
    executor. What the tool writes into `metadata` becomes part of the result.
    """

    request: ToolCallRequest
    session_id: str = ""
    turn: int = 0
    step: int = 0
    environment: Mapping[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """A tool result with images, audio or files. A tool can return it in place of a string.

    `parts` has the format of the model's API, such as `{"type": "image", "source": {…}}` for Anthropic. The
    parts are sent unchanged, after the text.
    """

    text: str = ""
    parts: Sequence[Mapping[str, Any]] = ()


ToolRun = Callable[[ToolContext], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that can be run.

    `policy` defines which diagnostics the tool accepts. `takes_lossy` is True when the tool accepts arguments
    that lost meaning in a repair. `timeout` is in seconds; None means the executor's timeout. `run` must take
    the arguments from `context.request.arguments`.
    """

    definition: ToolDefinition
    run: ToolRun
    policy: Policy = Policy.LENIENT
    takes_lossy: bool = False
    timeout: float | None = None

    @property
    def name(self) -> str:
        return self.definition.name


def make_safe_name(name: str) -> str:
    """Return a tool name that every API accepts: at most 64 characters; forbidden characters become `_`."""
    return _NOT_IN_NAMES.sub("_", name)[:_LONGEST_NAME]


_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")  # the rule of OpenAI and Anthropic
_LONGEST_NAME = 64


class Toolbox:
    """Tools by name. If two tools have the same name, the later one is used."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self.catalog = ToolCatalog.from_definitions(tool.definition for tool in self)

    def add(self, *tools: Tool) -> Toolbox:
        """Return a new toolbox that also contains further tools."""
        return Toolbox([*self, *tools])

    def get(self, name: str | None) -> Tool | None:
        """Return the tool with the given name, or None."""
        return self._tools.get(name) if name is not None else None

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

"""Tools that run: a definition, the function behind it, and what it accepts."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lenient import Policy, ToolCallRequest, ToolCatalog, ToolDefinition


class ToolRejected(Exception):  # noqa: N818 a tool's word, not a fault of the program
    """A tool's own no to arguments that fit its definition: `raise ToolRejected("limit_out_of_range", "…")`.

    `code` is a short word for people and statistics, `message` is what the model is told.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class ToolFailed(Exception):  # noqa: N818 as above
    """A tool ran and failed; the model is told these words and no others."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool can know of its call, and what the team's program hands to its tools.

    A parameter with this type is filled in by the executor and left out of the definition. `request` holds
    the call as the model sent it and as it was read; `environment` is the dict that was given to the
    executor. `metadata` is for the tool: what it puts in stands in the result.
    """

    request: ToolCallRequest
    session_id: str = ""
    turn: int = 0
    step: int = 0
    environment: Mapping[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """A result with content that is not text: a tool returns it instead of a text.

    `parts` are images, audio or files in the format of the API that the model is called by, such as
    `{"type": "image", "source": {…}}` for Anthropic. They are sent unchanged, after the text.
    """

    text: str = ""
    parts: Sequence[Mapping[str, Any]] = ()


ToolRun = Callable[[ToolContext], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that can be run.

    `policy` says which findings the tool accepts, `takes_lossy` whether it runs on arguments that lost
    meaning when they were mended. `timeout` is in seconds; None is the executor's. `run` reads its arguments
    from `context.request.arguments`.
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
    """Return a tool's name as every model's API takes it: other characters become `_`, at most 64 stay."""
    return _NOT_IN_NAMES.sub("_", name)[:_LONGEST_NAME]


_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")  # OpenAI's and Anthropic's rule
_LONGEST_NAME = 64


class Toolbox:
    """Tools by name. Of two tools with one name the later counts."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self.catalog = ToolCatalog.from_definitions(tool.definition for tool in self)

    def add(self, *tools: Tool) -> Toolbox:
        """Return a toolbox with further tools; this one stays as it is."""
        return Toolbox([*self, *tools])

    def get(self, name: str | None) -> Tool | None:
        """Return the tool of that name, or None."""
        return self._tools.get(name) if name is not None else None

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

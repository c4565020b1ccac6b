"""The data classes of a trial task and its expected result, which `task_file` reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from callgauge.checked_files.file_problems import CheckedFileError
from callgauge.gateway import ChatMessage, RecordedAnswer


class TaskError(CheckedFileError):
    """Raised when a task file has mistakes."""


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """An expected tool call: the accepted values of each parameter, in the format of BFCL.

    A parameter may be left out when its accepted values contain `""`. Parameters without accepted values must
    not be sent. If `takes_any` is True, all arguments are accepted.
    """

    tool: str
    accepted: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    takes_any: bool = False


@dataclass(frozen=True, slots=True)
class Expectation:
    """The conditions that a successful trial must meet. A field that is None or empty sets no condition.

    If `allows_more` is True, the model may make more tool calls than `calls` lists. If `is_loose` is True,
    strings are compared without case, spaces and punctuation, as in BFCL. `check` is the name `module:name`
    of a Python function, which gets the task and the turn. The function returns True, False, or a sentence
    about the mistake.
    """

    calls: tuple[ExpectedCall, ...] = ()
    is_ordered: bool = False
    allows_more: bool = False
    is_loose: bool = False
    no_call: bool = False
    not_called: tuple[str, ...] = ()
    answer_contains: tuple[str, ...] = ()
    answer_matches: str | None = None
    answer_equals: str | None = None
    check: str | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """One task. `messages` is the conversation before the first request. The last message is a user message
    or a tool result.

    `tools` holds the names of the tools that the task offers. None means all tools of the variant.
    `definitions` are the task's own tools, which replace tools of the same name in the variant. Tasks with
    the same `group` are not statistically independent. `suggested` is a result that may be correct, which a
    person must confirm. No trial checks it.
    """

    id: str
    messages: tuple[ChatMessage, ...]
    tools: tuple[str, ...] | None = None
    definitions: tuple[Mapping[str, Any], ...] = ()
    expect: Expectation | None = None
    answers: tuple[RecordedAnswer, ...] = ()
    group: str | None = None
    origin: str | None = None
    suggested: Expectation | None = None

"""A task of a trial, and what is expected of it (read by `task_file`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from callgauge.checked_files.file_problems import CheckedFileError
from callgauge.gateway import ChatMessage, RecordedAnswer


class TaskError(CheckedFileError):
    """Raised when a file of tasks has mistakes."""


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """A call that should be made: for each named parameter the accepted values (the shape of BFCL).

    A parameter whose accepted values hold `""` may be left out; one that is not named may not be sent. With
    `takes_any` the arguments do not matter.
    """

    tool: str
    accepted: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    takes_any: bool = False


@dataclass(frozen=True, slots=True)
class Expectation:
    """What makes a trial right; all that is named must hold. None and empty mean: not asked.

    `allows_more`: further calls than `calls` may be made. `is_loose`: texts are compared as BFCL does,
    without capitals, blanks and punctuation. `check` is a Python function, `module:name`, called with the
    task and the turn; it returns True, False or a sentence that says what is wrong.
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
    """One task. `messages` are what is said before the model is asked; the last is the user's or a result.

    `tools`: the names that are offered, all of the arm's definitions when None. `definitions`: this task's
    own definitions, which stand beside (and over) those of the arm. `group`: tasks of one group are not
    independent of each other. `suggested` is what may be right, for a person to decide; no trial asks for it.
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

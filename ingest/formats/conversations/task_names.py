"""Derives the name of a benchmark task from a log, so that all trials of a task get the same name."""

from __future__ import annotations

import re
from typing import Any

from lenient.regex import compile_regex

_INSTANCE = compile_regex(r"(?:^|__)([A-Za-z0-9-]+__[A-Za-z0-9.-]+-[0-9]+)\.traj(?:\.json)?$")
_POLICY = compile_regex(r"# (\S.{0,60}?)(?: agent)?(?: policy)?\s*$", re.IGNORECASE)
_NUMBER = compile_regex(r"[0-9]+")
_NAME = 200  # maximum number of characters of a question that becomes a task name


def task_name(benchmark: Any, task: Any) -> str | None:
    """Return the name of a benchmark task. Return None when the log has no usable name.

    A number is usable only with the benchmark's name, which becomes its prefix.
    """
    if isinstance(task, int) and not isinstance(task, bool):
        task = str(task)
    if not isinstance(task, str) or not task.strip():
        return None
    if _NUMBER.fullmatch(task) is None:
        return task
    return f"{benchmark}/{task}" if isinstance(benchmark, str) and benchmark else None


def policy_domain(policy: Any) -> str | None:
    """Return the domain that the first line of a tau-bench policy names. Return None for any other line.

    Example: `# Airline Agent Policy` gives `airline`.
    """
    match = _POLICY.match(policy.lstrip().split("\n", 1)[0][:200]) if isinstance(policy, str) else None
    return match.group(1).casefold() if match else None


def swe_bench_instance(name: str) -> str | None:
    """Return the SWE-bench instance in a trajectory's file name, `<owner>__<repository>-<number>`.

    Return None when the file name contains no instance.
    """
    match = _INSTANCE.search(name)
    return match.group(1) if match else None


def question_task(question: Any) -> str | None:
    """Return a question as the name of its task.

    Return None when the question is empty or longer than 200 characters.
    """
    return question if isinstance(question, str) and question.strip() and len(question) <= _NAME else None

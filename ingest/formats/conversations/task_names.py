"""Names the task of a benchmark's log, the same for all trials of it, or None."""

from __future__ import annotations

import re
from typing import Any

_INSTANCE = re.compile(r"(?:^|__)([A-Za-z0-9-]+__[A-Za-z0-9.-]+-[0-9]+)\.traj(?:\.json)?$")
_POLICY = re.compile(r"# (\S.{0,60}?)(?: agent)?(?: policy)?\s*$", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]+")
_NAME = 200  # characters; a longer question is no name


def task_name(benchmark: Any, task: Any) -> str | None:
    """Return the id of a task where that is a name. A number needs its benchmark's name in front."""
    if isinstance(task, int) and not isinstance(task, bool):
        task = str(task)
    if not isinstance(task, str) or not task.strip():
        return None
    if _NUMBER.fullmatch(task) is None:
        return task
    return f"{benchmark}/{task}" if isinstance(benchmark, str) and benchmark else None


def policy_domain(policy: Any) -> str | None:
    """Return tau-bench's domain from the first line of its policy: `# Airline Agent Policy` is `airline`."""
    found = _POLICY.match(policy.lstrip().split("\n", 1)[0][:200]) if isinstance(policy, str) else None
    return found.group(1).casefold() if found else None


def swe_bench_instance(name: str) -> str | None:
    """Return the SWE-bench instance that a trajectory's file is named after:
    `<owner>__<repository>-<number>`.
    """
    found = _INSTANCE.search(name)
    return found.group(1) if found else None


def question_task(asked: Any) -> str | None:
    """Return the question itself; one too long for a name is found again as a session's first message."""
    return asked if isinstance(asked, str) and asked.strip() and len(asked) <= _NAME else None

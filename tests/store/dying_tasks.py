"""Defines tasks of a Ray cluster that die once at a stage, or are executed twice. Ray's workers import this
module.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

from ingest.pipeline.workers import ray_task
from ingest.pipeline.workers.ray_task import TaskOutcome
from ingest.pipeline.workers.shared_rows import SharedRows


def run_dying(stage: str, mark: str, spared: str, *task: Any) -> TaskOutcome:
    """Execute a task. The first task that reaches `stage` dies with its node, but never on the node `spared`.

    The stages are `begun`, `piece` (one piece of rows is written), `read` (all pieces are written), and
    `shared` (the list of pieces is written). At `process-STAGE`, only the process dies. After the death, the
    file `mark` exists.
    """
    alone, _, point = stage.rpartition("-")

    def die() -> None:
        import ray

        if not alone and ray.get_runtime_context().get_node_id() == spared:
            return
        try:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        if not alone:
            # kills the raylet of the node, and with it all workers of the node
            os.kill(os.getppid(), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)

    if point == "begun":
        die()
    methods = {"piece": "write_tables", "read": "complete", "shared": "complete"}
    before = {name: getattr(SharedRows, name) for name in methods.values()}
    if point in methods:
        name = methods[point]
        setattr(SharedRows, name, _with_death(before[name], die, is_first=point == "read"))
    try:
        return ray_task.run_task(*task)
    finally:
        for name, method in before.items():
            setattr(SharedRows, name, method)


def _with_death(method: Callable[..., Any], die: Callable[[], None], *, is_first: bool) -> Callable[..., Any]:
    def run(*args: Any) -> Any:
        if is_first:
            die()
        result = method(*args)
        if not is_first:
            die()
        return result

    return run


def run_twice(*task: Any) -> TaskOutcome:
    """Execute a task twice. The second execution does not know about the first."""
    first = ray_task.run_task(*task)
    is_whole = ray_task._is_whole
    setattr(ray_task, "_is_whole", lambda *_: False)  # noqa: B010
    try:
        assert ray_task.run_task(*task) == first
    finally:
        setattr(ray_task, "_is_whole", is_whole)  # noqa: B010
    return first

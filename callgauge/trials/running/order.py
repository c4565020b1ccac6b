"""The order of trials: block by block, so that a slow hour or a stop touches all arms alike."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from callgauge.trials.planning.plan import Plan


@dataclass(frozen=True, slots=True)
class TaskBlock:
    """One task with the trials of all arms, in the order in which they begin: (arm's name, repeat from 0)."""

    number: int
    task: str
    trials: tuple[tuple[str, int], ...]


def order_tasks(ids: Sequence[str], seed: int) -> list[str]:
    """Return the tasks in seeded random order; that of the file does not matter."""
    ordered = sorted(ids)
    random.Random(f"tasks {seed}").shuffle(ordered)  # noqa: S311 no secret
    return ordered


def make_blocks(plan: Plan, ordered: Sequence[str]) -> Iterator[TaskBlock]:
    """Yield a block for each task, numbered from 1; its trials are in an order seeded by plan and task."""
    for number, task in enumerate(ordered, 1):
        trials = [(arm.name, repeat) for repeat in range(plan.run.repeats) for arm in plan.arms]
        random.Random(f"{plan.run.seed} {task}").shuffle(trials)  # noqa: S311 no secret
        yield TaskBlock(number, task, tuple(trials))

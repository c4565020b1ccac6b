"""Reads and writes `lock.json`, the plan and the tasks of a trial run.

A trial run continues only with the same plan and tasks. Each block of trials is one task with all variants,
so a slow hour affects all variants equally.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import orjson
from msgspec import structs

from callgauge.trials.planning.plan import Plan
from callgauge.trials.planning.task import Task
from callgauge.trials.results.run_folder import RunFolder
from callgauge.trials.running.run_files import RunError, hide_credentials
from callgauge.trials.verdicts.looks import make_design, planned_boundaries
from lenient import PARSER_VERSION, __version__

_LONGEST = 60  # A message shows at most this many characters of a value.
_MOST_TOLD = 8  # A message lists at most this many differences.
# These values may change when a run continues: they affect how long it takes, not its results.
_FREE = ("callgauge_trial", "run", "created_at", "question", "budget", "hashes.plan")

# These values follow from the tasks and the measure, so a message names only the cause.
_DERIVED = ("tasks", "groups", "look_at", "boundaries")
_HASHED = {"tasks": "the tasks", "prompts": "the prompt", "definitions": "the definitions"}


class RunChangedError(RunError):
    """Raised when the plan has changed since the trial run began. `differences` lists the changes."""

    def __init__(self, folder: RunFolder, differences: Sequence[str]) -> None:
        shown = list(differences[:_MOST_TOLD])
        if len(differences) > _MOST_TOLD:
            shown.append(f"… and {len(differences) - _MOST_TOLD} more")
        lines = "\n".join(f"  {change}" for change in shown)
        super().__init__(
            f"{folder.root} was started with other settings:\n{lines}\n"
            "Change it back to continue, or start a new run with --anew"
        )
        self.differences = tuple(differences)


def make_lock(plan: Plan, tasks: Sequence[Task], run: str) -> dict[str, Any]:
    """Return the object of `lock.json` for a new trial run."""
    design = make_design(plan, tasks)
    return {
        "callgauge_trial": 1,
        "run": run,
        "name": plan.name,
        "question": plan.question,
        "created_at": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "versions": {"callgauge": __version__, "parser": PARSER_VERSION},
        "measure": {**structs.asdict(plan.measure), "reference": plan.reference.name},
        "budget": structs.asdict(plan.budget),
        "run_plan": asdict(plan.run),
        "arms": [asdict(arm) for arm in plan.arms],
        "models": {
            name: {
                "endpoint": model.endpoint,
                "model": model.model,
                "sampling": dict(model.sampling),
                "body": dict(model.body),
                "capabilities": model.capabilities.to_log(),
            }
            for name, model in plan.models.items()
        },
        "tasks": order_tasks([task.id for task in tasks], plan.run.seed),
        "groups": dict(design.groups),
        "look_at": list(design.look_at),
        "boundaries": list(planned_boundaries(design)),
        "hashes": _hash_parts(plan, tasks),
        "definitions": {name: [tool.name for tool in catalog] for name, catalog in plan.definitions.items()},
        "prices": {name: structs.asdict(model.price) for name, model in plan.models.items() if model.price},
        "endpoints": {
            name: {"wire": endpoint.wire, "server": endpoint.server, "url": hide_credentials(endpoint.url)}
            for name, endpoint in plan.endpoints.items()
        },
        "tools": {name: asdict(source) for name, source in plan.tools.items()},
        "servers": {
            name: {**asdict(server), "url": server.url and hide_credentials(server.url)}
            for name, server in plan.servers.items()
        },
    }


def write_lock(lock: Mapping[str, Any]) -> bytes:
    """Return the content of `lock.json`."""
    return orjson.dumps(lock, default=str, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def find_differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each difference between the stored plan and the current plan."""
    old, new = dict(_flatten(before)), dict(_flatten(orjson.loads(write_lock(now))))
    differences = []
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) != new.get(name) and not _is_below(name, _FREE):
            what = (
                _HASHED.get(name.partition(".")[2].partition(".")[0]) if name.startswith("hashes.") else None
            )
            if what is not None:
                differences.append(f"{what}{_name_part(name)} changed")
            elif not _is_below(name, _DERIVED):
                differences.append(f"{name}: {_show(old.get(name))} → {_show(new.get(name))}")
    return differences


def _is_below(name: str, tops: tuple[str, ...]) -> bool:
    return any(name == top or name.startswith(f"{top}.") for top in tops)


def _name_part(name: str) -> str:
    part = name.partition(".")[2].partition(".")[2]
    return f" {part}" if part else ""


def _show(value: Any) -> str:
    text = "nothing" if value is None else orjson.dumps(value).decode()
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _flatten(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each leaf of a nested object with its path. In a list of named items, the path contains the
    item's `name`.
    """
    for name, item in value.items():
        path = f"{prefix}{name}"
        is_named = isinstance(item, list) and all(
            isinstance(member, dict) and "name" in member for member in item
        )
        parts = {str(member["name"]): member for member in item} if is_named else item
        if isinstance(parts, Mapping) and parts:
            yield from _flatten(parts, f"{path}.")
        elif item not in ({}, []):
            yield path, item


def _hash_parts(plan: Plan, tasks: Sequence[Task]) -> dict[str, Any]:
    return {
        "plan": _hash(plan.text),
        "tasks": _hash([asdict(task) for task in tasks]),
        "prompts": {name: _hash(asdict(prompt)) for name, prompt in plan.prompts.items()},
        "definitions": {
            name: _hash([tool.to_anthropic() for tool in catalog])
            for name, catalog in plan.definitions.items()
        },
    }


def _hash(value: Any) -> str:
    options = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS
    return hashlib.sha256(orjson.dumps(value, default=_to_plain, option=options)).hexdigest()[:16]


def _to_plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)


@dataclass(frozen=True, slots=True)
class TaskBlock:
    """One task with the trials of all variants, in the order in which the trials begin.

    `trials` holds pairs of a variant's name and the number of the repeat, from 0.
    """

    number: int
    task: str
    trials: tuple[tuple[str, int], ...]


def order_tasks(ids: Sequence[str], seed: int) -> list[str]:
    """Return the task ids in a seeded random order, which does not depend on the given order."""
    ordered = sorted(ids)
    random.Random(f"tasks {seed}").shuffle(ordered)  # noqa: S311 no secret
    return ordered


def make_blocks(plan: Plan, ordered: Sequence[str]) -> Iterator[TaskBlock]:
    """Yield a block for each task, numbered from 1. The order of the block's trials depends on the seed and
    the task.
    """
    for number, task in enumerate(ordered, 1):
        trials = [(arm.name, repeat) for repeat in range(plan.run.repeats) for arm in plan.arms]
        random.Random(f"{plan.run.seed} {task}").shuffle(trials)  # noqa: S311 no secret
        yield TaskBlock(number, task, tuple(trials))

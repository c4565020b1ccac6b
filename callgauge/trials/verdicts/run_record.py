"""Reads the files of a trial run for its report, and counts the unusable lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, get_args

from callgauge.stats.task_pairs import ENDS
from callgauge.trials.planning.plan import Budget
from callgauge.trials.results.run_folder import (
    ArmLook,
    Decision,
    FolderError,
    RunFolder,
    TrialOutcome,
    read_ledger,
    read_lock,
    read_looks,
)
from callgauge.trials.verdicts.looks import TrialDesign, look
from callgauge.trials.verdicts.measures import MEASURES

_BUDGET = ("cost", "tokens", "minutes")
_COUNTS = ("repeat", "calls", "refused", "misses")
_NAMED = 3  # An error message names at most this many runs within a folder, the newest first.
_AMOUNTS = ("input_tokens", "output_tokens", "cached_tokens", "cost")


@dataclass(frozen=True, slots=True)
class RunRecord:
    """The data in the folder of a trial run. `lock` is the object in `lock.json`.

    `looks` holds the stored interim analyses, and the analyses that were due but not stored. `unread` counts
    lines of ledger.jsonl that are not outcomes. `repeated` counts lines that a later line for the same trial
    replaces.
    """

    lock: Mapping[str, Any]
    design: TrialDesign
    tasks: tuple[str, ...]
    repeats: int
    budget: Budget
    outcomes: tuple[TrialOutcome, ...]
    looks: tuple[ArmLook, ...]
    unread: int = 0
    repeated: int = 0

    @property
    def is_over(self) -> bool:
        """True when every variant has ended, or the last analysis is done."""
        return not open_arms(self.design, self.looks) or any(
            arm_look.look >= len(self.design.look_at) for arm_look in self.looks
        )


def read_run(root: Path) -> RunRecord:
    """Return the trial run in a folder. Raises FolderError."""
    folder = RunFolder(root)
    lock = _read_lock(folder)
    try:
        design, tasks = _read_design(lock), tuple(map(str, lock["tasks"]))
        repeats = max(1, int(lock["run_plan"]["repeats"]))
        budget = Budget(**{name: _read_number(lock.get("budget"), name) for name in _BUDGET})
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FolderError(
            f"{folder.lock} is not the lock of a run ({type(error).__name__}: {error}): it was changed, or "
            "another version of Callgauge wrote it"
        ) from None
    try:
        ledger = read_ledger(folder.ledger)
        lines = _count_lines(folder.ledger)
        looks = tuple(arm_look for arm_look in read_looks(folder.looks) if _is_sound_look(arm_look, design))
    except OSError as error:
        raise FolderError(f"{error.filename} cannot be read: {error.strerror}") from None
    task_ids = set(tasks)
    sound = [
        outcome
        for outcome in ledger
        if _is_sound(outcome) and outcome.arm in design.arms and outcome.task in task_ids
    ]
    newest = {(outcome.arm, outcome.task, outcome.repeat): outcome for outcome in sound}
    outcomes = tuple(newest.values())
    all_looks = (*looks, *_make_due_looks(design, tasks, repeats, outcomes, looks))
    return RunRecord(
        lock,
        design,
        tasks,
        repeats,
        budget,
        outcomes,
        all_looks,
        lines - len(sound),
        len(sound) - len(outcomes),
    )


def open_arms(design: TrialDesign, looks: Iterable[ArmLook]) -> list[str]:
    """Return the variants that no analysis has ended, excluding the reference."""
    ended = {arm_look.arm for arm_look in looks if arm_look.decision in ENDS}
    return [arm for arm in design.others if arm not in ended]


def count_whole_tasks(
    tasks: Iterable[str], repeats: int, arms: Sequence[str], outcomes: Iterable[TrialOutcome]
) -> int:
    """Return the number of tasks for which all trials of these variants have ended."""
    done = {(outcome.arm, outcome.task, outcome.repeat) for outcome in outcomes}
    return sum(
        all((arm, task, repeat) in done for arm in arms for repeat in range(repeats)) for task in tasks
    )


def _make_due_looks(
    design: TrialDesign,
    tasks: Sequence[str],
    repeats: int,
    outcomes: Sequence[TrialOutcome],
    made: Sequence[ArmLook],
) -> list[ArmLook]:
    """Return the analyses that are due but not stored, for example because the process was killed."""
    due: list[ArmLook] = []
    latest = max((arm_look.look for arm_look in made), default=0)
    for number, until in enumerate(design.look_at, 1):
        if number <= latest:
            continue
        still = open_arms(design, [*made, *due])
        reached = set(tasks[:until])
        ended = [outcome for outcome in outcomes if outcome.task in reached]
        if not still or count_whole_tasks(reached, repeats, [design.reference, *still], ended) < len(reached):
            break
        due += look(design, ended, number, [*made, *due])
    return due


def _read_lock(folder: RunFolder) -> Mapping[str, Any]:
    if not folder.root.is_dir():
        raise FolderError(f"{folder.root} is not a folder; name the folder of a trial run, such as runs/NAME")
    lock = read_lock(folder)
    if lock is None:
        runs = [path.parent for path in folder.root.glob("*/lock.json")]
        runs.sort(key=lambda run: run.stat().st_mtime, reverse=True)
        within = f"; within it are {', '.join(map(str, runs[:_NAMED]))}" if runs else ""
        raise FolderError(
            f"{folder.root} is not the folder of a run: it has no lock.json. Give the folder that `callgauge "
            f"trial run` names, such as runs/NAME{within}"
        )
    return lock


def _read_design(lock: Mapping[str, Any]) -> TrialDesign:
    measure, arms = lock["measure"], tuple(str(arm["name"]) for arm in lock["arms"])
    reference = measure.get("reference") or arms[0]
    if reference not in arms:
        raise ValueError(f"the reference {reference!r} is not a variant")
    return TrialDesign(
        MEASURES[measure["primary"]].name,
        float(measure["smallest"]),
        reference,
        arms,
        len(lock["tasks"]),
        tuple(int(each) for each in lock["look_at"]),
        float(measure["alpha"]),
        tuple(MEASURES[name].name for name in measure.get("secondary") or ()),
        {str(task): str(group) for task, group in (lock.get("groups") or {}).items() if group is not None},
    )


def _read_number(budget: Any, name: str) -> Any:
    value = (budget or {}).get(name)
    return None if value is None else float(value)


def _count_lines(path: Path) -> int:
    try:
        return sum(bool(line.strip()) for line in path.read_bytes().splitlines())
    except FileNotFoundError:
        return 0


def _is_sound(outcome: TrialOutcome) -> bool:
    mended = 0 if outcome.mended is None else outcome.mended
    counts = [mended, *(getattr(outcome, name) for name in _COUNTS)]
    amounts = [value for name in _AMOUNTS if (value := getattr(outcome, name)) is not None]
    return (
        all(isinstance(getattr(outcome, name), str) for name in ("arm", "task", "status"))
        and all(type(count) is int and count >= 0 for count in counts)
        and max(outcome.refused, mended) <= outcome.calls
        and all(type(amount) in (int, float) and isfinite(amount) for amount in amounts)
        and (outcome.right is None or type(outcome.right) is bool)
    )


def _is_sound_look(arm_look: ArmLook, design: TrialDesign) -> bool:
    numbers = [
        value
        for name in ("estimate", "low", "high", "statistic", "boundary")
        if (value := getattr(arm_look, name)) is not None
    ]
    return (
        arm_look.arm in design.others
        and all(type(count) is int and count >= 0 for count in (arm_look.look, arm_look.tasks))
        and arm_look.decision in get_args(Decision)
        and all(type(value) in (int, float) and isfinite(value) for value in numbers)
    )

"""Makes folders of trial runs whose outcomes are known, as `trial run` writes them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from callgauge.stats.task_pairs import ENDS
from callgauge.trials.results.run_folder import ArmLook, RunFolder, TrialOutcome
from callgauge.trials.verdicts.looks import TrialDesign, look, plan_looks

Outcome = Callable[[str, int, int], TrialOutcome]  # (variant, position of the task, repeat) → outcome
_SETTINGS = {
    "model": "m", "prompt": "p", "definitions": "d", "strategy": "auto", "compensations": 1, "policy": "safe",
    "adds_template": True,
}  # fmt: skip


@dataclass(frozen=True)
class MadeRun:
    """The definition of a trial run: the variants with their settings, and the outcome of each trial."""

    outcome: Outcome
    arms: dict[str, dict[str, Any]] = field(
        default_factory=lambda: {"old": {"definitions": "old"}, "new": {"definitions": "new"}}
    )
    tasks: int = 40
    repeats: int = 1
    looks: int = 4
    primary: str = "refused"
    smallest: float = 0.05
    secondary: tuple[str, ...] = ()
    budget: dict[str, float | None] = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        return [f"t{place}" for place in range(self.tasks)]

    def design(self) -> TrialDesign:
        return TrialDesign(
            self.primary,  # type: ignore[arg-type]
            self.smallest,
            next(iter(self.arms)),
            tuple(self.arms),
            self.tasks,
            plan_looks(self.tasks, self.looks),
            groups=self.groups,
        )

    def lock(self) -> dict[str, Any]:
        return {
            "callgauge_trial": 1,
            "run": "made.1a2b",
            "name": "made",
            "question": "Is new better than old?",
            "created_at": "2026-11-24T18:00:00Z",
            "versions": {"callgauge": "1", "parser": 1},
            "measure": {
                "primary": self.primary,
                "smallest": self.smallest,
                "reference": next(iter(self.arms)),
                "looks": self.looks,
                "alpha": 0.05,
                "secondary": list(self.secondary),
                "expected_rate": None,
            },
            "budget": {"cost": None, "tokens": None, "minutes": None, **self.budget},
            "run_plan": {"repeats": self.repeats, "seed": 7, "max_steps": 8},
            "arms": [{"name": name, **_SETTINGS, **settings} for name, settings in self.arms.items()],
            "tasks": self.names,
            "groups": self.groups,
            "look_at": list(plan_looks(self.tasks, self.looks)),
            "endpoints": {"local": {"wire": "openai-chat", "server": "llama.cpp"}},
        }

    def outcomes(self, arms: Iterable[str], first: int, until: int) -> list[TrialOutcome]:
        return [
            self.outcome(arm, place, repeat)
            for place in range(first, until)
            for arm in arms
            for repeat in range(self.repeats)
        ]

    def run(self, until: int | None = None) -> tuple[list[TrialOutcome], list[ArmLook]]:
        """Return the outcomes and the interim analyses of a trial run that stopped after `until` tasks."""
        design, outcomes, looks, first = self.design(), list[TrialOutcome](), list[ArmLook](), 0
        for number, at in enumerate(design.look_at, 1):
            ended = {arm_look.arm for arm_look in looks if arm_look.decision in ENDS}
            arms = [arm for arm in design.arms if arm not in ended]
            if len(arms) == 1:
                break
            stop = at if until is None else min(at, until)
            outcomes += self.outcomes(arms, first, stop)
            if stop < at:
                break
            looks += look(design, outcomes, number, looks, at="2026-11-24T18:30:00Z")
            first = at
        return outcomes, looks

    def write(self, root: Path, until: int | None = None) -> Path:
        outcomes, looks = self.run(until)
        return write_folder(root, self.lock(), outcomes, looks)


def write_folder(root: Path, lock: Any, outcomes: Sequence[TrialOutcome], looks: Sequence[ArmLook]) -> Path:
    folder = RunFolder(root)
    root.mkdir(parents=True, exist_ok=True)
    folder.lock.write_text(json.dumps(lock))
    folder.ledger.write_text("".join(json.dumps(asdict(outcome)) + "\n" for outcome in outcomes))
    folder.looks.write_text("".join(json.dumps(asdict(arm_look)) + "\n" for arm_look in looks))
    return root


def refuse(often: dict[str, int], calls: int = 2, **rest: Any) -> Outcome:
    """Return an outcome function. `often` maps each variant to a number n. In every n-th task, the variant's
    first tool call fails. 0 means never.
    """

    def outcome(arm: str, place: int, repeat: int) -> TrialOutcome:
        every = often[arm]
        # Different tasks fail for different variants, even if the rates are equal.
        start = list(often).index(arm)
        refused = int(bool(every) and (place + start) % every == 0)
        fields = {"input_tokens": 100, "output_tokens": 10, "cost": 0.001, "right": not refused, **rest}
        return TrialOutcome(arm, f"t{place}", repeat, "ok", calls=calls, refused=refused, **fields)

    return outcome

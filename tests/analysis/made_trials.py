"""Generates trial runs, both as rows of the store and as records in a folder."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from callgauge.trials.results.run_folder import ArmLook, TrialOutcome
from callgauge.trials.verdicts.looks import TrialDesign, look, plan_looks, planned_boundaries
from tests.analysis.store_fixture import Rows, a_call, a_turn

AT = "2026-11-20T10:00:00"
REFUSED = {"outcome": "failed", "fault_layer": "schema", "arguments": None}
MENDED = {"outcome": "coerced"}


@dataclass(frozen=True)
class MadeArm:
    """A variant: the probability of a rejected call, the probability of a missing reply, and the cost of a
    trial in USD.
    """

    name: str
    refused: float
    no_reply: float = 0.0
    cost: float | None = 0.002
    model: str = "falcon-3"
    mended: float = 0.1
    definitions: str = "old"


@dataclass
class MadeRun:
    """A trial run: the rows of each table of the store, the trials' records, and the interim analyses."""

    design: TrialDesign
    tables: dict[str, list[dict[str, Any]]]
    outcomes: list[TrialOutcome] = field(default_factory=list)
    looks: list[ArmLook] = field(default_factory=list)


def make_run(
    arms: Sequence[MadeArm],
    *,
    run: str = "orders.7f3a",
    question: str = "Do enums lower its refusals?",
    tasks: int = 60,
    done: int | None = None,
    repeats: int = 1,
    seed: int = 7,
    groups: Mapping[str, str] | None = None,
    **fields: Any,
) -> MadeRun:
    """Return a trial run whose rates are known.

    `done` is the number of completed tasks. The interim analyses are calculated as in a real trial run.
    `fields` replaces columns of `trial_runs`.
    """
    chance = random.Random(seed)
    names = [f"task-{number:03}" for number in range(tasks)]
    reference = fields.get("reference", arms[0].name)
    design = TrialDesign(
        fields.get("primary_measure", "refused"),
        fields.get("smallest", 0.05),
        reference,
        tuple(arm.name for arm in arms),
        tasks,
        plan_looks(tasks, fields.get("looks", 5)),
        0.05,
        (),
        groups or {},
    )
    made = MadeRun(design, {"sessions": [], "turns": [], "tool_calls": [], "diagnostics": []})
    for number, task in enumerate(names[: tasks if done is None else done], 1):
        hard = chance.random() * 2
        for arm in arms:
            for repeat in range(repeats):
                _add_trial(made, chance, run, arm, task, repeat, min(1.0, arm.refused * hard))
        if number in design.look_at:
            made.looks += look(design, made.outcomes, design.look_at.index(number) + 1, made.looks, at=AT)
    made.tables["trial_runs"] = [_plan_row(design, run, question, arms, names, repeats, seed) | fields]
    made.tables["trial_looks"] = [_look_row(run, look) for look in made.looks]
    return made


def _add_trial(
    made: MadeRun, chance: random.Random, run: str, arm: MadeArm, task: str, repeat: int, refused: float
) -> None:
    session = f"{run}/{arm.name}/{task}.{repeat}"
    is_lost = chance.random() < arm.no_reply
    faults = [] if is_lost else [chance.random() < refused for _ in range(chance.choice((1, 1, 2, 3)))]
    mends = [not fault and chance.random() < arm.mended for fault in faults]
    right = None if is_lost else not any(faults) and chance.random() < 0.9
    mine = {"trial_run": run, "arm": arm.name, "session_id": session, "model": arm.model}
    turn = {"turn_id": f"{session}:1", "file_id": 1}
    made.tables["sessions"].append(
        {key: value for key, value in mine.items() if key != "model"}
        | {"file_id": 1, "source": "session_history", "run": run, "task": task, "repeat_no": str(repeat)}
        | {"started_at": AT, "day": AT[:10], "duplicate": False, "harness": "callgauge-gateway"}
        | {"sampling": '{"temperature": 0.7}'}
    )
    made.tables["turns"].append(
        a_turn(
            1,
            **mine,
            **turn,
            ended_at=AT,
            recorded_status="error" if is_lost else "ok",
            recorded_ok=False if is_lost else right,
            verdict_reason=None if is_lost else "as expected" if right else "no call of search_orders",
            answer_text="(no reply) gone" if is_lost else "Done.",
            input_tokens=None if is_lost else 100 + 10 * len(faults),
            output_tokens=None if is_lost else 20,
            cost=None if is_lost else arm.cost,
            calls=len(faults),
        )
    )
    for step, (fault, mend) in enumerate(zip(faults, mends, strict=True)):
        text = REFUSED if fault else MENDED if mend else {}
        call = a_call(
            step,
            call_id=f"{session}:{step}",
            tool=("search_orders", "refund")[step % 2],
            **mine,
            **turn,
            **text,
        )
        made.tables["tool_calls"].append(call)
        if fault or mend:
            code = "required_parameter_missing" if fault else "string_literal_converted_to_integer"
            severity = "error" if fault else "warning"
            made.tables["diagnostics"].append(
                {"call_id": call["call_id"], "file_id": 1, "position": 0, "code": code, "severity": severity}
                | {"stage": "schema", "lossy": False, "path": "$.customer" if fault else "$.limit"}
            )
    made.outcomes.append(
        TrialOutcome(
            arm.name, task, repeat, "no_reply" if is_lost else "ok", len(faults), sum(faults), sum(mends), 0,
            right, None, None if is_lost else 100 + 10 * len(faults), None if is_lost else 20, None,
            None if is_lost else arm.cost,
        )
    )  # fmt: skip


def _plan_row(
    design: TrialDesign,
    run: str,
    question: str,
    arms: Sequence[MadeArm],
    tasks: Sequence[str],
    repeats: int,
    seed: int,
) -> dict[str, Any]:
    return {
        "run": run,
        "name": run.partition(".")[0],
        "question": question,
        "created_at": AT,
        "primary_measure": design.primary,
        "smallest": design.smallest,
        "alpha": design.alpha,
        "reference": design.reference,
        "looks": len(design.look_at),
        "secondary": [],
        "tasks": len(tasks),
        "repeats": repeats,
        "seed": seed,
        "max_steps": 6,
        "look_at": list(design.look_at),
        "boundaries": list(planned_boundaries(design)),
        "budget_cost": 5.0,
        "arms": [
            {"name": arm.name, "model": arm.model, "prompt": "agent", "definitions": arm.definitions}
            for arm in arms
        ],
        "task_order": list(tasks),
        "task_groups": dict(design.groups),
        "endpoints": {"local": {"wire": "openai-chat", "server": "llama.cpp"}},
        "versions": {"callgauge": "1.0"},
        "duplicate": False,
    }


def _look_row(run: str, look: ArmLook) -> dict[str, Any]:
    row = asdict(look)
    return {key: row[key] for key in row if key != "at"} | {"run": run, "taken_at": AT, "duplicate": False}


def join_tables(*several: Mapping[str, Rows]) -> dict[str, Rows]:
    names = dict.fromkeys(name for tables in several for name in tables)
    return {name: [row for tables in several for row in tables.get(name, ())] for name in names}

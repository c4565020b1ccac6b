"""Runs one trial: a conversation in which one variant works on one task."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from callgauge.gateway import Endpoint, Executor, Gateway, Limits, Probe, Prompt, Trouble, Turn
from callgauge.trials.planning.plan import Plan, TrialArm
from callgauge.trials.planning.safe_names import make_file_stem
from callgauge.trials.planning.task import Task
from callgauge.trials.results.checks import Verdict, check_turn
from callgauge.trials.results.outcomes import lacks_reply, outcome_of, price_of, price_reply
from callgauge.trials.results.run_folder import RunFolder, TrialOutcome
from callgauge.trials.running.trial_log import LogPrivacy, TrialLog
from callgauge.trials.running.trial_tools import open_tools

_CHECKED_BY = "callgauge-trial"
# After one of these HTTP errors every other trial of the variant would fail, too.
_STOPPING = frozenset((401, 403, 404))


@dataclass(frozen=True, slots=True)
class ArmTrial:
    """One trial of a trial run, with all data that the trial needs."""

    plan: Plan
    arm: TrialArm
    task: Task
    repeat: int
    run: str
    folder: RunFolder

    @property
    def key(self) -> tuple[str, str, int]:
        """The key of the trial, unique within a trial run: variant, task, number of the repeat."""
        return (self.arm.name, self.task.id, self.repeat)

    @property
    def path(self) -> Path:
        """The path of this trial's session log."""
        return session_path(self.folder, *self.key)


def session_path(folder: RunFolder, arm: str, task: str, repeat: int) -> Path:
    """Return the path of a trial's session log."""
    return folder.sessions / arm / f"{make_file_stem(task)}.{repeat}.jsonl"


class ArmStoppedError(Exception):
    """Raised when all trials of a variant would fail, because an API key, model name or URL is invalid."""


async def run_one(
    trial: ArmTrial, endpoint: Endpoint, probe: Probe | None, privacy: LogPrivacy
) -> tuple[TrialOutcome, TrialLog]:
    """Run one trial. Return the outcome and the unwritten log.

    Raises ArmStoppedError, and errors from opening the tools.
    """
    plan, arm, task = trial.plan, trial.arm, trial.task
    model, prompt = plan.models[arm.model], plan.prompts.get(arm.prompt or "")
    session_id = f"{trial.run}.{arm.name}.{make_file_stem(task.id)}.{trial.repeat}"
    log = TrialLog(trial.path, session_id, privacy)
    verdict = Verdict(None)

    async def judge(turn: Turn) -> Mapping[str, Any]:
        nonlocal verdict
        verdict = await _check(trial, turn)
        fields = {"ok": verdict.ok, "by": _CHECKED_BY, "why": verdict.why}
        return {
            "verdict": None if verdict.ok is None else {k: v for k, v in fields.items() if v is not None},
            "cost": price_of(turn, model.price),
        }

    started = time.monotonic()
    async with open_tools(plan, arm, task) as toolbox:
        gateway = Gateway(
            endpoint,
            Executor(toolbox, timeout=plan.run.timeout),
            model=model.model,
            prompt=Prompt(prompt.text, prompt.name, prompt.version) if prompt else _own_prompt(task),
            capabilities=model.capabilities,
            probe=probe,
            strategy=arm.strategy,
            limits=Limits(plan.run.max_steps, arm.compensations),
            sampling=model.sampling,
            extra_body=model.body,
            adds_template=arm.adds_template,
            log=log,
            session_id=session_id,
            meta={
                "task": task.id,
                "definitions": arm.definitions,
                "trial": {"run": trial.run, "arm": arm.name, "repeat": trial.repeat},
            },
            price=lambda tokens: price_reply(tokens, model.price),
            judge=judge,
        )
        async with gateway:
            gateway.history += [message for message in task.messages if message.role != "system"]
            turn = await gateway.run(None)
    if (sentence := _find_stop(trial, turn)) is not None:
        raise ArmStoppedError(sentence)
    outcome = outcome_of(
        turn,
        arm=arm.name,
        task=task.id,
        repeat=trial.repeat,
        price=model.price,
        right=verdict.ok,
        why=None if verdict.why is None else privacy.clean_text(verdict.why),
        milliseconds=round((time.monotonic() - started) * 1000, 1),
        ended_at=datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        knows_writer=gateway.known.whose_text != "unknown",
    )
    return outcome, log


async def _check(trial: ArmTrial, turn: Turn) -> Verdict:
    """Return the verdict of the task's checks. Wait in a thread for checks in a separate process."""
    task, folder = trial.task, trial.plan.path.parent
    if task.expect is None or lacks_reply(turn):
        return Verdict(None)
    if task.expect.check is None and task.expect.answer_matches is None:
        return check_turn(task, turn, folder=folder)
    return await asyncio.to_thread(check_turn, task, turn, folder=folder)


def _own_prompt(task: Task) -> str:
    """Return the task's own system messages, which are used when the variant has no prompt."""
    return "\n\n".join(message.text for message in task.messages if message.role == "system")


def _find_stop(trial: ArmTrial, turn: Turn) -> str | None:
    """Return a sentence on why all further trials of this variant would fail, or None if they may work."""
    failure = turn.failure
    if failure is None:
        return None
    if failure.trouble is Trouble.NO_TOOLS:
        return f"{failure} (strategy = {trial.arm.strategy!r}; json_fallback asks without native tools)"
    if failure.trouble is Trouble.REQUEST and failure.status in _STOPPING:
        name = trial.plan.models[trial.arm.model].endpoint
        variable = trial.plan.endpoints[name].key_variable
        hint = f"; the key is read from {variable}" if variable and failure.status != 404 else ""
        return f"{failure} (endpoint {name}, model {trial.plan.models[trial.arm.model].model}{hint})"
    return None

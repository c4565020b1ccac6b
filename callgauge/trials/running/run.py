"""Runs the trials of a plan until there is a verdict. Continues a stopped trial run."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import orjson

from callgauge.gateway import Endpoint, Probe
from callgauge.stats.task_pairs import ENDS
from callgauge.trials.planning.plan import EndpointPlan, Plan, TrialArm
from callgauge.trials.planning.task import Task
from callgauge.trials.results.run_folder import (
    NO_REPLY,
    ArmLook,
    FolderError,
    RunFolder,
    TrialOutcome,
    read_ledger,
    read_lock,
    read_looks,
    write_line,
)
from callgauge.trials.running.folder_holder import hold_folder
from callgauge.trials.running.request_rates import Clock, EndpointRates
from callgauge.trials.running.run_files import (
    PART,
    OnWrite,
    RunError,
    RunFiles,
    ignore_write,
    secrets_of,
)
from callgauge.trials.running.run_lock import (
    RunChangedError,
    TaskBlock,
    find_differences,
    make_blocks,
    make_lock,
    write_lock,
)
from callgauge.trials.running.spending import (
    REPLY_TOKENS,
    Amount,
    Spending,
    TrialAccount,
    TrialMeter,
    worst_amount,
)
from callgauge.trials.running.trial import ArmStoppedError, ArmTrial, run_one, session_path
from callgauge.trials.running.trial_log import (
    LogPrivacy,
    NoPrivacy,
    ask_probe,
    read_probes,
    read_saved_outcome,
    save_probe,
)
from callgauge.trials.running.trial_tools import add_listed_definitions, check_functions, list_definitions
from callgauge.trials.verdicts.looks import TrialDesign, look, make_design
from callgauge.trials.verdicts.report_text import report_run

EndReason = Literal["done", "limit", "budget", "endpoint", "disk", "interrupted", "nothing"]
_CODES: Mapping[EndReason, int] = {"done": 0, "nothing": 1, "interrupted": 130}
_STOPPED = 3
_MOST_SILENT = 5  # After this many trials in a row without a reply, the variant stops.


@dataclass(frozen=True, slots=True)
class RunProgress:
    """The progress of a trial run.

    `seconds_left` is None at the beginning. `message` has one line.
    """

    trials: int
    planned_trials: int
    tasks: int
    planned_tasks: int
    spent: Amount
    seconds: float
    seconds_left: float | None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class RunEnd:
    """The end of a trial run.

    `sentence` is the reason. `stopped_arms` maps each stopped variant to a reason.
    """

    reason: EndReason
    sentence: str
    folder: RunFolder
    run: str
    outcomes: tuple[TrialOutcome, ...]
    looks: tuple[ArmLook, ...]
    stopped_arms: Mapping[str, str]
    spent: Amount
    seconds: float

    @property
    def code(self) -> int:
        """The exit code of `callgauge trial run`."""
        return _CODES.get(self.reason, _STOPPED)


OnProgress = Callable[[RunProgress], None]
OpenEndpoint = Callable[[EndpointPlan], Endpoint]


def open_endpoint(plan: EndpointPlan) -> Endpoint:
    """Return the endpoint of a plan, with the API key from the environment. Raises RunError."""
    key = "" if plan.key_variable is None else os.environ.get(plan.key_variable)
    if key is None:
        raise RunError(
            f"endpoints.{plan.name}.key names {plan.key_variable}, and the environment has no such variable; "
            f"export {plan.key_variable}=… and run again"
        )
    try:
        return Endpoint(
            plan.url,
            wire=plan.wire,
            key=key,
            server=plan.server,
            streams=plan.stream,
            concurrency=plan.concurrency,
        )
    except ValueError as problem:
        raise RunError(f"endpoints.{plan.name}: {problem}") from None


async def run_trial(
    plan: Plan,
    tasks: Sequence[Task],
    folder: Path,
    *,
    limit: int | None = None,
    stop: Callable[[], bool] = lambda: False,
    on_progress: OnProgress = lambda _now: None,
    on_write: OnWrite = ignore_write,
    privacy: LogPrivacy | None = None,
    clock: Clock | None = None,
    opened: OpenEndpoint = open_endpoint,
) -> RunEnd:
    """Run the unfinished trials of a plan. Return how the trial run ended.

    `limit` is the maximum number of tasks in this process. `stop` is called before each trial. After `stop`
    has returned True, no further trial begins. Raises RunError, RunChangedError and FolderError only before
    the first request. Later problems are in the result.
    """
    with hold_folder(folder):
        plan = await add_listed_definitions(plan)
        run = _RunUnderWay(plan, tasks, RunFolder(folder), clock or Clock(), privacy or NoPrivacy(), on_write)
        run.limit, run.stop, run.on_progress = limit, stop, on_progress
        return await run.run(opened)


async def probe_models(plan: Plan, *, is_full: bool) -> dict[str, Probe]:
    """Probe all models of a plan. Return the results by the model's name in the plan. Raises RunError."""
    endpoints = {name: open_endpoint(endpoint) for name, endpoint in plan.endpoints.items()}
    async with AsyncExitStack() as stack:
        for endpoint in endpoints.values():
            await stack.enter_async_context(endpoint)
        return {
            name: await ask_probe(plan, name, endpoints[model.endpoint], is_full=is_full)
            for name, model in plan.models.items()
        }


@dataclass(slots=True)
class _RunUnderWay:
    """A trial run in progress: its files, the finished trials, and the remaining trials."""

    plan: Plan
    tasks: Sequence[Task]
    folder: RunFolder
    clock: Clock
    privacy: LogPrivacy
    on_write: OnWrite
    limit: int | None = None
    stop: Callable[[], bool] = lambda: False
    on_progress: OnProgress = lambda _now: None
    name: str = ""
    ordered: tuple[str, ...] = ()
    outcomes: dict[tuple[str, str, int], TrialOutcome] = field(default_factory=dict)
    looks: list[ArmLook] = field(default_factory=list)
    stopped_arms: dict[str, str] = field(default_factory=dict)
    probes: dict[str, Probe] = field(default_factory=dict)
    endpoints: dict[str, Endpoint] = field(default_factory=dict)
    rates: dict[str, EndpointRates] = field(default_factory=dict)
    files: RunFiles = field(init=False)
    spending: Spending = field(init=False)
    design: TrialDesign = field(init=False)
    trouble: Exception | None = None
    _by_id: dict[str, Task] = field(init=False)
    _arms: dict[str, TrialArm] = field(init=False)
    _under_way: set[asyncio.Task[None]] = field(default_factory=set)
    _room: dict[str, asyncio.Semaphore] = field(default_factory=dict)
    # The number of trials in a row without a reply, by variant.
    _silent: Counter[str] = field(default_factory=Counter)
    _done: Counter[str] = field(default_factory=Counter)  # The number of finished trials, by variant.
    _asked_now: int = 0

    def __post_init__(self) -> None:
        self.files = RunFiles(secrets_of(self.plan.endpoints.values()), self.on_write)
        self.spending = Spending(self.plan.budget, self.files, self.folder.spent, self.clock)
        self.design = make_design(self.plan, self.tasks)
        self._by_id = {task.id: task for task in self.tasks}
        self._arms = {arm.name: arm for arm in self.plan.arms}

    async def run(self, opened: OpenEndpoint) -> RunEnd:
        self._check(opened)
        self._open_folder()
        async with AsyncExitStack() as stack:
            for endpoint in self.endpoints.values():
                await stack.enter_async_context(endpoint)
            try:
                reason, sentence = await self._ask_all()
            except FolderError as full:
                reason, sentence = "disk", str(full)
            finally:
                await self._end_trials()
        if self.outcomes:
            # If this fails, `trial report` writes the report later and shows the error.
            with suppress(FolderError, OSError):
                report_run(self.folder.root)
        hide = self.files.secrets.hide
        return RunEnd(
            reason,
            hide(sentence),
            self.folder,
            self.name,
            tuple(self.outcomes.values()),
            tuple(self.looks),
            {arm: hide(reason) for arm, reason in self.stopped_arms.items()},
            self.spending.spent,
            self.spending.seconds,
        )

    # --- the folder ---------------------------------------------------------------------------------

    def _check(self, opened: OpenEndpoint) -> None:
        if not self.tasks:
            raise RunError(f"{self.plan.tasks_path} has no task")
        check_functions(self.plan)
        self.endpoints = {name: opened(endpoint) for name, endpoint in self.plan.endpoints.items()}
        for name, endpoint in self.plan.endpoints.items():
            self.rates[name] = EndpointRates(
                endpoint.requests_per_minute, endpoint.tokens_per_minute, self.clock
            )
            self._room[name] = asyncio.Semaphore(endpoint.concurrency)

    def _open_folder(self) -> None:
        """Start the trial run, or read the state of an earlier process.

        Raises RunChangedError, FolderError.
        """
        before = read_lock(self.folder)
        lock = make_lock(self.plan, self.tasks, self.folder.root.name if before is None else before["run"])
        if before is not None:
            if differences := find_differences(before, lock):
                raise RunChangedError(self.folder, differences)
            lock = {**before, "budget": lock["budget"], "question": lock["question"]}
        if before is None or orjson.loads(write_lock(lock)) != before:
            self.files.replace(self.folder.plan, self.plan.text.encode())
            self.files.replace(self.folder.lock, write_lock(lock))
        self.name, self.ordered = lock["run"], tuple(lock["tasks"])
        for path in self.folder.root.rglob(f"*{PART}"):
            path.unlink(missing_ok=True)
        self._read_looks()
        self._read_outcomes()
        self.spending.begin()
        self.probes = read_probes(self.folder.probes)

    def _read_looks(self) -> None:
        """Read the earlier interim analyses.

        Ignore analyses that were stored only in part, and a final analysis that withheld a verdict.
        """
        looks = list(read_looks(self.folder.looks))
        last = [arm_look for arm_look in looks if arm_look.look == len(self.design.look_at)]
        if any(arm_look.decision == "withheld" for arm_look in last):
            looks = [arm_look for arm_look in looks if arm_look not in last]
        content = b"".join(map(write_line, looks))
        if self.folder.looks.exists() and self.folder.looks.read_bytes() != content:
            self.files.replace(self.folder.looks, content)
        self.looks = looks

    def _read_outcomes(self) -> None:
        """Read the finished trials from their logs. Trials without a reply are repeated."""
        ledger = {
            (outcome.arm, outcome.task, outcome.repeat): outcome
            for outcome in read_ledger(self.folder.ledger)
        }
        planned = [
            (arm, block.task, repeat)
            for block in make_blocks(self.plan, self.ordered)
            for arm, repeat in block.trials
        ]
        order = {key: place for place, key in enumerate(ledger)}
        for key in sorted(planned, key=lambda key: order.get(key, len(order))):
            path = session_path(self.folder, *key)
            if not path.exists():
                continue
            outcome = ledger.get(key) or read_saved_outcome(path)
            if outcome is None or (outcome.status == NO_REPLY and key[0] in self._active()):
                path.unlink()
            else:
                self.outcomes[key] = outcome
                self._done[key[0]] += 1
        content = b"".join(map(write_line, self.outcomes.values()))
        if not self.folder.ledger.exists() or self.folder.ledger.read_bytes() != content:
            self.files.replace(self.folder.ledger, content)

    # --- the trials ---------------------------------------------------------------------------------

    async def _ask_all(self) -> tuple[EndReason, str]:
        await self._probe()
        begun = 0
        for block in make_blocks(self.plan, self.ordered):
            left = [trial for trial in block.trials if (trial[0], block.task, trial[1]) not in self.outcomes]
            left = [trial for trial in left if trial[0] in self._active()]
            if left:
                end = self._find_end(block, left, begun)
                if end is not None and end[0] == "budget":
                    # These trials may cost less than the amount that was reserved for them.
                    await self._end_trials(cancel=False)
                    end = self._find_end(block, left, begun)
                if end is not None:
                    return end
                begun += 1
                for arm, repeat in left:
                    await self._begin_trial(arm, block.task, repeat)
            if block.number in self.design.look_at:
                await self._look(self.design.look_at.index(block.number) + 1)
        await self._end_trials(cancel=False)
        return self._find_trouble() or self._conclude()

    def _find_end(
        self, block: TaskBlock, left: Sequence[tuple[str, int]], begun: int
    ) -> tuple[EndReason, str] | None:
        """Return why the trial run must end before the next task. Return None if the next task may begin."""
        if (end := self._find_trouble()) is not None:
            return end
        if not self._others():
            return self._conclude()
        if self.limit is not None and begun >= self.limit:
            return "limit", f"--limit {self.limit}: the limit is reached; run again to continue"
        firsts = [self.spending.expected(arm, self._first_request(arm, block.task)) for arm, _ in left]
        if (cap := self.spending.reached_cap(firsts)) is not None:
            done = f"{self._count_tasks()} of {len(self.ordered)} tasks are done"
            return "budget", f"{cap}; {done}. Raise it in the plan and run again to continue"
        return None

    def _find_trouble(self) -> tuple[EndReason, str] | None:
        if isinstance(self.trouble, FolderError):
            return "disk", str(self.trouble)
        if self.trouble is not None:
            raise self.trouble
        if self.stop():
            return "interrupted", "stopped; run again to continue"
        if not self._active():
            return self._conclude()
        return None

    def _conclude(self) -> tuple[EndReason, str]:
        if not self.stopped_arms:
            is_whole = len(self.outcomes) == len(self.ordered) * len(self._arms) * self.plan.run.repeats
            return "done", "all trials are finished" if is_whole else "every variant is decided"
        if all(outcome.status == NO_REPLY for outcome in self.outcomes.values()):
            return "nothing", "no model gave a reply"
        return "endpoint", "not every variant could be completed; run again to continue"

    def _decided(self) -> set[str]:
        return {arm_look.arm for arm_look in self.looks if arm_look.decision in ENDS}

    def _active(self) -> set[str]:
        """Return the variants that still have trials. The reference is included while another variant has
        trials.
        """
        return self._arms.keys() - self._decided() - self.stopped_arms.keys() if self._others() else set()

    def _others(self) -> set[str]:
        """Return the variants without a verdict.

        The reference is included only if there is no other variant.
        """
        others = set(self.design.others) or {self.design.reference}
        return others - self._decided()

    async def _begin_trial(self, arm: str, task: str, repeat: int) -> None:
        endpoint = self.plan.models[self._arms[arm].model].endpoint
        room = self._room[endpoint]
        await room.acquire()
        if self.trouble is not None or self.stop() or arm in self.stopped_arms:
            room.release()
            return
        trial = ArmTrial(self.plan, self._arms[arm], self._by_id[task], repeat, self.name, self.folder)
        account = self.spending.open_trial(arm, self._first_request(arm, task))
        asking = asyncio.create_task(self._run_trial(trial, endpoint, account))
        self._under_way.add(asking)

        def end(ended: asyncio.Task[None]) -> None:
            self._under_way.discard(ended)
            self.spending.close_trial(arm, account)
            room.release()
            if not ended.cancelled() and (problem := ended.exception()) is not None:
                self.trouble = self.trouble or _as_exception(problem)

        asking.add_done_callback(end)

    async def _run_trial(self, trial: ArmTrial, endpoint: str, account: TrialAccount) -> None:
        arm = trial.arm
        price = self.plan.models[arm.model].price
        meter = TrialMeter(self.spending, account, self.rates[endpoint], price)
        shared = self.endpoints[endpoint].share(meter, self.privacy.clean_server_text)
        try:
            outcome, log = await run_one(trial, shared, self.probes.get(arm.model), self.privacy)
            log.save(self.files, outcome)
            self.files.append(self.folder.ledger, write_line(outcome))
        except ArmStoppedError as error:
            self._stop_arm(arm.name, str(error))
            return
        self.outcomes[trial.key] = outcome
        self._done[arm.name] += 1
        self._asked_now += 1
        self._silent[arm.name] = self._silent[arm.name] + 1 if outcome.status == NO_REPLY else 0
        if self._silent[arm.name] >= _MOST_SILENT:
            self._stop_arm(arm.name, f"{_MOST_SILENT} trials in a row had no reply; the last: {outcome.why}")
        self._tell()

    def _stop_arm(self, arm: str, sentence: str) -> None:
        if arm not in self.stopped_arms:
            self.stopped_arms[arm] = sentence
            self._tell(self.files.secrets.hide(f"{arm} is stopped: {sentence}"))

    async def _end_trials(self, *, cancel: bool = True) -> None:
        """Wait for the trials in progress. If `cancel` is True and the trial run is cancelled, cancel the
        trials first.
        """
        running = asyncio.current_task()
        if cancel and running is not None and running.cancelling():
            for asking in self._under_way:
                asking.cancel()
        while self._under_way:
            await asyncio.wait(self._under_way)

    async def _probe(self) -> None:
        for name in dict.fromkeys(arm.model for arm in self.plan.arms):
            if name in self.probes or not self._active():
                continue
            model = self.plan.models[name]
            account = self.spending.open_trial(name, Amount())
            meter = TrialMeter(self.spending, account, self.rates[model.endpoint], model.price)
            shared = self.endpoints[model.endpoint].share(meter, self.privacy.clean_server_text)
            probe = await ask_probe(self.plan, name, shared)
            self.spending.close_trial(name, account)
            if probe.ok is None:
                for arm in self.plan.arms:
                    if arm.model == name and arm.strategy == "auto":
                        self._stop_arm(arm.name, f"{probe.error}")
                continue
            if not probe.requests:
                continue  # The plan declares all capabilities of the model.
            self.probes[name] = probe
            save_probe(self.files, self.folder.probes, self.name, self.plan, name, probe, self.privacy)

    def _first_request(self, arm_name: str, task_id: str) -> Amount:
        """Return the maximum tokens and cost of a trial's first request, estimated from its size."""
        arm, task = self._arms[arm_name], self._by_id[task_id]
        model, prompt = self.plan.models[arm.model], self.plan.prompts.get(arm.prompt or "")
        tools = [definition.to_anthropic() for definition in list_definitions(self.plan, arm, task)]
        size = len(orjson.dumps(tools, default=str)) + sum(len(message.text) for message in task.messages)
        size += len(prompt.text) if prompt is not None else 0
        read = self.rates[model.endpoint].estimate_tokens(size)
        return worst_amount(read, float(model.sampling.get("max_tokens", REPLY_TOKENS)), model.price)

    # --- looks and progress -------------------------------------------------------------------------

    async def _look(self, number: int) -> None:
        """Make an interim analysis. Variants with a verdict get no more trials."""
        await self._end_trials(cancel=False)
        is_last = number == len(self.design.look_at)
        if (
            any(arm_look.look == number for arm_look in self.looks)
            or self.trouble is not None
            or not self._others()
        ):
            return
        if self.stop() or self.design.reference in self.stopped_arms or (is_last and self.stopped_arms):
            return
        reached = set(self.ordered[: self.design.look_at[number - 1]])
        outcomes = [outcome for outcome in self.outcomes.values() if outcome.task in reached]
        at = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        looks = [
            replace(arm_look, run=self.name)
            for arm_look in look(self.design, outcomes, number, self.looks, at=at)
            if arm_look.arm not in self.stopped_arms
        ]
        if looks:
            self.files.append(self.folder.looks, b"".join(map(write_line, looks)))
            self.looks += looks
        for arm_look in looks:
            word = "continues" if arm_look.decision == "go on" else arm_look.decision
            self._tell(f"interim analysis {number} after {arm_look.tasks:,} tasks: {arm_look.arm} {word}")

    def _count_tasks(self) -> int:
        active = self._active()
        open_tasks = {
            block.task
            for block in make_blocks(self.plan, self.ordered)
            for arm, repeat in block.trials
            if arm in active and (arm, block.task, repeat) not in self.outcomes
        }
        return len(self.ordered) - len(open_tasks)

    def _tell(self, message: str | None = None) -> None:
        each = len(self.ordered) * self.plan.run.repeats
        done = [self._done[arm] for arm in self._active()]
        left = each * len(done) - sum(done)
        seconds = self.spending.seconds
        own_seconds = seconds - self.spending.earlier_seconds
        self.on_progress(
            RunProgress(
                len(self.outcomes),
                len(self.outcomes) + left,
                min(done, default=each) // self.plan.run.repeats,
                len(self.ordered),
                self.spending.spent,
                seconds,
                left * own_seconds / self._asked_now if self._asked_now else None,
                message,
            )
        )


def _as_exception(problem: BaseException) -> Exception:
    return problem if isinstance(problem, Exception) else RunError(f"{type(problem).__name__}: {problem}")

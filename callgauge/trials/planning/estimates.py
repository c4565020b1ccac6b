"""Estimates what a plan needs: trials, requests, tokens, money, and the number of tasks.

The estimate counts one token for four bytes of a request body in the format of the model's API. The size of
the replies comes from a store's history. Without a history, the estimate assumes two replies for each trial
that offers tools.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil

import orjson

from callgauge.gateway import WIRES, ChatMessage, ChatRequest
from callgauge.gateway.sentences import USE_TOOLS, write_json_template
from callgauge.stats import Share
from callgauge.stats.sample_size import (
    look_factor,
    tasks_needed_at,
    tasks_needed_for_amount,
    trial_worth,
)
from callgauge.trials.planning.plan import MeasureName, Plan, TrialArm
from callgauge.trials.planning.task import Task
from callgauge.trials.planning.trial_files import offered_tools
from lenient import ToolCatalog

BYTES_A_TOKEN = 4
OF_CALLS: frozenset[MeasureName] = frozenset({"refused", "mended"})
"""The measures that are rates per tool call. All other measures count per trial."""
_AMOUNTS = frozenset({"tokens", "cost"})
_GUESSED_REPLIES = 2.0  # With tools, the model sends a tool call and then an answer.
_GUESSED_WRITTEN = 100.0  # The guess for the tokens of one reply.
_GUESSED_RESULT = 50.0  # The guess for the tokens of a tool result that the task does not record.
_MOST_PROBES = 6  # A probe asks a model without declared capabilities at most this many questions.


@dataclass(frozen=True, slots=True)
class History:
    """The past turns of one model in a store: means per turn, and the rate that corresponds to the trial
    measure.

    `replies`, `calls` and `written` are means: replies per turn, tool calls per turn with a tool call, and
    tokens per reply. `tokens_deviation` is the standard deviation of the tokens per turn. `share` is the
    corresponding rate. `of` says what this rate counts.
    """

    turns: int
    replies: float
    calls: float | None = None
    written: float | None = None
    tokens_deviation: float | None = None
    share: Share | None = None
    of: str = ""


@dataclass(frozen=True, slots=True)
class CatalogSize:
    """The tokens that each tool of a set of definitions adds to a request."""

    name: str
    tools: Mapping[str, int]

    @property
    def tokens(self) -> int:
        return sum(self.tools.values())


@dataclass(frozen=True, slots=True)
class ArmEstimate:
    """The estimate for all trials of one variant.

    `read` and `written` are expected tokens. `cost` is in USD. `most_tokens` and `most_cost` are the upper
    limits, or None when the model has no `max_tokens`.
    """

    arm: str
    trials: int
    requests: float
    most_requests: int
    read: float
    written: float
    cost: float | None
    most_tokens: float | None
    most_cost: float | None


@dataclass(frozen=True, slots=True)
class TasksNeeded:
    """The number of tasks that a trial run needs to detect the smallest difference of interest.

    `tasks` is None when data is missing. Then `basis` says which data is missing. Otherwise `basis` says
    where the number comes from. `rate` is the expected rate.
    """

    tasks: int | None
    basis: str
    rate: float | None = None


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """The estimate for a whole trial run. `probes` is the maximum number of probe requests.

    `notes` holds warnings to read before the trial run.
    """

    tasks: int
    repeats: int
    arms: tuple[ArmEstimate, ...]
    probes: int
    needed: TasksNeeded | None
    catalogs: tuple[CatalogSize, ...]
    notes: tuple[str, ...] = field(default=())

    @property
    def trials(self) -> int:
        return sum(arm.trials for arm in self.arms)

    @property
    def requests(self) -> float:
        return sum(arm.requests for arm in self.arms)

    @property
    def tokens(self) -> float:
        return sum(arm.read + arm.written for arm in self.arms)

    @property
    def cost(self) -> float | None:
        """The expected cost in USD, or None when a model has no price."""
        return _add(arm.cost for arm in self.arms)

    @property
    def most_cost(self) -> float | None:
        """The maximum cost in USD, or None when the maximum of a variant is unknown."""
        return _add(arm.most_cost for arm in self.arms)


def estimate_run(
    plan: Plan, tasks: Sequence[Task], histories: Mapping[str, History] | None = None
) -> RunEstimate:
    """Return the estimate for a plan. `histories` maps the name of each model in the plan to its history."""
    by_model = histories or {}
    arms = tuple(_estimate_arm(plan, arm, tasks, by_model.get(arm.model)) for arm in plan.arms)
    probed_models = {
        arm.model
        for arm in plan.arms
        if arm.strategy == "auto" and plan.models[arm.model].capabilities.supports_tool_use is None
    }
    needed = _find_tasks_needed(plan, by_model.get(plan.reference.model)) if len(plan.arms) > 1 else None
    estimate = RunEstimate(
        tasks=len(tasks),
        repeats=plan.run.repeats,
        arms=arms,
        probes=_MOST_PROBES * len(probed_models),
        needed=needed,
        catalogs=tuple(measure_catalog(name, catalog) for name, catalog in plan.definitions.items()),
    )
    return replace(estimate, notes=tuple(_find_notes(plan, tasks, estimate)))


def measure_catalog(name: str, catalog: ToolCatalog) -> CatalogSize:
    """Return the number of tokens of each tool definition in OpenAI's format."""
    return CatalogSize(name, {tool.name: count_tokens(orjson.dumps(tool.to_openai())) for tool in catalog})


def count_tokens(data: bytes | str) -> int:
    """Return the approximate number of tokens of a text: the UTF-8 bytes divided by four, rounded up."""
    size = len(data.encode("utf-8", "replace")) if isinstance(data, str) else len(data)
    return ceil(size / BYTES_A_TOKEN)


def _estimate_arm(plan: Plan, arm: TrialArm, tasks: Sequence[Task], history: History | None) -> ArmEstimate:
    model = plan.models[arm.model]
    limit = model.sampling.get("max_tokens")
    written = history.written if history is not None and history.written else _GUESSED_WRITTEN
    written = min(written, limit) if limit is not None else written
    requests = read = most_read = 0.0
    bases: dict[object, tuple[int, bool]] = {}
    for task in tasks:
        key = (task.tools, id(task.definitions) if task.definitions else None)
        if key not in bases:
            bases[key] = _count_base(plan, arm, task)
        base, has_tools = bases[key]
        prompt_tokens = base + _count_messages(task.messages)
        replies = _expect_replies(plan, task, history) if has_tools else 1.0
        result = _mean_result(task)
        requests += replies
        read += _sum_read(prompt_tokens, replies, written + result)
        if limit is not None:
            most_read += _sum_read(prompt_tokens, plan.run.max_steps, limit + result)
    repeats = plan.run.repeats
    trials = len(tasks) * repeats
    most_requests = trials * plan.run.max_steps
    most_written = most_requests * limit if limit is not None else None
    price = model.price

    def cost(read: float, written: float | None) -> float | None:
        if price is None or written is None:
            return None
        return (read * price.input + written * price.output) / 1e6

    return ArmEstimate(
        arm=arm.name,
        trials=trials,
        requests=requests * repeats,
        most_requests=most_requests,
        read=read * repeats,
        written=requests * repeats * written,
        cost=cost(read * repeats, requests * repeats * written),
        most_tokens=most_read * repeats + most_written if most_written is not None else None,
        most_cost=cost(most_read * repeats, most_written),
    )


def _count_base(plan: Plan, arm: TrialArm, task: Task) -> tuple[int, bool]:
    """Return the tokens of a request without its messages, and whether the request offers tools."""
    catalog = plan.definitions.get(arm.definitions or "") or ToolCatalog()
    offered = offered_tools(task, catalog)
    prompt = plan.prompts[arm.prompt].text if arm.prompt is not None else ""
    is_text = arm.strategy == "json_fallback"
    template = ""
    if len(offered):
        template = write_json_template(offered) if is_text else USE_TOOLS if arm.adds_template else ""
    system = "\n\n".join(part for part in (prompt, template) if part)
    model = plan.models[arm.model]
    request = ChatRequest(
        model=model.model,
        messages=(*((ChatMessage("system", system),) if system else ()), ChatMessage("user", "")),
        tools=() if is_text else tuple(offered),
        sampling=model.sampling,
        extra_body=model.body,
    )
    body = WIRES[plan.endpoints[model.endpoint].wire].write(request).body
    return count_tokens(orjson.dumps(body, default=str)), len(offered) > 0


def _count_messages(messages: Sequence[ChatMessage]) -> int:
    texts = (message.text + "".join(call.name + call.raw for call in message.calls) for message in messages)
    return sum(map(count_tokens, texts))


def _expect_replies(plan: Plan, task: Task, history: History | None) -> float:
    if history is not None:
        expected = history.replies
    else:
        expected = 1.0 if task.expect is not None and task.expect.no_call else _GUESSED_REPLIES
    return min(float(plan.run.max_steps), max(1.0, expected))


def _mean_result(task: Task) -> float:
    if not task.answers:
        return _GUESSED_RESULT
    return sum(count_tokens(answer.result) for answer in task.answers) / len(task.answers)


def _sum_read(first: float, replies: float, growth: float) -> float:
    return replies * first + growth * replies * (replies - 1) / 2


def _find_tasks_needed(plan: Plan, history: History | None) -> TasksNeeded:
    measure = plan.measure
    others = len(plan.arms) - 1
    factor = look_factor(measure.looks, measure.alpha / others) if measure.looks > 1 else 1.0

    def finish(tasks: int | None, basis: str, rate: float | None = None) -> TasksNeeded:
        return TasksNeeded(None if tasks is None else ceil(tasks * factor), basis, rate)

    if measure.primary in _AMOUNTS:
        deviation, basis = measure.expected_spread, "expected_spread of the plan"
        if deviation is None and history is not None and measure.primary == "tokens":
            deviation, basis = history.tokens_deviation, f"{history.turns:,} turns of the store"
        if deviation is None:
            return TasksNeeded(None, "add expected_spread to [measure], the standard deviation of a trial")
        tasks = tasks_needed_for_amount(
            deviation, measure.smallest, others, alpha=measure.alpha,
            correlation=measure.expected_correlation, repeats=plan.run.repeats,
        )  # fmt: skip
        return finish(tasks, basis)
    rate, worth, basis = measure.expected_rate, 1.0, "expected_rate of the plan"
    share = history.share if history is not None else None
    if history is not None and share is not None and share.n:
        if measure.primary in OF_CALLS and history.calls:
            worth = trial_worth(share, history.calls)
        counts = f"{share.k:,} of {share.n:,} {history.of} in {share.sessions or 0:,} sessions of the store"
        basis = counts if rate is None else f"{basis}, and the correlation of calls in {counts}"
        rate = share.rate if rate is None else rate
    if rate is None:
        return TasksNeeded(
            None, "add expected_rate to [measure], or name a store that knows the model with --store"
        )
    tasks = tasks_needed_at(
        rate, measure.smallest, others, worth=worth, alpha=measure.alpha,
        correlation=measure.expected_correlation, repeats=plan.run.repeats,
    )  # fmt: skip
    return finish(tasks, basis, rate)


def _find_notes(plan: Plan, tasks: Sequence[Task], estimate: RunEstimate) -> Iterable[str]:
    if len(plan.arms) == 1:
        yield "the plan has only one variant: there is nothing to compare"
    needed = estimate.needed.tasks if estimate.needed is not None else None
    if needed is not None and needed > estimate.tasks:
        yield f"the smallest difference needs about {needed:,} tasks; the plan has {estimate.tasks:,}"
    groups = {task.group for task in tasks if task.group is not None}
    if groups:
        yield f"the tasks have {len(groups):,} groups; if the tasks of a group are correlated, groups count"
    budget = plan.budget
    if budget.cost is not None and estimate.cost is not None and estimate.cost > budget.cost:
        yield f"the expected cost is {estimate.cost:.2f} USD, above the budget of {budget.cost:.2f}"
    if budget.tokens is not None and estimate.tokens > budget.tokens:
        yield f"the expected {estimate.tokens:,.0f} tokens are above the budget of {budget.tokens:,}"
    for part in ("models", "prompts", "definitions"):
        used = {getattr(arm, part.removesuffix("s") if part != "definitions" else part) for arm in plan.arms}
        if unused := [name for name in getattr(plan, part) if name not in used]:
            yield f"no variant uses {', '.join(unused)} of [{part}]"


def _add(amounts: Iterable[float | None]) -> float | None:
    values = list(amounts)
    return None if None in values else sum(amount for amount in values if amount is not None)

"""Formats what a plan comes to: arms, amounts, the tasks it needs, definitions, and what to look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from callgauge.cli.render.printable import escape_for_terminal
from lenient import DefinitionFinding

if TYPE_CHECKING:
    from callgauge.trials.planning.estimates import CatalogSize, History, RunEstimate
    from callgauge.trials.planning.plan import Plan, TrialArm

_MOST_TOOLS = 30  # of a set of definitions that are listed


def check_lines(
    plan: Plan,
    estimate: RunEstimate,
    histories: Mapping[str, History],
    findings: Mapping[str, Sequence[DefinitionFinding]],
    notes: Sequence[str],
) -> Iterator[str]:
    """Yield the lines of `callgauge trial check`."""
    yield escape_for_terminal(plan.name)
    if plan.question:
        yield escape_for_terminal(plan.question)
    for title, lines in (
        (f"Arms: {len(plan.arms)}", _arm_lines(plan)),
        ("Comes to", _amount_lines(plan, estimate, histories)),
        ("Tasks needed", _need_lines(plan, estimate)),
        ("Definitions", _definition_lines(estimate.catalogs, findings)),
        ("To look at first", (f"- {note}" for note in notes)),
    ):
        shown = [f"  {escape_for_terminal(line)}" for line in lines]
        if shown:
            yield ""
            yield title
            yield from shown


def _arm_lines(plan: Plan) -> Iterator[str]:
    width = max(len(arm.name) for arm in plan.arms)
    for arm in plan.arms:
        mark = "  (the reference)" if len(plan.arms) > 1 and arm is plan.reference else ""
        yield f"{arm.name:{width}}  {', '.join(_describe_arm(plan, arm))}{mark}"


def _describe_arm(plan: Plan, arm: TrialArm) -> Iterator[str]:
    model = plan.models[arm.model]
    yield f"{model.model} at {model.endpoint}"
    yield f"prompt {arm.prompt}" if arm.prompt is not None else "no prompt"
    yield f"definitions {arm.definitions}" if arm.definitions is not None else "the tasks' own definitions"
    yield f"strategy {arm.strategy}"
    if arm.compensations != 1:
        yield f"compensations {arm.compensations}"
    if arm.policy != "safe":
        yield f"accepts {arm.policy}"
    if not arm.adds_template:
        yield "without the template"


def _amount_lines(plan: Plan, estimate: RunEstimate, histories: Mapping[str, History]) -> Iterator[str]:
    arms = estimate.arms
    most = sum(arm.most_requests for arm in arms)
    repeats = f" × {_count(estimate.repeats, 'repeat')}" if estimate.repeats > 1 else ""
    product = f"{_count(estimate.tasks, 'task')} × {_count(len(arms), 'arm')}{repeats}"
    yield f"{product} = {_count(estimate.trials, 'trial')}"
    probes = f", and up to {estimate.probes} of the probe" if estimate.probes else ""
    yield f"about {_round(estimate.requests)} requests, at most {most:,}{probes}"
    read, written = sum(arm.read for arm in arms), sum(arm.written for arm in arms)
    yield f"about {_round(read + written)} tokens: {_round(read)} read, {_round(written)} written"
    yield _describe_cost(plan, estimate)
    if len(arms) > 1 and estimate.cost:
        yield "by arm: " + ", ".join(f"{arm.arm} {_money(arm.cost)}" for arm in arms)
    guessed = sorted({arm.model for arm in plan.arms} - histories.keys())
    if guessed:
        yield (
            f"guessed for {', '.join(guessed)}: a call and an answer a trial, 100 tokens a reply; "
            "--store DIR takes both from your logs"
        )
    for name, history in histories.items():
        written_each = f", {history.written:,.0f} tokens each" if history.written else ""
        of = f"as in {history.turns:,} turns of the store"
        yield f"{name}: {history.replies:.1f} replies a trial{written_each}, {of}"


def _describe_cost(plan: Plan, estimate: RunEstimate) -> str:
    models = {arm.model: plan.models[arm.model] for arm in plan.arms}
    unpriced = [name for name, model in models.items() if model.price is None]
    if unpriced:
        return f"the cost is not known: no price for {', '.join(unpriced)}"
    most = f", at most {_money(estimate.most_cost)}" if estimate.most_cost is not None else ""
    listed = [
        f"{name} by {model.price.source}"
        for name, model in models.items()
        if model.price is not None and model.price.source != "plan"
    ]
    by = f" ({'; '.join(listed)})" if listed else ""
    return f"about {_money(estimate.cost)} USD{most}{by}"


def _need_lines(plan: Plan, estimate: RunEstimate) -> Iterator[str]:
    needed, measure = estimate.needed, plan.measure
    if needed is None:
        return
    if needed.tasks is None:
        yield f"not known: {needed.basis}"
        return
    is_share = needed.rate is not None
    difference = (
        f"{100 * measure.smallest:g} points" if is_share else f"{measure.smallest:g} {measure.primary}"
    )
    at_rate = f" at a rate of {100 * needed.rate:.3g} %" if needed.rate is not None else ""
    what = f"{difference} of {measure.primary}" if is_share else difference
    yield f"about {needed.tasks:,} to see {what}{at_rate}; there are {estimate.tasks:,}"
    arms = len(plan.arms) - 1
    each = f" over {arms} arms" if arms > 1 else ""
    looks = f", up to {measure.looks} looks" if measure.looks > 1 else ""
    alike = measure.expected_correlation
    pairs = f"tasks alike by {alike:g}" if alike else "as if arms did not agree over tasks: rather fewer"
    yield f"with 80 % power, alpha {measure.alpha:g}{each}{looks}; {pairs}"
    yield f"from {needed.basis}"


def _definition_lines(
    catalogs: Sequence[CatalogSize], findings: Mapping[str, Sequence[DefinitionFinding]]
) -> Iterator[str]:
    for catalog in catalogs:
        number = len(catalog.tools)
        yield f"{catalog.name}: {_count(number, 'tool')}, about {catalog.tokens:,} tokens in every request"
        width = max(map(len, catalog.tools), default=0)
        for name, tokens in list(catalog.tools.items())[:_MOST_TOOLS]:
            yield f"  {name:{width}}  {tokens:6,}"
        if number > _MOST_TOOLS:
            yield f"  … and {number - _MOST_TOOLS} more"
        for found in findings[catalog.name]:
            yield f"  {found.severity}: {found.code}: {found.message}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _round(amount: float) -> str:
    """Return an amount in three figures: an estimate is no more exact."""
    return f"{float(f'{amount:.3g}'):,.0f}"


def _money(amount: float | None) -> str:
    if amount is None:
        return "unknown"
    return f"{amount:,.2f}" if amount >= 1 or not amount else f"{amount:.3g}"

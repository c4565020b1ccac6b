"""Format the check of a plan, the progress of a trial run, and the report of a trial run with its gates."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from callgauge.cli.render.loads import format_duration
from callgauge.cli.render.terminal import align_columns, escape_for_terminal
from lenient import DefinitionFinding

if TYPE_CHECKING:
    from callgauge.documents.gate_text import GateText
    from callgauge.trials.planning.estimates import CatalogSize, History, RunEstimate
    from callgauge.trials.planning.plan import Plan, TrialArm
    from callgauge.trials.running.run import RunProgress
    from callgauge.trials.verdicts.report import Report

_MOST_TOOLS = 30  # At most this many tools of a set of definitions are listed.
_EVERY = 10.0  # Without a terminal, this many seconds pass between two lines.
_CLEAR = "\r\x1b[2K"


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
        (f"Variants: {len(plan.arms)}", _arm_lines(plan)),
        ("Size and cost", _amount_lines(plan, estimate, histories)),
        ("Tasks needed", _need_lines(plan, estimate)),
        ("Definitions", _definition_lines(estimate.catalogs, findings)),
        ("Check first", (f"- {note}" for note in notes)),
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
    product = f"{_count(estimate.tasks, 'task')} × {_count(len(arms), 'variant')}{repeats}"
    yield f"{product} = {_count(estimate.trials, 'trial')}"
    probes = f", plus up to {estimate.probes} for the probe" if estimate.probes else ""
    yield f"about {_round(estimate.requests)} requests, at most {most:,}{probes}"
    read, written = sum(arm.read for arm in arms), sum(arm.written for arm in arms)
    yield f"about {_round(read + written)} tokens: {_round(read)} read, {_round(written)} written"
    yield _describe_cost(plan, estimate)
    if len(arms) > 1 and estimate.cost:
        yield "by variant: " + ", ".join(f"{arm.arm} {_money(arm.cost)}" for arm in arms)
    guessed = sorted({arm.model for arm in plan.arms} - histories.keys())
    if guessed:
        yield (
            f"guessed for {', '.join(guessed)}: one call and one answer per trial, 100 tokens per reply; "
            "--store DIR takes both from your logs"
        )
    for name, history in histories.items():
        written_each = f", {history.written:,.0f} tokens each" if history.written else ""
        basis = f"from {history.turns:,} turns of the store"
        yield f"{name}: {history.replies:.1f} replies per trial{written_each}, {basis}"


def _describe_cost(plan: Plan, estimate: RunEstimate) -> str:
    models = {arm.model: plan.models[arm.model] for arm in plan.arms}
    unpriced = [name for name, model in models.items() if model.price is None]
    if unpriced:
        return f"cost unknown: no price for {', '.join(unpriced)}"
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
        yield f"unknown: {needed.basis}"
        return
    is_share = needed.rate is not None
    difference = (
        f"{100 * measure.smallest:g} points" if is_share else f"{measure.smallest:g} {measure.primary}"
    )
    at_rate = f" at a rate of {100 * needed.rate:.3g} %" if needed.rate is not None else ""
    what = f"{difference} of {measure.primary}" if is_share else difference
    yield f"about {needed.tasks:,} to detect {what}{at_rate}; the plan has {estimate.tasks:,}"
    arms = len(plan.arms) - 1
    each = f" over {arms} variants" if arms > 1 else ""
    looks = f", up to {measure.looks} interim analyses" if measure.looks > 1 else ""
    correlation = measure.expected_correlation
    pairs = (
        f"expected correlation over tasks {correlation:g}"
        if correlation
        else "assuming no correlation between variants over tasks; fewer tasks may be enough"
    )
    yield f"with 80 % power, alpha {measure.alpha:g}{each}{looks}; {pairs}"
    yield f"from {needed.basis}"


def _definition_lines(
    catalogs: Sequence[CatalogSize], findings: Mapping[str, Sequence[DefinitionFinding]]
) -> Iterator[str]:
    for catalog in catalogs:
        number = len(catalog.tools)
        yield f"{catalog.name}: {_count(number, 'tool')}, about {catalog.tokens:,} tokens per request"
        width = max(map(len, catalog.tools), default=0)
        for name, tokens in list(catalog.tools.items())[:_MOST_TOOLS]:
            yield f"  {name:{width}}  {tokens:6,}"
        if number > _MOST_TOOLS:
            yield f"  … and {number - _MOST_TOOLS} more"
        for problem in findings[catalog.name]:
            yield f"  {problem.severity}: {problem.code}: {problem.message}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _round(amount: float) -> str:
    """Return an amount rounded to three significant figures."""
    return f"{float(f'{amount:.3g}'):,.0f}"


def _money(amount: float | None) -> str:
    if amount is None:
        return "unknown"
    return f"{amount:,.2f}" if amount >= 1 or not amount else f"{amount:.3g}"


def run_figures(now: RunProgress) -> str:
    """Return the progress of a trial run: trials, tasks, money, tokens, elapsed and remaining time."""
    parts = [
        f"{now.trials:,} of {now.planned_trials:,} trials",
        f"{now.tasks:,} of {now.planned_tasks:,} tasks",
        f"${now.spent.cost:.4f}" if now.spent.cost else "",
        f"{now.spent.tokens:,.0f} tokens",
        format_duration(now.seconds),
        f"{format_duration(now.seconds_left)} left" if now.seconds_left is not None else "",
    ]
    return "  ".join(part for part in parts if part)


@contextmanager
def show_run(stream: TextIO | None = None) -> Iterator[Callable[[RunProgress], None]]:
    """Yield a function that shows the progress of a trial run on `stream` (default: stderr)."""
    stream = stream or sys.stderr
    is_terminal = stream.isatty()
    shown_at = time.monotonic()

    def tell(now: RunProgress) -> None:
        nonlocal shown_at
        if now.message is not None:
            print(
                f"{_CLEAR if is_terminal else ''}{escape_for_terminal(now.message)}", file=stream, flush=True
            )
        elif is_terminal:
            print(f"{_CLEAR}{run_figures(now)}", end="", file=stream, flush=True)
        elif time.monotonic() - shown_at >= _EVERY:
            shown_at = time.monotonic()
            print(run_figures(now), file=stream, flush=True)

    try:
        yield tell
    finally:
        if is_terminal:
            print(_CLEAR, end="", file=stream, flush=True)


def trial_report_lines(report: Report, gates: Sequence[GateText], *, is_full: bool = False) -> Iterator[str]:
    """Yield the lines of a report: the answer, a table of the primary measure, warnings and gates.

    `is_full` adds the question, all sentences, measures and settings, and the details.
    """
    # A top-level import of numpy would delay every command by 0.2 seconds.
    from callgauge.documents.gate_text import write_sentence, write_where
    from callgauge.trials.verdicts.report_text import (
        FACTOR_HEADS,
        HEADS,
        answer_lines,
        detail_lines,
        factor_rows,
        table_rows,
        unplanned_note,
    )

    answers = answer_lines(report)
    if is_full:
        yield escape_for_terminal(report.question or report.name)
        yield from (f"  {escape_for_terminal(line)}" for line in answers)
    else:
        yield escape_for_terminal(answers[0])
    yield ""
    rows = table_rows(report) if is_full else table_rows(report, measures=(report.primary,))
    yield from map(escape_for_terminal, align_columns([HEADS, *rows]))
    if is_full:
        if report.factors:
            yield ""
            yield from map(escape_for_terminal, align_columns([FACTOR_HEADS, *factor_rows(report)]))
        note = unplanned_note(report)
        if note is not None:
            yield note
        yield ""
        yield from map(escape_for_terminal, detail_lines(report))
    titles = (("Warning", report.warnings), ("Not measured", report.unknown if is_full else ()))
    for title, lines in titles:
        yield from (f"{title}: {escape_for_terminal(line)}" for line in lines)
    for gate in gates:
        yield ""
        yield escape_for_terminal(write_sentence(gate))
        if where := write_where(gate):
            yield f"  {escape_for_terminal(where)}"

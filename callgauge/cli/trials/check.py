"""The command `callgauge trial check`: estimate the size and cost of a plan, and list its mistakes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import structs

from callgauge.cli import render
from callgauge.cli.options.store_option import STORE_METAVAR, find_store
from callgauge.cli.render.exit_codes import ExitCode
from callgauge.cli.render.parser import definition_finding_data
from callgauge.cli.trials.plans import PlanFile, load_plan
from lenient import definition_findings

if TYPE_CHECKING:
    from callgauge.trials.planning.estimates import History
    from callgauge.trials.planning.plan import Plan
    from callgauge.trials.planning.task import Task


def check(
    plan: PlanFile,
    store: Annotated[
        Path | None,
        typer.Option(
            "--store",
            metavar=STORE_METAVAR,
            parser=find_store,
            help="A store with calls of these models, as the source of rates and sizes.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Estimate the trials, tokens, money and tasks of a plan.

    Run this command before `trial run`. Exits with 2 after printing a line for each mistake. Python functions
    of the plan and its tasks are imported in a separate process.
    """
    # A top-level import of numpy would delay every command by 0.2 seconds.
    from callgauge.cli.render.trials import check_lines
    from callgauge.trials.planning.estimates import estimate_run

    read, tasks = load_plan(plan)
    histories, notes = ({}, []) if store is None else _ask_store(store, read)
    estimate = estimate_run(read, tasks, histories)
    findings = {name: definition_findings(catalog) for name, catalog in read.definitions.items()}
    notes = [*_find_notes(read, tasks), *notes, *estimate.notes]
    if as_json:
        answer = {
            "name": read.name,
            "question": read.question,
            "measure": structs.asdict(read.measure),
            "arms": [asdict(arm) for arm in read.arms],
            "comes_to": {
                **asdict(estimate),
                "trials": estimate.trials,
                "requests": estimate.requests,
                "tokens": estimate.tokens,
                "cost": estimate.cost,
                "most_cost": estimate.most_cost,
            },
            "findings": {
                name: [definition_finding_data(finding) for finding in definition_findings]
                for name, definition_findings in findings.items()
            },
            "notes": notes,
        }
        print(render.to_json(answer))
    else:
        print("\n".join(check_lines(read, estimate, histories, findings, notes)))


def _ask_store(store: Path, plan: Plan) -> tuple[dict[str, History], list[str]]:
    from callgauge.cli.trials.history import StoreProblemError, read_histories

    try:
        return read_histories(store, plan)
    except StoreProblemError as problem:
        render.print_message(str(problem))
        raise typer.Exit(ExitCode.WRONG_USE) from None


def _find_notes(plan: Plan, tasks: Sequence[Task]) -> Iterator[str]:
    from callgauge.trials.results.checks import find_missing_function

    used = {plan.models[arm.model].endpoint for arm in plan.arms}
    for name in sorted(used):
        variable = plan.endpoints[name].key_variable
        if variable is not None and not os.environ.get(variable):
            yield f"the environment variable {variable} (key of endpoint {name}) is not set"
    functions = dict.fromkeys(
        [source.target for source in plan.tools.values() if source.kind == "function" and source.target]
        + [task.expect.check for task in tasks if task.expect is not None and task.expect.check]
    )
    for named in functions:
        why = find_missing_function(named, plan.path.parent)
        if why is not None:
            yield why

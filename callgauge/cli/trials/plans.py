"""Read the plan and the tasks for a command. A mistake ends the command with exit code 2."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from callgauge.cli import render
from callgauge.cli.render.exit_codes import ExitCode

if TYPE_CHECKING:
    from callgauge.trials.planning.plan import Plan
    from callgauge.trials.planning.task import Task

_SECRETS = frozenset({"key", "url_password", "authorization"})

PlanFile = Annotated[
    Path, typer.Argument(metavar="PLAN", readable=False, help="The plan, a TOML file: docs/trials.md.")
]


def load_plan(path: Path) -> tuple[Plan, tuple[Task, ...]]:
    """Return a plan and its tasks. If there is a mistake or a secret, print each and exit with 2."""
    from callgauge.trials.planning.plan import PlanError
    from callgauge.trials.planning.trial_files import read_plan_and_tasks

    try:
        plan, tasks = read_plan_and_tasks(path)
    except PlanError as error:
        problems = [str(problem) for problem in error.problems]
    else:
        problems = [
            f"{path}:{line}: this looks like a secret; remove it, and name the variable that contains it"
            for line in find_secret_lines(plan.text)
        ]
        if not problems:
            return plan, tasks
    for problem in problems:
        render.print_message(problem)
    number = len(problems)
    render.print_message(f"{number} mistake{'' if number == 1 else 's'}: nothing was sent")
    raise typer.Exit(ExitCode.WRONG_USE)


def find_secret_lines(text: str) -> Iterator[int]:
    """Yield the numbers of the lines (from 1) that match a secret pattern of `ingest --redact`."""
    from ingest.privacy.access_tokens import TOKEN_TYPES
    from ingest.privacy.labelled_secrets import BESIDE
    from ingest.privacy.redactor import Redactor
    from ingest.privacy.rules import RedactionRules

    rules = RedactionRules(_SECRETS | TOKEN_TYPES | {pii_type.kind for pii_type in BESIDE})
    redacted = Redactor(rules, b"plan").redact_text(text)  # The redacted text has the same length.
    pairs = zip(text.split("\n"), redacted.split("\n"), strict=False)
    yield from (line for line, (before, after) in enumerate(pairs, 1) if before != after)

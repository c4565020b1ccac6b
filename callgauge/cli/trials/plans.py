"""Reads the plan of a command with its tasks; what is wrong with them ends the command with exit code 2."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from callgauge.cli import render

if TYPE_CHECKING:
    from callgauge.trials.planning.plan import Plan
    from callgauge.trials.planning.task import Task

_WRONG_USE = 2
_SECRETS = frozenset({"key", "url_password", "authorization"})

PlanFile = Annotated[
    Path, typer.Argument(metavar="PLAN", readable=False, help="The plan, a TOML file: docs/trials.md.")
]


def load_plan(path: Path) -> tuple[Plan, tuple[Task, ...]]:
    """Return a plan and its tasks. Exits with 2 after a line for each mistake, or where it holds a secret."""
    from callgauge.trials.planning.plan import PlanError
    from callgauge.trials.planning.trial_files import read_plan_and_tasks

    try:
        plan, tasks = read_plan_and_tasks(path)
    except PlanError as error:
        problems = [str(problem) for problem in error.problems]
    else:
        problems = [
            f"{path}:{line}: this looks like a secret; take it out, and name the variable that holds it"
            for line in find_secret_lines(plan.text)
        ]
        if not problems:
            return plan, tasks
    for problem in problems:
        render.print_message(problem)
    number = len(problems)
    render.print_message(f"{number} mistake{'' if number == 1 else 's'}: nothing was asked")
    raise typer.Exit(_WRONG_USE)


def find_secret_lines(text: str) -> Iterator[int]:
    """Yield the lines of a text, from 1, in which a secret stands by the patterns of `ingest --redact`."""
    from ingest.privacy.access_tokens import TOKEN_TYPES
    from ingest.privacy.labelled_secrets import BESIDE
    from ingest.privacy.redactor import Redactor
    from ingest.privacy.rules import RedactionRules

    rules = RedactionRules(_SECRETS | TOKEN_TYPES | {one.kind for one in BESIDE})
    redacted = Redactor(rules, b"plan").redact_text(text)  # of the same length
    pairs = zip(text.split("\n"), redacted.split("\n"), strict=False)
    yield from (line for line, (before, after) in enumerate(pairs, 1) if before != after)

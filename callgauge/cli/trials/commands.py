"""The commands `callgauge trial …`, each in a module of its own."""

from __future__ import annotations

import typer

from callgauge.cli.trials import check, report, run, tasks

trial = typer.Typer(
    name="trial",
    help="Trials: models, prompts and definitions held against each other.",
    no_args_is_help=True,
)
for command in (
    check.check,
    run.probe,
    run.run,
    report.report,
    tasks.tasks,
    run.demo,
):
    trial.command()(command)

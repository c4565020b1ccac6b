"""The commands `callgauge trial …`, each in a module of its own."""

from __future__ import annotations

import typer

from callgauge.cli import trial_check, trial_report

trial = typer.Typer(
    name="trial",
    help="Trials: models, prompts and definitions held against each other.",
    no_args_is_help=True,
)
trial.command()(trial_check.check)
trial.command()(trial_report.report)

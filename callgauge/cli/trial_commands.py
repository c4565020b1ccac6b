"""The commands `callgauge trial …`, each in a module of its own."""

from __future__ import annotations

import typer

from callgauge.cli import trial_check, trial_report, trial_run

trial = typer.Typer(
    name="trial",
    help="Trials: models, prompts and definitions held against each other.",
    no_args_is_help=True,
)
for command in (trial_check.check, trial_run.probe, trial_run.run, trial_report.report, trial_run.demo):
    trial.command()(command)

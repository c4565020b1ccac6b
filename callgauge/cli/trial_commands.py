"""The commands of `callgauge trial`."""

from __future__ import annotations

import typer

from callgauge.cli import trial_tasks

app = typer.Typer(no_args_is_help=True, help="Try models, prompts and definitions on your own tasks.")


@app.callback()
def trial() -> None:
    """Try models, prompts and definitions on your own tasks."""


app.command()(trial_tasks.tasks)

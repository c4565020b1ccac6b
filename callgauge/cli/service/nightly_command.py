"""The command `callgauge nightly`: the night's work of a team's service."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from callgauge.cli import render
from callgauge.cli.service.configuration_commands import Config
from callgauge.cli.service.night_lines import night_step_lines

if TYPE_CHECKING:
    from callgauge.nightly.night import NightResult
    from callgauge.nightly.steps import StepResult

NOTHING_DONE = 1

Again = Annotated[bool, typer.Option("--again", help="Do the whole night once more, though it is done.")]
WaitAtMost = Annotated[
    float,
    typer.Option("--wait-at-most", metavar="SECONDS", min=0, help="While another load holds the store."),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Say nothing but what went wrong.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def nightly(
    config: Config = Path("callgauge.toml"),
    again: Again = False,
    wait_at_most: WaitAtMost = 1800,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Do the night's work: load all sources, let old data go, back up, report.

    Each step is recorded; run again the same night, it goes on at the first that is not done.

    Exits with 0 when all is done, 1 when nothing could be done, 3 when all is done but lines or files were
    rejected for the first time, 4 when a source or a later step failed, 130 when a signal stopped it.

    Ctrl-C and SIGTERM stop it after the current batch; what was loaded by then is kept.
    """
    from callgauge.configuration.configuration_file import read_configuration
    from callgauge.memory.nights.night_lock import NightBusyError
    from callgauge.nightly.night import run_night

    configuration = read_configuration(config)
    silent = quiet or as_json
    try:
        with render.catch_interrupts() as interrupts:
            result = run_night(
                configuration,
                show_progress=partial(render.show_progress, quiet=silent),
                stop=interrupts.is_stop_wanted,
                patience=render.make_patience(wait_at_most, stopped=interrupts.is_stop_wanted),
                on_step=partial(_show_step, silent=silent),
                again=again,
            )
    except NightBusyError as busy:
        render.print_message(str(busy))
        raise typer.Exit(NOTHING_DONE) from None
    if as_json:
        print(render.to_json(_night_data(result)))
    elif not quiet:
        _show_end(result)
    if result.problem:
        render.print_message(result.problem)
    raise typer.Exit(int(result.exit_code))


def _show_step(name: str, step: StepResult, *, silent: bool) -> None:
    if step.outcome == "failed":
        render.print_message(f"{name} failed: {step.told.get('problem')}")
    if not silent:
        for line in night_step_lines(name, step.outcome, step.told):
            print(line, flush=True)


def _show_end(result: NightResult) -> None:
    if not result.steps and not result.problem and not result.is_stopped:
        print(f"the night of {result.night} is done already; --again does it once more")
    elif result.is_stopped:
        print(f"the night of {result.night} was stopped; run again, it goes on from there")


def _night_data(result: NightResult) -> dict[str, Any]:
    steps = [
        *({"step": one.step, "outcome": one.outcome, "before": True, **one.told} for one in result.before),
        *({"step": name, "outcome": one.outcome, **one.told} for name, one in result.steps.items()),
    ]
    return {"night": result.night.isoformat(), "exit": int(result.exit_code), "steps": steps}

"""The command `callgauge trial report`, and the group of all `callgauge trial …` commands."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from callgauge.cli import render
from callgauge.cli.render.exit_codes import ExitCode
from callgauge.cli.trials import check, run, tasks


def report(
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", readable=False, help="The folder of a trial run, such as runs/NAME."),
    ],
    gate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="no-worse[:MEASURE]=SIZE",
            help="Exit with 0 if no variant is worse than the reference by SIZE (0.02 or 2%), with 5 if one "
            "is worse, with 6 if there is not enough data. [default MEASURE: the primary one] Repeatable.",
        ),
    ] = None,
    full: Annotated[
        bool,
        typer.Option("--full", help="Also print all measures, settings, costs and gaps."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Report the results of a trial run, which may still be running. Writes report.json and report.md to the
    run's folder.

    Exits with 2 if the folder has no trial run.
    """
    # A top-level import of numpy would delay every command by 0.2 seconds.
    from callgauge.cli.render.trials import trial_report_lines
    from callgauge.stats.gate_syntax import GateSyntaxError
    from callgauge.trials.results.run_folder import FolderError
    from callgauge.trials.verdicts.gate import choose_exit_code, judge_gates
    from callgauge.trials.verdicts.gate_words import explain_gates
    from callgauge.trials.verdicts.report import make_report
    from callgauge.trials.verdicts.report_text import answer_lines, write_report
    from callgauge.trials.verdicts.run_record import read_run

    try:
        record = read_run(folder)
        gates = judge_gates(record, gate or ())
    except (GateSyntaxError, FolderError) as problem:
        render.print_message(str(problem))
        raise typer.Exit(ExitCode.WRONG_USE) from None
    made = make_report(record)
    try:
        write_report(folder, made)
    except OSError as problem:
        render.print_message(f"cannot write the report to {folder}: {problem.strerror}")
    if as_json:
        verdicts = [
            {**asdict(result), "verdict": result.verdict, "exit_code": result.exit_code} for result in gates
        ]
        print(render.to_json({**made.to_data(), "answer": answer_lines(made), "gates": verdicts}))
    else:
        print("\n".join(trial_report_lines(made, explain_gates(record, gates), is_full=full)))
    if gates:
        raise typer.Exit(choose_exit_code(gates))


trial = typer.Typer(
    name="trial",
    help="Compare models, prompts and definitions on the same tasks.",
    no_args_is_help=True,
)
for command in (
    check.check,
    run.probe,
    run.run,
    report,
    tasks.tasks,
    run.demo,
):
    trial.command()(command)

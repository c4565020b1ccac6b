"""The command `callgauge report`: what changed in a store."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from callgauge.cli import render
from callgauge.cli.options.store_option import OptionalStore
from callgauge.cli.render.exit_codes import ExitCode
from callgauge.memory.memory_file import MemoryProblemError

if TYPE_CHECKING:
    from callgauge.configuration.settings import Configuration
    from callgauge.report.nightly_report import NightlyReport

Format = Literal["html", "md", "json", "slack", "email"]
Config = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", readable=False, help="A callgauge.toml, instead of --store."),
]


def report(
    store: OptionalStore = None,
    config: Config = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="WHEN",
            help="Report changes since this day: yesterday, monday, 3d, 2 weeks, last week, 2026-11-20. "
            "[default: since the last report]",
        ),
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="The format of the report.")] = "md",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the report to this file.")
    ] = None,
    send: Annotated[
        bool, typer.Option("--send", help="With --config: send it to its channels, once a day each.")
    ] = False,
) -> None:
    """Report what changed in a store, in at most five sentences.

    Each sentence has its numbers and a link. Exits with 1 if there is nothing to report, or if a channel did
    not receive the report.
    """
    from callgauge.report.content.morning_report import ReportError
    from callgauge.report.formats import FORMATS
    from callgauge.report.nightly_report import read_report, send_nightly_report, write_text
    from ingest.time_ranges import read_day

    if (store is None) == (config is None) or (send and config is None):
        usage = "name --store DIR or --config FILE" + (" (--send takes --config)" if send else "")
        render.fail(usage, ExitCode.WRONG_USE)
    settings = _read_settings(config) if config else None
    night = datetime.now().astimezone().date()
    try:
        day = read_day(since, night) if since else None
    except ValueError as problem:
        render.fail(f"--since {problem}", ExitCode.WRONG_USE)
    try:
        if settings and send:
            result = send_nightly_report(settings, night, since=day)
            made = result.report
        else:
            result = None
            made = read_report(
                settings.store if settings else store or Path(),
                night,
                since=day,
                address=settings.report.address if settings else None,
                texts=settings.serve.texts if settings else True,
            )
        text = FORMATS[form](made)
        if output:
            write_text(output, text)
        elif not send:
            sys.stdout.write(text)  # Every format has already replaced control characters.
    except (ReportError, MemoryProblemError) as problem:
        render.fail(str(problem), ExitCode.FAILED)
    except OSError as problem:
        render.fail(f"cannot write {output}: {problem.strerror}", ExitCode.FAILED)
    if result:
        _print_deliveries(result)
        if result.problem:
            raise typer.Exit(ExitCode.FAILED)


def _print_deliveries(result: NightlyReport) -> None:
    render.print_message(f"written to {result.file}")
    for delivery in result.deliveries:
        reason = f", {delivery.reason}" if delivery.reason else ""
        render.print_message(f"{delivery.channel}: {delivery.result}{reason}")
    if not result.deliveries:
        why = "nothing changed" if result.report.is_quiet else "the configuration has no channel"
        render.print_message(f"nothing sent: {why}")


def _read_settings(path: Path) -> Configuration:
    from callgauge.configuration.configuration_file import ConfigurationError, read_configuration

    try:
        return read_configuration(path)
    except ConfigurationError as mistakes:
        render.print_mistakes(mistakes)
        raise typer.Exit(ExitCode.WRONG_USE) from None

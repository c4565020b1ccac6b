"""The commands `callgauge report` and `callgauge gate`: what changed, and whether something got worse."""

from __future__ import annotations

import sys
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from callgauge.cli import render
from callgauge.cli.options.store_option import OptionalStore, Store
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
Baseline = Annotated[
    str,
    typer.Option(
        metavar="NAME|DAYS",
        help="A saved baseline, or days: 7 days (before the tested days), 2026-11-01 to 2026-11-07, or same "
        "days (to compare two hosts).",
    ),
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


Names = list[str] | None


def gate(
    store: Store,
    baseline: Baseline,
    gates: Annotated[
        list[str],
        typer.Option(
            "--gate",
            metavar="no-worse[:RATE]=SIZE",
            help="Exit with 0 if the rate is not worse than the baseline by SIZE (0.02 or 2%), with 5 if it "
            "is worse, with 6 if there is not enough data. [default RATE: parse_error] Repeatable.",
        ),
    ],
    days: Annotated[str, typer.Option(metavar="DAYS", help="The days to test.")] = "7 days",
    model: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this model. Repeatable.")
    ] = None,
    provider: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only models on this host. Repeatable.")
    ] = None,
    baseline_provider: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="The baseline's host, instead of --provider. Repeatable."),
    ] = None,
    prompt: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this prompt, such as fixer@13. Repeatable.")
    ] = None,
    tool: Annotated[Names, typer.Option(metavar="NAME", help="Only this tool. Repeatable.")] = None,
    mcp_server: Annotated[
        Names, typer.Option(metavar="NAME", help="Only this MCP server. Repeatable.")
    ] = None,
    source: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this log format. Repeatable.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Fail in CI if the newest days are worse than a baseline.

    Exits with 0 for not worse, 5 for worse, 6 for not enough data, 1 if the store cannot be read.
    """
    from callgauge.report.content.morning_report import ReportError
    from callgauge.report.store_gate import describe_gate, judge_gates
    from callgauge.stats.gate_syntax import EXIT_CODES, GateSyntaxError, choose_worst

    chosen = {
        "model": model or (),
        "provider": provider or (),
        "prompt": prompt or (),
        "tool": tool or (),
        "mcp_server": mcp_server or (),
        "source": source or (),
    }
    try:
        results = judge_gates(store, gates, baseline, days, chosen, {"provider": baseline_provider or ()})
    except GateSyntaxError as problem:
        render.fail(str(problem), ExitCode.WRONG_USE)
    except (ReportError, MemoryProblemError) as problem:
        render.fail(str(problem), ExitCode.FAILED)
    if as_json:
        print(render.to_json([{**asdict(result), "exit_code": result.exit_code} for result in results]))
    else:
        for result in results:
            print(render.escape_for_terminal(describe_gate(result)))
            print(render.escape_for_terminal(f"  {result.link}"))
    raise typer.Exit(EXIT_CODES[choose_worst(result.verdict for result in results)])

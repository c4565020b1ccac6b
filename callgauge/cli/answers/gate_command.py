"""The command `callgauge gate`: whether a store or a trial run got worse than its baseline."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlsplit

import typer

from callgauge.cli import render
from callgauge.cli.options.store_option import OptionalStore
from callgauge.cli.render.exit_codes import ExitCode
from callgauge.memory.memory_file import MemoryProblemError

if TYPE_CHECKING:
    from callgauge.documents.gate_text import GateText

Format = Literal["text", "markdown", "json", "github"]
Names = list[str] | None
SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"
"""The file of a GitHub Actions step whose Markdown the page of the workflow run shows."""
Gates = Annotated[
    list[str],
    typer.Option(
        "--gate",
        metavar="no-worse[:RATE]=SIZE",
        help="Exit with 0 if the 95% interval of the difference excludes a loss of SIZE (0.02 or 2%), with 5 "
        "if the rate is certainly worse by any amount and a loss of SIZE is possible, else with 6 (not "
        "enough data). [default RATE: parse_error; of a trial run its primary measure] Repeatable.",
    ),
]
Baseline = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|DAYS",
        help="A saved baseline, or days: 7 days (before the tested days), 2026-11-01 to 2026-11-07, or same "
        "days (to compare two hosts).",
    ),
]
TrialRun = Annotated[
    Path | None,
    typer.Option(
        "--against-trial",
        metavar="RUN",
        readable=False,
        help="The folder of a trial run, such as runs/NAME, instead of --store and --baseline: compare its "
        "variants with its reference, on the same tasks.",
    ),
]
Form = Annotated[
    Format | None,
    typer.Option(
        "--format",
        help="text, markdown for a pull request, json, or github: Markdown with workflow commands for GitHub "
        f"Actions, also appended to the file {SUMMARY_VARIABLE}. [default: text]",
    ),
]
Dashboard = Annotated[
    str | None,
    typer.Option(
        metavar="URL", help="The dashboard's address, such as https://gauge.example.com, for full links."
    ),
]


def gate(
    gates: Gates,
    store: OptionalStore = None,
    baseline: Baseline = None,
    against_trial: TrialRun = None,
    days: Annotated[
        str | None, typer.Option(metavar="DAYS", help="The days to test. [default: 7 days]")
    ] = None,
    model: Annotated[Names, typer.Option(metavar="NAME", help="Only this model. Repeatable.")] = None,
    provider: Annotated[
        Names, typer.Option(metavar="NAME", help="Only models on this host. Repeatable.")
    ] = None,
    baseline_provider: Annotated[
        Names, typer.Option(metavar="NAME", help="The baseline's host, instead of --provider. Repeatable.")
    ] = None,
    prompt: Annotated[
        Names, typer.Option(metavar="NAME", help="Only this prompt, such as fixer@13. Repeatable.")
    ] = None,
    tool: Annotated[Names, typer.Option(metavar="NAME", help="Only this tool. Repeatable.")] = None,
    mcp_server: Annotated[
        Names, typer.Option(metavar="NAME", help="Only this MCP server. Repeatable.")
    ] = None,
    source: Annotated[Names, typer.Option(metavar="NAME", help="Only this log format. Repeatable.")] = None,
    form: Form = None,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    dashboard: Dashboard = None,
) -> None:
    """Fail in CI if the newest days are worse than a baseline.

    Example: callgauge gate --store store --baseline "7 days" --gate no-worse=2%

    --store and --baseline are required, or --against-trial: the gate then compares the variants of a trial
    run. Exits with 0 for not worse, 5 for worse, 6 for not enough data, 1 if the store cannot be read.
    """
    if as_json and form is not None:
        render.fail("use --json or --format, not both", ExitCode.WRONG_USE)
    if dashboard is not None and not _is_address(dashboard):
        advice = "use an address such as https://gauge.example.com"
        render.fail(f"--dashboard {dashboard!r} is not an address; {advice}", ExitCode.WRONG_USE)
    chosen = {
        "model": model or (),
        "provider": provider or (),
        "prompt": prompt or (),
        "tool": tool or (),
        "mcp_server": mcp_server or (),
        "source": source or (),
    }
    if against_trial is not None:
        of_store = {"store": store, "baseline": baseline, "days": days, **chosen}
        _refuse_store_options({**of_store, "baseline_provider": baseline_provider})
        texts, results = _judge_trial(against_trial, gates)
    elif store is None or baseline is None:
        render.fail("name --store DIR and --baseline NAME|DAYS, or --against-trial RUN", ExitCode.WRONG_USE)
    else:
        others = {"provider": baseline_provider or ()}
        texts, results = _judge_store(store, gates, (baseline, days or "7 days"), chosen, others)
    _print(texts, results, "json" if as_json else form or "text", dashboard)
    from callgauge.stats.gate_syntax import EXIT_CODES, choose_worst

    raise typer.Exit(EXIT_CODES[choose_worst(text.verdict for text in texts)])


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    is_plain = text.isprintable() and not set(text) & set(" <>[]()\"'`@?#")
    return parts.scheme in ("http", "https") and bool(parts.hostname) and is_plain


def _refuse_store_options(options: Mapping[str, object]) -> None:
    named = [f"--{name.replace('_', '-')}" for name, value in options.items() if value]
    if named:
        render.fail(
            f"--against-trial cannot be used with {', '.join(named)}. A trial run and the traffic of a store "
            "have different tasks, so a comparison of the two is not like for like. --against-trial compares "
            "the variants of the trial run with its reference, because both ran the same tasks",
            ExitCode.WRONG_USE,
        )


def _judge_trial(folder: Path, gates: Sequence[str]) -> tuple[list[GateText], list[dict[str, Any]]]:
    from callgauge.stats.gate_syntax import GateSyntaxError
    from callgauge.trials.results.run_folder import FolderError
    from callgauge.trials.verdicts.gate import judge_gates
    from callgauge.trials.verdicts.gate_words import explain_gates, list_results
    from callgauge.trials.verdicts.run_record import read_run

    try:
        record = read_run(folder)
        judged = judge_gates(record, gates)
    except (GateSyntaxError, FolderError) as problem:
        render.fail(str(problem), ExitCode.WRONG_USE)
    return explain_gates(record, judged), list_results(record, judged)


def _judge_store(
    store: Path,
    gates: Sequence[str],
    spans: tuple[str, str],
    chosen: Mapping[str, Sequence[str]],
    of_baseline: Mapping[str, Sequence[str]],
) -> tuple[list[GateText], list[dict[str, Any]]]:
    from callgauge.report.content.morning_report import ReportError
    from callgauge.report.store_gate import explain_gate, judge_gates, make_result
    from callgauge.stats.gate_syntax import GateSyntaxError

    try:
        judged = judge_gates(store, gates, *spans, chosen, of_baseline)
    except GateSyntaxError as problem:
        render.fail(str(problem), ExitCode.WRONG_USE)
    except (ReportError, MemoryProblemError) as problem:
        render.fail(str(problem), ExitCode.FAILED)
    return [explain_gate(each) for each in judged], [make_result(each) for each in judged]


def _print(
    texts: Sequence[GateText], results: Sequence[Mapping[str, Any]], form: Format, dashboard: str | None
) -> None:
    from callgauge.documents.gate_text import list_lines, list_workflow_commands, write_gates

    if form == "json":
        print(render.to_json(results))
    elif form == "text":
        for line in list_lines(texts, dashboard):
            print(render.escape_for_terminal(line))
    else:
        markdown = write_gates(texts, dashboard)
        sys.stdout.write(markdown)
        if form == "github":
            print("\n".join(list_workflow_commands(texts)))
            _append_summary(markdown)


def _append_summary(markdown: str) -> None:
    """Append Markdown to the summary of the GitHub Actions job. A problem does not change the exit code."""
    file = os.environ.get(SUMMARY_VARIABLE)
    if not file:
        return
    try:
        with Path(file).open("a", encoding="utf-8", newline="\n") as stream:
            stream.write(f"{markdown}\n")
    except OSError as problem:
        render.print_message(f"cannot append to the job summary {file}: {problem.strerror}")

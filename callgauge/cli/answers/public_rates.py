"""The command `callgauge public-rates`: tool-call errors by model and host, next to public rates."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from callgauge.cli import render
from callgauge.cli.options.days_option import DaysText, read_calls
from callgauge.cli.options.store_option import Store
from callgauge.cli.render.exit_codes import ExitCode

if TYPE_CHECKING:
    from callgauge.memory.team_memory import TeamMemory

_LISTED = 10  # maximum number of sources in a message
Format = Literal["text", "json", "csv"]


def public_rates(
    store: Store,
    days: DaysText = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--import",
            metavar="FILE",
            readable=False,
            help="First import public rates from a CSV file: model, host, date, rate (0.031 or 3.1%), "
            "source; optional: n, measure. A rate with the same model, host, date and source is replaced.",
        ),
    ] = None,
    remove: Annotated[
        str | None,
        typer.Option(
            metavar="SOURCE",
            help="First remove all imported public rates of this source. With --import, the file replaces "
            "them.",
        ),
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="The format of the output.")] = "text",
) -> None:
    """Compare the errors in tool calls with public rates.

    Counts errors as OpenRouter does: requests with a tool call that is not JSON, names no offered tool, or
    does not fit the tool's definition. Schema accuracy, as of K2-Vendor-Verifier, is the other requests.
    """
    with read_calls(store, days, texts=True) as (reader, chosen):
        # A top-level import would load DuckDB for every command.
        from callgauge.analysis.comparisons.public_rates import compare_with_public
        from callgauge.api.questions.answers import describe_days
        from callgauge.cli.render.public_rates import list_lines, write_csv, write_json
        from callgauge.memory.team_memory import TeamMemory

        memory = TeamMemory(store)
        if file is not None or remove is not None:
            _change_rates(memory, file, remove)
        table = compare_with_public(reader.ask, memory.read().public_rates, chosen.parameters)
    compared = describe_days(table.checked) if table.checked else chosen.describe_days()
    if form == "json":
        print(write_json(table, compared))
    elif form == "csv":
        sys.stdout.write(write_csv(table, compared))
    else:
        print("\n".join(list_lines(table, compared)))


def _change_rates(memory: TeamMemory, file: Path | None, removed: str | None) -> None:
    """Remove the public rates of a source, and import those of a file. If one step fails, nothing changes."""
    from callgauge.analysis import wording
    from callgauge.memory.public_rates import read_public_rate_file, save_public_rates

    imported = read_public_rate_file(file) if file else []
    count = 0
    if removed is not None:
        sources = [each.source for each in memory.read().public_rates]
        count = sources.count(removed)
        if not count:
            render.fail(_describe_unknown(removed, sorted(set(sources))), ExitCode.WRONG_USE)
    save_public_rates(memory.file, imported, removed)
    if removed is not None:
        render.print_message(f"removed {wording.plural(count, 'public rate')} of {removed}")
    if file:
        render.print_message(f"imported {wording.plural(len(imported), 'public rate')} from {file}")


def _describe_unknown(source: str, sources: Sequence[str]) -> str:
    listed = ", ".join(map(repr, sources[:_LISTED]))
    more = f" and {len(sources) - _LISTED} more" if len(sources) > _LISTED else ""
    present = f"the sources are {listed}{more}" if sources else "no public rates are imported"
    return f"--remove: no public rate has the source {source!r}; {present}"

"""The command `callgauge public-rates`: tool-call errors by model and host, next to public rates."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from callgauge.cli import render
from callgauge.cli.options.days_option import DaysText, choose_days, find_days, read_days
from callgauge.cli.options.store_option import Store
from callgauge.cli.render.exit_codes import ExitCode
from ingest.processes import let_pandas_in
from ingest.time_ranges import PRESETS

Format = Literal["text", "json", "csv"]


def public_rates(
    store: Store,
    days: DaysText = PRESETS[0],
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
    form: Annotated[Format, typer.Option("--format", help="The format of the output.")] = "text",
) -> None:
    """Compare the errors in tool calls with public rates.

    Counts errors as OpenRouter does: requests with a tool call that is not JSON, names no offered tool, or
    does not fit the tool's definition. Schema accuracy, as of K2-Vendor-Verifier, is the other requests.
    """
    let_pandas_in()
    # A top-level import would load DuckDB for every command.
    from callgauge.analysis.comparisons.public_rates import compare_with_public
    from callgauge.analysis.metrics import MetricError
    from callgauge.analysis.metrics.published_store import UnshownStoreError, read_store
    from callgauge.cli.render.public_rates import list_lines, write_csv, write_json
    from callgauge.memory.public_rates import read_public_rate_file, save_public_rates
    from callgauge.memory.team_memory import TeamMemory

    span, memory = read_days(days), TeamMemory(store)
    try:
        with read_store(store, texts=True) as reader:
            if file is not None:
                imported = read_public_rate_file(file)
                save_public_rates(memory.file, imported)
                render.print_message(
                    f"imported {len(imported):,} public rate{'' if len(imported) == 1 else 's'} from {file}"
                )
            compared = find_days(reader.ask, span)
            table = compare_with_public(reader.ask, memory.read().public_rates, choose_days(compared))
    except (UnshownStoreError, MetricError) as problem:
        render.fail(str(problem), ExitCode.FAILED)
    if form == "json":
        print(write_json(table, compared))
    elif form == "csv":
        sys.stdout.write(write_csv(table, compared))
    else:
        print("\n".join(list_lines(table, compared)))

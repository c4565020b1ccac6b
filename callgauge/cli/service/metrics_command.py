"""The command `callgauge metrics`: the figures of a store for Prometheus."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from callgauge.cli import render
from callgauge.cli.options.store_option import Store
from ingest.processes import let_pandas_in

_NOT_OPEN, _WRONG_USE = 1, 2


def metrics(
    store: Store,
    textfile: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write them here, whole or not at all: a .prom of node_exporter."),
    ] = None,
) -> None:
    """Print the figures of loads, nights and rates in Prometheus' text format.

    Exits with 1 when the store does not open; the figures say so, too.
    """
    if textfile is not None and textfile.suffix != ".prom":
        render.print_message(f"{textfile}: node_exporter reads only files that end in .prom; name it so")
        raise typer.Exit(_WRONG_USE)
    let_pandas_in()  # the pages' numbers are its frames
    from callgauge.monitoring.exposition import StoreFigures

    figures = StoreFigures(store)
    if textfile is None:
        text, problem = figures.write()
        sys.stdout.write(text)
    else:
        try:
            problem = figures.write_file(textfile)
        except OSError as error:
            render.print_message(
                f"{textfile} cannot be written: {error.strerror}; what was there is still there. Check the "
                "folder, its permissions and the free space"
            )
            raise typer.Exit(_NOT_OPEN) from None
    if problem is not None:
        render.print_message(problem)
        raise typer.Exit(_NOT_OPEN)

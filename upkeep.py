"""The terminal's words for what keeps a store right between loads: thin commands, registered by `cli`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

import terminal

Store = Annotated[Path, typer.Option("--store", metavar="DIR", help="The store's folder.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def reparse(
    store: Store,
    everything: Annotated[
        bool, typer.Option("--all", help="Judge every call, not only those of another parser version.")
    ] = False,
    tools: Annotated[
        list[Path] | None,
        typer.Option(
            "--tools",
            metavar="FILE",
            readable=False,
            help="Tool definitions in place of those given so far; implies --all.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Judge the calls of a store anew, after an upgrade or with other definitions; needs no logs."""
    from ingest.reparse import reparse as judge_again

    report = judge_again(store, everything=everything, tools=tools or ())
    if as_json:
        print(terminal.as_json(asdict(report)))
    elif report.generation is None:
        print(f"nothing to judge: this parser has judged every call of {store}")
    else:
        print(
            f"{report.calls:,} calls judged anew, {report.changed:,} of them otherwise than before, in "
            f"{report.seconds:,.1f} s\npublished {report.generation} in {store}"
        )

"""The commands that maintain a store between loads: reparse, rejects, models."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from callgauge.cli import render
from callgauge.cli.options.store_option import Store
from ingest.decoding.lines import MAX_LINE

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Wait = Annotated[bool, typer.Option("--wait", help="Wait while another load locks the store.")]
WaitAtMost = Annotated[
    float | None, typer.Option("--wait-at-most", metavar="SECONDS", min=0, help="Wait at most this long.")
]


def lock_patience(
    wait: bool, at_most: float | None, stopped: Callable[[], bool] = lambda: False
) -> Callable[[str], bool]:
    """Return a function that decides whether to keep waiting for a locked store.

    `at_most` is the limit in seconds. If only `wait` is given, there is no limit. If neither is given, the
    command does not wait. When `stopped()` returns True, the wait ends.
    """
    if not wait and at_most is None:
        return lambda _who: False
    return render.make_patience(at_most, stopped=stopped)


def reparse(
    store: Store,
    everything: Annotated[
        bool, typer.Option("--all", help="Parse every call, not only those of other parser versions.")
    ] = False,
    tools: Annotated[
        list[Path] | None,
        typer.Option(
            "--tools",
            metavar="FILE",
            readable=False,
            help="Tool definitions that replace the current ones; implies --all.",
        ),
    ] = None,
    wait: Wait = False,
    wait_at_most: WaitAtMost = None,
    as_json: Json = False,
) -> None:
    """Run the parser again on stored calls.

    Use it after an upgrade, or with other definitions. Needs no logs.
    """
    from ingest.maintenance.reparse import reparse as judge_again

    report = judge_again(
        store, everything=everything, tools=tools or (), patience=lock_patience(wait, wait_at_most)
    )
    if as_json:
        print(render.to_json(report))
    elif report.generation is None:
        print(f"nothing to do: this parser version has already parsed every call of {store}")
    else:
        print(
            f"parsed {report.calls:,} calls again in {report.seconds:,.1f} s; {report.changed:,} changed\n"
            f"published {report.generation} in {store}"
        )


def rejects(
    store: Store,
    files: Annotated[
        str | None, typer.Option("--file", metavar="PATTERN", help="Only these files: *.jsonl, */night/*.")
    ] = None,
    code: Annotated[str | None, typer.Option("--code", help="Only this reason code.")] = None,
    retry: Annotated[
        bool, typer.Option("--retry", help="Read the files again, for example after an upgrade.")
    ] = False,
    tools: Annotated[
        list[Path] | None,
        typer.Option("--tools", metavar="FILE", readable=False, help="With --retry: tool definitions."),
    ] = None,
    max_line: Annotated[
        int, typer.Option(metavar="BYTES", min=1024, help="With --retry: the longest line to read.")
    ] = MAX_LINE,
    wait: Wait = False,
    wait_at_most: WaitAtMost = None,
    as_json: Json = False,
) -> None:
    """List lines that could not be parsed, with file and line.

    --retry reads these lines again.
    """
    from ingest.maintenance import rejects as rejected

    if not retry:
        rejects = rejected.list_rejects(store, files=files, code=code)
        if as_json:
            print(render.to_json(list(rejects)))
        else:
            for line in render.rejects_lines(rejects, each=code is not None or files is not None):
                print(line)
        return
    with render.catch_interrupts() as interrupts, render.show_progress() as tell:
        report, left = rejected.retry_rejected(
            store,
            files=files,
            code=code,
            tools=tools or (),
            max_line=max_line,
            on_progress=tell,
            stop=interrupts.is_stop_wanted,
            patience=lock_patience(wait, wait_at_most, interrupts.is_stop_wanted),
        )
    for sentence in left:
        render.print_message(f"skipped: {sentence}")
    if as_json:
        print(render.to_json(report))
    else:
        print(render.load_report(report, store) if report else "nothing to retry")


def models(
    store: Store,
    wait: Wait = False,
    wait_at_most: WaitAtMost = None,
    as_json: Json = False,
) -> None:
    """List the models of a store with their names in the logs.

    The command also applies the aliases of the store's naming.toml.
    """
    from ingest.maintenance.model_names import count_models_anew

    report = count_models_anew(store, patience=lock_patience(wait, wait_at_most))
    if as_json:
        print(render.to_json(report))
        return
    for line in render.model_lines(report):
        print(line)
    if report.generation:
        render.print_message(f"counted again: published {report.generation} in {store}")

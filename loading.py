"""The terminal's words for loading logs: one command, registered by `cli`; thin, no logic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import terminal
import upkeep
from ingest.lines import MAX_LINE

if TYPE_CHECKING:
    from ingest.privacy.wanted import Wanted
    from ingest.reports import LoadReport

NOTHING_READ, SOME_REJECTED = 1, 3

Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[PATH…]",
        help="Files, folders (to the bottom), archives, quoted patterns, addresses (s3:// gs:// az:// "
        "https://), - for standard input; contents decide.",
    ),
]
Store = Annotated[Path, typer.Option("--store", metavar="DIR", help="The store's folder.")]
Manifest = Annotated[
    list[str] | None,
    typer.Option("--manifest", metavar="FILE", help="A list of such paths, one a line, relative to it."),
]
Tools = Annotated[
    list[Path] | None,
    typer.Option(
        "--tools", metavar="FILE", readable=False, help="Tool definitions, for logs that carry none."
    ),
]
Labels = Annotated[
    Path | None,
    typer.Option(metavar="FILE", readable=False, help='Names for prompts, as JSON: {"id or hash": "name"}.'),
]
MaxLine = Annotated[int, typer.Option(metavar="BYTES", min=1024, help="The longest line to read.")]
Form = Annotated[
    str | None,
    typer.Option("--format", metavar="NAME", help="Read all as this format, whatever they look like."),
]
Redact = Annotated[bool, typer.Option("--redact", help="Replace secrets, e-mail addresses and home folders.")]
RedactConfig = Annotated[
    Path | None,
    typer.Option(metavar="FILE", readable=False, help="Own patterns and detectors (TOML); redacts."),
]
NoResults = Annotated[bool, typer.Option("--no-results", help="Keep nothing that tools said.")]
Since = Annotated[
    str | None, typer.Option(metavar="WHEN", help="Only files changed since: 2026-11-20, 12h, 7d, 2w.")
]
Limit = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Read so many files at most; those that are in do not count."),
]
Workers = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Processes that read; as many as pay, up to 4, unless told."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be read; change nothing.")]
Watch = Annotated[bool, typer.Option("--watch", help="Load again when something changed, until Ctrl-C.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Say nothing but what went wrong.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def ingest(
    store: Store,
    paths: Files = None,
    manifest: Manifest = None,
    tools: Tools = None,
    labels: Labels = None,
    max_line: MaxLine = MAX_LINE,
    form: Form = None,
    since: Since = None,
    limit: Limit = None,
    workers: Workers = None,
    redact: Redact = False,
    redact_config: RedactConfig = None,
    no_results: NoResults = False,
    dry_run: DryRun = False,
    watch: Watch = False,
    wait: upkeep.Wait = False,
    wait_at_most: upkeep.WaitAtMost = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Load logs into a store. Files that are in already are passed over; an open dashboard goes on.

    Ctrl-C stops after the current batch and publishes what was read whole; twice stops at once.
    """
    named = _named(paths or (), manifest or (), watch=watch, dry_run=dry_run)
    words: dict[str, Any] = {
        "tools": tools or (),
        "max_line": max_line,
        "form": form,
        "since": since,
        "limit": limit,
        "private": _private(redact, redact_config, results=not no_results),
    }
    if dry_run:
        _foresee(named, store, words, as_json=as_json)
        return
    patience = partial(upkeep.patience, wait, wait_at_most)
    words |= {"labels": labels, "workers": workers}
    once = partial(_load, named, store, words, patience, quiet=quiet)
    show = partial(_show, store=store, quiet=quiet, as_json=as_json)
    if watch:
        _watch(named, store, once, show)
        return
    report = once()
    show(report)
    raise typer.Exit(_exit_code(report))


def _named(paths: Sequence[str], manifests: Sequence[str], *, watch: bool, dry_run: bool) -> list[str]:
    from ingest.errors import OptionError
    from ingest.sources.manifest import read_manifest
    from ingest.sources.places import STDIN

    if not paths and not manifests:
        raise OptionError("nothing to load: name files or folders, or a list of them with --manifest")
    if watch and dry_run:
        raise OptionError("--watch loads and --dry-run does not: choose one")
    if watch and STDIN in [*paths, *manifests]:
        raise OptionError("standard input cannot be watched; name a folder")
    return [*paths, *(name for file in manifests for name in read_manifest(file))]


def _private(redact: bool, config: Path | None, *, results: bool) -> Wanted:
    """What a load is to leave out. Raises OptionError."""
    from ingest.privacy.wanted import Wanted

    if not redact and config is None:
        return Wanted(results=results)
    from ingest.privacy.rules import read_rules  # imports the detectors

    return Wanted(read_rules(config), results)


def _load(
    named: Sequence[str],
    store: Path,
    words: dict[str, Any],
    patience: Callable[[Callable[[], bool]], Callable[[str], bool]],
    *,
    quiet: bool,
) -> LoadReport:
    from ingest.pipeline import load  # imports DuckDB and Arrow

    try:
        with terminal.stoppable() as interrupts, terminal.progress(quiet=quiet) as tell:
            stop = interrupts.wanted
            return load(named, store, **words, on_progress=tell, stop=stop, patience=patience(stop))
    except KeyboardInterrupt:
        terminal.say(f"stopped at once: nothing was published, {store} is as it was")
        raise typer.Exit(terminal.INTERRUPTED) from None


def _show(report: LoadReport, *, store: Path, quiet: bool, as_json: bool) -> None:
    if as_json:
        print(terminal.as_json(asdict(report)))
    elif not quiet:
        print(terminal.load_report(report, store))
    else:
        for line in terminal.load_trouble(report):
            terminal.say(line)


def _exit_code(report: LoadReport) -> int:
    if report.unread:
        return terminal.INTERRUPTED
    if not (report.loaded or report.unchanged or report.moved or report.left):
        return NOTHING_READ
    return SOME_REJECTED if report.rejects or report.rejected else 0


def _foresee(named: Sequence[str], store: Path, words: dict[str, Any], *, as_json: bool) -> None:
    from ingest.dry_run import dry_run

    outlook = dry_run(named, store, **words)
    print(terminal.as_json(asdict(outlook)) if as_json else terminal.outlook_text(outlook))


def _watch(
    named: Sequence[str], store: Path, once: Callable[[], LoadReport], show: Callable[[LoadReport], None]
) -> None:
    """Load whenever something changed. Ctrl-C between two loads, or in one, ends it."""
    from ingest.collect import collect
    from ingest.watching import watch

    def look() -> dict[str, object]:
        return {found.name: (found.seen, found.problem) for found in collect(named, store)}

    def load() -> None:
        report = once()
        if report.generation or report.rejected:
            show(report)
        if report.unread:
            raise KeyboardInterrupt

    try:
        watch(look, load, terminal.say)
    except KeyboardInterrupt:
        terminal.say(f"no longer watching; what was loaded is in {store}")

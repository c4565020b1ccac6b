"""The command `callgauge ingest`: its options, and the load, dry run or watch that it starts."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from dataclasses import replace as replace_fields
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar

import typer

from callgauge.cli import maintenance_commands, render
from callgauge.cli.options.store_option import OptionalStore
from callgauge.cli.render.loads import describe_store_rates
from callgauge.configuration.settings import LoadSettings, SourceSettings
from ingest.decoding.lines import MAX_LINE

if TYPE_CHECKING:
    from callgauge.configuration.settings import Configuration
    from callgauge.nightly.source_loads import SourceLoad
    from ingest.load_report import LoadReport

NOTHING_READ, WRONG_USE, SOME_REJECTED = 1, 2, 3
S = TypeVar("S", LoadSettings, SourceSettings)

Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[PATH…]",
        help="Files, folders (to the bottom), archives, quoted patterns, addresses (s3:// gs:// az:// "
        "https://), - for standard input; contents decide.",
    ),
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        readable=False,
        help="A callgauge.toml: its store and options, and without a PATH all its sources.",
    ),
]
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
MaxLine = Annotated[
    int | None,
    typer.Option(metavar="BYTES", min=1024, help=f"The longest line to read; {MAX_LINE:,} unless told."),
]
Form = Annotated[
    str | None,
    typer.Option("--format", metavar="NAME", help="Read all as this format, whatever they look like."),
]
FromPath = Annotated[
    list[str] | None,
    typer.Option(
        "--from-path",
        metavar="PATTERN",
        help="Where the path says what the log does not: 'result/{model}/{run}/*'; also {prompt}, {date}.",
    ),
]
Model = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The model of logs that name none and have none in the path."),
]
Mine = Annotated[
    bool, typer.Option("--mine", help="The logs of the agents on this machine; says what was found and asks.")
]
Yes = Annotated[bool, typer.Option("--yes", help="With --mine: load without asking.")]
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
On = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="CLUSTER",
        help="Read on a Ray cluster: ray (the one of this machine, or a new one), or ray://HOST:PORT.",
    ),
]
Shared = Annotated[
    str | None,
    typer.Option(
        metavar="PLACE",
        help="With --on: a folder or address that all machines reach, for rows; in the store unless told.",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be read; change nothing.")]
Watch = Annotated[bool, typer.Option("--watch", help="Load again when something changed, until Ctrl-C.")]
Replace = Annotated[
    bool,
    typer.Option("--replace", help="Of files that got other content, drop what they no longer hold."),
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="End with 3 as long as the store holds rejected lines or files."),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Say nothing but what went wrong.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """How a load is run and told, whatever it loads: the options of those names."""

    limit: int | None
    dry_run: bool
    watch: bool
    patience: Callable[[Callable[[], bool]], Callable[[str], bool]]
    strict: bool
    quiet: bool
    as_json: bool


def ingest(
    paths: Files = None,
    store: OptionalStore = None,
    config: Config = None,
    manifest: Manifest = None,
    tools: Tools = None,
    labels: Labels = None,
    max_line: MaxLine = None,
    form: Form = None,
    since: Since = None,
    limit: Limit = None,
    model: Model = None,
    from_path: FromPath = None,
    mine: Mine = False,
    yes: Yes = False,
    workers: Workers = None,
    on: On = None,
    shared: Shared = None,
    redact: Redact = False,
    redact_config: RedactConfig = None,
    no_results: NoResults = False,
    replace: Replace = False,
    strict: Strict = False,
    dry_run: DryRun = False,
    watch: Watch = False,
    wait: maintenance_commands.Wait = False,
    wait_at_most: maintenance_commands.WaitAtMost = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Load logs into a store. Files that are in already are passed over; an open dashboard goes on.

    A file with other content than before (a rotated log, a dump under the same name) loses nothing: sessions
    that it tells again are replaced, those that go on are continued, all others stay.

    Ends with 3 when it meets lines or files that it cannot use for the first time; later loads end with 0,
    and the Data page keeps them. With --config what is said here counts before what the file says.

    Ctrl-C stops after the current batch and publishes what was read whole; twice stops at once.
    """
    source = SourceSettings(
        name="", paths=tuple(paths or ()), manifests=tuple(manifest or ()),
        log_format=form, model=model, from_path=tuple(from_path or ()),
    )  # fmt: skip
    settings = LoadSettings(
        tools=tuple(tools or ()), labels=labels, workers=workers, max_line=max_line, since=since,
        on=on, shared=shared, replace=replace, redact=redact, redact_config=redact_config,
        results=not no_results,
    )  # fmt: skip
    way = _Way(
        limit=limit, dry_run=dry_run, watch=watch, strict=strict, quiet=quiet, as_json=as_json,
        patience=partial(maintenance_commands.lock_patience, wait, wait_at_most),
    )  # fmt: skip
    if config is not None:
        configuration = _read_configuration(config, store, settings, source)
        if not (mine or paths or manifest):
            _ingest_sources(configuration, way)
        if not dry_run:
            _keep_aliases(configuration)
        store, settings = configuration.store, configuration.load
    if store is None:
        render.print_message("name the store's folder with --store, or a callgauge.toml with --config")
        raise typer.Exit(WRONG_USE)
    _ingest_named(source, settings, store, way, mine=mine, ask=not (yes or dry_run))


def _read_configuration(
    file: Path, store: Path | None, settings: LoadSettings, source: SourceSettings
) -> Configuration:
    """Return what the file says, but for what the command line says. Raises ConfigurationError."""
    from callgauge.configuration.configuration_file import read_configuration

    told = read_configuration(file)
    return replace_fields(
        told,
        store=store or told.store,
        load=_overlay(told.load, settings),
        sources=tuple(_overlay(one, source) for one in told.sources),
    )


def _keep_aliases(configuration: Configuration) -> None:
    """Let the file's names of models hold in the store, as its night does. Raises StoreError."""
    from ingest.pipeline.planning.naming import keep_aliases
    from ingest.store.generations import prepare_store

    prepare_store(configuration.store)
    keep_aliases(configuration.store, configuration.aliases)


def _overlay(told: S, given: S) -> S:
    """Return `told` with the values of `given` that are no defaults."""
    news = {
        one.name: getattr(given, one.name)
        for one in fields(given)
        if one.default is not MISSING and getattr(given, one.name) != one.default
    }
    return replace_fields(told, **news)


def _ingest_sources(configuration: Configuration, way: _Way) -> NoReturn:
    """Load all sources of a configuration, one after another; a failed one stops no other. Exits."""
    from callgauge.nightly.source_loads import list_named, load_sources, load_words, source_words
    from ingest.errors import OptionError

    if not configuration.sources:
        raise OptionError(f"nothing to load: {configuration.path} names no [sources]")
    if way.watch:
        raise OptionError("--watch takes folders; `callgauge nightly` loads the sources of a file")
    if way.dry_run:
        for source in configuration.sources:
            words = {**load_words(configuration.load), **source_words(source), "limit": way.limit}
            render.print_message(f"source {source.name}:")
            _print_forecast(list_named(source), configuration.store, words, as_json=way.as_json)
        raise typer.Exit
    with render.catch_interrupts() as interrupts:
        stop = interrupts.is_stop_wanted
        loads = load_sources(
            configuration,
            given={"limit": way.limit, "patience": way.patience(stop)},
            show_progress=partial(render.show_progress, quiet=way.quiet),
            stop=stop,
        )
        try:
            codes = [_show_source(load, configuration.store, way) for load in loads]
        except KeyboardInterrupt:
            render.print_message(
                "stopped at once: of this source nothing was published; those before it are in"
            )
            raise typer.Exit(render.INTERRUPTED) from None
    raise typer.Exit(_join_codes(codes))


def _show_source(load: SourceLoad, store: Path, way: _Way) -> int:
    """Print what became of a source; return the exit code of its load alone."""
    if load.problem:
        render.print_message(f"source {load.name}: {load.problem}")
        return NOTHING_READ
    if load.report is None:
        render.print_message(f"source {load.name} holds no files")
        return 0
    render.print_message(f"source {load.name}:")
    _show(load.report, store=store, quiet=way.quiet, as_json=way.as_json)
    return _exit_code(load.report, store, strict=way.strict)


def _join_codes(codes: Sequence[int]) -> int:
    """Return the exit code of several loads: of a failure among others, that not all could be used."""
    if render.INTERRUPTED in codes:
        return render.INTERRUPTED
    if codes and set(codes) == {NOTHING_READ}:
        return NOTHING_READ
    return SOME_REJECTED if any(codes) else 0


def _ingest_named(
    source: SourceSettings, settings: LoadSettings, store: Path, way: _Way, *, mine: bool, ask: bool
) -> None:
    from callgauge.nightly.source_loads import load_words, source_words

    if mine:
        others = [*source.paths, *source.manifests]
        named = _find_mine(others, store, ask=ask, as_json=way.as_json)
    else:
        named = _all_named(source.paths, source.manifests, watch=way.watch, dry_run=way.dry_run)
    words = {**load_words(settings), **source_words(source), "limit": way.limit}
    if way.dry_run:
        _print_forecast(named, store, words, as_json=way.as_json)
        return
    find_named = _find_mine_again if mine else named.copy
    once = partial(_load, find_named, store, words, way.patience, quiet=way.quiet)
    show = partial(_show, store=store, quiet=way.quiet, as_json=way.as_json)
    if way.watch:
        _watch(find_named, store, once, show)
        return
    report = once()
    show(report)
    raise typer.Exit(_exit_code(report, store, strict=way.strict))


def _all_named(paths: Sequence[str], manifests: Sequence[str], *, watch: bool, dry_run: bool) -> list[str]:
    from ingest.errors import OptionError
    from ingest.sources.local_files import STDIN, read_file_list

    if not paths and not manifests:
        raise OptionError(
            "nothing to load: name files or folders, a list of them with --manifest, or --mine for the logs "
            "of the agents on this machine"
        )
    if watch and dry_run:
        raise OptionError("--watch loads and --dry-run does not: choose one")
    if watch and STDIN in [*paths, *manifests]:
        raise OptionError("standard input cannot be watched; name a folder")
    return [*paths, *(name for file in manifests for name in read_file_list(file))]


def _find_mine(others: Sequence[str], store: Path, *, ask: bool, as_json: bool) -> list[str]:
    """Say which logs of known agents there are, and return those to load.

    Exits when there are none, or when the user does not want them loaded.
    """
    from ingest.errors import OptionError
    from ingest.pipeline.survey import survey_machine

    if others:
        raise OptionError("--mine finds the logs by itself: name no others beside it")
    surveys = survey_machine()
    if as_json and ask:
        print(render.to_json([asdict(survey) for survey in surveys]))
    elif not as_json:
        for line in render.survey_lines(surveys, datetime.now().astimezone()):
            print(line, flush=True)
    named = [path for survey in surveys if survey.is_read for path in survey.paths]
    if not named:
        render.print_message(
            f"no logs that can be read were found in {Path.home()}; name some: callgauge ingest PATH"
        )
        raise typer.Exit(NOTHING_READ)
    if ask:
        _ask_to_load(len(named), store)
    return named


def _find_mine_again() -> list[str]:
    """Return the logs of known agents as they are now, for a watch that goes on."""
    from ingest.pipeline.survey import list_readable_logs

    return list_readable_logs()


def _ask_to_load(files: int, store: Path) -> None:
    """Ask whether to load; exit when the answer is no, or when there is nobody to ask."""
    what = f"{files:,} file{'' if files == 1 else 's'} into {store}"
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        render.print_message(f"nothing was loaded: the same command with --yes loads {what}")
    elif typer.confirm(f"Load {what}? Nothing leaves this machine.", default=True, err=True):
        return
    raise typer.Exit(NOTHING_READ)


def _load(
    find_named: Callable[[], Sequence[str]],
    store: Path,
    words: dict[str, Any],
    patience: Callable[[Callable[[], bool]], Callable[[str], bool]],
    *,
    quiet: bool,
) -> LoadReport:
    from ingest.pipeline.load import load  # imports DuckDB and Arrow

    try:
        with render.catch_interrupts() as interrupts, render.show_progress(quiet=quiet) as tell:
            stop = interrupts.is_stop_wanted
            return load(find_named(), store, **words, on_progress=tell, stop=stop, patience=patience(stop))
    except KeyboardInterrupt:
        render.print_message(f"stopped at once: nothing was published, {store} is as it was")
        raise typer.Exit(render.INTERRUPTED) from None


def _show(report: LoadReport, *, store: Path, quiet: bool, as_json: bool) -> None:
    if as_json:
        print(render.to_json(asdict(report)))
    elif not quiet:
        print(render.load_report(report, store, describe_store_rates(store) if report.generation else ()))
    else:
        for line in render.load_trouble(report):
            render.print_message(line)


def _exit_code(report: LoadReport, store: Path, *, strict: bool) -> int:
    from ingest.store.generations import published_generation
    from ingest.store.reader import holds_rejects

    if report.unread:
        return render.INTERRUPTED
    if not (report.loaded or report.unchanged or report.moved or report.left):
        return NOTHING_READ
    if report.new_rejects or report.new_rejected:
        return SOME_REJECTED
    published = published_generation(store.absolute()) if strict else None
    return SOME_REJECTED if published is not None and holds_rejects(published) else 0


def _print_forecast(named: Sequence[str], store: Path, words: dict[str, Any], *, as_json: bool) -> None:
    from ingest.pipeline.dry_run import forecast_load

    of_load_only = ("labels", "workers", "on", "shared", "replacing")
    told = {name: value for name, value in words.items() if name not in of_load_only}
    outlook = forecast_load(named, store, **told)
    print(render.to_json(asdict(outlook)) if as_json else render.outlook_text(outlook))


def _watch(
    find_named: Callable[[], Sequence[str]],
    store: Path,
    once: Callable[[], LoadReport],
    show: Callable[[LoadReport], None],
) -> None:
    """Load the files, and again whenever they have changed, until Ctrl-C.

    Ctrl-C ends the watch during a load as well as between two loads.
    """
    from ingest.pipeline.watch import watch
    from ingest.sources.discovery import find_logs

    def look() -> dict[str, object]:
        return {found.name: (found.seen, found.problem) for found in find_logs(find_named(), store)}

    def load() -> None:
        report = once()
        if report.generation or report.rejected:
            show(report)
        if report.unread:
            raise KeyboardInterrupt

    try:
        watch(look, load, render.print_message)
    except KeyboardInterrupt:
        render.print_message(f"no longer watching; what was loaded is in {store}")

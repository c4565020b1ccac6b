"""The command `callgauge ingest`: its options, and how it loads, forecasts or watches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar

import msgspec
import typer
from msgspec import structs

from callgauge.cli import maintenance_commands, render
from callgauge.cli.options.store_option import OptionalStore, warn_of_open_store
from callgauge.cli.render.exit_codes import ExitCode
from callgauge.cli.render.loads import describe_store_rates
from callgauge.configuration.settings import LoadSettings, SourceSettings
from ingest.decoding.lines import MAX_LINE

if TYPE_CHECKING:
    from callgauge.configuration.settings import Configuration
    from callgauge.nightly.source_loads import SourceLoad
    from ingest.load_report import LoadReport

S = TypeVar("S", LoadSettings, SourceSettings)

Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[PATH…]",
        help="Files, folders (with subfolders), archives, quoted patterns, addresses (s3:// gs:// az:// "
        "https://), - for standard input. Formats are recognised by content.",
    ),
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        readable=False,
        help="A callgauge.toml: use its store and options, and without a PATH load all its sources.",
    ),
]
Manifest = Annotated[
    list[str] | None,
    typer.Option(
        "--manifest", metavar="FILE", help="A file that lists such paths, one per line, relative to it."
    ),
]
Tools = Annotated[
    list[Path] | None,
    typer.Option(
        "--tools", metavar="FILE", readable=False, help="Tool definitions for logs that contain none."
    ),
]
Labels = Annotated[
    Path | None,
    typer.Option(metavar="FILE", readable=False, help='Names for prompts, as JSON: {"id or hash": "name"}.'),
]
MaxLine = Annotated[
    int | None,
    typer.Option(metavar="BYTES", min=1024, help=f"The longest line to read. [default: {MAX_LINE:,}]"),
]
Form = Annotated[
    str | None,
    typer.Option("--format", metavar="NAME", help="Read all files as this format."),
]
FromPath = Annotated[
    list[str] | None,
    typer.Option(
        "--from-path",
        metavar="PATTERN",
        help="Take names that the log lacks from the path: 'result/{model}/{run}/*'; also {prompt}, {date}.",
    ),
]
Model = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The model of logs that name none, in the log or in the path."),
]
Map = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="FIELD=PATH",
        help="Where chat transcripts have a field: messages=.request.messages. `ingest --dry-run` shows the "
        "result.",
    ),
]
Mine = Annotated[
    bool, typer.Option("--mine", help="Find the logs of the agents on this machine; list them and ask.")
]
Yes = Annotated[bool, typer.Option("--yes", help="With --mine: load without asking.")]
Redact = Annotated[bool, typer.Option("--redact", help="Replace secrets, e-mail addresses and home folders.")]
RedactConfig = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", readable=False, help="Your own patterns and detectors (TOML); implies --redact."
    ),
]
NoResults = Annotated[bool, typer.Option("--no-results", help="Do not store the results of tools.")]
Since = Annotated[
    str | None,
    typer.Option(metavar="WHEN", help="Only files changed since then: 12h, 7d, yesterday, 2026-11-20."),
]
Limit = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=1, help="Read at most N files; files that are already loaded do not count."
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Processes that read. [default: up to 4, by size]"),
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
        help="With --on: a folder or address that all machines can reach. [default: in the store]",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what a load would read; change nothing.")]
Watch = Annotated[bool, typer.Option("--watch", help="Load again whenever files change, until Ctrl-C.")]
Replace = Annotated[
    bool,
    typer.Option("--replace", help="Remove sessions that changed files no longer contain."),
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Exit with 3 if the store has unreadable lines or files, new or old."),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print only problems.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


class _Way(msgspec.Struct, frozen=True, kw_only=True):
    """How to load the logs, and how to report the load."""

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
    mapping: Map = None,
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
    """Load logs into a store. Skips files that are already loaded; an open dashboard shows the new data.

    If a file changes (log rotation, a dump under the same name), its sessions are updated or continued. No
    other session is dropped.

    Exits with 3 if there are new unreadable lines or files, which the Data page lists. Later loads exit with
    0. Options on the command line override --config.

    Ctrl-C stops after the current batch and publishes the files that were read completely. Ctrl-C twice stops
    immediately.
    """
    source = SourceSettings(
        name="", paths=tuple(paths or ()), manifests=tuple(manifest or ()),
        log_format=form, model=model, from_path=tuple(from_path or ()), mapping=split_map(mapping or ()),
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
        warn_of_open_store(configuration.store)
        if not (mine or paths or manifest):
            _ingest_sources(configuration, way)
        if not dry_run:
            _keep_aliases(configuration)
        store, settings = configuration.store, configuration.load
    elif store is not None:
        warn_of_open_store(store)
    if store is None:
        render.print_message("no store: name its folder with --store, or a callgauge.toml with --config")
        raise typer.Exit(ExitCode.WRONG_USE)
    _ingest_named(source, settings, store, way, mine=mine, ask=not (yes or dry_run))


def split_map(texts: Sequence[str]) -> dict[str, str]:
    """Return the JSON path of each field in the values of `--map`. Raises OptionError."""
    from ingest.errors import OptionError

    paths: dict[str, str] = {}
    for text in texts:
        name, equals, path = text.partition("=")
        if not equals:
            raise OptionError(f"--map {text!r} has no =; write --map messages=.request.messages")
        if name in paths:
            raise OptionError(f"--map has {name} twice; keep one of {paths[name]} and {path}")
        paths[name] = path
    return paths


def _read_configuration(
    file: Path, store: Path | None, settings: LoadSettings, source: SourceSettings
) -> Configuration:
    """Return the configuration of the file. Command line options override it. Raises ConfigurationError."""
    from callgauge.configuration.configuration_file import read_configuration

    configuration = read_configuration(file)
    return structs.replace(
        configuration,
        store=store or configuration.store,
        load=_overlay(configuration.load, settings),
        sources=tuple(_overlay(configured, source) for configured in configuration.sources),
    )


def _keep_aliases(configuration: Configuration) -> None:
    from ingest.pipeline.planning.naming import keep_aliases
    from ingest.store.generations import prepare_store

    prepare_store(configuration.store)
    keep_aliases(configuration.store, configuration.aliases)


def _overlay(configured: S, options: S) -> S:
    """Return `configured`, but replace its values with those of `options` that differ from the defaults."""
    changes = {
        field.name: value
        for field in structs.fields(options)
        if not field.required and (value := getattr(options, field.name)) != _default_of(field)
    }
    return structs.replace(configured, **changes)


def _default_of(field: structs.FieldInfo) -> Any:
    return field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()


def _ingest_sources(configuration: Configuration, way: _Way) -> NoReturn:
    """Load all sources of a configuration, even if one of them fails. Then exit."""
    from callgauge.nightly.source_loads import list_named, load_sources, load_words, source_words
    from ingest.errors import OptionError

    if not configuration.sources:
        raise OptionError(f"nothing to load: {configuration.path} has no [sources]")
    if way.watch:
        raise OptionError("--watch needs folders; use `callgauge nightly` for the sources of a file")
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
                "stopped immediately: nothing of this source was published; earlier sources are loaded"
            )
            raise typer.Exit(ExitCode.INTERRUPTED) from None
    raise typer.Exit(_join_codes(codes))


def _show_source(load: SourceLoad, store: Path, way: _Way) -> int:
    if load.problem:
        render.print_message(f"source {load.name}: {load.problem}")
        return ExitCode.FAILED
    if load.report is None:
        render.print_message(f"source {load.name} has no files")
        return 0
    render.print_message(f"source {load.name}:")
    show_report(load.report, store=store, quiet=way.quiet, as_json=way.as_json)
    return exit_code(load.report, store, strict=way.strict)


def _join_codes(codes: Sequence[int]) -> int:
    """Return one exit code for several loads. The code is 3 if some loads failed, but not all."""
    if ExitCode.INTERRUPTED in codes:
        return ExitCode.INTERRUPTED
    if codes and set(codes) == {ExitCode.FAILED}:
        return ExitCode.FAILED
    return ExitCode.UNREADABLE if any(codes) else 0


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
    show = partial(show_report, store=store, quiet=way.quiet, as_json=way.as_json)
    if way.watch:
        _watch(find_named, store, once, show)
        return
    report = once()
    show(report)
    raise typer.Exit(exit_code(report, store, strict=way.strict))


def _all_named(paths: Sequence[str], manifests: Sequence[str], *, watch: bool, dry_run: bool) -> list[str]:
    from ingest.errors import OptionError
    from ingest.sources.local_files import STDIN, read_file_list

    if not paths and not manifests:
        raise OptionError(
            "nothing to load: name files or folders, use --manifest for a list of them, or --mine for the "
            "logs of the agents on this machine"
        )
    if watch and dry_run:
        raise OptionError("--watch and --dry-run cannot be combined")
    if watch and STDIN in [*paths, *manifests]:
        raise OptionError("standard input cannot be watched; name a folder")
    return [*paths, *(name for file in manifests for name in read_file_list(file))]


def _find_mine(others: Sequence[str], store: Path, *, ask: bool, as_json: bool) -> list[str]:
    """List the logs of known agents, and return the logs to load.

    Exits if there are no logs, or if the user declines.
    """
    from ingest.errors import OptionError
    from ingest.pipeline.survey import survey_machine

    if others:
        raise OptionError("--mine finds the logs by itself; do not name other paths with it")
    surveys = survey_machine()
    if as_json and ask:
        print(render.to_json(surveys))
    elif not as_json:
        for line in render.survey_lines(surveys, datetime.now().astimezone()):
            print(line, flush=True)
    named = [path for survey in surveys if survey.is_read for path in survey.paths]
    if not named:
        render.print_message(
            f"no readable logs found in {Path.home()}; name a path: callgauge ingest PATH --store DIR"
        )
        raise typer.Exit(ExitCode.FAILED)
    if ask:
        _ask_to_load(len(named), store)
    return named


def _find_mine_again() -> list[str]:
    """Return the current logs of known agents, for `--watch`."""
    from ingest.pipeline.survey import list_readable_logs

    return list_readable_logs()


def _ask_to_load(files: int, store: Path) -> None:
    what = f"{files:,} file{'' if files == 1 else 's'} into {store}"
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        render.print_message(f"nothing loaded: run the command again with --yes to load {what}")
    elif typer.confirm(f"Load {what}? Nothing leaves this machine.", default=True, err=True):
        return
    raise typer.Exit(ExitCode.FAILED)


def _load(
    find_named: Callable[[], Sequence[str]],
    store: Path,
    words: dict[str, Any],
    patience: Callable[[Callable[[], bool]], Callable[[str], bool]],
    *,
    quiet: bool,
) -> LoadReport:
    from ingest.pipeline.load import load  # A top-level import would load DuckDB and Arrow for every command.

    try:
        with render.catch_interrupts() as interrupts, render.show_progress(quiet=quiet) as tell:
            stop = interrupts.is_stop_wanted
            return load(find_named(), store, **words, on_progress=tell, stop=stop, patience=patience(stop))
    except KeyboardInterrupt:
        render.print_message(f"stopped immediately: nothing was published, {store} is unchanged")
        raise typer.Exit(ExitCode.INTERRUPTED) from None


def show_report(report: LoadReport, *, store: Path, quiet: bool, as_json: bool) -> None:
    if as_json:
        print(render.to_json(report))
    elif not quiet:
        is_read_by_a_person = report.generation is not None and sys.stdout.isatty()
        print(render.load_report(report, store, describe_store_rates(store) if is_read_by_a_person else ()))
    else:
        for line in render.load_trouble(report):
            render.print_message(line)


def exit_code(report: LoadReport, store: Path, *, strict: bool) -> int:
    from ingest.store.generations import published_generation
    from ingest.store.reader import holds_rejects

    if report.unread:
        return ExitCode.INTERRUPTED
    if not (report.loaded or report.unchanged or report.moved or report.left):
        return ExitCode.FAILED
    if report.new_rejects or report.new_rejected:
        return ExitCode.UNREADABLE
    published = published_generation(store.absolute()) if strict else None
    return ExitCode.UNREADABLE if published is not None and holds_rejects(published) else 0


def _print_forecast(named: Sequence[str], store: Path, words: dict[str, Any], *, as_json: bool) -> None:
    from ingest.pipeline.dry_run import forecast_load

    only_for_loads = ("labels", "workers", "on", "shared", "replacing")
    options = {name: value for name, value in words.items() if name not in only_for_loads}
    outlook = forecast_load(named, store, **options)
    print(render.to_json(outlook) if as_json else render.outlook_text(outlook))


def _watch(
    find_named: Callable[[], Sequence[str]],
    store: Path,
    once: Callable[[], LoadReport],
    show: Callable[[LoadReport], None],
) -> None:
    """Load the files, and load them again after each change, until Ctrl-C."""
    from ingest.pipeline.watch import watch
    from ingest.sources.discovery import find_logs

    def look() -> dict[str, object]:
        return {log.name: (log.seen, log.problem) for log in find_logs(find_named(), store)}

    def load() -> None:
        report = once()
        if report.generation or report.rejected:
            show(report)
        if report.unread:
            raise KeyboardInterrupt

    try:
        watch(look, load, render.print_message)
    except KeyboardInterrupt:
        render.print_message(f"stopped watching; all loaded data is in {store}")

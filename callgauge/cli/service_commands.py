"""The commands of a team's service: `check-config`, `init-config`, `nightly` and `metrics`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from callgauge.cli import render
from callgauge.cli.options.store_option import Store
from callgauge.cli.render.loads import format_size
from callgauge.configuration.places import is_address
from ingest.processes import let_pandas_in

if TYPE_CHECKING:
    from callgauge.configuration.settings import Configuration
    from callgauge.nightly.configuration_check import ConfigurationOutlook, SourceOutlook
    from callgauge.nightly.nightly_run import NightResult, StepResult

_FAILED, _WRONG_USE = 1, 2

Config = Annotated[
    Path, typer.Option("--config", metavar="FILE", readable=False, help="The team's callgauge.toml.")
]
File = Annotated[Path, typer.Argument(metavar="[FILE]", readable=False, help="The team's callgauge.toml.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Again = Annotated[bool, typer.Option("--again", help="Do the whole night once more, though it is done.")]
WaitAtMost = Annotated[
    float,
    typer.Option("--wait-at-most", metavar="SECONDS", min=0, help="While another load holds the store."),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Say nothing but what went wrong.")]
_APART = ("reason", "problem", "sources", "tries", "name")
_COUNTED = ("files", "lines", "calls", "sessions", "backups")


def check_config(file: File = Path("callgauge.toml"), as_json: Json = False) -> None:
    """Say what is wrong with a callgauge.toml, every mistake at once, and what it would do on this machine.

    Exits with 0 when all is as the file says, 1 when something is missing here (a file, a folder, a
    variable), 2 when the file itself has mistakes. Changes nothing.
    """
    from callgauge.configuration.configuration_file import read_configuration
    from callgauge.nightly.configuration_check import check_configuration

    configuration = read_configuration(file)
    outlook = check_configuration(configuration)
    if as_json:
        print(render.to_json(asdict(outlook)))
    else:
        for line in _list_outlook(configuration, outlook):
            print(render.escape_for_terminal(line))
        for problem in outlook.problems:
            render.print_message(str(problem))
    raise typer.Exit(_FAILED if outlook.problems else 0)


def init_config(file: File = Path("callgauge.toml")) -> None:
    """Write an example of a callgauge.toml, with every key, to change. Never writes over a file."""
    from callgauge.configuration.configuration_file import EXAMPLE

    try:
        with file.open("x", encoding="utf-8") as new:
            new.write(EXAMPLE)
    except FileExistsError:
        render.fail(f"{file} is there already; name another file, or move it away", _FAILED)
    except OSError as problem:
        render.fail(f"cannot write {file}: {problem.strerror}", _FAILED)
    print(f"wrote {file}; change it, then: callgauge check-config {file}")


def _list_outlook(configuration: Configuration, outlook: ConfigurationOutlook) -> Iterator[str]:
    load, retention, report = configuration.load, configuration.retention, configuration.report
    yield f"{configuration.path} reads well"
    yield _line("store", str(configuration.store))
    for number, source in enumerate(outlook.sources):
        yield _line("sources" if not number else "", f"{source.name}: {_describe_source(source)}")
    if not outlook.sources:
        yield _line("sources", "none; a night loads nothing")
    options = [
        *([_count(len(load.tools), "file", "of tool definitions")] if load.tools else []),
        *(["names for prompts"] if load.labels else []),
        *(["redacted"] if load.redact or load.redact_config else []),
        *(["without results of tools"] if not load.results else []),
        *([f"files since {load.since}"] if load.since else []),
        *([_count(len(configuration.aliases), "other name", "of models")] if configuration.aliases else []),
    ]
    yield _line("load", ", ".join(options) or "as it comes")
    kept = (("texts", retention.text_days), ("calls, turns, sessions", retention.fact_days))
    told = [f"{what} go after {days:,} days" for what, days in kept if days is not None]
    yield _line("retention", ", ".join(told) or "nothing goes")
    backup = configuration.backup
    yield _line(
        "backup", f"to {backup.to}{_not_tried(backup.to)}, {backup.keep} kept" if backup.to else "none"
    )
    sent = [*(hook.kind for hook in report.webhooks), *(["e-mail"] if report.email else [])]
    channels = ", ".join(sent)
    folder = report.folder or configuration.store / "reports"
    yield _line("report", f"to {folder}, sent {f'to {channels}' if sent else 'nowhere'}")
    serve, sign_in = configuration.serve, configuration.sign_in
    yield _line("serve", f"{serve.address}:{serve.port}{'' if serve.texts else ', without texts'}")
    yield _line("sign-in", sign_in.method if sign_in.method != "none" else "none: only this machine")
    if outlook.variables:
        yield _line("variables", ", ".join(outlook.variables))


def _not_tried(place: str) -> str:
    """Say that nothing was written to an address: only a backup does."""
    return " (not tried)" if is_address(place) else ""


def _line(name: str, words: str) -> str:
    return f"{name:<10} {words}"


def _describe_source(source: SourceOutlook) -> str:
    newest = f", the newest of {source.newest:%Y-%m-%d %H:%M} UTC" if source.newest else ""
    unreadable = f", {source.unreadable:,} of them cannot be read" if source.unreadable else ""
    return f"{_count(source.files, 'file')}{newest}{unreadable}"


def _count(number: int, noun: str, rest: str = "") -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'} {rest}".rstrip()


def nightly(
    config: Config = Path("callgauge.toml"),
    again: Again = False,
    wait_at_most: WaitAtMost = 1800,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Do the night's work: load all sources, let old data go, back up, report.

    Each step is recorded; run again the same night, it goes on at the first that is not done.

    Exits with 0 when all is done, 1 when nothing could be done, 3 when all is done but lines or files were
    rejected for the first time, 4 when a source or a later step failed, 130 when a signal stopped it.

    Ctrl-C and SIGTERM stop it after the current batch; what was loaded by then is kept.
    """
    from callgauge.configuration.configuration_file import read_configuration
    from callgauge.memory.nights.night_lock import NightBusyError
    from callgauge.nightly.nightly_run import run_night

    configuration = read_configuration(config)
    silent = quiet or as_json
    try:
        with render.catch_interrupts() as interrupts:
            result = run_night(
                configuration,
                show_progress=partial(render.show_progress, quiet=silent),
                stop=interrupts.is_stop_wanted,
                patience=render.make_patience(wait_at_most, stopped=interrupts.is_stop_wanted),
                on_step=partial(_show_step, silent=silent),
                again=again,
            )
    except NightBusyError as busy:
        render.print_message(str(busy))
        raise typer.Exit(_FAILED) from None
    if as_json:
        print(render.to_json(_night_data(result)))
    elif not quiet:
        _show_end(result)
    if result.problem:
        render.print_message(result.problem)
    raise typer.Exit(int(result.exit_code))


def _show_step(name: str, step: StepResult, *, silent: bool) -> None:
    if step.outcome == "failed":
        render.print_message(f"{name} failed: {step.figures.get('problem')}")
    if not silent:
        for line in _step_lines(name, step.outcome, step.figures):
            print(line, flush=True)


def _show_end(result: NightResult) -> None:
    if not result.steps and not result.problem and not result.is_stopped:
        print(f"the night of {result.night} is done already; --again does it once more")
    elif result.is_stopped:
        print(f"the night of {result.night} was stopped; run again, it goes on from there")


def _night_data(result: NightResult) -> dict[str, Any]:
    steps = [
        *({"step": one.step, "outcome": one.outcome, "before": True, **one.told} for one in result.before),
        *({"step": name, "outcome": one.outcome, **one.figures} for name, one in result.steps.items()),
    ]
    return {"night": result.night.isoformat(), "exit": int(result.exit_code), "steps": steps}


def _step_lines(name: str, outcome: str, figures: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for a step of the nightly job, and for a load another for each source."""
    words = figures.get("reason") or _describe_figures(figures)
    yield render.escape_for_terminal(f"{name:<10} {outcome}{f': {words}' if words else ''}")
    for source in figures.get("sources", ()):
        words = source["problem"] or _describe_figures(source)
        yield render.escape_for_terminal(f"  {source['name']:<24} {words}")


def _describe_figures(figures: Mapping[str, Any]) -> str:
    """Return the figures of a step or a source: `12 files, 34 calls, 1 refused line`.

    Counts of 0 are left out, except the first.
    """
    shown = {key: value for key, value in figures.items() if key not in _APART and value is not None}
    numbers = [(key, value) for key, value in shown.items() if isinstance(value, int)]
    counts = [_write_count(key, value) for place, (key, value) in enumerate(numbers) if value or not place]
    texts = [f"{key} {value}" for key, value in shown.items() if isinstance(value, str) and value]
    return ", ".join([*counts, *texts])


def _write_count(key: str, value: int) -> str:
    if key.startswith("bytes_"):
        return f"{format_size(value)} {key.removeprefix('bytes_')}"
    words = key.split("_")
    spelled = (word.removesuffix("s") if value == 1 and word in _COUNTED else word for word in words)
    return f"{value:,} {' '.join(spelled)}"


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
            raise typer.Exit(_FAILED) from None
    if problem is not None:
        render.print_message(problem)
        raise typer.Exit(_FAILED)

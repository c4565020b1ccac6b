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
from callgauge.cli.options.store_option import Store, warn_of_open_store
from callgauge.cli.render.exit_codes import ExitCode
from callgauge.cli.render.loads import format_size
from callgauge.configuration.places import is_address
from ingest.processes import let_pandas_in

if TYPE_CHECKING:
    from callgauge.configuration.settings import Configuration
    from callgauge.nightly.configuration_check import ConfigurationOutlook, SourceOutlook
    from callgauge.nightly.nightly_run import NightResult, StepResult


Config = Annotated[
    Path, typer.Option("--config", metavar="FILE", readable=False, help="The team's callgauge.toml.")
]
File = Annotated[Path, typer.Argument(metavar="[FILE]", readable=False, help="The team's callgauge.toml.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Again = Annotated[
    bool, typer.Option("--again", help="Run the whole nightly job again, even if it is complete.")
]
WaitAtMost = Annotated[
    float,
    typer.Option(
        "--wait-at-most",
        metavar="SECONDS",
        min=0,
        help="How long to wait while another load locks the store.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print only problems.")]
_APART = ("reason", "problem", "sources", "tries", "name")
_COUNTED = ("files", "lines", "calls", "sessions", "backups")


def check_config(file: File = Path("callgauge.toml"), as_json: Json = False) -> None:
    """List every mistake in a callgauge.toml.

    The command also lists what is missing on this machine. It changes nothing.

    Exits with 0 if everything is in order, 1 if something is missing here (a file, a folder, a variable), 2
    if the file has mistakes.
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
    raise typer.Exit(ExitCode.FAILED if outlook.problems else 0)


def init_config(file: File = Path("callgauge.toml")) -> None:
    """Write an example callgauge.toml with every key. Never overwrites a file."""
    from callgauge.configuration.configuration_file import EXAMPLE

    try:
        with file.open("x", encoding="utf-8") as new:
            new.write(EXAMPLE)
    except FileExistsError:
        render.fail(f"{file} already exists; name another file, or move it away", ExitCode.FAILED)
    except OSError as problem:
        render.fail(f"cannot write {file}: {problem.strerror}", ExitCode.FAILED)
    print(f"wrote {file}; edit it, then run: callgauge check-config {file}")


def _list_outlook(configuration: Configuration, outlook: ConfigurationOutlook) -> Iterator[str]:
    load, retention, report = configuration.load, configuration.retention, configuration.report
    yield f"{configuration.path} is valid"
    yield _line("store", str(configuration.store))
    for number, source in enumerate(outlook.sources):
        yield _line("sources" if not number else "", f"{source.name}: {_describe_source(source)}")
    if not outlook.sources:
        yield _line("sources", "none; a nightly run loads nothing")
    options = [
        *([_count(len(load.tools), "file", "of tool definitions")] if load.tools else []),
        *(["names for prompts"] if load.labels else []),
        *(["redacted"] if load.redact or load.redact_config else []),
        *(["without results of tools"] if not load.results else []),
        *([f"files since {load.since}"] if load.since else []),
        *([_count(len(configuration.aliases), "other name", "of models")] if configuration.aliases else []),
    ]
    yield _line("load", ", ".join(options) or "default options")
    limits = (("content", retention.text_days), ("calls, turns, sessions", retention.fact_days))
    rules = [f"delete {what} after {days:,} days" for what, days in limits if days is not None]
    yield _line("retention", ", ".join(rules) or "nothing is deleted")
    backup = configuration.backup
    yield _line(
        "backup", f"to {backup.to}{_not_tried(backup.to)}, {backup.keep} kept" if backup.to else "none"
    )
    sent = [*(hook.kind for hook in report.webhooks), *(["e-mail"] if report.email else [])]
    channels = ", ".join(sent)
    folder = report.folder or configuration.store / "reports"
    yield _line("report", f"to {folder}, sent {f'to {channels}' if sent else 'nowhere'}")
    serve, sign_in = configuration.serve, configuration.sign_in
    yield _line("serve", f"{serve.address}:{serve.port}{'' if serve.texts else ', content hidden'}")
    yield _line("sign-in", sign_in.method if sign_in.method != "none" else "none: this machine only")
    if outlook.variables:
        yield _line("variables", ", ".join(outlook.variables))


def _not_tried(place: str) -> str:
    """Return " (not tested)" for a remote backup address, because the test would have to write there."""
    return " (not tested)" if is_address(place) else ""


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
    """Run the nightly job: load, retention, backup, report.

    Each step is recorded. If you run the command again on the same day, it continues at the first unfinished
    step.

    Exits with 0 if everything is done, 1 if nothing could be done, 3 if everything is done but there are new
    unreadable lines or files, 4 if a source or a later step failed, 130 if a signal stopped the job.

    Ctrl-C and SIGTERM stop the job after the current batch. Data that was loaded by then is kept.
    """
    from callgauge.configuration.configuration_file import read_configuration
    from callgauge.memory.nights.night_lock import NightBusyError
    from callgauge.nightly.nightly_run import run_night

    configuration = read_configuration(config)
    warn_of_open_store(configuration.store)
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
        raise typer.Exit(ExitCode.FAILED) from None
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
        print(f"the nightly run of {result.night} is already complete; --again runs it again")
    elif result.is_stopped:
        print(f"the nightly run of {result.night} was stopped; run the command again to continue")


def _night_data(result: NightResult) -> dict[str, Any]:
    steps = [
        *(
            {"step": step.step, "outcome": step.outcome, "before": True, **step.figures}
            for step in result.before
        ),
        *({"step": name, "outcome": step.outcome, **step.figures} for name, step in result.steps.items()),
    ]
    return {"night": result.night.isoformat(), "exit": int(result.exit_code), "steps": steps}


def _step_lines(name: str, outcome: str, figures: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for a step of the nightly job. For the load, also yield a line for each source."""
    words = figures.get("reason") or _describe_figures(figures)
    yield render.escape_for_terminal(f"{name:<10} {outcome}{f': {words}' if words else ''}")
    for source in figures.get("sources", ()):
        words = source["problem"] or _describe_figures(source)
        yield render.escape_for_terminal(f"  {source['name']:<24} {words}")
    for file in figures.get("unreadable", ()):
        lines = file["lines"]
        part = f": {_write_count('unreadable_lines', lines)}, the first:" if lines is not None else ""
        yield render.escape_for_terminal(f"  unreadable: {file['path']}{part} {file['reason']}")


def _describe_figures(figures: Mapping[str, Any]) -> str:
    """Return the figures of a step or a source as text: `12 files, 34 calls, 1 unreadable line`.

    A count of 0 is omitted, unless it is the first count.
    """
    shown = {key: value for key, value in figures.items() if key not in _APART and value is not None}
    numbers = [(key, value) for key, value in shown.items() if isinstance(value, int)]
    counts = [_write_count(key, value) for place, (key, value) in enumerate(numbers) if value or not place]
    texts = [f"{key} {value}" for key, value in shown.items() if isinstance(value, str) and value]
    return ", ".join([*counts, *texts])


def _write_count(key: str, value: int) -> str:
    if key.startswith("bytes_"):
        return f"{format_size(value)} {key.removeprefix('bytes_')}"
    words = key.replace("refused", "unreadable").split("_")
    spelled = (word.removesuffix("s") if value == 1 and word in _COUNTED else word for word in words)
    return f"{value:,} {' '.join(spelled)}"


def metrics(
    store: Store,
    textfile: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write them to this .prom file of node_exporter, atomically."),
    ] = None,
) -> None:
    """Print loads, nightly runs and rates for Prometheus.

    Exits with 1 if the store cannot be opened; a metric reports that, too.
    """
    if textfile is not None and textfile.suffix != ".prom":
        render.print_message(
            f"{textfile}: node_exporter reads only files whose names end in .prom; rename it"
        )
        raise typer.Exit(ExitCode.WRONG_USE)
    let_pandas_in()  # The metrics of the pages are pandas data frames.
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
                f"cannot write {textfile}: {error.strerror}. An existing file is unchanged. Check the "
                "folder, its permissions and the free space"
            )
            raise typer.Exit(ExitCode.FAILED) from None
    if problem is not None:
        render.print_message(problem)
        raise typer.Exit(ExitCode.FAILED)

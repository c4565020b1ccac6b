"""The commands `callgauge check-config` and `callgauge init-config`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from callgauge.cli import render
from callgauge.configuration.places import is_address

if TYPE_CHECKING:
    from callgauge.configuration.settings import Configuration
    from callgauge.nightly.configuration_check import ConfigurationOutlook, SourceOutlook

NOT_AS_TOLD, WRONG_USE = 1, 2

Config = Annotated[
    Path, typer.Option("--config", metavar="FILE", readable=False, help="The team's callgauge.toml.")
]
File = Annotated[Path, typer.Argument(metavar="[FILE]", readable=False, help="The team's callgauge.toml.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


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
    raise typer.Exit(NOT_AS_TOLD if outlook.problems else 0)


def init_config(file: File = Path("callgauge.toml")) -> None:
    """Write an example of a callgauge.toml, with every key, to change. Never writes over a file."""
    from callgauge.configuration.configuration_file import EXAMPLE

    try:
        with file.open("x", encoding="utf-8") as new:
            new.write(EXAMPLE)
    except FileExistsError:
        render.fail(f"{file} is there already; name another file, or move it away", NOT_AS_TOLD)
    except OSError as problem:
        render.fail(f"cannot write {file}: {problem.strerror}", NOT_AS_TOLD)
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

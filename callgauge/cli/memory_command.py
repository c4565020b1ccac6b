"""The commands `callgauge memory …`: export a team's decisions and notes as JSON, and import them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from callgauge.checked_files.file_problems import CheckedFileError
from callgauge.cli import render
from callgauge.cli.options.store_option import Store
from callgauge.cli.render.exit_codes import ExitCode
from callgauge.memory.exchange import ImportCount, export_memory, import_memory
from callgauge.memory.memory_file import MemoryFile, MemoryProblemError

memory = typer.Typer(
    name="memory",
    help="Export or import decisions and notes. Includes views, baselines, alert rules and triage status.",
    no_args_is_help=True,
)


@memory.command("export")
def write_export(
    store: Store,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", readable=False, help="[default: standard output]"),
    ] = None,
) -> None:
    """Write all decisions and notes of the team as JSON."""
    try:
        exported = export_memory(_open(store))
    except MemoryProblemError as problem:
        render.fail_in_lines(str(problem), ExitCode.FAILED)
    if file is None:
        print(exported, end="")
        return
    part = file.with_name(f".{file.name}.part")
    try:
        part.write_text(exported, encoding="utf-8")
        part.replace(file)
    except OSError as problem:
        part.unlink(missing_ok=True)
        render.fail_in_lines(
            f"cannot write {file}: {(problem.strerror or 'unknown reason').lower()}", ExitCode.FAILED
        )
    render.print_message(f"wrote the decisions and notes of {store} to {file}")


@memory.command("import")
def read_import(
    store: Store,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", readable=False, help="A file that `callgauge memory export` wrote."),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Merge a file into the team's decisions and notes. After an error, nothing is merged.

    Of two entries for the same thing, the newer entry stays.
    """
    try:
        counts = import_memory(_open(store), file)
    except CheckedFileError as mistakes:
        render.print_mistakes(mistakes)
        raise typer.Exit(ExitCode.WRONG_USE) from None
    except MemoryProblemError as problem:
        render.fail_in_lines(str(problem), ExitCode.FAILED)
    if as_json:
        print(render.to_json({name: asdict(count) for name, count in counts.items()}))
        return
    lines = [_describe(name, count) for name, count in counts.items() if any(asdict(count).values())]
    print("\n".join(lines) or "The file is empty.")


def _describe(name: str, count: ImportCount) -> str:
    parts = [("new", count.added), ("replaced", count.replaced), ("unchanged here", count.left)]
    return f"{name.replace('_', ' ')}: {', '.join(f'{n:,} {words}' for words, n in parts if n)}"


def _open(store: Path) -> MemoryFile:
    if not store.is_dir():
        render.fail_in_lines(
            f"{store} is not a store; name the folder that `callgauge ingest --store` wrote",
            ExitCode.WRONG_USE,
        )
    return MemoryFile(store)

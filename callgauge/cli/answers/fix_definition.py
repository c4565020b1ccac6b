"""The command `callgauge fix-definition`: propose edits of a tool's definition, and make them in a file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from callgauge.cli import render
from callgauge.cli.options.store_option import Store
from callgauge.cli.render.exit_codes import ExitCode

if TYPE_CHECKING:
    from callgauge.analysis.replay.definition_file import FileEdit
    from callgauge.analysis.replay.fix_results import ToolFixes


class Shape(StrEnum):
    """The shapes of `--shape`: the keys of `definition_shapes.SHAPES`."""

    OPENAI = "openai"
    OPENAI_RESPONSES = "openai-responses"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"
    MCP = "mcp"
    JSON_SCHEMA = "json-schema"
    PYTHON = "python"


def fix_definition(
    store: Store,
    tool: Annotated[
        str | None, typer.Argument(metavar="TOOL", help="The tool. [default: all tools with edits]")
    ] = None,
    shape: Annotated[
        Shape | None,
        typer.Option(help="The shape of the printed diff. [default: the shape of the tool's logs]"),
    ] = None,
    apply: Annotated[
        Path | None,
        typer.Option(
            "--apply",
            metavar="FILE",
            readable=False,
            help="Make the edits in this JSON file, in any provider's format.",
        ),
    ] = None,
    days: Annotated[
        str | None, typer.Option(metavar="DAYS", help="Only calls of these days, such as 30 days.")
    ] = None,
    mcp_server: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only calls of this MCP server.")
    ] = None,
    form: Annotated[
        Literal["text", "json"], typer.Option("--format", help="The format of the answer.")
    ] = "text",
) -> None:
    """Propose edits of tool definitions that models get wrong.

    Each edit is replayed over the stored calls first. Exits with 1 if the store or the file cannot be used.
    """
    if apply is not None and tool is None:
        render.fail("--apply needs the name of a tool", ExitCode.WRONG_USE)
    searched = _search(store, tool, days, mcp_server)
    results = searched if tool is not None else _sort_results(searched)
    edited = _edit_file(apply, results[0]) if apply is not None else None
    if form == "json":
        answers = [_describe_data(result, shape) for result in results]
        if edited is not None:
            answers[0]["file"] = _list_edits(edited)
        print(render.to_json(answers))
        return
    for line in _list_lines(results, shape, len(searched) if tool is None else None):
        print(render.escape_for_terminal(line))
    if edited is not None:
        for line in _describe_edits(edited, apply or Path()):
            render.print_message(line)


def _search(store: Path, tool: str | None, days: str | None, mcp_server: str | None) -> list[ToolFixes]:
    from callgauge.analysis.metrics import MetricError
    from callgauge.analysis.metrics.published_store import (
        UnshownStoreError,
        open_generation,
        published_generation,
    )
    from callgauge.analysis.replay.definition_fixes import FixSearch, ask_store

    try:
        connection = open_generation(published_generation(str(store)), texts=True)
    except UnshownStoreError as problem:
        render.fail(str(problem), ExitCode.FAILED)
    try:
        with connection, _show_progress() as show:
            ask = ask_store(connection)
            chosen: dict[str, Any] = {"mcp_servers": [mcp_server]} if mcp_server else {}
            chosen |= _read_days(days, next(iter(ask("extent", {})))["last_day"]) if days else {}
            search = FixSearch(ask, chosen, lambda calls: show(f"Reading calls: {calls:,}"))
            if tool is not None:
                return [search.find_fixes(tool)]
            return [search.find_fixes(each) for each in search.list_tools()]
    except MetricError as problem:
        render.fail(str(problem), ExitCode.FAILED)


def _sort_results(results: Sequence[ToolFixes]) -> list[ToolFixes]:
    """Return the results with edits, most fixed calls first."""
    found = [result for result in results if result.fixes]
    return sorted(
        found, key=lambda each: (-(each.effect.fixed if each.effect else 0), -each.tokens, each.tool)
    )


@contextmanager
def _show_progress() -> Iterator[Callable[[str], None]]:
    """Yield a function that shows the current step in a terminal, and does nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with render.show_status() as show:
        yield show


def _read_days(text: str, newest: Any) -> dict[str, Any]:
    from ingest.time_ranges import read_range

    try:
        span = read_range(text).resolve(newest, newest) if newest else None
    except ValueError as problem:
        render.fail(f"--days {problem}", ExitCode.WRONG_USE)
    return {"from_day": span[0], "to_day": span[1]} if span else {}


# --- the answer ----------------------------------------------------------------------------------------


def _list_lines(results: Sequence[ToolFixes], shape: Shape | None, searched: int | None) -> list[str]:
    """Return the lines of the answer. `searched` is the number of searched tools, or None for one tool."""
    from callgauge.analysis.replay.fix_sentences import (
        CHECK_TOOL,
        describe_evidence,
        describe_rejected,
        title_fix,
        write_fix_answer,
        write_overall_answer,
    )

    lines = [] if searched is None else [write_overall_answer(results, searched)]
    for result in results:
        lines += [*([""] if lines else []), write_fix_answer(result)]
        for number, fix in enumerate(result.fixes, 1):
            lines += [f"  {number}. {title_fix(fix)}", f"     {describe_evidence(fix)}"]
        answer = lines[0] if not result.fixes else ""
        rejected = [describe_rejected(each) for each in result.rejected]
        lines += [f"  - {sentence}" for sentence in rejected if sentence not in answer]
        if result.fixes:
            lines += [f"  {CHECK_TOOL}", "", *_write_diff(result, shape).splitlines()]
    return lines


def _write_diff(result: ToolFixes, shape: Shape | None) -> str:
    from callgauge.analysis.replay.definition_edits import apply_changes
    from callgauge.analysis.replay.definition_shapes import choose_shape, write_difference
    from callgauge.analysis.replay.fix_results import list_changes

    edited, _ = apply_changes(result.definition, list_changes(result.fixes))
    name = shape or choose_shape(result.source, result.mcp_server)
    return write_difference(name, result.tool, result.definition, edited)


def _describe_data(result: ToolFixes, shape: Shape | None) -> dict[str, Any]:
    from callgauge.analysis.replay.definition_edits import apply_changes
    from callgauge.analysis.replay.definition_shapes import choose_shape, write_definition
    from callgauge.analysis.replay.fix_results import list_changes
    from callgauge.analysis.replay.fix_sentences import fix_data

    data = dict(fix_data(result))
    if result.fixes:
        name = shape or choose_shape(result.source, result.mcp_server)
        edited, _ = apply_changes(result.definition, list_changes(result.fixes))
        data |= {
            "shape": str(name),
            "definition": write_definition(name, result.tool, edited),
            "diff": _write_diff(result, shape),
        }
    return data


# --- the file ------------------------------------------------------------------------------------------


def _edit_file(path: Path, result: ToolFixes) -> FileEdit | None:
    """Make the edits in a file, and return them. Exits with a message if the file cannot be used."""
    from callgauge.analysis.replay.definition_file import FileEditError, edit_text
    from ingest.safe_files import replace_in_place

    try:
        text = path.read_bytes().decode("utf-8")
        mark = "\ufeff" if text.startswith("\ufeff") else ""
        edited = edit_text(text.removeprefix("\ufeff"), result, path.stem)
        if edited.applied:
            replace_in_place(path, (mark + edited.text).encode("utf-8"))
    except FileEditError as problem:
        render.fail(f"{path}: {problem}; the file is unchanged", ExitCode.FAILED)
    except UnicodeDecodeError:
        render.fail(f"{path}: it is not JSON in UTF-8; the file is unchanged", ExitCode.FAILED)
    except OSError as problem:
        render.fail(f"{path}: {problem.strerror}; the file is unchanged", ExitCode.FAILED)
    return edited


def _list_edits(edited: FileEdit) -> dict[str, Any]:
    return {
        "applied": [fix.key for fix in edited.applied],
        "does_not_fit": [fix.key for fix in edited.unfit],
        "differs_from_store": edited.differs,
    }


def _describe_edits(edited: FileEdit, path: Path) -> list[str]:
    from callgauge.analysis.replay.fix_sentences import title_fix

    lines = []
    if edited.differs:
        lines.append(f"{path}: the definition differs from the newest one in the store")
    lines += [f"{path}: edited: {title_fix(fix)}" for fix in edited.applied]
    lines += [f"{path}: does not fit, not edited: {title_fix(fix)}" for fix in edited.unfit]
    return lines if edited.applied else [*lines, f"{path}: nothing to edit; the file is unchanged"]

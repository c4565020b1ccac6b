"""The command `callgauge fix-definition`: propose edits of a tool's definition, and make them in a file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from callgauge.cli import render
from callgauge.cli.options.days_option import DaysText, read_calls
from callgauge.cli.options.store_option import Store
from callgauge.cli.render.exit_codes import ExitCode

if TYPE_CHECKING:
    from callgauge.analysis.replay.definition_file import FileEdit
    from callgauge.analysis.replay.fix_results import ToolFixes
    from callgauge.api.questions.slice_filters import ChosenFilters


Shape = Literal["openai", "openai-responses", "anthropic", "gemini", "mcp", "json-schema", "python"]
"""The keys of `definition_shapes.SHAPES`."""


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
    days: DaysText = None,
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
    searched, chosen = _search(store, tool, days, mcp_server)
    results = _sort_results(searched)
    edited = _edit_file(apply, results[0]) if apply is not None else None
    if form == "json":
        from callgauge.analysis.replay.fix_sentences import fix_data

        answers = [
            {
                **fix_data(result),
                **(_write_change(result, shape) if result.fixes else {}),
                "days": chosen.describe_days(),
            }
            for result in results
        ]
        if edited is not None:
            answers[0]["file"] = _list_edits(edited)
        print(render.to_json(answers))
        return
    print(render.describe_days(chosen.describe_days()))
    for line in _list_lines(results, shape, is_overall=tool is None):
        print(render.escape_for_terminal(line))
    if edited is not None:
        for line in _describe_edits(edited, apply or Path()):
            render.print_message(line)


def _search(
    store: Path, tool: str | None, days: str | None, mcp_server: str | None
) -> tuple[list[ToolFixes], ChosenFilters]:
    """Return the results for one tool or for all tools, and the filters of their calls."""
    with (
        read_calls(store, days, texts=True, tool=tool, mcp_server=mcp_server) as (reader, chosen),
        _show_progress() as show,
    ):
        from callgauge.analysis.replay.definition_fixes import FixSearch, ask_store

        common = {name: value for name, value in chosen.parameters.items() if value is not None}
        tools = common.pop("tools", ())
        ask = ask_store(reader.connection)
        search = FixSearch(ask, common, lambda calls: show(f"Reading calls: {calls:,}"))
        return [search.find_fixes(each) for each in tools] or search.find_all(), chosen


def _sort_results(results: Sequence[ToolFixes]) -> list[ToolFixes]:
    """Return the results with most fixed calls first, and those without edits last. Results with equal
    effects keep their order.
    """
    return sorted(
        results,
        key=lambda each: (not each.fixes, -(each.effect.fixed if each.effect else 0), -each.tokens),
    )


@contextmanager
def _show_progress() -> Iterator[Callable[[str], None]]:
    """Yield a function that shows the current step in a terminal, and does nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with render.show_status() as show:
        yield show


# --- the answer ----------------------------------------------------------------------------------------


def _list_lines(results: Sequence[ToolFixes], shape: Shape | None, *, is_overall: bool) -> list[str]:
    """Return the lines of the answer for one tool, or with `is_overall` for all tools."""
    from callgauge.analysis.replay.fix_sentences import (
        describe_evidence,
        describe_rejected,
        list_missing,
        title_fix,
        write_fix_answer,
        write_overall_answer,
    )

    lines = [write_overall_answer(results), *list_missing(results)] if is_overall else []
    for result in results:
        if is_overall and not result.fixes:
            continue
        lines += [*([""] if lines else []), write_fix_answer(result)]
        for number, fix in enumerate(result.fixes, 1):
            lines += [f"  {number}. {title_fix(fix)}", f"     {describe_evidence(fix)}"]
        answer = lines[0] if not result.fixes else ""
        rejected = [describe_rejected(each) for each in result.rejected]
        lines += [f"  - {sentence}" for sentence in rejected if sentence not in answer]
        if result.fixes:
            lines += ["", *_write_change(result, shape)["diff"].splitlines()]
    return lines


def _write_change(result: ToolFixes, shape: Shape | None) -> dict[str, str]:
    """Return the shape, the edited definition and the diff."""
    from callgauge.analysis.replay.definition_edits import apply_changes
    from callgauge.analysis.replay.definition_shapes import choose_shape, write_definition, write_difference
    from callgauge.analysis.replay.fix_results import list_changes

    edited = apply_changes(result.definition, list_changes(result.fixes))
    name = shape or choose_shape(result.source, result.mcp_server)
    return {
        "shape": name,
        "definition": write_definition(name, result.tool, edited),
        "diff": write_difference(name, result.tool, result.definition, edited),
    }


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

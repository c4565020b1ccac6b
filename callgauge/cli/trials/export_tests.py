"""The command `callgauge export-tests`: writes tool calls of a store as a test set for another program."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from callgauge.cli import render
from callgauge.cli.options.store_option import Store
from callgauge.cli.render.exit_codes import ExitCode
from callgauge.cli.trials.tasks import write_new_files
from ingest.processes import let_pandas_in

if TYPE_CHECKING:
    from callgauge.api.questions.testset_questions import Testset

_MOST = 1_000
Names = list[str] | None
Shape = Literal["k2vv", "bfcl", "bfcl_answers", "inspect", "promptfoo", "openai"]


def export_tests(
    store: Store,
    shape: Annotated[Shape, typer.Option("--format", help="The tool that reads the file.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="A new file. [default: standard output]"),
    ] = None,
    days: Annotated[
        str | None,
        typer.Option(metavar="DAYS", help="The days of the calls, such as 7 days or all. [default: 28 days]"),
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="DAY", help="The first day, instead of --days.")
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="DAY", help="The last day, instead of --days.")] = None,
    model: Annotated[Names, typer.Option(metavar="NAME", help="Only this model. Repeatable.")] = None,
    prompt: Annotated[
        Names, typer.Option(metavar="NAME", help="Only this prompt, such as fixer@13. Repeatable.")
    ] = None,
    tool: Annotated[Names, typer.Option(metavar="NAME", help="Only this tool. Repeatable.")] = None,
    outcome: Annotated[
        str | None, typer.Option(metavar="OUTCOME", help="Only calls with this outcome, such as failed.")
    ] = None,
    fault: Annotated[
        str | None,
        typer.Option(metavar="STAGE", help="Only calls that failed at this stage; any: every failed call."),
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, max=_MOST, metavar="N", help="At most this many calls.")
    ] = _MOST,
) -> None:
    """Export calls as a test set for another tool.

    Lists the omitted calls and the reasons. For Inspect, also writes the task file inspect_task.py next to
    FILE. Exits with 1 if no call becomes a test.
    """
    lists = {"model": model, "prompt": prompt, "tool": tool}
    single = {
        "shape": shape,
        "days": days,
        "since": since,
        "until": until,
        "outcome": outcome,
        "fault": fault,
    }
    parameters = {name: values for name, values in lists.items() if values}
    parameters |= {name: [value] for name, value in single.items() if value is not None}
    made = _read_testset(store, {**parameters, "limit": [str(limit)]})
    for sentence in made.describe():
        render.print_message(sentence)
    if not made.file.lines:
        raise typer.Exit(ExitCode.FAILED)
    if output is None:
        sys.stdout.buffer.write(made.file.data)
    else:
        write_new_files({**_find_companion(made, output), output: made.file.data})


def _read_testset(store: Path, parameters: Mapping[str, Sequence[str]]) -> Testset:
    let_pandas_in()
    # A top-level import would load DuckDB for every command.
    from callgauge.analysis.metrics import MetricError
    from callgauge.analysis.metrics.published_store import UnshownStoreError, read_store
    from callgauge.api.questions.parameters import read_parameters
    from callgauge.api.questions.problems import ProblemError
    from callgauge.api.questions.store_access import StoreAccess
    from callgauge.api.questions.testset_questions import TESTSET_ASKED, make_testset

    try:
        options = read_parameters(TESTSET_ASKED, parameters)
        with read_store(store, texts=True) as reader:
            return make_testset(StoreAccess(store, reader, reader.connection), options)
    except ProblemError as problem:
        render.fail(str(problem), ExitCode.WRONG_USE)
    except (UnshownStoreError, MetricError) as problem:
        render.fail(str(problem), ExitCode.FAILED)


def _find_companion(made: Testset, output: Path) -> dict[Path, bytes]:
    """Return the file to write next to the test set, such as a task file. Return {} if no file is
    needed.
    """
    if made.shape.companion is None:
        return {}
    path = output.with_name(made.shape.companion)
    content = made.shape.read_companion().replace(made.shape.name.encode(), os.fsencode(output.name))
    try:
        is_there = path.read_bytes() == content
    except OSError:
        is_there = False
    return {} if is_there else {path: content}

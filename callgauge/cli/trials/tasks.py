"""The command `callgauge trial tasks`: make trial tasks and a plan from failed calls."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from callgauge.cli import render
from callgauge.cli.options.store_option import Store
from callgauge.cli.render.exit_codes import ExitCode
from ingest.events import FaultLayer
from lenient import ToolCatalog, ToolDefinitionError

_MOST = 1_000
_STDOUT = Path("-")
_ADVICE = {
    "definition": "supply the definitions with --tools FILE",
    "cut": "use --cut-texts to include them",
}


Signature = Annotated[
    str | None,
    typer.Option(
        metavar="ID", help="The ID of an error signature, or its first characters (see page Errors)."
    ),
]
ToolName = Annotated[str | None, typer.Option("--tool", metavar="NAME", help="Only calls of this tool.")]
Session = Annotated[str | None, typer.Option(metavar="ID", help="Only calls of this session.")]
Model = Annotated[str | None, typer.Option(metavar="NAME", help="Only calls of this model.")]
TrialRun = Annotated[
    str | None,
    typer.Option("--run", metavar="NAME", help="Calls of this trial run. [default: no trial runs]"),
]
Layers = Annotated[
    list[FaultLayer] | None,
    typer.Option(
        metavar="STAGE",
        help="Only calls that failed at this stage, such as syntax, schema or execution. Repeatable.",
    ),
]
Failed = Annotated[bool, typer.Option("--failed", help="All failed calls.")]
Limit = Annotated[int, typer.Option(min=1, max=_MOST, metavar="N", help="At most this many calls.")]
Definitions = Annotated[
    Path | None,
    typer.Option(
        "--tools",
        metavar="FILE",
        readable=False,
        help="Definitions in any format, for tools that the logs do not define.",
    ),
]
CutTexts = Annotated[
    bool,
    typer.Option("--cut-texts", help="Also use calls whose messages or results are stored only in part."),
]
ExpectRecovered = Annotated[
    bool,
    typer.Option(
        "--expect-recovered",
        help="Expect the arguments of the later, successful attempt; otherwise suggest them.",
    ),
]
PlanFile = Annotated[
    Path | None,
    typer.Option(
        "--plan",
        metavar="FILE",
        help="Write a plan that is ready to run, with its prompts and definitions.",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="The task file. [default: tasks.jsonl next to the plan, or standard output]",
    ),
]


def tasks(
    store: Store,
    signature: Signature = None,
    tool: ToolName = None,
    session: Session = None,
    model: Model = None,
    run: TrialRun = None,
    layer: Layers = None,
    failed: Failed = False,
    limit: Limit = _MOST,
    tools: Definitions = None,
    cut_texts: CutTexts = False,
    expect_recovered: ExpectRecovered = False,
    plan: PlanFile = None,
    output: Output = None,
) -> None:
    """Make trial tasks from failed calls. A task contains the turn before the call.

    Lists the omitted calls and the reasons. Exits with 1 if no call becomes a task.
    """
    if not (failed or layer or signature or tool or session or run):
        render.fail(
            "choose calls with --failed, --signature, --tool, --layer, --session or --run", ExitCode.WRONG_USE
        )
    wanted = {
        "signature": signature,
        "tool": tool,
        "session": session,
        "model": model,
        "runs": [run] if run else None,
        "layers": [layer_name.value for layer_name in layer] if layer else None,
    }
    definitions = _read_definitions(tools)
    files, sentences = _make_files(
        store, wanted, limit, definitions, cut_texts, expect_recovered, plan, output
    )
    for sentence in sentences:
        render.print_message(sentence)
    if not files:
        raise typer.Exit(ExitCode.FAILED)
    if plan is None and output is None:
        sys.stdout.buffer.write(files[_STDOUT])
        return
    write_new_files(files)
    if plan is not None:
        render.print_message(f"set your endpoint in {plan}, then run: callgauge trial check {plan}")


def _read_definitions(path: Path | None) -> ToolCatalog:
    try:
        return ToolCatalog.load(path) if path is not None else ToolCatalog()
    except ToolDefinitionError as problem:
        render.fail(str(problem), ExitCode.WRONG_USE)


def _make_files(
    store: Path,
    wanted: Mapping[str, Any],
    limit: int,
    parameters: ToolCatalog,
    cut_texts: bool,
    expect_recovered: bool,
    plan: Path | None,
    output: Path | None,
) -> tuple[dict[Path, bytes], list[str]]:
    """Return the files to write, with the plan last, and sentences about the tasks and the omitted calls."""
    # A top-level import would load DuckDB for every command.
    from callgauge.analysis.metrics import MetricError, read_rows
    from callgauge.analysis.metrics.published_store import (
        UnshownStoreError,
        open_generation,
        published_generation,
    )
    from callgauge.analysis.testsets.trial_package import (
        PLAN,
        describe_gaps,
        gather_tasks,
        make_package,
        write_tasks,
    )

    left_out: Counter[str] = Counter()
    try:
        with open_generation(published_generation(str(store)), texts=True) as connection:

            def ask(metric: str, parameters: Mapping[str, Any]) -> list[dict[Any, Any]]:
                return read_rows(connection, metric, parameters)

            failed = ask("failed_calls", {**wanted, "limit": limit})
            calls = [row["call_id"] for row in failed]
            tasks = gather_tasks(calls, ask, left_out, takes_cut=cut_texts, given=parameters)
    except (UnshownStoreError, MetricError) as problem:
        render.fail(str(problem), ExitCode.FAILED)
    if not calls:
        render.fail("no failed call matches these options", ExitCode.FAILED)
    if plan is None:
        made, notes = len(tasks), describe_gaps(tasks)
        content = write_tasks(tasks, expects_corrected=expect_recovered)
        files = {output or _STDOUT: content} if tasks else {}
    else:
        tasks_path = _find_tasks_path(plan, output)
        package = make_package(tasks, left_out, tasks_path=tasks_path, expects_corrected=expect_recovered)
        made, notes, left_out = package.tasks, package.notes, package.left_out
        beside = {plan.parent / path: content for path, content in package.files.items() if path != PLAN}
        files = {**beside, plan: package.files[PLAN]} if made else {}
    return files, _describe(failed[0]["found"], limit, made, notes, left_out)


def _find_tasks_path(plan: Path, output: Path | None) -> str:
    if output is None:
        return "tasks.jsonl"
    return Path(os.path.relpath(output, plan.parent)).as_posix()


def _describe(
    calls: int, limit: int, made: int, notes: Sequence[str], left_out: Mapping[str, int]
) -> list[str]:
    from callgauge.analysis.testsets import REASONS
    from callgauge.analysis.wording import plural

    chosen = (
        f"the newest {limit:,} of {plural(calls, 'failed call')}"
        if calls > limit
        else plural(calls, "failed call")
    )
    sentences = [f"{plural(made, 'task')} from {chosen}"]
    for reason, count in sorted(left_out.items(), key=lambda pair: -pair[1]):
        if count:
            advice = f"; {_ADVICE[reason]}" if reason in _ADVICE else ""
            sentences.append(f"left out: {count:,}: {REASONS[reason]}{advice}")
    return [*sentences, *notes]


def write_new_files(files: Mapping[Path, bytes]) -> None:
    """Write new files atomically, in the given order. Existing files are never overwritten."""
    existing = next((path for path in files if path.exists()), None)
    if existing is not None:
        render.fail(f"{existing} already exists; name another file, or move it away", ExitCode.WRONG_USE)
    for path, content in files.items():
        part = path.with_name(f"{path.name}.part")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(content)
            part.replace(path)
        except OSError as problem:
            with suppress(OSError):
                part.unlink()
            render.fail(f"cannot write {path}: {problem.strerror}", ExitCode.FAILED)

"""Reads a plan and its tasks, and finds contradictions between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from callgauge.checked_files.file_problems import Problem, suggest_name, write_key
from callgauge.checked_files.toml_file import find_key_lines, find_line
from callgauge.trials.planning.plan import Plan, PlanError
from callgauge.trials.planning.plan_file import read_plan
from callgauge.trials.planning.task import Task, TaskError
from callgauge.trials.planning.task_file import read_numbered_tasks
from lenient import ToolCatalog


def read_plan_and_tasks(path: str | Path) -> tuple[Plan, tuple[Task, ...]]:
    """Return a plan and its tasks. Raises PlanError with all mistakes and contradictions in the two files."""
    plan = read_plan(path)
    try:
        numbered = read_numbered_tasks(plan.tasks_path, plan.tasks_format)
    except TaskError as error:
        raise PlanError(error.problems) from None
    problems = [*_find_task_problems(plan, numbered), *_find_plan_problems(plan, numbered)]
    if problems:
        raise PlanError(problems)
    return plan, tuple(task for _, task in numbered)


def offered_tools(task: Task, catalog: ToolCatalog) -> ToolCatalog:
    """Return the tools that a task offers in a variant. The task's definitions override the variant's."""
    both = catalog.overlay(ToolCatalog.load(list(task.definitions))) if task.definitions else catalog
    if task.tools is None:
        return both
    return ToolCatalog.from_definitions(tool for tool in both if tool.name in task.tools)


def _find_task_problems(plan: Plan, numbered: Sequence[tuple[int, Task]]) -> Iterator[Problem]:
    """Yield a problem for each unknown tool that a task names, and for each task without tools."""
    if plan.servers:  # The tools of an MCP server are known only when the server runs.
        return
    catalogs = {
        arm.definitions: plan.definitions.get(arm.definitions or "") or ToolCatalog() for arm in plan.arms
    }
    for line, task in numbered:
        own = ToolCatalog.load(list(task.definitions)) if task.definitions else ToolCatalog()
        reported: set[tuple[str, str]] = set()
        for name, catalog in catalogs.items():
            available, offered = tuple(catalog.overlay(own).tools), tuple(offered_tools(task, catalog).tools)
            if not available and task.tools != ():
                advice = "add [definitions.NAME] to the plan, or `definitions` to the task"
                yield Problem(plan.tasks_path, line, "", "no tool for it", advice)
                break
            for key, tool in _tools_named(task):
                names = available if key == "tools" else offered
                if tool not in names and (key, tool) not in reported:
                    reported.add((key, tool))
                    where = f'with the definitions "{name}" it' if name else "it"
                    what = f'{where} offers no tool "{tool}"'
                    yield Problem(plan.tasks_path, line, key, what, suggest_name(tool, names))


def _tools_named(task: Task) -> Iterator[tuple[str, str]]:
    yield from (("tools", name) for name in task.tools or ())
    yield from (("answers", answer.tool) for answer in task.answers)
    if task.expect is not None:
        yield from (("expect.calls", call.tool) for call in task.expect.calls)


def _find_plan_problems(plan: Plan, numbered: Sequence[tuple[int, Task]]) -> Iterator[Problem]:
    """Yield a problem for each key of the plan that applies to no task."""
    lines = find_key_lines(plan.text)
    for name in ("primary", "secondary"):
        key = ("measure", name)
        chosen = getattr(plan.measure, name)
        if "right" in ((chosen,) if name == "primary" else chosen) and not any(
            task.expect for _, task in numbered
        ):
            what = f'it names "right", but no task of {plan.tasks_path} has an `expect`'
            yield Problem(plan.path, find_line(lines, key), write_key(key), what, "add `expect` to tasks")
    defined = {tool.name for catalog in plan.definitions.values() for tool in catalog}
    for _, task in numbered:
        if task.definitions:
            defined |= {tool.name for tool in ToolCatalog.load(list(task.definitions))}
    for name, source in plan.tools.items():
        if name not in defined and source.kind != "server":
            tool_key = ("tools", name)
            what = "no definition has this name"
            advice = suggest_name(name, sorted(defined))
            yield Problem(plan.path, find_line(lines, tool_key), write_key(tool_key), what, advice)

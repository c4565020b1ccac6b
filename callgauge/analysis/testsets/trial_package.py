"""Writes the files of a trial run from stored tool calls: tasks, prompts, definitions and a whole plan."""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from callgauge.analysis.testsets import BATCH
from callgauge.analysis.testsets.cases import Ask, NotExportedError, Row, find_definitions, read_turns
from callgauge.analysis.testsets.trial_tasks import (
    TEXT_KEPT,
    StoredPrompt,
    TrialTask,
    make_trial_task,
    write_task_line,
)
from lenient import DefinitionFinding, ToolCatalog, ToolDefinition
from lenient.lint import apply_edits

PLAN, TASKS = "plan.toml", "tasks.jsonl"
_MOST_NAMED = 8  # maximum number of edits that a comment lists
_MANY, _REPEATS = 100, 3  # with this many tasks, repeated trials are not needed
_MOST_MODELS = 4
"""The maximum number of models that become variants; a comment names the other models."""


@dataclass(slots=True)
class TrialPackage:
    """The files of a plan, the tasks, and the left-out calls by reason.

    The keys of `files` are paths relative to the plan.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    tasks: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    def to_zip(self) -> bytes:
        """Return the files as a zip archive. Equal files give an archive with equal bytes."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, content in self.files.items():
                archive.writestr(zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0)), content)
        return buffer.getvalue()


def gather_tasks(
    call_ids: Sequence[str],
    ask: Ask,
    left_out: Counter[str],
    *,
    takes_cut: bool = False,
    given: Iterable[ToolDefinition] = (),
) -> list[TrialTask]:
    """Return one task per step of the calls. Calls without a task are counted in `left_out`, by reason.

    If `takes_cut` is True, messages and results may be cut in the store. `given` holds additional definitions
    to offer.
    """
    given = tuple(given)
    tasks: list[TrialTask] = []
    seen: set[tuple[str, int]] = set()
    defined = find_definitions(ask)
    for first in range(0, len(call_ids), BATCH):
        rows = ask("testset_calls", {"calls": list(call_ids[first : first + BATCH])})
        turns, answers = (read_turns(ask, metric, rows) for metric in ("testset_steps", "turn_answers"))
        ids_by_session = _read_sessions(ask, rows)
        # If a step has a failed call, its task is made from that call.
        for row in sorted(rows, key=lambda row: row["fault_layer"] is None):
            turn_id, step = row["turn_id"], (row["turn_id"], row["step"])
            if step in seen:
                left_out["step"] += 1
                continue
            steps, answered = turns.get(turn_id, []), answers.get(turn_id, [])
            of_session = ids_by_session.get(row["session_id"], {})
            try:
                task = make_trial_task(
                    row, steps, answered, of_session, defined, given=given, takes_cut=takes_cut
                )
            except NotExportedError as refused:
                left_out[refused.reason] += 1
            else:
                seen.add(step)
                tasks.append(task)
    return tasks


def _read_sessions(ask: Ask, rows: Sequence[Row]) -> dict[str, dict[str, str]]:
    ids_by_session: dict[str, dict[str, str]] = {}
    sessions = sorted({row["session_id"] for row in rows})
    for row in ask("session_definitions", {"sessions": sessions}) if sessions else ():
        ids_by_session.setdefault(row["session_id"], {})[row["tool"]] = row["definition_id"]
    return ids_by_session


def write_tasks(tasks: Iterable[TrialTask], *, expects_corrected: bool = False) -> bytes:
    """Return a self-contained task file: each task contains its prompt and its definitions."""
    return b"".join(
        _write_line(
            write_task_line(
                task,
                with_tools=[tool.name for tool in task.tools],
                with_prompt=True,
                expects_corrected=expects_corrected,
            )
        )
        for task in tasks
    )


def make_package(
    tasks: Sequence[TrialTask],
    left_out: Counter[str] | None = None,
    *,
    tasks_path: str = TASKS,
    expects_corrected: bool = False,
    edited_tool: str | None = None,
) -> TrialPackage:
    """Return the tasks with a plan. The plan uses the original models, prompts and definitions of the tasks.

    The first variant of the plan uses the present definitions. The second variant uses the definition
    `edited_tool` (JSON) for the tool of this name. Without `edited_tool`, the second variant uses the edits
    of the lint for failed tools, if there are any. `tasks_path` is the path of the task file relative to the
    plan.
    """
    package = TrialPackage(left_out=Counter(left_out))
    common = _find_common_definitions(tasks)
    edits: list[DefinitionFinding] = []
    if edited_tool is not None:
        edited = dict(ToolCatalog.load(edited_tool).tools)
    else:
        edited, edits = _edit_failed_tools(tasks, common)
    if edited:
        kept = [
            task for task in tasks if task.tool is None or not _differing_tools(task, common) & {task.tool}
        ]
        package.left_out["version"] += len(tasks) - len(kept)
        tasks = kept
    prompts = {task.prompt for task in tasks}
    prompt = next(iter(prompts)) if len(prompts) == 1 else None
    lines = [
        write_task_line(
            task,
            with_tools=_differing_tools(task, common),
            with_prompt=prompt is None,
            expects_corrected=expects_corrected,
        )
        for task in tasks
    ]
    package.tasks = len(lines)
    package.notes = describe_gaps(tasks)
    if not lines:
        return package
    package.files[tasks_path] = b"".join(map(_write_line, lines))
    sections = [_begin_plan(tasks, package.notes), *_write_models(tasks)]
    if prompt is not None:
        path = f"prompts/{_make_key(prompt.name or 'prompt')}.md"
        package.files[path] = prompt.text.encode("utf-8", "replace")
        sections.append(_write_prompt(prompt, path))
    sets = {"as-it-was": list(common.values())}
    if edited:
        sets["edited"] = [edited.get(tool.name, tool) for tool in common.values()]
    for name, tools in sets.items():
        path = f"tools/{name}.json"
        package.files[path] = _write_definitions(tools)
        description = _describe_edits(edits) if name == "edited" and edits else ""
        sections.append(f"{description}[definitions.{name}]\nfiles = [{_quote(path)}]\n")
    sections += _write_end(tasks, tasks_path, prompt, list(sets))
    package.files = {PLAN: "\n".join(sections).encode(), **package.files}
    return package


def name_package(tasks: Sequence[TrialTask]) -> str:
    """Return a file name that describes the tasks: the most frequent tool and the number of tasks."""
    tools = Counter(task.tool for task in tasks if task.tool).most_common(1)
    word = _make_key(tools[0][0]) if tools else "calls"
    return f"trial-{word}-{len(tasks)}.zip"


def _find_common_definitions(tasks: Sequence[TrialTask]) -> dict[str, ToolDefinition]:
    counts: dict[str, Counter[str]] = {}
    by_text: dict[str, ToolDefinition] = {}
    for task in tasks:
        for tool in task.tools:
            text = _definition_text(tool)
            by_text[text] = tool
            counts.setdefault(tool.name, Counter())[text] += 1
    return {name: by_text[texts.most_common(1)[0][0]] for name, texts in counts.items()}


def _definition_text(tool: ToolDefinition) -> str:
    return json.dumps(tool.to_anthropic(defaults=True), sort_keys=True)


def _differing_tools(task: TrialTask, common: Mapping[str, ToolDefinition]) -> set[str]:
    return {tool.name for tool in task.tools if _definition_text(tool) != _definition_text(common[tool.name])}


def _edit_failed_tools(
    tasks: Sequence[TrialTask], common: Mapping[str, ToolDefinition]
) -> tuple[dict[str, ToolDefinition], list[DefinitionFinding]]:
    """Return the edited definitions of the failed tools, and the lint findings that the edits fix."""
    edited: dict[str, ToolDefinition] = {}
    settled: list[DefinitionFinding] = []
    for name in dict.fromkeys(task.tool for task in tasks):
        if name is not None and name in common:
            definition, findings = apply_edits(common[name])
            if findings:
                edited[name] = definition
                settled += findings
    return edited, settled


def describe_gaps(tasks: Sequence[TrialTask]) -> list[str]:
    """Return sentences that say which content of the models' original input the tasks do not have."""
    gaps = []
    fewer = sum(task.offered is not None and task.offered > len(task.tools) for task in tasks)
    if fewer:
        gaps.append(
            f"{fewer:,} of {len(tasks):,} tasks offer fewer tools than the log's models had: the store knows "
            "the definitions of tools that were called."
        )
    without = sum(task.prompt is None for task in tasks)
    if without:
        gaps.append(f"{without:,} of {len(tasks):,} tasks have no system prompt: it is not in their logs.")
    untold = sum(map(_says_twice, tasks))
    if untold:
        gaps.append(
            f"In {untold:,} of {len(tasks):,} tasks the model speaks twice in a row: the message in "
            "between is not in the log."
        )
    cut = sum(task.is_cut for task in tasks)
    if cut:
        gaps.append(
            f"{cut:,} of {len(tasks):,} tasks have messages or results that are stored only in part (the "
            f"first {TEXT_KEPT:,} characters)."
        )
    if len({task.prompt for task in tasks}) > 1:
        gaps.append("The tasks have different system prompts; each task contains its own.")
    return gaps


def _says_twice(task: TrialTask) -> bool:
    """Return True when two assistant messages follow each other and the first message has no tool call."""
    pairs = itertools.pairwise(task.messages)
    return any(
        message["role"] == next_["role"] == "assistant" and "tool_calls" not in message
        for message, next_ in pairs
    )


def _write_line(line: Mapping[str, Any]) -> bytes:
    return json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _write_definitions(tools: Iterable[ToolDefinition]) -> bytes:
    listed = [tool.to_anthropic(defaults=True) for tool in tools]
    return json.dumps(listed, ensure_ascii=False, indent=2).encode("utf-8", "replace") + b"\n"


def _begin_plan(tasks: Sequence[TrialTask], notes: Sequence[str]) -> str:
    went_wrong = sum(task.fault_layer is not None for task in tasks)
    about = "failed calls" if went_wrong == len(tasks) else "stored calls"
    tools = [name for name, _ in Counter(task.tool for task in tasks if task.tool).most_common()]
    named = f"{tools[0]}{f' and {len(tools) - 1} more' if len(tools) > 1 else ''}" if tools else "no tool"
    refused = any(task.fault_layer in ("syntax", "schema") or task.fault_layer is None for task in tasks)
    return "\n".join(
        [
            f"# A trial of {len(tasks):,} tasks from {about}; docs/trials.md has every key.",
            *(f"# {note}" for note in notes),
            "# Calls that were chosen because they failed will fail less often in a second try,",
            "# with any variant: compare the variants with each other, not with the log.",
            f"name = {_quote(f'{named}: {about}')}",
            f"question = {_quote(f'Which variant has fewer failed calls on {len(tasks):,} tasks?')}",
            "",
            "[measure]",
            f'primary = "{"refused" if refused else "turn_ok"}"',
            "smallest = 0.1",
            "",
            "[run]",
            f"repeats = {1 if len(tasks) >= _MANY else _REPEATS}",
            "template = false  # the prompt is as the log has it",
            "",
            "[budget]",
            "minutes = 60",
            "",
        ]
    )


_ENDPOINT = """\
# The address of your server, and the environment variable with its key.
[endpoints.mine]
wire = "openai-chat"  # openai-responses, anthropic, gemini
url = "http://127.0.0.1:8080/v1"
key = "env:CALLGAUGE_TRIAL_KEY"
"""


def _write_models(tasks: Sequence[TrialTask]) -> list[str]:
    sections = [_ENDPOINT]
    for key, model in _model_keys(tasks).items():
        sections.append(f'[models.{key}]\nendpoint = "mine"\nmodel = {_quote(model)}\n')
    return sections


def _model_keys(tasks: Sequence[TrialTask]) -> dict[str, str]:
    """Return the key in the plan for each model of the calls, the most frequent model first."""
    keys: dict[str, str] = {}
    for model, _ in Counter(task.model for task in tasks if task.model).most_common(_MOST_MODELS):
        key = _make_key(model)
        while key in keys:
            key += "-"
        keys[key] = model
    return keys or {"model": "name-of-the-model"}


def _write_prompt(prompt: StoredPrompt, path: str) -> str:
    lines = ["[prompts.as-it-was]"]
    if prompt.name:
        lines.append(f"name = {_quote(prompt.name)}")
    if prompt.version:
        lines.append(f"version = {_quote(prompt.version)}")
    return "\n".join([*lines, f"file = {_quote(path)}", ""])


def _describe_edits(edits: Sequence[DefinitionFinding]) -> str:
    lines = [
        "# The linter's suggestions. Check them first: the tool must accept what its definition declares."
    ]
    for edit in edits[:_MOST_NAMED]:
        place = f"{_comment(edit.tool)} {_comment(edit.path or '')}"
        lines.append(f"#   {place}: {json.dumps(edit.suggested)[:120]} ({edit.code})")
    if len(edits) > _MOST_NAMED:
        lines.append(f"#   and {len(edits) - _MOST_NAMED} more")
    return "\n".join([*lines, ""])


_RECORDED = """\
# Tools answer as they did in the log; [tools.NAME] with a function or a server makes one run.
"""


def _write_end(
    tasks: Sequence[TrialTask],
    tasks_path: str,
    prompt: StoredPrompt | None,
    sets: Sequence[str],
) -> list[str]:
    models = list(_model_keys(tasks))
    compared = models[:1] if len(sets) > 1 else models
    arms = ["[arms]  # every combination; the first is the reference", f"models = {_list(compared)}"]
    if len(compared) < len(models):
        arms[1] += f"  # or all: {_list(models)}"
    if prompt is not None:
        arms.append('prompts = ["as-it-was"]')
    arms.append(f"definitions = {_list(sets)}")
    return [f"{_RECORDED}[tasks]\nfile = {_quote(tasks_path)}\n", "\n".join([*arms, ""])]


def _list(names: Iterable[str]) -> str:
    return f"[{', '.join(map(_quote, names))}]"


def _quote(text: str) -> str:
    whole = text.encode("utf-8", "replace").decode()  # TOML cannot contain a lone surrogate
    return json.dumps(whole, ensure_ascii=False).replace("\x7f", "\\u007f")


def _comment(text: str) -> str:
    """Return a string without characters that would end the line of a comment."""
    return json.dumps(text.encode("utf-8", "replace").decode(), ensure_ascii=True)[1:-1]


def _make_key(name: str) -> str:
    word = re.sub(r"[^a-zA-Z0-9_-]+", "-", name).strip("-_")[:40]
    return word or f"x{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:6]}"

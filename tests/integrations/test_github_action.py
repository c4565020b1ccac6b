"""Tests the GitHub action in integrations/github-action."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integrations.conftest import BEFORE, QUIET, WORSE
from tests.integrations.distributions import ROOT, read_example
from tests.trials.made_runs import MadeRun, refuse

FOLDER = ROOT / "integrations" / "github-action"
ACTION: dict[str, Any] = yaml.safe_load((FOLDER / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
_EXPRESSION = re.compile(r"\$\{\{ ([\w.-]+) \}\}")
_CONDITION = re.compile(
    r"\$\{\{ !cancelled\(\) && inputs\.comment == 'true' && steps\.gate\.outputs\.markdown != '' \}\}"
)
TOKEN = "made-token"  # noqa: S105 - of a made server
HOSTILE = 'x"; touch pwned; $(touch pwned) `touch pwned` ${{ github.token }}\n::error::pwned'


@dataclass(frozen=True, slots=True)
class ActionRun:
    """The result of the action. `code` is the exit code of the step that failed, or 0 if no step failed."""

    code: int
    outputs: dict[str, str]
    summary: str
    log: str


def run_action(
    folder: Path,
    stubs: Mapping[str, str] | None = None,
    *,
    github: Mapping[str, str] | None = None,
    **inputs: Any,
) -> ActionRun:
    """Execute the steps in `folder` as a GitHub runner does. Expressions are replaced by inputs and outputs,
    and each step starts bash. After a failed step, only a step with a condition runs.

    `github` holds the variables that the runner sets for a pull request. Without `github`, no comment is
    posted.
    """
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    stub = f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m callgauge "$@"\n'
    python = f'#!/bin/sh\nexec {sys.executable} "$@"\n'
    for name, text in {"callgauge": stub, "python": python, **(stubs or {})}.items():
        if text:
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)
        else:
            (programs / name).unlink(missing_ok=True)
    values = {name.replace("_", "-"): value for name, value in inputs.items()}
    expressions = {
        f"inputs.{name}": values.get(name, str(each.get("default", "")))
        for name, each in ACTION["inputs"].items()
    }
    expressions["github.token"] = TOKEN
    assert values.keys() <= ACTION["inputs"].keys()
    outputs, summary = folder / "outputs", folder / "summary"
    for file in (outputs, summary):
        file.unlink(missing_ok=True)
    code, log, written = 0, "", dict[str, str]()
    for step in STEPS:
        is_conditional = "if" in step
        if is_conditional and not (github and values.get("comment") != "false" and "markdown" in written):
            continue
        if code and not is_conditional:
            continue
        variables = {
            name: _EXPRESSION.sub(partial(_replace, expressions), text) for name, text in step["env"].items()
        }
        environment = {
            "PATH": f"{programs}:/usr/bin:/bin", "GITHUB_OUTPUT": str(outputs), "HOME": str(folder),
            "GITHUB_STEP_SUMMARY": str(summary), "GITHUB_ACTION_PATH": str(FOLDER),
            "RUNNER_TEMP": str(folder), **(github or {}), **variables,
        }  # fmt: skip
        words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        done = subprocess.run(words, cwd=folder, env=environment, text=True, **streams)
        code, log = code or done.returncode, log + done.stdout
        lines = outputs.read_text().splitlines() if outputs.exists() else []
        written = dict(line.split("=", 1) for line in lines)
        expressions |= {f"steps.gate.outputs.{name}": value for name, value in written.items()}
    written.pop("markdown", None)
    return ActionRun(code, written, summary.read_text() if summary.exists() else "", log)


def _replace(expressions: Mapping[str, str], expression: re.Match[str]) -> str:
    return expressions[expression[1]]


def test_the_action_has_the_schema_of_a_composite_action() -> None:
    assert ACTION.keys() <= {"name", "author", "description", "inputs", "outputs", "runs", "branding"}
    assert {"name", "description", "runs"} <= ACTION.keys()
    for each in ACTION["inputs"].values():
        assert each.keys() <= {"description", "required", "default", "deprecationMessage"}
        assert isinstance(each.get("default", ""), str), "a default is a text"
    assert all(each.keys() == {"description", "value"} for each in ACTION["outputs"].values())
    assert ACTION["runs"].keys() == {"using", "steps"}
    assert ACTION["runs"]["using"] == "composite"
    for step in STEPS:
        assert step.keys() <= {"name", "id", "if", "run", "shell", "env", "working-directory"}
        assert {"run", "shell"} <= step.keys()


def test_inputs_reach_a_step_through_its_environment_only() -> None:
    used = set()
    for step in STEPS:
        assert "${{" not in step["run"]
        used |= {name for text in step["env"].values() for name in _EXPRESSION.findall(text)}
    assert "${{" not in (FOLDER / "gate.sh").read_text(encoding="utf-8")
    in_conditions = {"inputs.comment"}
    of_steps = {"steps.gate.outputs.markdown", "github.token"}
    assert used == {f"inputs.{name}" for name in ACTION["inputs"]} - in_conditions | of_steps
    script = (FOLDER / "gate.sh").read_text(encoding="utf-8")
    program = (FOLDER / "comment.py").read_text(encoding="utf-8")
    assert set(STEPS[1]["env"]) == set(re.findall(r"\$(CALLGAUGE_\w+)", script))
    assert set(STEPS[2]["env"]) == set(re.findall(r'"(CALLGAUGE_\w+)"', program))
    assert _CONDITION.fullmatch(STEPS[2]["if"])
    assert [step["env"].get("CALLGAUGE_GATE_TOKEN") for step in STEPS[:2]] == [None, None]


def test_outputs_are_those_that_the_step_writes() -> None:
    script = (FOLDER / "gate.sh").read_text(encoding="utf-8")
    ids = {step.get("id") for step in STEPS}
    for name, each in ACTION["outputs"].items():
        expression = _EXPRESSION.fullmatch(each["value"])
        assert expression is not None
        assert expression[1] == f"steps.gate.outputs.{name}"
        assert f"{name}=%s" in script
    assert "gate" in ids


def test_the_example_uses_inputs_that_exist() -> None:
    example = yaml.safe_load(read_example("CI action", "yaml"))
    (job,) = example["jobs"].values()
    (use,) = (step for step in job["steps"] if "callgauge-gate" in step["uses"])
    assert use["with"].keys() <= ACTION["inputs"].keys()
    assert example["permissions"] == {"contents": "read", "pull-requests": "write"}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("margin", "days", "needs_data", "code", "verdict", "exit_code"),
    [
        ("3%\nmended=1%", WORSE, "false", 5, "worse", "5"),
        ("0.03", QUIET, "false", 0, "not-worse", "0"),
        ("0.001", QUIET, "false", 0, "not-enough-data", "6"),
        ("0.001", QUIET, "true", 6, "not-enough-data", "6"),
    ],
)
def test_a_verdict_is_an_output_a_summary_and_an_exit_code(
    tmp_path: Path,
    worse_store: Path,
    margin: str,
    days: str,
    needs_data: str,
    code: int,
    verdict: str,
    exit_code: str,
) -> None:
    done = run_action(
        tmp_path, store=str(worse_store), baseline=BEFORE, no_worse=margin, days=days, require_data=needs_data
    )
    assert (done.code, done.outputs) == (code, {"verdict": verdict, "exit-code": exit_code}), done.log
    assert done.summary.startswith(f"### Callgauge gate: {verdict.replace('-', ' ')}\n\n| rate |")
    assert done.summary.count("| parse errors |") == 1
    lines = done.log.splitlines()
    token = lines[0].removeprefix("::stop-commands::")
    annotations = lines[lines.index(f"::{token}::") + 1 :]
    command = {"worse": "error", "not-enough-data": "warning", "not-worse": "notice"}[verdict]
    assert annotations[0].startswith(f"::{command} title=Callgauge gate%3A ")
    assert len(annotations) == margin.count("\n") + 1


@pytest.mark.thorough
def test_logs_are_loaded_first_and_unreadable_lines_do_not_stop_the_gate(tmp_path: Path) -> None:
    (tmp_path / "my logs").mkdir()
    log = tmp_path / "my logs" / "night 1.jsonl"
    shutil.copy(ROOT / "sample_data" / "logs" / "codex" / "agentv_full.jsonl", log)
    with log.open("a") as stream:
        stream.write("::error::no json\n")
    done = run_action(tmp_path, logs="\nmy logs\n", baseline="7 days")
    assert (done.code, done.outputs["verdict"]) == (0, "not-enough-data"), done.log
    assert "Some lines of the logs could not be read" in done.summary
    missing = run_action(tmp_path, logs="nowhere", baseline="7 days")
    assert (missing.code, missing.outputs["verdict"]) == (1, "error"), missing.log
    assert "callgauge ingest failed with exit code 1" in missing.summary


RECORDS = '#!/bin/sh\nfor word in "$@"; do printf "%s\\n" "<$word>" >&2; done\n[ "$1" != gate ] || exit 70\n'


def test_hostile_inputs_stay_words(tmp_path: Path) -> None:
    words = {"require-data", "against-trial", "comment"}
    inputs: dict[str, Any] = {
        name.replace("-", "_"): HOSTILE for name in ACTION["inputs"] if name not in words
    }
    done = run_action(tmp_path, {"callgauge": RECORDS, "python": RECORDS}, **inputs)
    assert done.code == 70, done.log
    assert not (tmp_path / "pwned").exists()
    assert f"<{HOSTILE}>" in done.log
    assert f"<--baseline={HOSTILE}>" in done.log
    assert f"<--store={HOSTILE}>" in done.log
    assert f"<--dashboard={HOSTILE}>" in done.log
    assert done.outputs == {"verdict": "error", "exit-code": "70"}
    assert all(line.startswith(("    ", "#")) for line in done.summary.splitlines() if line)
    # Commands stay stopped until the last line.
    lines = done.log.splitlines()
    (stop,) = (line for line in lines if line.startswith("::stop-commands::"))
    end = f"::{stop.removeprefix('::stop-commands::')}::"
    assert [number for number, line in enumerate(lines) if line == end] == [len(lines) - 1]
    assert "::error::pwned" in "\n".join(lines[lines.index(stop) :])


def test_only_the_annotations_of_the_gate_are_commands(tmp_path: Path) -> None:
    gate = "::error title=Callgauge gate%3A worse%2C parse errors::Worse"
    stub = (
        '#!/bin/sh\nprintf "::error::pwned\\n%s\\n::add-mask::pwned\\n" "'
        + gate
        + '"\necho "### Callgauge gate: worse" >>"$GITHUB_STEP_SUMMARY"\nexit 5\n'
    )
    done = run_action(tmp_path, {"callgauge": stub}, baseline="7 days")
    lines = done.log.splitlines()
    token = lines[0].removeprefix("::stop-commands::")
    assert lines[lines.index(f"::{token}::") + 1 :] == [gate]
    assert (done.code, done.outputs["verdict"]) == (5, "worse")


@pytest.mark.thorough
def test_a_trial_run_needs_no_store(tmp_path: Path) -> None:
    root = MadeRun(refuse({"old": 20, "new": 3}), tasks=160, looks=5).write(tmp_path / "runs" / "made")
    done = run_action(tmp_path, against_trial=str(root), title="Prompt 13")
    assert (done.code, done.outputs["verdict"]) == (5, "worse"), done.log
    assert "| invalid calls | Worse | new: " in done.summary


@pytest.mark.parametrize(
    ("inputs", "stubs", "message"),
    [
        ({}, {}, "the input `baseline` is empty"),
        ({"baseline": "7 days", "require_data": "yes"}, {}, "the input `require-data` is true or false"),
        ({"baseline": "7 days", "no_worse": " \n"}, {}, "the input `no-worse` is empty"),
        ({"baseline": "7 days", "against_trial": "runs/x"}, {}, "`against-trial` cannot be used with"),
        ({"baseline": "7 days"}, {"callgauge": ""}, "callgauge is not installed: set the input `package`"),
        ({"baseline": "7 days"}, {"callgauge": "#!/bin/sh\necho boom >&2\nexit 70\n"}, "boom"),
    ],
)
def test_a_mistake_fails_the_step_with_a_sentence(
    tmp_path: Path, inputs: dict[str, Any], stubs: dict[str, str], message: str
) -> None:
    done = run_action(tmp_path, {"callgauge": RECORDS, **stubs}, **inputs)
    assert done.code in (2, 70)
    assert done.outputs == {"verdict": "error", "exit-code": str(done.code)}
    assert message in done.log
    assert message in done.summary


def test_an_installation_that_fails_ends_the_action(tmp_path: Path) -> None:
    done = run_action(tmp_path, {"python": "#!/bin/sh\nexit 1\n"}, package="x", baseline="7 days")
    assert (done.code, done.outputs) == (1, {})

"""Tests the pre-commit hook."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integrations.distributions import ROOT, read_example, run_python

(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
GOOD = {"name": "ping", "description": "Ping a host.", "parameters": {"type": "object"}}
BAD = {"name": "search", "parameters": {"type": "object", "properties": {"q": {"type": "string"}}}}


def run_hook(site: Path, cwd: Path, *files: str) -> subprocess.CompletedProcess[str]:
    """Start the hook as pre-commit does: the command is the entry, the arguments, and the files."""
    program, *words = HOOK["entry"].split()
    assert program == "callgauge"
    return run_python(site, cwd, "-m", program, *words, *HOOK["args"], *files)


def write(folder: Path, name: str, value: Any) -> str:
    (folder / name).write_text(value if isinstance(value, str) else json.dumps(value))
    return name


def test_the_manifest_has_what_pre_commit_asks_for() -> None:
    assert {"id", "name", "entry", "language"} <= HOOK.keys()
    assert HOOK["language"] == "python"
    used = yaml.safe_load(read_example("pre-commit", "yaml"))["repos"][0]["hooks"][0]
    assert used["id"] == HOOK["id"]


@pytest.mark.parametrize(
    ("path", "is_checked"),
    [
        ("tools.json", True), ("agent/tool.json", True), ("my_tools.json", True), ("search.tools.json", True),
        ("package.json", False), ("stools.json", False), ("tools.json5", False), ("tools/search.json", False),
    ],
)  # fmt: skip
def test_the_usual_pattern_finds_files_of_definitions(path: str, is_checked: bool) -> None:
    assert bool(re.search(HOOK["files"], path)) is is_checked


@pytest.mark.thorough
def test_every_file_is_checked_and_a_warning_stops_the_commit(site: Path, tmp_path: Path) -> None:
    files = [write(tmp_path, "tools.json", GOOD), write(tmp_path, "-x tools.json", BAD)]
    stopped = run_hook(site, tmp_path, *files)
    assert stopped.returncode == 1, stopped.stderr
    good, bad = stopped.stdout.split("\n\n")
    assert good == "tools.json\nno problems found"
    assert bad.startswith("-x tools.json\n")
    assert "warning: tool_description_missing" in bad


@pytest.mark.thorough
def test_good_files_pass_and_a_file_that_cannot_be_read_is_named(site: Path, tmp_path: Path) -> None:
    files = [write(tmp_path, f"{name}.json", {**GOOD, "name": name}) for name in ("one", "two")]
    passed = run_hook(site, tmp_path, *files)
    assert (passed.returncode, passed.stdout.count("no problems found")) == (0, 2)
    for text in ("{", "", "[1]"):
        broken = run_hook(site, tmp_path, files[0], write(tmp_path, "broken.json", text))
        assert broken.returncode == 2
        assert "broken.json: " in broken.stderr
        assert "Traceback" not in broken.stderr
    listed = run_python(
        site, tmp_path, "-m", "callgauge", "lint", "--json", write(tmp_path, "bad.json", BAD), files[0]
    )
    assert {finding["file"] for finding in json.loads(listed.stdout)} == {"bad.json"}

"""Installs packages in their own folder and executes programs with them. Reads examples from
docs/integrations.md.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "integrations.md").read_text(encoding="utf-8")
EntryPoints = Mapping[str, Mapping[str, str]]


def read_example(heading: str, language: str, name: str = "") -> str:
    """Return the first code block with this language and file name in a section."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    block = re.search(
        rf"^```{language}{' ' if name else ''}{name}\n(.*?)^```", section, re.MULTILINE | re.DOTALL
    )
    assert block is not None, f"docs/integrations.md has no {language} {name} in {heading}"
    return block[1]


def install_distribution(
    site: Path, name: str, entry_points: EntryPoints, files: Mapping[str, str] | None = None
) -> None:
    """Write the files and the metadata of a package, as an installer does."""
    metadata = site / f"{name.replace('-', '_')}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    sections = [
        "\n".join([f"[{group}]", *(f"{key} = {value}" for key, value in entries.items())])
        for group, entries in entry_points.items()
    ]
    (metadata / "entry_points.txt").write_text("\n".join(sections) + "\n")
    for file, text in (files or {}).items():
        (site / file).write_text(text, encoding="utf-8")


def install_callgauge(site: Path) -> None:
    """Install the entry points in pyproject.toml, which a checkout does not install."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    install_distribution(site, "callgauge", project["entry-points"])


def run_python(site: Path, cwd: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """Start Python in a new process that can import the checkout and the packages in `site`."""
    environment = {**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{ROOT}", "COLUMNS": "200"}
    for name in [name for name in environment if name.startswith(("PYTEST_", "CALLGAUGE_"))]:
        del environment[name]
    return subprocess.run(
        [sys.executable, *map(str, words)], cwd=cwd, env=environment, capture_output=True, text=True
    )

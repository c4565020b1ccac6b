"""The generated pages are what their sources say, and the README names commands that exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs.generate import COPIES, PAGES, page

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_is_up_to_date(name: str) -> None:
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == page(name), "run ./dev docs"


@pytest.mark.parametrize(("name", "path"), COPIES.items())
def test_a_copy_of_a_generated_page_is_up_to_date(name: str, path: Path) -> None:
    assert path.read_text(encoding="utf-8") == page(name), "run ./dev docs"


def test_every_link_in_the_documentation_leads_somewhere() -> None:
    for document in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"


@pytest.mark.parametrize("name", ["README.md", "docs/parser.md"])
def test_an_example_gives_what_stands_beside_it(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    for block in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        checked, results = re.subn(
            r"^(\S.*?)  # ([\[({].*)$", r"assert (\1) == (\2)", block, flags=re.MULTILINE
        )
        assert results, f"{name}: no result stands beside the example"
        subprocess.run([sys.executable, "-c", checked], cwd=ROOT, check=True)


CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
HOW_TO = re.findall(r"^```\w+ (\S+)\n(.*?)^```", CONTRIBUTING, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("path", "lines"), HOW_TO, ids=[path for path, _ in HOW_TO])
def test_an_example_for_contributors_still_stands_in_its_file(path: str, lines: str) -> None:
    assert lines in (ROOT / path).read_text(encoding="utf-8")


def test_contributors_find_how_to_add_each_kind_of_thing() -> None:
    sections = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", CONTRIBUTING, re.MULTILINE | re.DOTALL))
    for thing in ("A log format", "A coercion", "A metric", "A page", "A command", "An export"):
        assert "```" in sections[thing], f"{thing} has no example"
    for path in re.findall(r"`((?:tests|ingest|lenient|callgauge|sample_data)/[\w./]+)`", CONTRIBUTING):
        assert (ROOT / path).exists(), f"CONTRIBUTING.md names {path}"


def test_dev_help_names_every_habit() -> None:
    shown = subprocess.run(
        [sys.executable, ROOT / "dev", "help"], capture_output=True, text=True, check=True
    ).stdout
    listed = set(re.findall(r"^ *\./dev ([\w-]+)", shown, re.MULTILINE))
    source = (ROOT / "dev").read_text(encoding="utf-8")
    habits = re.search(r"LISTED = \(([^)]*)\)", source)
    assert habits is not None
    names = {name.strip().replace("_", "-") for name in habits.group(1).split(",")} - {""}
    assert listed == names | {"setup", "help"}


def test_dev_refuses_a_word_it_does_not_know() -> None:
    refused = subprocess.run([sys.executable, ROOT / "dev", "rnu"], capture_output=True, text=True)
    assert (refused.returncode, refused.stderr) == (
        2,
        "./dev knows no 'rnu'; ./dev help lists what it knows\n",
    )


def test_ci_runs_what_the_readme_names() -> None:
    assert (ROOT / ".ci" / "run").read_text(encoding="utf-8").rstrip().endswith("exec ./dev test")
    assert "./dev test " in (ROOT / "README.md").read_text(encoding="utf-8")

"""Tests that generated pages match their sources, and that the README names existing commands."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from markdown.extensions.toc import slugify  # type: ignore[import-untyped]

from docs.build_site import SiteError, adapt_markdown, build_site, list_pages
from docs.generate import COPIES, PAGES, REFERENCE, container_files, page

ROOT = Path(__file__).parents[1]


def test_generated_pages_are_up_to_date() -> None:
    pages = {name: page(name) for name in PAGES}
    written = {name: (REFERENCE / name).read_text(encoding="utf-8") for name in PAGES}
    assert [name for name in PAGES if written[name] != pages[name]] == [], "run ./dev docs"
    assert {path.name for path in REFERENCE.iterdir()} == set(PAGES), "docs/reference/ is generated"
    for name, path in COPIES.items():
        assert path.read_text(encoding="utf-8") == pages[name], "run ./dev docs"


def test_the_container_files_are_those_of_install_service() -> None:
    for name, text in container_files().items():
        assert (ROOT / name).read_text(encoding="utf-8") == text, "run ./dev docs"


def test_the_readme_is_one_screen_with_two_commands_first() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 150
    first_screen = text.partition("\n## ")[0]
    assert "callgauge demo" in first_screen
    assert "callgauge up" in first_screen
    for mark in ("**For you if**", "**Not for you if**", "./dev run", "./dev test", "callgauge record"):
        assert mark in text


def test_the_site_has_every_page_once() -> None:
    navigation = tomllib.loads((ROOT / "docs/site/zensical.toml").read_text(encoding="utf-8"))["project"][
        "nav"
    ]
    listed = re.findall(r"[\w./-]+\.md", str(navigation))
    pages = [path.as_posix() for path in list_pages(ROOT) if path.suffix == ".md"]
    assert sorted(listed) == sorted(pages)


def test_code_blocks_with_a_name_and_lists_are_adapted_to_the_builder() -> None:
    text = "Words:\n- one\n  more\n- two\n\n```json a.json\n- {}\n```\n"
    assert adapt_markdown(text) == 'Words:\n\n- one\n  more\n- two\n\n```json title="a.json"\n- {}\n```\n'


@pytest.mark.thorough
def test_the_site_is_built_and_asks_no_other_host(tmp_path: Path) -> None:
    build_site(tmp_path / "site")
    pages = [path for path in (tmp_path / "site").rglob("*.html") if path.name != "404.html"]
    assert len(pages) > 30
    for path in pages:
        text = path.read_text(encoding="utf-8")
        loaded = re.findall(
            r"<(?:script|link|img|source|iframe)\b[^>]*?(?:src|href|srcset)=\"?([^\" >]+)", text
        )
        assert [url for url in loaded if url.startswith(("http:", "https:", "//"))] == [], path
        for url in loaded:
            assert (path.parent / url.partition("?")[0]).exists(), f"{path} loads {url}"


@pytest.mark.thorough
@pytest.mark.parametrize("target", ["gone.md", "b.md#gone"])
def test_a_broken_link_leaves_the_site_unchanged(target: str, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("# Title\n")
    (tmp_path / "docs" / "b.md").write_text(f"# B\n\n[link]({target})\n")
    (tmp_path / "site").mkdir()
    with pytest.raises(SiteError, match=re.escape("docs/b.md:3")):
        build_site(tmp_path / "site", tmp_path)
    assert list((tmp_path / "site").iterdir()) == []


def list_anchors(document: Path) -> set[str]:
    text = re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return {
        slugify(heading.replace("`", ""), "-") for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    }


def test_every_link_in_the_documentation_leads_somewhere() -> None:
    for document in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^):]+)\)", document.read_text(encoding="utf-8")):
            path, _, anchor = target.partition("#")
            linked = document.parent / path if path else document
            assert linked.exists(), f"{document.name} links to {target}"
            assert not anchor or anchor in list_anchors(linked), f"{document.name} links to {target}"


@pytest.mark.parametrize("name", ["README.md", "docs/parser.md"])
def test_an_example_gives_what_stands_beside_it(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    for block in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        checked, results = re.subn(
            r"^(\S.*?)  # ([\[({].*)$", r"assert (\1) == (\2)", block, flags=re.MULTILINE
        )
        assert results, f"{name}: no result stands beside the example"
        subprocess.run([sys.executable, "-c", checked], cwd=ROOT, check=True)


def test_the_architecture_has_a_row_for_every_package() -> None:
    text = (ROOT / "docs" / "internal" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w/]+)` \|", text.partition("\n## ")[0], re.MULTILINE)
    packages = {f"callgauge/{path.parent.name}" for path in (ROOT / "callgauge").glob("*/__init__.py")}
    assert sorted(rows) == sorted({"lenient", "ingest", *packages})


def test_the_changelog_tells_nothing_twice() -> None:
    entries = [
        line for line in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines() if line[:2] == "- "
    ]
    assert [line for line in entries if entries.count(line) > 1] == []


CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
HOW_TO = re.findall(r"^```\w+ (\S+)\n(.*?)^```", CONTRIBUTING, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("path", "lines"), HOW_TO, ids=[path for path, _ in HOW_TO])
def test_an_example_for_contributors_still_stands_in_its_file(path: str, lines: str) -> None:
    assert lines in (ROOT / path).read_text(encoding="utf-8")


def test_contributors_find_how_to_add_each_kind_of_thing() -> None:
    sections = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", CONTRIBUTING, re.MULTILINE | re.DOTALL))
    for thing in (
        "A log format", "A coercion", "A metric", "A page", "A command", "An export",
        "A key of callgauge.toml", "A question for programs", "A channel of the report",
        "A decision, note or other entry of the team",
    ):  # fmt: skip
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


SEEDS = (ROOT / "docs" / "internal" / "seeds.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in SEEDS.splitlines()
    if line.startswith("| R")
]


def test_every_requirement_of_the_first_documents_has_one_row() -> None:
    assert [row[0] for row in ROWS] == [f"R{number}" for number in range(1, 100)]
    states = [re.sub(r"\[(.*)\]\(.*\)", r"\1", row[3]) for row in ROWS]
    counts = {state: states.count(state) for state in ("done", "differs", "open")}
    assert sum(counts.values()) == len(ROWS), "a state is done, differs or open"
    sentence = (
        f"{counts['done']} requirements are done, {counts['differs']} differ, {counts['open']} are open."
    )
    assert sentence in SEEDS


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_a_requirement_names_a_module_and_a_test_that_exist(row: list[str]) -> None:
    _, document, sentence, state, where, test = row
    assert re.fullmatch("00[0-4]", document)
    assert sentence.endswith(".")
    assert (ROOT / where.strip("`")).is_file(), where
    if state == "open":
        assert "ssue" in test, "an open row says why"
        return
    path, _, name = test.strip("`").partition("::")
    assert (ROOT / path).is_file(), path
    if path.endswith(".py"):
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert name in defined, f"{path} has no {name}"
    else:
        assert path.startswith("tests/cases/"), path
    if state != "done":
        page, _, anchor = state.removeprefix("[differs](").rstrip(")").partition("#")
        text = (ROOT / "docs" / "internal" / page).read_text(encoding="utf-8")
        headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
        anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
        assert anchor in anchors, state

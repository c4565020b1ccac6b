"""Tests what all commands of the command line have in common."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup
from typer.testing import CliRunner

from callgauge.cli.main import GROUPS, Command, app
from callgauge.cli.render.exit_codes import DETAILS, MEANINGS, ExitCode
from callgauge.nightly.nightly_run import NightExit
from callgauge.stats.gate_syntax import EXIT_CODES
from ingest.version import CALLGAUGE_VERSION

CALLGAUGE = typer.main.get_group(app)
# `callgauge --help` does not wait for the parser, the store or a command.
NOT_FOR_HELP = {
    "lenient", "ingest.pipeline", "ingest.store", "callgauge.memory", "callgauge.cli.ingest_command",
    "asyncio", "duckdb", "numpy", "orjson", "pandas", "pyarrow", "rich", "streamlit",
}  # fmt: skip


def every_command(
    command: Command = CALLGAUGE, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Command]]:
    yield path, command
    if isinstance(command, TyperGroup):
        for name, each in command.commands.items():
            yield from every_command(each, (*path, name))


def describe(command: Command) -> str:
    """Return the first sentence of a command's help."""
    return str(command.get_short_help_str(limit=1_000))


def run(*words: str) -> str:
    result = CliRunner(env={"COLUMNS": "80"}).invoke(app, list(words), prog_name="callgauge")
    assert result.exit_code == 0, result.output
    return result.stdout


def test_every_command_is_in_exactly_one_group() -> None:
    grouped = [name for names in GROUPS.values() for name in names]
    assert len(grouped) == len(set(grouped))
    assert set(grouped) == set(CALLGAUGE.commands)


def test_help_lists_each_command_whole_on_one_line() -> None:
    shown = run("--help").splitlines()
    assert max(map(len, shown)) <= 80
    places = [shown.index(f"{title}:") for title in GROUPS]
    assert places == sorted(places)
    for name, command in CALLGAUGE.commands.items():
        assert sum(line.split()[:1] == [name] and line.endswith(describe(command)) for line in shown) == 1


def test_no_first_sentence_is_cut_off() -> None:
    for path, command in every_command():
        assert describe(command).endswith("."), path
        assert not describe(command).endswith(("...", "…")), path


@pytest.mark.thorough(quick=6)
@pytest.mark.parametrize("path", [path for path, _ in every_command()], ids=" ".join)
def test_h_is_help_for_every_command(path: tuple[str, ...]) -> None:
    assert run(*path, "-h") == run(*path, "--help")


@pytest.mark.parametrize("words", [[], ["--help"], ["--version"], ["ingset"]], ids=" ".join)
def test_without_a_command_no_parser_and_no_store_is_imported(words: list[str]) -> None:
    program = "import sys\nfrom callgauge.cli.main import app\n"
    program += f"try:\n    app({words!r}, prog_name='callgauge')\nexcept SystemExit:\n    pass\n"
    program += "print(*sys.modules, sep='\\n', file=sys.stderr)"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not NOT_FOR_HELP & set(ended.stderr.splitlines())


def test_version() -> None:
    assert run("--version") == f"callgauge {CALLGAUGE_VERSION}\n"


def test_every_exit_code_has_a_meaning_and_help_prints_it() -> None:
    assert set(MEANINGS) == set(ExitCode) >= set(DETAILS)
    assert {int(code) for code in NightExit} | set(EXIT_CODES.values()) <= {int(code) for code in ExitCode}
    shown = run("--help")
    assert all(f"  {int(code):<5}{meaning}\n" in shown for code, meaning in MEANINGS.items())


@pytest.mark.parametrize(
    "command", ["fix-definition", "which-model", "public-rates", "mcp-servers", "publish"]
)
def test_a_command_that_compares_calls_needs_a_store_and_days(command: str, tmp_path: Path) -> None:
    words = [command, "--store", str(tmp_path / "none")]
    words += ["--out", str(tmp_path / "board")] if command == "publish" else []
    missing, wrong = (CliRunner().invoke(app, [*words, "--days", days]) for days in ("all", "soon"))
    assert (missing.exit_code, wrong.exit_code) == (1, 2)
    assert "Nothing has been loaded yet. Load logs into it: callgauge ingest PATH --store" in missing.stderr
    assert "--days “soon” is not a range of days; use 7d" in wrong.stderr
    assert not list(tmp_path.iterdir())

"""Tests the formats of `callgauge gate`, and the gate on a trial run, as a person uses the command."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from markdown_it import MarkdownIt
from typer.testing import CliRunner

from callgauge.cli.main import app
from callgauge.documents.gate_text import (
    GateSideText,
    GateText,
    list_lines,
    list_workflow_commands,
    write_gates,
)
from tests.analysis.store_fixture import publish
from tests.dashboard.sheets import calls
from tests.trials.made_runs import MadeRun, refuse, write_folder

ROOT = Path(__file__).parents[2]
HOSTILE = (
    "<img src=x onerror=alert(1)>|b @acme/team ping@evil.example https://evil.example #12 GH-7 acme/x#3"
    " \n\n| x | y |\n- [ ] **b** `c` [l](http://e.x) ![i](http://e.x/i.png)\r::error::pwned"
    " ##[error]pwned %0A::x"
)


def run(*words: str | Path, **variables: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["gate", *map(str, words)], env={"GITHUB_STEP_SUMMARY": "", **variables})
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store in which the calls of a host with a hostile name fail more often."""
    store = tmp_path_factory.mktemp("hosts") / "store"
    publish(store, {"tool_calls": [*calls(98, 2, provider="east"), *calls(60, 40, provider=HOSTILE)]})
    return store


COMPARED = [
    *("--baseline", "same days", "--provider", HOSTILE, "--baseline-provider", "east"),
    *("--gate", "no-worse=2%"),
]


@pytest.fixture
def worse_run(tmp_path: Path) -> Path:
    return MadeRun(refuse({"old": 20, "new": 3}), tasks=160, looks=5).write(tmp_path / "made")


def render(markdown: str) -> tuple[str, list[list[str]]]:
    """Return the HTML as GitHub makes it from Markdown, without links for addresses, and the table's rows."""
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown)
    rows = re.findall(r"<tr>(.*?)</tr>", html, re.DOTALL)
    return html, [re.findall(r"<t[dh]>(.*?)</t[dh]>", row, re.DOTALL) for row in rows]


def test_hostile_names_stay_text(hosts: Path, tmp_path: Path) -> None:
    summary = tmp_path / "summary"
    summary.write_text("earlier step\n", encoding="utf-8")
    words: list[str | Path] = [
        "--store",
        hosts,
        *COMPARED,
        "--format",
        "github",
        "--dashboard",
        "https://g.example",
    ]
    code, output, _ = run(*words, GITHUB_STEP_SUMMARY=str(summary))
    assert code == 5
    (command,) = (line for line in output.splitlines() if line.lstrip().startswith("::"))
    assert command == output.splitlines()[-1]
    assert command.startswith(
        "::error title=Callgauge gate%3A worse%2C parse errors::Worse: parse errors 40.0%25 ("
    )
    markdown = output.removesuffix(f"{command}\n")
    assert summary.read_text(encoding="utf-8") == f"earlier step\n{markdown}\n"
    assert "##[" not in markdown
    html, rows = render(markdown)
    assert [len(row) for row in rows] == [6, 6]
    assert rows[1][1] == "Worse"
    assert set(re.findall(r"<(\w+)", html)) <= {
        "h3", "table", "thead", "tbody", "tr", "th", "td", "p", "strong", "a",
    }  # fmt: skip
    (link,) = re.findall(r'href="([^"]+)"', html)
    assert link.startswith("https://g.example/compare?")
    assert parse_qs(urlsplit(link.replace("&amp;", "&")).query)["rate"] == ["parse_error"]
    # A word joiner follows each text that GitHub would turn into a link or a mention.
    rest = markdown.replace(re.findall(r"\]\((https:.*)\)$", markdown, re.MULTILINE)[0], "")
    assert re.search(r"https?://|ftp://|(?<!\w)@\w|GH-\d|(?<!\\)#\d", rest) is None


def test_a_summary_that_cannot_be_written_does_not_change_the_exit_code(worse_run: Path) -> None:
    words: list[str | Path] = ["--against-trial", worse_run, "--gate", "no-worse=2%", "--format", "github"]
    code, output, problem = run(*words, GITHUB_STEP_SUMMARY=str(worse_run))
    assert code == 5
    assert "::error title=" in output
    assert "cannot append to the job summary" in problem


def make_text(verdict: str, explanation: str = "") -> GateText:
    sides = GateSideText("new", "5.0%", "5 / 100"), GateSideText("old", "4.0%", "4 / 100")
    figures = "+1 point (−2 to +4)"
    return GateText(verdict, "parse errors", "2 points", *sides, figures, True, explanation, (), "/compare")  # type: ignore[arg-type]


def test_each_verdict_has_its_workflow_command() -> None:
    gates = [make_text("worse"), make_text("cannot be told", "100%\r\nmore"), make_text("not worse")]
    commands = list(list_workflow_commands(gates))
    assert [command.partition(" ")[0] for command in commands] == ["::error", "::warning", "::notice"]
    assert "your margin is 2 points. 100%25 more" in commands[1]
    assert "title=Callgauge gate%3A not enough data%2C parse errors::" in commands[1]
    assert write_gates(gates).startswith("### Callgauge gate: worse\n")


def test_a_sentence_names_four_parts_and_counts_the_others() -> None:
    gate = replace(make_text("worse", "new is worse."), where=tuple("vwxyza"))
    assert "\n".join(list_lines([gate], "https://g.example/")) == (
        "Worse: parse errors 5.0% (new, 5 / 100) against 4.0% (old, 4 / 100). Difference +1 point (−2 to "
        "+4); your margin is 2 points. new is worse.\n  Where: v; w; x; y; 2 more.\n  https://g.example/compare"
    )


@pytest.mark.parametrize(
    ("rates", "code", "start"),
    [
        ((3, 20), 0, "Not worse: invalid calls 2.1% (new, 4 / 192) "),
        ((20, 3), 5, "Worse: invalid calls 16.7% (new, 32 / 192) "),
        ((8, 8), 6, "Not enough data: invalid calls "),
    ],
)
def test_a_trial_run_is_judged_like_its_report(
    tmp_path: Path, rates: tuple[int, int], code: int, start: str
) -> None:
    often = dict(zip(("old", "new"), rates, strict=True))
    root = MadeRun(refuse(often), tasks=160, looks=5).write(tmp_path / "run")
    exit_code, output, _ = run("--against-trial", root, "--gate", "no-worse=0.02")
    assert exit_code == code
    assert output.startswith(start)
    assert "new and old ran the same " in output
    assert output.endswith("  /trials?run=made.1a2b\n  For full links, add --dashboard URL.\n")
    report = CliRunner().invoke(app, ["trial", "report", str(root), "--gate", "no-worse=0.02"])
    assert report.exit_code == code
    assert output.splitlines()[0] in report.stdout


def test_a_trial_run_names_the_tasks_that_got_worse(worse_run: Path) -> None:
    code, output, _ = run(
        "--against-trial", worse_run, "--gate", "no-worse=2%", "--gate", "no-worse:cost=1", "--json"
    )
    assert code == 5
    refused, cost = json.loads(output)
    assert (refused["rate"], refused["verdict"], refused["exit_code"]) == ("refused", "worse", 5)
    assert (refused["slice"]["name"], refused["baseline"]["name"]) == ("new", "old")
    assert refused["difference"]["low"] > 0
    tasks = refused["tasks"]
    assert tasks["tasks"] * 2 == refused["slice"]["n"]
    # Every third task of `new` and every twentieth task of `old` fails, and no task fails in both.
    assert set(tasks["worse"]) == {f"t{place}" for place in range(2, tasks["tasks"], 3) if place % 20}
    assert tasks["better"] == sum(place % 20 == 0 and place % 3 != 2 for place in range(tasks["tasks"]))
    assert (cost["verdict"], cost["exit_code"], cost["parts"]) == ("not worse", 0, [])


@pytest.mark.thorough
def test_a_gate_on_a_trial_run_does_without_pandas(worse_run: Path) -> None:
    program = (
        "import sys\nfrom callgauge.cli.main import main\n"
        f"sys.argv = ['callgauge', 'gate', '--against-trial', {str(worse_run)!r}, '--gate', 'no-worse=2%', "
        "'--format', 'github']\n"
        "try: main()\nexcept SystemExit as end: print(end.code, 'pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "5 False", done.stderr


def test_an_unfinished_run_says_how_to_continue(tmp_path: Path) -> None:
    root = MadeRun(refuse({"old": 8, "new": 8}), tasks=160, looks=5).write(tmp_path / "run", until=40)
    code, output, _ = run("--against-trial", root, "--gate", "no-worse=2%")
    assert code == 6
    assert "The trial run has finished 40 of 160 tasks; `callgauge trial run` continues it." in output


def test_a_damaged_ledger_is_in_the_result(worse_run: Path) -> None:
    with (worse_run / "ledger.jsonl").open("ab") as stream:
        stream.write(b'{"arm": "new", "ta\xff\n')
    code, output, _ = run("--against-trial", worse_run, "--gate", "no-worse=2%")
    assert code == 5
    assert "1 line of ledger.jsonl could not be read" in output


@pytest.mark.parametrize(
    ("lock", "message"),
    [
        (None, "it has no lock.json"),
        ("", "is not JSON"),
        ('{"callgauge_trial": 9, "run": "x"}', "is not a run lock of this version"),
        ('{"callgauge_trial": 1, "run": "x"}', "another version of Callgauge wrote it"),
    ],
)
def test_a_folder_without_a_usable_run_is_wrong_use(tmp_path: Path, lock: str | None, message: str) -> None:
    if lock is not None:
        (tmp_path / "lock.json").write_text(lock)
    code, output, problem = run("--against-trial", tmp_path, "--gate", "no-worse=2%")
    assert (code, output) == (2, "")
    assert message in problem


def test_a_run_with_one_variant_has_nothing_to_compare(tmp_path: Path) -> None:
    made = MadeRun(refuse({"old": 8}), arms={"old": {}})
    root = write_folder(tmp_path / "run", made.lock(), [], [])
    code, _, problem = run("--against-trial", root, "--gate", "no-worse=2%")
    assert code == 2
    assert "has one variant, so a gate has nothing to compare. Add the new variant to [arms]" in problem


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--gate", "no-worse:parse_error=2%"], "the closest measure of a trial run is refused"),
        (["--gate", "no-worse:retried=2%"], "unknown measure 'retried' in the gate; use one of refused, "),
        (["--gate", "no-worse=2%", "--days", "7 days"], "is not like for like"),
        (["--gate", "no-worse=2%", "--store", "s", "--model", "m"], "cannot be used with --store, --model"),
        (["--gate", "no-worse=2%", "--json", "--format", "text"], "use --json or --format, not both"),
        (
            ["--gate", "no-worse=2%", "--format", "xml"],
            "'--format': 'xml' is not one of 'text', 'markdown', 'json', 'github'.",
        ),
        (["--gate", "no-worse=2%", "--dashboard", "gauge"], "is not an address"),
        (["--gate", "no-worse=2%", "--dashboard", "javascript:alert(1)"], "is not an address"),
        (["--gate", "no-worse=2%", "--dashboard", "https://x](y)"], "is not an address"),
    ],
)
def test_wrong_use_says_what_to_write(worse_run: Path, words: list[str], message: str) -> None:
    code, output, problem = run("--against-trial", worse_run, *words)
    assert (code, output) == (2, "")
    assert message in problem


def test_without_a_store_or_a_trial_run_there_is_nothing_to_judge() -> None:
    code, _, problem = run("--gate", "no-worse=2%")
    assert code == 2
    assert "name --store DIR and --baseline NAME|DAYS, or --against-trial RUN" in problem


def test_days_that_the_store_does_not_have_are_named(hosts: Path) -> None:
    code, output, _ = run("--store", hosts, "--baseline", "2020-01-01 to 2020-01-07", "--gate", "no-worse=2%")
    assert code == 6
    assert "Not enough data about parse errors. No call of 2020-01-01 to 2020-01-07 was measured" in output
    assert "The days of the store are 2026-11-20 to 2026-11-20; choose other days with --days" in output

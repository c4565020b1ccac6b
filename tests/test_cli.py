"""Tests the command line. Each invalid input gives one clear sentence. Messages go to stderr, results to
stdout.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
from pathlib import Path

import duckdb
import pytest
from typer.testing import CliRunner, Result

from callgauge.cli import main as cli
from callgauge.cli.render.exit_codes import ExitCode
from ingest.store.generations import lock_store
from lenient.diagnostics.codes import CODES

EXAMPLE = Path(__file__).parents[1] / "docs" / "session-log.example.jsonl"
TOOL = (
    '{"name": "search", "parameters": {"properties": {"limit": {"type": "integer"}}, "required": ["limit"]}}'
)

EVERYWHERE = "0.0.0.0"  # noqa: S104 - refused, or only compared


def run(*words: object, stdin: bytes = b"") -> Result:
    return CliRunner().invoke(cli.app, [str(word) for word in words], input=stdin)


def refused(result: Result, code: int) -> str:
    """Execute a command that must fail. Return its message, which is one sentence."""
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    (sentence,) = result.stderr.strip().splitlines()
    return sentence


@pytest.fixture
def tool(tmp_path: Path) -> Path:
    path = tmp_path / "search.json"
    path.write_text(TOOL)
    return path


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return Path(shutil.copy(EXAMPLE, tmp_path / "night.jsonl"))


# --- ingest ----------------------------------------------------------------------------------------


def test_a_whole_load_exits_with_0_and_so_does_the_next_one(log: Path, tmp_path: Path) -> None:
    first = run("ingest", log, "--store", tmp_path / "store")
    assert first.exit_code == 0, first.output
    assert "1 file loaded: 1 read, 0 unchanged" in first.stdout
    again = run("ingest", log, "--store", tmp_path / "store")
    assert (again.exit_code, again.stdout.splitlines()[-1][:15]) == (0, "nothing new for")


def test_the_report_is_json_for_machines(log: Path, tmp_path: Path) -> None:
    report = json.loads(run("ingest", log, "--store", tmp_path / "store", "--json").stdout)
    assert (report["loaded"], report["generation"]) == (1, "gen-000001.duckdb")


def test_a_broken_line_exits_with_3_and_says_where_to_look(log: Path, tmp_path: Path) -> None:
    with log.open("a") as file:
        file.write("{broken\n")
    result = run("ingest", log, "--store", tmp_path / "store")
    assert result.exit_code == 3
    assert "1 unreadable line" in result.stdout


@pytest.mark.thorough
def test_what_an_earlier_load_rejected_exits_with_0_unless_strict(log: Path, tmp_path: Path) -> None:
    other, store = tmp_path / "other.jsonl", tmp_path / "store"
    other.write_text('{"colour": "blue"}\n')
    with log.open("a") as file:
        file.write("{broken\n")
    words = ("ingest", log, other, "--store", store)
    assert [run(*words).exit_code, run(*words).exit_code] == [3, 0]
    assert f"unreadable: {other}" in run(*words).stdout
    first_line = log.read_text().partition("\n")[0]
    with log.open("a") as file:
        file.write(f"{first_line}\n")
    grown = run(*words)
    assert (grown.exit_code, "1 unreadable line (1 known from an earlier load)" in grown.stdout) == (0, True)
    with log.open("a") as file:
        file.write("{broken again\n")
    assert [run(*words).exit_code, run(*words).exit_code] == [3, 0]
    assert run(*words, "--strict").exit_code == 3
    assert "2 unreadable lines" not in run(*words).stdout
    log.write_text(log.read_text().replace("{broken again\n", "").replace("{broken\n", ""))
    other.unlink()
    other.write_text('{"colour": "red"}\n')
    assert run(*words, "--strict").exit_code == 3
    assert run("ingest", log, "--store", tmp_path / "clean", "--strict").exit_code == 0


@pytest.mark.thorough
def test_a_format_that_reads_nothing_is_an_error_that_nothing_remembers(log: Path, tmp_path: Path) -> None:
    words = ("ingest", log, "--store", tmp_path / "store")
    for _ in range(2):
        wrong = run(*words, "--format", "codex")
        assert wrong.exit_code == 1
        assert f"unreadable: {log} contains no codex data; leave out --format" in wrong.stdout
    right = run(*words)
    assert (right.exit_code, "1 read, 0 unchanged" in right.stdout) == (0, True)
    wrong = run(*words, "--format", "codex")
    assert (wrong.exit_code, "what was loaded from it before stays" in wrong.stdout) == (1, True)
    assert "0 read, 1 unchanged" in run(*words).stdout


@pytest.mark.thorough
def test_the_report_says_what_other_content_replaced(log: Path, tmp_path: Path) -> None:
    words = ("ingest", log, "--store", tmp_path / "store")
    run(*words)
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(line for line in lines[: len(lines) // 2]).replace("T", "T", 1) + "\n")
    replaced = run(*words)
    assert "changed files  1 sessions replaced, " in replaced.stdout
    assert "calls fewer" in replaced.stdout


def test_a_file_in_no_format_exits_with_3_beside_a_good_one_and_with_1_alone(
    log: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text('{"colour": "blue"}\n')
    beside = run("ingest", log, other, "--store", tmp_path / "a")
    assert beside.exit_code == 3
    assert f"unreadable: {other} is in no format known here" in beside.stdout
    assert run("ingest", other, "--store", tmp_path / "b").exit_code == 1


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"\x00\x01\x02" * 99, "is a binary file"),
        (b"\x1f\x8b\x08gzip", "cannot be read: its gzip data cannot be unpacked"),
    ],
    ids=["empty", "binary", "cut"],
)
def test_an_empty_binary_or_cut_file_is_named_with_the_reason(
    content: bytes, reason: str, tmp_path: Path
) -> None:
    path = tmp_path / "night.jsonl"
    path.write_bytes(content)
    result = run("ingest", path, "--store", tmp_path / "store")
    assert result.exit_code == 1
    assert f"unreadable: {path} {reason}" in result.stdout


def test_a_path_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    assert f"{tmp_path / 'gone'} does not exist" in refused(
        run("ingest", tmp_path / "gone", "--store", tmp_path / "store"), 1
    )


def test_a_folder_without_logs_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    assert "nothing to load" in refused(run("ingest", tmp_path / "logs", "--store", tmp_path / "store"), 1)


def test_a_store_in_a_missing_folder_is_one_sentence_that_names_it(log: Path, tmp_path: Path) -> None:
    assert str(tmp_path / "no") in refused(
        run("ingest", log, "--store", tmp_path / "no" / "such" / "store"), 1
    )


def test_a_store_that_is_a_file_is_one_sentence(log: Path, tmp_path: Path) -> None:
    (tmp_path / "store").write_text("")
    assert str(tmp_path / "store") in refused(run("ingest", log, "--store", tmp_path / "store"), 1)


def test_a_store_of_another_version_is_one_sentence(log: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    run("ingest", log, "--store", store)
    with duckdb.connect(str(store / "gen-000001.duckdb")) as con:
        con.execute("UPDATE store_info SET schema_version = 999")
    assert "999" in refused(run("ingest", log, "--store", store), 1)


@pytest.mark.parametrize("text", ["not json", "[1, 2]", "{}", "", "[]"])
def test_tool_definitions_that_cannot_be_read_are_one_sentence_that_names_the_file(
    text: str, log: Path, tmp_path: Path
) -> None:
    path = tmp_path / "tools.json"
    path.write_text(text)
    result = run("ingest", log, "--store", tmp_path / "store", "--tools", path)
    assert str(path) in refused(result, 2)


def test_wrong_words_exit_with_2() -> None:
    assert run("ingest").exit_code == run("ingest", "x").exit_code == run("ingets").exit_code == 2


# --- parse -------------------------------------------------------------------------------------------


def test_parse_shows_the_outcome_the_arguments_and_each_finding_under_its_text(tool: Path) -> None:
    result = run("parse", "--tool", tool, '{"limit": "4x2"}')
    assert result.exit_code == 1
    shown = result.stdout.splitlines()
    marked = next(number for number, line in enumerate(shown) if line.strip().startswith("^"))
    start, width = shown[marked].index("^"), shown[marked].count("^")
    assert shown[marked - 1][start : start + width] == '"4x2"'


def test_parse_reads_standard_input_byte_for_byte(tool: Path) -> None:
    result = run("parse", "--tool", tool, "--json", "-", stdin=b'{"limit": "7",}')
    data = json.loads(result.stdout)
    assert (result.exit_code, data["arguments"], data["outcome"]) == (0, {"limit": 7}, "repaired")
    assert data["raw_arguments"] == '{"limit": "7",}'
    assert data["accepted_under"] == ["safe", "lenient"]


def test_the_policy_decides_the_exit_code(tool: Path) -> None:
    words = ("parse", "--tool", tool, '{"limit": "7"}', "--policy")
    assert [run(*words, policy).exit_code for policy in ("lenient", "strict", "merciful")] == [0, 1, 2]


def test_parse_without_a_definition_says_that_types_were_not_checked() -> None:
    assert "tool_definition_missing" in run("parse", "{}").stdout


def test_parse_asks_which_tool_is_meant_when_a_file_defines_two(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text(f"[{TOOL}, {TOOL.replace('search', 'find')}]")
    assert "search, find" in refused(run("parse", "--tool", path, "{}"), 2)
    assert "no tool 'fnid'" in refused(run("parse", "--tool", path, "--name", "fnid", "{}"), 2)
    assert run("parse", "--tool", path, "--name", "find", '{"limit": 1}').exit_code == 0


def test_parse_with_a_definition_that_is_not_json_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "tool.json"
    path.write_text("limit: integer")
    assert str(path) in refused(run("parse", "--tool", path, "{}"), 2)


def test_hostile_text_cannot_move_the_terminal(tool: Path) -> None:
    shown = run("parse", "--tool", tool, '{"limit": "\x1b[2J\u202e"}').stdout
    assert "\x1b" not in shown
    assert "\u202e" not in shown


# --- explain, formats, serve -------------------------------------------------------------------------


def test_explain_shows_a_code_on_an_example_that_it_runs() -> None:
    shown = run("explain", "missing_required").stdout
    assert shown.startswith("missing_required: error of the check stage")
    assert "message  $" in shown


def test_explain_takes_a_code_with_its_detail_as_the_tables_spell_it() -> None:
    assert run("explain", "missing_required:path").exit_code == 0


def test_explain_suggests_a_near_miss() -> None:
    assert "did you mean missing_required" in refused(run("explain", "missing_requierd"), 2)


def test_explain_lists_every_code() -> None:
    listed = run("explain", "--json")
    assert {code["name"] for code in json.loads(listed.stdout)} == set(CODES)


def test_formats_says_which_one_reads_a_file_and_why_none_does(log: Path, tmp_path: Path) -> None:
    lines = run("formats", log).stdout.splitlines()
    assert lines[0] == f"{log}: session_history"
    assert lines[1] == "  lines of objects; the first has the keys ts, sessionId, type, content, role, meta"
    assert (
        "  not braintrust: it needs `span_attributes`, `events`, `data`, `rows` and 1 more: not there"
        in lines
    )
    (tmp_path / "empty").write_bytes(b"")
    result = run("formats", tmp_path / "empty")
    assert (result.exit_code, result.stdout) == (
        1,
        f"{tmp_path / 'empty'}: no format reads it: it is empty\n",
    )


def test_formats_lists_what_each_can_tell() -> None:
    assert {source["name"] for source in json.loads(run("formats", "--json").stdout)} >= {
        "claude_code",
        "session_history",
    }


@pytest.mark.thorough
def test_serve_lets_the_network_in_only_when_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for address in (EVERYWHERE, "192.0.2.7", "gauge.test", "::"):
        message = refused(run("serve", "--store", tmp_path / "store", "--address", address), 2)
        assert "without a sign-in" in message
        assert "--no-sign-in" in message
    started: list[dict[str, str]] = []
    monkeypatch.setattr(os, "execve", lambda _program, _words, environment: started.append(environment))
    (tmp_path / "store").mkdir()
    words = ("--address", EVERYWHERE, "--no-sign-in", "--port", _free_port())
    for option in ("--allowed-host", "--host"):
        served = run("serve", "--store", tmp_path / "store", *words, option, "gauge.test")
        assert served.exit_code == 0, served.output
        assert "Warning: no sign-in" in served.output
        assert ("--host is now --allowed-host" in served.output) == (option == "--host")
        assert "gauge.test" in started.pop()["CALLGAUGE_HOSTS"].split(",")
    assert "--host " not in run("serve", "--help").output


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_serve_refuses_a_store_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("")
    assert "is a file, not a store" in refused(run("serve", "--store", tmp_path / "store"), 1)


def test_serve_refuses_a_store_that_does_not_exist(tmp_path: Path) -> None:
    assert "there is no store" in refused(run("serve", "--store", tmp_path / "stroe"), 1)
    assert not (tmp_path / "stroe").exists()


# --- lint ------------------------------------------------------------------------------------------


def test_parse_says_first_that_meaning_was_lost() -> None:
    assert "lossy      meaning was lost" in run("parse", '{"a": "b').stdout
    assert "lossy" not in run("parse", '{"a": "b",}').stdout
    assert json.loads(run("parse", '{"a": "b', "--json").stdout)["lossy"] is True


def test_lint_says_what_is_wrong_and_what_to_do(tool: Path) -> None:
    result = run("lint", tool)
    assert result.exit_code == 1
    assert "warning: tool_description_missing" in result.stdout
    assert 'suggested: {"additionalProperties": false}' in result.stdout
    assert result.stdout.splitlines()[-1] == "2 warnings, 1 note"
    data = json.loads(run("lint", tool, "--name", "search", "--json").stdout)
    assert [(finding["code"], finding["path"]) for finding in data] == [
        ("tool_description_missing", None),
        ("object_open", "$"),
        ("parameter_description_missing", "$.limit"),
    ]


def test_lint_exits_with_0_when_there_are_notes_at_most(tmp_path: Path) -> None:
    path = tmp_path / "ping.json"
    path.write_text('{"name": "ping", "description": "Ping.", "parameters": {"type": "object"}}')
    result = run("lint", path)
    assert (result.exit_code, result.stdout) == (0, "no problems found\n")


def test_lint_of_what_is_no_definition_is_one_sentence(tmp_path: Path) -> None:
    assert "No such file" in refused(run("lint", tmp_path / "none.json"), 2)
    path = tmp_path / "odd.json"
    path.write_text("[1]")
    assert "a number" in refused(run("lint", path), 2)


def test_explain_knows_the_codes_of_the_lint() -> None:
    assert "What to do: List them as `enum`." in run("explain", "enum_in_prose").stdout


# --- upkeep ----------------------------------------------------------------------------------------


def test_a_store_is_judged_anew_without_its_logs(log: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    run("ingest", log, "--store", store)
    log.unlink()
    nothing = run("reparse", "--store", store)
    assert (nothing.exit_code, nothing.stdout[:14]) == (0, "nothing to do:")
    everything = run("reparse", "--store", store, "--all")
    assert everything.exit_code == 0, everything.output
    assert "; 0 changed" in everything.stdout
    assert everything.stdout.splitlines()[-1] == f"published gen-000002.duckdb in {store}"
    assert json.loads(run("reparse", "--store", store, "--json").stdout)["generation"] is None


def test_judging_anew_without_a_store_is_one_sentence(tmp_path: Path) -> None:
    message = refused(run("reparse", "--store", tmp_path / "none"), ExitCode.FAILED)
    assert "nothing has been loaded into" in message
    message = refused(run("reparse", "--store", tmp_path, "--tools", tmp_path / "none"), ExitCode.WRONG_USE)
    assert "these tool definitions cannot be used" in message


def test_a_store_that_is_held_can_be_waited_for(log: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    run("ingest", log, "--store", store)
    with lock_store(store):
        message = refused(run("reparse", "--store", store, "--all"), ExitCode.FAILED)
        assert message.endswith("wait until it is done and run this again, or add --wait")
        waiting = run("ingest", log, "--store", store, "--wait-at-most", 0.1)
        assert waiting.exit_code == ExitCode.FAILED
        assert "callgauge: waiting: process" in waiting.stderr
    assert run("ingest", log, "--store", store, "--wait").exit_code == 0


@pytest.mark.thorough
def test_rejects_are_listed_with_their_place_and_read_again(log: Path, tmp_path: Path) -> None:
    store, size = tmp_path / "store", log.stat().st_size
    with log.open("a") as stream:
        stream.write("bro\x1bken\n")
    run("ingest", log, "--store", store)
    listed = run("rejects", "--store", store)
    assert listed.exit_code == 0, listed.output
    place, snippet, counts = listed.stdout.splitlines()
    number = len(log.read_text().splitlines())
    assert place.startswith(f"{log}:{number} (byte {size:,}) not_json: not JSON")
    assert (snippet, counts) == ("    bro\\x1bken", "1 not_json")
    (reject,) = json.loads(run("rejects", "--store", store, "--json", "--file", "*.jsonl").stdout)
    assert (reject["file"], reject["line"], reject["snippet"]) == (str(log), number, "bro\x1bken")
    assert run("rejects", "--store", store, "--code", "torn_line").stdout == "no unreadable lines\n"
    again = run("rejects", "--store", store, "--retry")
    assert again.exit_code == 0, again.output
    assert "1 file loaded: 1 read" in again.stdout
    log.unlink()
    gone = run("rejects", "--store", store, "--retry")
    assert (gone.stdout, gone.stderr) == (
        "nothing to retry\n",
        f"callgauge: skipped: {log} is no longer there\n",
    )


def test_rejects_of_a_place_without_a_store_are_one_sentence(tmp_path: Path) -> None:
    assert "nothing has been loaded" in refused(run("rejects", "--store", tmp_path / "x"), ExitCode.FAILED)


def test_a_session_is_forgotten_for_good(log: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    run("ingest", log, "--store", store)
    with duckdb.connect(str(store / "gen-000001.duckdb"), read_only=True) as con:
        (session_id,) = con.execute("SELECT session_id FROM sessions").fetchall()[0]
    trial = run("forget", "--store", store, "--session", session_id, "--dry-run")
    assert trial.exit_code == 0, trial.output
    assert trial.stdout.splitlines()[-1] == "nothing was deleted (dry run)"
    done = run("forget", "--store", store, "--session", session_id)
    assert done.stdout.startswith("1 session with ")
    assert done.stdout.splitlines()[-1].startswith("deleted for good; published gen-000003.duckdb in")
    none = run("forget", "--store", store, "--before", "2026-01-01", "--json")
    assert (none.exit_code, json.loads(none.stdout)["sessions"]) == (1, 0)
    message = refused(run("forget", "--store", store), ExitCode.WRONG_USE)
    assert message == "callgauge: say what to forget with one of --session, --before and --user"

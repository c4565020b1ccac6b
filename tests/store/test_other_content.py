"""Tests a file whose content is replaced."""

# ruff: noqa: S608 - the queries are made of our own table and column names

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from ingest.load_report import LoadReport
from ingest.maintenance.forget import SessionChoice, forget
from ingest.pipeline.load import load
from tests.store.night import ROLLUPS, ask, claude_code_session, contents, count, rows_by_reference, session
from tests.store.test_copies import from_scratch
from tests.store.test_late_facts import read_all

STATUS = "SELECT regexp_extract(path, '[^/]+$'), status, follows FROM files ORDER BY file_id"


def write_over(file: Path, content: str | bytes) -> None:
    """Replace the content of a file and change its time, so that a load notices the change even if the length
    is equal.
    """
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    past = file.stat().st_mtime_ns - 10**9 * (1 + len(list(file.parent.iterdir())))
    os.utime(file, ns=(past, past))


def in_turn(file: Path, store: Path, nights: Sequence[str]) -> list[LoadReport]:
    """Load these contents one after another. Each content replaces the previous content."""
    reports = []
    for number, night in enumerate(nights):
        file.write_text(night)
        os.utime(file, ns=(number * 10**9, number * 10**9))
        reports.append(load([file], store))
    return reports


def side_by_side(folder: Path, store: Path, nights: Sequence[str]) -> Path:
    folder.mkdir()
    for number, night in enumerate(nights):
        (folder / f"{number}.jsonl").write_text(night)
    load([folder], store)
    return store


def three_nights() -> list[str]:
    return [
        "".join(session(f"n{night}-{number}", day=night, raw=raw) for number, raw in enumerate(RAWS[:size]))
        for night, size in ((1, 3), (2, 4), (3, 5))
    ]


RAWS = ('{"path": "a.py"}', "{'path': 1,}", "]", '{"a": 1}', "{}")


@pytest.mark.thorough
def test_three_nights_in_one_file_are_three_files(logs: Path, store: Path, tmp_path: Path) -> None:
    nights = three_nights()
    reports = in_turn(logs / "app.jsonl", store, nights)
    others = side_by_side(tmp_path / "others", tmp_path / "other_store", nights)
    assert rows_by_reference(store) == rows_by_reference(others)
    assert contents(store, ROLLUPS) == contents(others, ROLLUPS) == from_scratch(store, tmp_path)
    assert [report.calls for report in reports] == [9, 12, 15]
    assert count(store, "tool_calls") == 36
    assert [(report.sessions_replaced, report.calls_fewer) for report in reports] == [(0, 0)] * 3
    assert ask(store, STATUS) == [
        ("app.jsonl", "earlier", None), ("app.jsonl", "earlier", 1), ("app.jsonl", "loaded", 2),
    ]  # fmt: skip
    assert load([logs], store).generation is None


@pytest.mark.thorough
def test_a_session_that_is_told_again_is_replaced(logs: Path, store: Path, tmp_path: Path) -> None:
    first = session("stays") + session("again", turns=(3, 2), day=2)
    then = session("again", turns=(2,), day=2) + session("new", day=3)
    *_, report = in_turn(logs / "app.jsonl", store, [first, then])
    assert (report.sessions_replaced, report.sessions_removed, report.calls_fewer) == (1, 0, 3)
    others = side_by_side(tmp_path / "others", tmp_path / "other_store", [session("stays"), then])
    assert rows_by_reference(store) == rows_by_reference(others)
    assert contents(store, ROLLUPS) == contents(others, ROLLUPS)
    runs = "SELECT sessions_replaced, sessions_removed, calls_fewer FROM ingest_runs ORDER BY run_id"
    assert ask(store, runs) == [(0, 0, 0), (1, 0, 3)]


def test_a_content_that_is_told_again_whole_leaves_nothing(logs: Path, store: Path) -> None:
    first = session("a", ended=False) + "broken\n" + session("b")
    in_turn(logs / "app.jsonl", store, [first, session("b") + session("a") + session("c")])
    assert ask(store, STATUS) == [("app.jsonl", "loaded", None)]
    assert count(store, "rejects") == 0
    assert ask(store, "SELECT session_id FROM sessions ORDER BY 1") == [("a",), ("b",), ("c",)]


LONG_SESSION = session("s", turns=(3, 2), raw="{'path': 1,}").splitlines(keepends=True)


@pytest.fixture(scope="module")
def long_session_at_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("long_session")
    in_turn(folder / "whole.jsonl", folder / "store", ["".join(LONG_SESSION)])
    return folder / "store"


@pytest.mark.thorough
@pytest.mark.parametrize("cut", range(1, len(LONG_SESSION)))
def test_a_session_that_goes_on_across_a_rotation_is_one(
    logs: Path, store: Path, tmp_path: Path, long_session_at_once: Path, cut: int
) -> None:
    halves = ["".join(LONG_SESSION[:cut]), "".join(LONG_SESSION[cut:])]
    in_turn(logs / "app.jsonl", store, [halves[0] + session("o"), session("p", day=2) + halves[1]])
    rows = [row for row in read_all(store) if not isinstance(row, dict) or row["session_id"] == "s"]
    expected = [row for row in read_all(long_session_at_once) if isinstance(row, dict)]
    assert [row for row in rows if isinstance(row, dict)] == expected
    assert contents(store, ROLLUPS) == from_scratch(store, tmp_path)


def claude_code_lines(name: str, turns: int) -> list[str]:
    """Return turns without numbers. Each turn has a question, a call, its result, and an answer."""
    lines = []
    for turn in range(turns):
        text = claude_code_session(name)
        for old, new in (
            ('"t1"', f'"toolu_{turn}"'),
            ('"id": "m', f'"id": "m{turn}-'),
            (f'"{name}-', f'"{name}-{turn}-'),
            ("T10:", f"T1{turn}:"),
        ):
            text = text.replace(old, new)
        lines += text.splitlines(keepends=True)
    return lines


@pytest.fixture(scope="module")
def turns_at_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("turns")
    in_turn(folder / "whole.jsonl", folder / "store", ["".join(claude_code_lines("c", 3))])
    return folder / "store"


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("cut", range(1, 12))
def test_turns_without_numbers_are_counted_on(logs: Path, store: Path, turns_at_once: Path, cut: int) -> None:
    lines = claude_code_lines("c", 3)
    in_turn(logs / "app.jsonl", store, ["".join(lines[:cut]), "".join(lines[cut:])])
    columns = "turn, steps, calls, derived_ok, derived_reason"
    turns = f"SELECT {columns} FROM turns WHERE NOT duplicate ORDER BY turn"
    assert ask(store, turns) == ask(turns_at_once, turns)
    calls = "SELECT call_id, turn, tool_call_id, result_status FROM tool_calls WHERE NOT duplicate ORDER BY 2"
    assert ask(store, calls) == ask(turns_at_once, calls)
    assert count(store, "rejects") == 0


READ = {"name": "read", "description": "Read.", "input_schema": {"properties": {"path": {"type": "string"}}}}


def with_prompt_and_tools(log: str, prompt: str = "You write code.") -> str:
    first, *others = log.splitlines(keepends=True)
    start = json.loads(first)
    start |= {"content": prompt, "meta": {"tools": [READ], "model": "m", "provider": "p"}}
    return "".join([json.dumps(start) + "\n", *others])


@pytest.mark.thorough
def test_prompt_model_and_definitions_hold_across_a_rotation(logs: Path, tmp_path: Path) -> None:
    whole = with_prompt_and_tools(session("s", turns=(1, 1, 1), raw='{"path": 1}'))
    lines = whole.splitlines(keepends=True)
    columns = "turn, prompt_id, provider, model, definition_id, definition_origin, outcome, schema_seen"
    query = f"SELECT {columns}, parse_warning FROM tool_calls WHERE NOT duplicate ORDER BY ALL"
    in_turn(logs / "whole.jsonl", tmp_path / "whole", [whole])
    expected = ask(tmp_path / "whole", query)
    assert [row[6] for row in expected] == ["coerced"] * 3
    for cut in (9, 14, 16):
        store = tmp_path / f"{cut}"
        in_turn(logs / f"{cut}.jsonl", store, ["".join(lines[:cut]), "".join(lines[cut:])])
        assert ask(store, query) == expected


@pytest.mark.thorough
def test_a_tool_that_was_not_called_before_the_rotation_is_not_taken_for_unknown(
    logs: Path, store: Path
) -> None:
    lines = with_prompt_and_tools(session("s", turns=(1, 1))).splitlines(keepends=True)
    rest = "".join(lines[9:]).replace('"read"', '"look"')
    in_turn(logs / "app.jsonl", store, ["".join(lines[:9]), rest])
    calls = "SELECT tool, outcome, parse_error, tools_offered FROM tool_calls ORDER BY turn"
    assert ask(store, calls) == [("read", "clean", None, True), ("look", "unmeasured", None, False)]


@pytest.mark.thorough
def test_a_session_that_is_told_again_has_its_own_prompt(logs: Path, store: Path) -> None:
    first = with_prompt_and_tools(session("s", turns=(1, 1)), "Old.")
    in_turn(logs / "app.jsonl", store, [first, with_prompt_and_tools(session("s", turns=(1, 1)), "New.")])
    assert ask(store, "SELECT DISTINCT p.text FROM turns JOIN prompts p USING (prompt_id)") == [("New.",)]


def rotated(logs: Path, *nights: str) -> None:
    """Write the newest content to `app.jsonl`, the previous content to `app.jsonl.1`, and so on."""
    for number, night in enumerate(reversed(nights)):
        write_over(logs / (f"app.jsonl.{number}" if number else "app.jsonl"), night)


@pytest.mark.thorough
@pytest.mark.parametrize("workers", [1, 2])
def test_logs_that_are_rotated_every_night_count_once(
    logs: Path, store: Path, tmp_path: Path, workers: int
) -> None:
    nights = [*three_nights(), session("n4", day=4)]
    for last in range(1, len(nights) + 1):
        rotated(logs, *nights[:last])
        report = load([logs], store, workers=workers)
        assert (report.loaded, report.sessions_replaced, report.calls_fewer) == (1, 0, 0)
    others = side_by_side(tmp_path / "others", tmp_path / "other_store", nights)
    assert rows_by_reference(store) == rows_by_reference(others)
    assert {name: status for name, status, _ in ask(store, STATUS)} == {
        "app.jsonl": "loaded", "app.jsonl.1": "loaded", "app.jsonl.2": "loaded", "app.jsonl.3": "loaded",
    }  # fmt: skip
    assert load([logs], store).generation is None


@pytest.mark.thorough
def test_a_log_that_grew_before_it_was_rotated_away_goes_on_under_its_new_name(
    logs: Path, store: Path, tmp_path: Path
) -> None:
    lines = session("s", turns=(3, 2)).splitlines(keepends=True)
    file, tail = logs / "app.jsonl", "".join(lines[9:])
    file.write_text("".join(lines[:9]) + lines[9][:20])
    assert load([logs], store).rejects == 1
    write_over(logs / "app.jsonl.1", "".join(lines[:9]) + tail)
    write_over(file, session("n", day=2))
    load([logs], store)
    nights = ["".join(lines), session("n", day=2)]
    others = side_by_side(tmp_path / "others", tmp_path / "other_store", nights)
    assert rows_by_reference(store) == rows_by_reference(others)
    assert [row[:2] for row in ask(store, STATUS)] == [("app.jsonl", "loaded"), ("app.jsonl.1", "loaded")]
    assert count(store, "rejects") == 0


@pytest.mark.thorough
def test_a_content_that_is_compressed_away_is_known(logs: Path, store: Path) -> None:
    first, then = session("a"), session("b", day=2)
    in_turn(logs / "app.jsonl", store, [first])
    (logs / "app.jsonl.1.gz").write_bytes(gzip.compress(first.encode()))
    write_over(logs / "app.jsonl", then)
    report = load([logs], store)
    assert (report.loaded, report.moved) == (1, 1)
    assert [row[:2] for row in ask(store, STATUS)] == [("app.jsonl.1.gz", "loaded"), ("app.jsonl", "loaded")]


@pytest.mark.thorough
def test_a_content_that_comes_back_is_not_read_again(logs: Path, store: Path) -> None:
    first, then = session("a"), session("b", day=2)
    in_turn(logs / "app.jsonl", store, [first, then])
    write_over(logs / "app.jsonl", first)
    report = load([logs], store)
    assert (report.loaded, report.moved, count(store, "sessions")) == (0, 1, 2)
    assert [row[:2] for row in ask(store, STATUS)] == [("app.jsonl", "loaded"), ("app.jsonl", "earlier")]
    assert load([logs], store).generation is None


@pytest.mark.thorough
def test_replacing_removes_what_is_no_longer_in_the_file(logs: Path, store: Path, tmp_path: Path) -> None:
    in_turn(logs / "app.jsonl", store, [session("a"), session("b", day=2) + session("c", day=2)])
    write_over(logs / "app.jsonl", session("c", day=2, turns=(2,)) + session("d", day=3))
    report = load([logs], store, replacing=True)
    assert (report.sessions_replaced, report.sessions_removed, report.calls_fewer) == (1, 2, 7)
    load([logs], tmp_path / "afresh")
    assert rows_by_reference(store) == rows_by_reference(tmp_path / "afresh")
    assert contents(store, ROLLUPS) == contents(tmp_path / "afresh", ROLLUPS)
    assert count(store, "files") == 1
    assert load([logs], store, replacing=True).generation is None


@pytest.mark.thorough
def test_replacing_removes_what_an_earlier_load_kept_of_a_file_that_has_not_changed(
    logs: Path, store: Path
) -> None:
    in_turn(logs / "app.jsonl", store, [session("a"), session("b", day=2)])
    report = load([logs], store, replacing=True)
    assert (report.unchanged, report.sessions_removed, report.calls_fewer) == (1, 1, 3)
    assert ask(store, "SELECT session_id FROM sessions") == [("b",)]


@pytest.mark.thorough
def test_without_the_file_replacing_removes_nothing(logs: Path, store: Path) -> None:
    in_turn(logs / "app.jsonl", store, [session("a"), session("b", day=2)])
    write_over(logs / "app.jsonl", "no log\n")
    report = load([logs], store, replacing=True)
    assert (len(report.rejected), report.sessions_removed, count(store, "sessions")) == (1, 0, 2)


@pytest.mark.thorough
def test_forgetting_takes_a_session_out_of_every_content(logs: Path, store: Path) -> None:
    in_turn(logs / "app.jsonl", store, [session("a") + session("s"), session("b", day=2)])
    forget(store, SessionChoice(sessions=["s"]))
    write_over(logs / "app.jsonl", session("c", day=3) + session("s", day=3))
    load([logs], store)
    assert ask(store, "SELECT session_id FROM sessions ORDER BY 1") == [("a",), ("b",), ("c",)]


def examples(*texts: str) -> str:
    lines = []
    for text in texts:
        function = {"name": "read", "arguments": json.dumps({"path": text})}
        answer = {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": function}]}
        lines.append(json.dumps({"messages": [{"role": "user", "content": text}, answer]}) + "\n")
    return "".join(lines)


@pytest.mark.thorough
def test_two_nights_of_records_without_ids_under_one_header(logs: Path, store: Path, tmp_path: Path) -> None:
    nights = [examples("header", "a", "b", "b"), examples("header", "c", "b"), examples("d", "a")]
    *_, report = in_turn(logs / "app.jsonl", store, nights)
    calls = "SELECT raw_arguments[11:-3] AS path, count(*) FROM tool_calls WHERE NOT duplicate"
    assert ask(store, f"{calls} GROUP BY path ORDER BY path") == [
        ("a", 1), ("b", 2), ("c", 1), ("d", 1), ("header", 1),
    ]  # fmt: skip
    assert (report.sessions_replaced, report.calls_fewer) == (1, 0)
    others = side_by_side(tmp_path / "others", tmp_path / "other_store", nights[:2])
    assert ask(others, "SELECT count(*) FROM tool_calls WHERE NOT duplicate") == [(5,)]


def cline_task(*answers: str, day: int = 1, task: str = "Look") -> str:
    """Return a JSON document: a Cline task without an id, with a question, calls and their results."""
    messages: list[dict[str, object]] = [
        {
            "role": "user",
            "content": [{"type": "text", "text": task}],
            "ts": 1_762_000_000_000 + day * 86_400_000,
        }
    ]
    for number, answer in enumerate(answers):
        ts = 1_762_000_000_000 + day * 86_400_000 + 1_000 * (number + 1)
        call = {"type": "tool_use", "id": f"{task}-{day}-{number}", "name": "read", "input": {"path": answer}}
        result = {"type": "tool_result", "tool_use_id": f"{task}-{day}-{number}", "content": "text"}
        messages.append({"role": "assistant", "content": [call], "ts": ts})
        messages.append({"role": "user", "content": [result], "ts": ts + 500})
    return json.dumps(
        {
            "version": 1,
            "updated_at": f"{len(answers)}",
            "agent": "x",
            "sessionId": None,
            "messages": messages,
        },
        indent=1,
    )


@pytest.mark.thorough
def test_a_document_without_an_id_that_is_rewritten_is_one_session(logs: Path, store: Path) -> None:
    file = logs / "task.json"
    *_, report = in_turn(file, store, [cline_task("a"), cline_task("a", "b"), cline_task("a", "b", "c")])
    assert ask(store, "SELECT count(*) FROM tool_calls WHERE NOT duplicate") == [(3,)]
    assert (count(store, "sessions"), count(store, "files")) == (1, 1)
    assert (report.sessions_replaced, report.calls_fewer) == (1, 0)
    write_over(file, cline_task("a", "x"))
    report = load([logs], store)
    assert (report.sessions_replaced, report.calls_fewer, count(store, "tool_calls")) == (1, 1, 2)


@pytest.mark.thorough
def test_another_document_without_an_id_leaves_the_first(logs: Path, store: Path) -> None:
    in_turn(
        logs / "task.json", store, [cline_task("a", "b"), cline_task("a", day=2), cline_task("a", task="Go")]
    )
    assert ask(store, "SELECT count(*) FROM tool_calls WHERE NOT duplicate") == [(4,)]
    assert count(store, "sessions") == 3

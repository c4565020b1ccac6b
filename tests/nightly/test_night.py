"""Tests the load step of a nightly run."""

from __future__ import annotations

import resource
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from callgauge.cli.service_commands import _step_lines
from callgauge.memory.memory_file import FILE, MemoryProblemError
from callgauge.memory.nights.night_lock import NightBusyError, hold_night, is_night_running
from callgauge.memory.nights.night_steps import NightRecords, NightStep
from callgauge.memory.nights.source_states import SourceStates
from callgauge.nightly import nightly_run
from callgauge.nightly.nightly_run import NightExit, choose_night, run_load
from ingest.store.generations import prepare_store
from tests.configuration.team import NEWEST, TOML, write_log, write_team
from tests.nightly.nights import do_night, list_outcomes
from tests.store.night import ask

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def loads_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit the nightly run to the load, because the other steps are slow."""
    monkeypatch.setattr(nightly_run, "NIGHT_STEPS", {"load": run_load})


def count_calls(folder: Path) -> int:
    return int(ask(folder / "store", "SELECT count(*) FROM tool_calls")[0][0])


def test_a_night_loads_all_sources_and_records_it(tmp_path: Path) -> None:
    file = write_team(tmp_path)
    result = do_night(file)
    assert (result.exit_code, count_calls(tmp_path)) == (NightExit.DONE, 12)
    (load,) = (step for step in NightRecords(tmp_path / "store").list_steps(1) if step.step == "load")
    assert load.ended is not None
    assert (load.night, load.outcome, load.figures["files"], load.figures["calls"]) == (
        datetime.now().astimezone().date(), "done", 4, 12,
    )  # fmt: skip
    assert [(source["name"], source["files"]) for source in load.figures["sources"]] == [("eu", 2), ("us", 2)]


@pytest.mark.thorough
def test_a_night_that_is_done_is_done_again_only_when_asked(tmp_path: Path) -> None:
    file = write_team(tmp_path)
    do_night(file)
    write_log(tmp_path / "eu" / "new.jsonl", "new")
    assert (do_night(file).steps, count_calls(tmp_path)) == ({}, 12)
    assert (do_night(file, again=True).exit_code, count_calls(tmp_path)) == (NightExit.DONE, 15)
    assert list_outcomes(tmp_path / "store")["load"] == ("done", 2)


def test_what_nobody_foresaw_leaves_no_log_text_in_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def quote_a_log(_: object) -> None:
        raise KeyError("the secret of a user")

    monkeypatch.setattr(nightly_run, "NIGHT_STEPS", {"load": quote_a_log})
    result = do_night(write_team(tmp_path))
    problem = result.steps["load"].figures["problem"]
    assert (result.exit_code, problem.split(";")[0]) == (NightExit.FAILED, "KeyError")
    assert b"secret of a user" not in (tmp_path / "store" / FILE).read_bytes()
    assert "the secret of a user" in capsys.readouterr().err


def test_a_source_that_fails_stops_no_other_and_is_tried_again(tmp_path: Path) -> None:
    file = write_team(tmp_path)
    (tmp_path / "eu").rename(tmp_path / "elsewhere")
    result = do_night(file)
    assert (result.exit_code, count_calls(tmp_path)) == (NightExit.FAILED, 6)
    assert f"eu: {tmp_path}/eu does not exist" in result.steps["load"].figures["problem"]
    eu, us = SourceStates(tmp_path / "store").read()
    assert ("does not exist" in eu.problem, us.problem) == (True, "")
    (tmp_path / "elsewhere").rename(tmp_path / "eu")
    assert (do_night(file).exit_code, count_calls(tmp_path)) == (NightExit.DONE, 12)
    assert list_outcomes(tmp_path / "store")["load"] == ("done", 2)


def test_a_night_without_any_source_that_can_be_read_ends_with_the_load(tmp_path: Path) -> None:
    file = write_team(tmp_path, 'store = "store"\n[sources.eu]\npaths = "nowhere"\n')
    result = do_night(file)
    assert (list(result.steps), result.exit_code) == (["load"], NightExit.NOTHING_DONE)


def test_a_folder_without_logs_is_no_failure(tmp_path: Path) -> None:
    file = write_team(tmp_path)
    (tmp_path / "eu" / "a.jsonl").unlink()
    (tmp_path / "eu" / "b.jsonl").unlink()
    assert do_night(file).exit_code == NightExit.DONE
    assert [source.newest is None for source in SourceStates(tmp_path / "store").read()] == [True, False]


def test_rejected_lines_are_told_by_the_exit_code_once(tmp_path: Path) -> None:
    file = write_team(tmp_path)
    with (tmp_path / "eu" / "a.jsonl").open("a") as log:
        log.write("{ no JSON\n")
    assert do_night(file).exit_code == NightExit.REJECTED
    assert do_night(file, again=True).exit_code == NightExit.DONE


@pytest.mark.thorough
def test_new_unreadable_files_are_named_with_their_reason_once(tmp_path: Path) -> None:
    file = write_team(tmp_path)
    (tmp_path / "eu" / "notes.jsonl").write_text("meeting at ten\n")
    with (tmp_path / "us" / "a.jsonl").open("a") as log:
        log.write("{ no JSON\n")
    load = do_night(file).steps["load"]
    notes, damaged = load.figures["unreadable"]
    assert (notes["source"], notes["path"], notes["lines"]) == ("eu", f"{tmp_path}/eu/notes.jsonl", None)
    assert "has no JSON object" in notes["reason"]
    assert (damaged["source"], damaged["path"], damaged["lines"]) == ("us", f"{tmp_path}/us/a.jsonl", 1)
    printed = [*_step_lines("load", load.outcome, load.figures)]
    assert printed[-2].startswith(f"  unreadable: {tmp_path}/eu/notes.jsonl has no JSON object")
    assert printed[-1].startswith(f"  unreadable: {tmp_path}/us/a.jsonl: 1 unreadable line, the first: ")
    (recorded,) = NightRecords(tmp_path / "store").list_steps(1)
    assert "unreadable" not in recorded.figures
    assert do_night(file, again=True).steps["load"].figures["unreadable"] == []


def test_nothing_is_done_where_no_source_is_named(tmp_path: Path) -> None:
    file = write_team(tmp_path, 'store = "store"')
    result = do_night(file)
    assert (result.exit_code, result.steps["load"].figures) == (
        NightExit.DONE,
        {"reason": "the file names no [sources]"},
    )


def test_two_nights_at_once_are_one(tmp_path: Path) -> None:
    file = write_team(tmp_path)
    prepare_store(tmp_path / "store")
    with hold_night(tmp_path / "store"):
        assert is_night_running(tmp_path / "store")
        with pytest.raises(
            NightBusyError, match=r"process \d+ on .* since .* is already running the nightly job of "
        ):
            do_night(file)
    assert not is_night_running(tmp_path / "store")
    assert do_night(file).exit_code == NightExit.DONE


@pytest.mark.thorough
def test_a_stop_ends_it_after_the_source_and_the_next_run_goes_on(tmp_path: Path) -> None:
    file = write_team(tmp_path)
    asked: list[str] = []
    stopped = do_night(
        file,
        stop=lambda: bool(asked),
        on_write=lambda step: asked.append(step) if step == "switched" else None,
    )
    assert (stopped.exit_code, stopped.steps["load"].outcome) == (NightExit.STOPPED, "stopped")
    assert count_calls(tmp_path) == 6
    assert (do_night(file).exit_code, count_calls(tmp_path)) == (NightExit.DONE, 12)


def test_a_memory_that_cannot_be_written_is_told_before_anything_is_done(tmp_path: Path) -> None:
    file = write_team(tmp_path)
    prepare_store(tmp_path / "store")
    (tmp_path / "store" / FILE).mkdir()
    with pytest.raises(MemoryProblemError, match="check its permissions and the free space"):
        do_night(file)
    assert not (tmp_path / "store" / "CURRENT").exists()


def test_a_disk_that_is_full_when_the_load_ends_loses_nothing(tmp_path: Path) -> None:
    file = write_team(tmp_path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill_disk(step: str) -> None:
        if step == "load ends":
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))

    try:
        result = do_night(file, on_write=fill_disk)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (result.exit_code, "the free space" in result.problem) == (NightExit.FAILED, True)
    assert list_outcomes(tmp_path / "store") == {"load": (None, 1)}
    assert (do_night(file).exit_code, count_calls(tmp_path)) == (NightExit.DONE, 12)
    assert list_outcomes(tmp_path / "store")["load"] == ("done", 2)


def test_a_step_that_was_killed_is_shown_as_broken_off_the_next_night(tmp_path: Path) -> None:
    records = NightRecords(tmp_path)
    records.begin_step(date(2020, 1, 1), "load", 1)
    records.close_broken_steps()
    (step,) = records.list_steps(5)
    assert (step.outcome, step.ended, step.is_over) == ("broken off", None, False)


NOW = datetime(2026, 11, 27, 0, 30).astimezone()


@pytest.mark.parametrize(
    ("began", "outcome", "same"),
    [
        (timedelta(hours=1), "failed", True),  # the time is before midnight
        (timedelta(hours=1), None, True),
        (timedelta(hours=1), "done", False),
        (timedelta(hours=13), "failed", False),
        (timedelta(minutes=20), "done", True),  # the time is after midnight
    ],
)
def test_a_night_that_is_not_over_is_gone_on_with(began: timedelta, outcome: str | None, same: bool) -> None:
    then = NOW - began
    past = [
        NightStep(then.date(), step, then.astimezone(UTC), None, outcome, {})  # type: ignore[arg-type]
        for step in ("load", "retention", "backup", "report")
    ]
    named, steps = choose_night(NOW.astimezone(UTC), past)
    assert (named, bool(steps)) == ((then.date(), True) if same else (NOW.date(), False))


@pytest.mark.thorough
def test_a_night_of_the_future_holds_nothing_back(tmp_path: Path) -> None:
    file = write_team(tmp_path)
    prepare_store(tmp_path / "store")
    records = NightRecords(tmp_path / "store")
    records.begin_step(date(2199, 1, 1), "load", 1)
    records.end_step(date(2199, 1, 1), "load", "done", {"tries": 1})
    assert do_night(file).steps.keys() >= {"load"}


@pytest.mark.thorough
def test_the_sources_remember_how_new_their_data_is(tmp_path: Path) -> None:
    file = write_team(tmp_path)
    do_night(file)
    eu, us = SourceStates(tmp_path / "store").read()
    newest = datetime.fromisoformat(NEWEST)
    assert (eu.newest, us.name) == (newest, "us")
    assert not eu.is_silent(newest + timedelta(days=2))
    assert eu.is_silent(newest + timedelta(days=2, hours=1))
    (tmp_path / "eu" / "a.jsonl").unlink()  # if a log is missing, its data stays in the store
    file.write_text(TOML.partition("[sources.us]")[0] + "silent_after = 0\n")
    do_night(file, again=True)
    (eu,) = SourceStates(tmp_path / "store").read()
    assert (eu.newest, eu.is_silent(datetime.now(UTC))) == (newest, False)


def test_a_source_that_never_gave_data_falls_silent_too(tmp_path: Path) -> None:
    do_night(write_team(tmp_path, 'store = "store"\nsources.eu.paths = "nowhere"'))
    (eu,) = SourceStates(tmp_path / "store").read()
    assert not eu.is_silent(eu.first_seen + timedelta(days=2))
    assert eu.is_silent(eu.first_seen + timedelta(days=3))


@pytest.mark.thorough
def test_aliases_of_the_file_count_whoever_works_on_the_store(tmp_path: Path) -> None:
    from ingest.maintenance.model_names import count_models_anew

    text = (
        TOML.replace('paths = "eu"', 'paths = "eu"\nmodel = "proxy/a"') + '[aliases]\n"proxy/a" = "aurora"\n'
    )
    file = write_team(tmp_path, text)
    do_night(file)
    names = count_models_anew(tmp_path / "store").names
    assert ("aurora", "proxy/a", "callgauge.toml") in [
        (name.model, name.model_name, name.rule) for name in names
    ]
    (tmp_path / "store" / "naming.toml").write_text('[aliases.names]\n"proxy/a" = "other"\n')
    result = do_night(file, again=True)
    assert "both name models; keep all names in one" in result.steps["load"].figures["problem"]
    file.write_text(text.partition("[aliases]")[0])
    assert do_night(file).exit_code == NightExit.DONE
    names = count_models_anew(tmp_path / "store").names
    assert ("other", "proxy/a", "naming.toml") in [(name.model, name.model_name, name.rule) for name in names]

"""Tests loads with redaction."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from callgauge.cli import main as cli
from ingest.errors import OptionError
from ingest.pipeline.dry_run import forecast_load
from ingest.pipeline.load import load
from ingest.privacy.configuration import KEY, PrivacyOptions
from ingest.privacy.rules import RedactionRules, read_rules
from ingest.store.generations import published_generation
from tests.store.night import ask, session

MAIL = "alice.smith@example.com"
SECRETS = (MAIL, "alice", "hunter2x", "ghp_abcdefghijklmnopqrstuvwxyz0123456789")
REDACTED = PrivacyOptions(RedactionRules())
RAW = f'{{"to": "{MAIL}", "password": "hunter2x", "path": "/home/alice/x" "token": "{SECRETS[3]}"}}'
TOOL = {
    "name": "read",
    "description": f"Ask {MAIL}.",
    "input_schema": {"properties": {"to": {"enum": [MAIL]}}},
}


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Return a folder of logs whose path contains a person's name. One session has secrets in every field."""
    folder = tmp_path / "home" / "alice"
    folder.mkdir(parents=True)
    log = session("s1", raw=RAW).replace("You write code.", f"You are the assistant of {MAIL}.")
    log = log.replace("question 1", "my password: 'hunter2x'").replace("Done.", f"Sent to {MAIL}.")
    log = log.replace("text of the file", "in /home/alice/x").replace('"s1"', f'"s1 of {MAIL}"')
    (folder / "a.jsonl").write_text(log + f'{{"broken": "{MAIL}\n' + '{"type": "turn_start", "x": }\n')
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def bytes_of(store: Path) -> bytes:
    generation = published_generation(store)
    assert generation is not None
    return generation.read_bytes()


def everything(store: Path) -> str:
    """Return the content of the published store file, uncompressed."""
    tables = [name for (name,) in ask(store, "SELECT table_name FROM duckdb_tables()")]
    return repr([ask(store, f"SELECT * FROM {table}") for table in tables])  # noqa: S608 - our own tables


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("already", [False, True], ids=["from the start", "after a load without"])
def test_no_secret_is_in_the_store_in_any_form(
    logs: Path, store: Path, tmp_path: Path, already: bool
) -> None:
    tools = tmp_path / "read.json"
    tools.write_text(json.dumps(TOOL))
    if already:
        load([logs], store, tools=[tools])
        assert MAIL in everything(store)
    report = load([logs], store, tools=[tools], private=REDACTED)
    assert (report.loaded, report.unchanged) == (1, 0)
    text, stored = everything(store), bytes_of(store)
    for secret in SECRETS:
        assert secret not in text
        assert secret.encode() not in stored, "deleted rows are gone from the file, too"
    assert ask(store, "SELECT count(*) FROM files") == [(1,)]


@pytest.mark.thorough
def test_codes_and_places_are_those_of_a_load_that_keeps_everything(logs: Path, store: Path) -> None:
    query = """
        SELECT line, tool, outcome, code, span_start, span_end
        FROM tool_calls JOIN diagnostics USING (call_id) ORDER BY ALL"""
    load([logs], store)
    load([logs], store.with_name("redacted"), private=REDACTED)
    assert ask(store.with_name("redacted"), query) == ask(store, query)
    assert ask(store, "SELECT DISTINCT outcome FROM tool_calls") == [("repaired",)]


@pytest.mark.thorough
def test_a_redacted_file_is_in_whatever_its_name_and_a_grown_one_is_read_again(
    logs: Path, store: Path
) -> None:
    load([logs], store, private=REDACTED)
    assert load([logs], store, private=REDACTED).generation is None
    moved = logs.with_name("carol")
    logs.rename(moved)
    assert load([moved], store, private=REDACTED).unchanged == 1
    moved.rename(logs)
    with (logs / "a.jsonl").open("a") as file:
        file.write(session("s2"))
    assert load([logs], store, private=REDACTED).loaded == 1
    assert ask(store, "SELECT count(*) FROM files") == [(1,)]


@pytest.mark.thorough
def test_two_files_in_two_homes_of_short_names_are_two_files(tmp_path: Path, store: Path) -> None:
    for name in ("al", "bo", "cy"):
        folder = tmp_path / "home" / name
        folder.mkdir(parents=True)
        (folder / "a.jsonl").write_text(session(name))
    assert load([tmp_path / "home"], store, private=REDACTED).loaded == 3
    paths = [path for (path,) in ask(store, "SELECT path FROM files")]
    assert len(set(paths)) == 3
    assert all("/home/user-" in path for path in paths)


@pytest.mark.thorough
def test_other_rules_and_another_key_read_the_files_again(logs: Path, store: Path, tmp_path: Path) -> None:
    load([logs], store, private=REDACTED)
    config = tmp_path / "redact.toml"
    config.write_text("[patterns]\nasked = 'question 2'\n")
    assert load([logs], store, private=PrivacyOptions(read_rules(config))).loaded == 1
    assert "question 2" not in everything(store)
    (store / KEY).unlink()
    assert load([logs], store, private=PrivacyOptions(read_rules(config))).loaded == 1
    assert ask(store, "SELECT count(*) FROM files") == [(1,)]
    assert (store / KEY).stat().st_mode & 0o077 == 0, "the key is nobody else's"


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    "private", [REDACTED, PrivacyOptions(results=False)], ids=["redacted", "without results"]
)
def test_what_was_left_out_is_not_let_in_by_a_forgotten_option(
    private: PrivacyOptions, logs: Path, store: Path
) -> None:
    load([logs], store, private=private)
    with pytest.raises(OptionError, match=r"was loaded with --(redact|no-results); repeat these options"):
        load([logs], store)


@pytest.mark.thorough
def test_files_that_stay_in_unredacted_are_told(logs: Path, store: Path, tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").write_text(session("b"))
    load([logs, tmp_path / "b.jsonl"], store)
    report = load([logs], store, private=REDACTED)
    assert report.notes == ("1 files in the store were read without these rules; load them again, too",)
    assert load([logs, tmp_path / "b.jsonl"], store, private=REDACTED).notes == ()


@pytest.mark.thorough
def test_a_copy_loaded_with_redaction_takes_the_place_of_the_one_without(logs: Path, store: Path) -> None:
    load([logs], store)
    copy = logs.with_name("copy.jsonl")
    copy.write_text((logs / "a.jsonl").read_text())
    assert load([copy], store, private=REDACTED).loaded == 1
    assert MAIL not in everything(store)
    assert load([logs], store, private=REDACTED).unchanged == 1


@pytest.mark.thorough
def test_without_results_nothing_that_a_tool_said_is_kept(logs: Path, store: Path) -> None:
    (logs / "a.jsonl").write_text(session("s1", raw=f'{{"to": "{MAIL}"}}'))
    report = load([logs], store, private=PrivacyOptions(results=False))
    assert report.calls == 3
    assert "text of the file" not in everything(store)
    assert ask(store, "SELECT DISTINCT result_text, result_status FROM tool_calls") == [(None, "ok")]
    assert MAIL in everything(store)


def test_refused_files_are_named_without_their_home(logs: Path, store: Path) -> None:
    (logs / "b.jsonl").write_text(f'{{"{MAIL}": 1}}\n')
    load([logs], store, private=REDACTED)
    (path, reason), *_ = ask(store, "SELECT path, reason FROM files WHERE status = 'rejected'")
    assert "alice" not in path + reason
    assert path.endswith("/b.jsonl")


@pytest.mark.thorough
def test_the_members_of_an_archive_are_named_without_their_homes(logs: Path, store: Path) -> None:
    archive = logs / "night.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(logs / "a.jsonl", "home/alice/b.jsonl")
    (logs / "a.jsonl").unlink()
    assert load([logs], store, private=REDACTED).loaded == 1
    assert load([logs], store, private=REDACTED).generation is None
    ((path, archive_name),) = ask(store, "SELECT path, archive FROM files")
    assert "alice" not in path + archive_name
    assert path.startswith(f"{archive_name}!home/user-")


@pytest.mark.thorough
def test_no_state_of_a_large_log_is_kept_as_it_holds_the_logs_own_text(
    logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.pipeline.reading.checkpoint.WORTH", 1)
    load([logs], store)
    assert ask(store, "SELECT count(*) FROM unfinished") == [(1,)]
    load([logs], store, private=REDACTED)
    assert ask(store, "SELECT count(*) FROM unfinished") == [(0,)]
    with (logs / "a.jsonl").open("a") as file:
        file.write(session("s2"))
    assert load([logs], store, private=REDACTED).sessions == 2
    assert ask(store, "SELECT count(*) FROM unfinished") == [(0,)]


@pytest.mark.thorough
def test_a_dry_run_makes_no_key_and_knows_what_would_be_read_again(logs: Path, store: Path) -> None:
    load([logs], store)
    outlook = forecast_load([logs], store, private=REDACTED)
    assert [(share.would, share.files) for share in outlook.shares] == [("again", 1)]
    assert not (store / KEY).exists()
    load([logs], store, private=REDACTED)
    assert [share.would for share in forecast_load([logs], store, private=REDACTED).shares] == ["unchanged"]


def run(*words: Any) -> Any:
    return CliRunner().invoke(cli.app, [str(word) for word in words])


@pytest.mark.thorough
def test_the_command_takes_rules_from_a_file_and_says_what_is_wrong_with_them(
    logs: Path, store: Path, tmp_path: Path
) -> None:
    config = tmp_path / "redact.toml"
    config.write_text("[detectors]\nemail = false\n")
    done = run("ingest", logs, "--store", store, "--redact-config", config)
    assert done.exit_code == 3, done.output
    assert MAIL in everything(store)
    assert "hunter2x" not in everything(store)
    config.write_text("[detectors]\nmails = false\n")
    done = run("ingest", logs, "--store", store, "--redact-config", config)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "unknown detector 'mails'; use one of age, " in done.stderr


LOGIN = "mongodb+srv://svc:hunterCUT77x@cluster0.example/?w=1"


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("place", [8, 12, 40, 450, 470])
def test_a_reason_is_redacted_before_it_is_cut(tmp_path: Path, store: Path, place: int) -> None:
    ts = f"{'y' * place} {LOGIN}"
    logs = tmp_path / "a.jsonl"
    logs.write_text(session("s1") + json.dumps({"ts": ts, "sessionId": "q", "type": "turn_start"}) + "\n")
    load([logs], store, private=REDACTED)
    assert ask(store, "SELECT reason LIKE 'ts is not a time%' FROM rejects") == [(True,)]
    assert "hunter" not in everything(store)


@pytest.mark.thorough
@pytest.mark.parametrize("place", [440, 460, 480, 500, 2_000])
def test_a_message_is_redacted_before_it_is_cut(tmp_path: Path, store: Path, place: int) -> None:
    refusal = f"Tool call error: No tool calls found {'y' * (place - 64)} {LOGIN} {'y' * 3_000}"
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": "Please solve this."},
        {"role": "user", "content": refusal, "extra": {"interrupt_type": "FormatError"}},
    ]
    trajectory = json.loads(Path("tests/cases/formats/mini_swe/native_calls_of_2x.json").read_text())
    trajectory["messages"] = messages
    logs = tmp_path / "a.traj.json"
    logs.write_text(json.dumps(trajectory))
    load([logs], store, private=REDACTED)
    assert ask(store, "SELECT length(harness_message) FROM tool_calls") == [(500,)]
    assert "hunter" not in everything(store)


@pytest.mark.thorough
def test_a_long_reason_is_cut(tmp_path: Path, store: Path) -> None:
    logs = tmp_path / "a.jsonl"
    logs.write_text(
        json.dumps({"ts": "y" * 5_000, "sessionId": "q", "type": "turn_start"}) + "\n" + session("s1")
    )
    load([logs], store)
    assert ask(store, "SELECT length(reason) FROM rejects") == [(500,)]


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    "name",
    [
        "password=hunterPATH7x.jsonl",
        "password=hunterPATH.jsonl",
        "run api_key=hunterPATH7x.jsonl",
        "password=hunterPATH7x/a.jsonl",
        "token=hunterPATH7x/deep/a.jsonl",
        "password=hunterPATH7x.old/a.jsonl",
        "db password: hunterPATH7x.jsonl",
    ],
)
def test_the_name_of_a_file_or_a_folder_keeps_no_named_secret(tmp_path: Path, store: Path, name: str) -> None:
    logs = tmp_path / "logs"
    (logs / name).parent.mkdir(parents=True)
    (logs / name).write_text(session("s1"))
    report = load([logs], store, private=REDACTED)
    assert report.loaded == 1
    text = everything(store)
    assert "hunter" not in text
    assert "password-" in text
    assert b"hunter" not in bytes_of(store)
    ((path,),) = ask(store, "SELECT path FROM files")
    assert path.startswith(str(logs))
    assert path.endswith(".jsonl")
    assert load([logs], store, private=REDACTED).unchanged == 1


def test_two_files_beside_each_other_in_a_folder_named_by_a_secret_stay_beside_each_other() -> None:
    privacy, _ = REDACTED.for_store(Path(), keep=False)
    first, second = (privacy.redact_path(f"/x/password=hunter77/{name}.jsonl") for name in "ab")
    assert first.removesuffix("a.jsonl") == second.removesuffix("b.jsonl")
    assert privacy.redact_path(first) == first
    member = privacy.redact_path("/x/a.zip!token=hunterPATH7x/b.jsonl")
    assert member.startswith("/x/a.zip!token=password-")
    assert member.endswith("/b.jsonl")


@pytest.mark.thorough
def test_an_archive_member_keeps_no_named_secret(tmp_path: Path, store: Path) -> None:
    log = tmp_path / "a.jsonl"
    log.write_text(session("s1"))
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        archive.add(log, "password=hunterPATH7x.jsonl")
    log.unlink()
    load([tmp_path / "a.tar"], store, private=REDACTED)
    assert ask(store, "SELECT count(*) FROM files WHERE path LIKE '%password=password-%'") == [(1,)]
    assert "hunter" not in everything(store)

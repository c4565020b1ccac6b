"""Tests that no API key is in the folder of a trial run, even if a server, tool or model repeats the key."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from callgauge.cli.trials.run import RunPrivacy
from callgauge.gateway import ChatMessage, RecordedAnswer
from callgauge.trials.planning.task import Task
from callgauge.trials.running.run_files import KnownSecrets, secrets_of
from ingest.pipeline.load import load
from tests.gateway.served.brain import Asked, Emitted
from tests.store.night import ask
from tests.trials.made_plan import UNKNOWN, city_of, go, make_plan, make_tasks, opened_by

CANARY = 'sk-canary-"7f3a"/0123456789+abc'
PASSWORD = "canary-password-9876"  # noqa: S105 of nobody


def leaking_brain(request: Asked) -> Emitted:
    """Answer as a server or a model that repeats the API key in every possible field."""
    city, step = city_of(request), sum(message.role == "assistant" for message in request.messages)
    if "number" in request.user:
        return Emitted(status=500, body={"error": f"no capacity for {CANARY}"})
    if city == "City0":
        return Emitted(status=401, body={"error": {"message": f"wrong key {CANARY} at {PASSWORD}"}})
    if city == "City1":
        return Emitted(status=503, body=f"key {CANARY}, {quote(CANARY, safe='')}".encode())
    if city == "City2":
        body = {"error": {"code": "tool_use_failed", "failed_generation": json.dumps({"city": CANARY})}}
        return Emitted(status=400, body=body)
    if step:
        return Emitted(f"It was {CANARY} and {PASSWORD}.")
    arguments = json.dumps({"city": CANARY, "days": PASSWORD})
    return Emitted(
        f"I call with {CANARY}", calls=[("get_weather", arguments), (CANARY, json.dumps(arguments))]
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CALLGAUGE_TEST_CANARY", CANARY)
    plan = make_plan(tmp_path, arms=("one", "two"))
    url = f"http://somebody:{PASSWORD}@models.test/v1?key={PASSWORD}"
    local = replace(plan.endpoints["local"], key_variable="CALLGAUGE_TEST_CANARY", url=url)
    models = {name: replace(model, body={"user": CANARY}) for name, model in plan.models.items()}
    models["two"] = replace(models["two"], capabilities=UNKNOWN)
    tasks = [
        replace(task, answers=(RecordedAnswer("get_weather", f"rain and {CANARY} for {PASSWORD}"),))
        for task in make_tasks(5)
    ]
    tasks.append(Task("said", (ChatMessage("user", f"My key is {CANARY}. Weather in City9?"),)))
    arms = (*plan.arms, replace(plan.arms[0], name="first"))
    plan = replace(
        plan, endpoints={"local": local}, models=models, arms=arms, text=f'url = "{url}"\nkey = "{CANARY}"\n'
    )
    opened = opened_by(leaking_brain, key=CANARY)
    reports: list[Any] = []
    end = go(plan, tuple(tasks), tmp_path / "r.1", opened=opened, on_progress=reports.append)
    assert end.outcomes
    assert end.stopped_arms
    shown = repr((end.sentence, end.stopped_arms, reports))
    assert "canary-" not in shown
    return tmp_path / "r.1"


def test_the_key_is_nowhere_in_the_folder(folder: Path) -> None:
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert len(files) >= 8
    encoded = base64.b64encode(f"somebody:{PASSWORD}".encode()).decode()
    for file in files:
        text = file.read_text()
        for secret in ("canary-", "7f3a", "0123456789", PASSWORD, encoded):
            assert secret not in text, f"{secret} in {file.relative_to(folder)}"
    assert sum(file.read_text().count("[key]") for file in files) > 10, "it was there, and was taken out"


def test_lines_without_the_key_are_still_json(folder: Path) -> None:
    for file in folder.rglob("*.json*"):
        text = file.read_text()
        for line in [text] if file.suffix == ".json" else text.splitlines():
            json.loads(line)


@pytest.mark.parametrize("value", [CANARY, "plain-key-123456", "schlüssel-mit-ümlaut", 'a"b\\c/d\u2028efgh'])
def test_a_secret_is_found_however_json_or_a_url_spells_it(value: str) -> None:
    secrets = KnownSecrets([value])
    once = json.dumps({"a": value})
    spellings = [
        *(value, quote(value, safe=""), once, json.dumps({"a": value}, ensure_ascii=False)),
        *(json.dumps({"raw": once}), json.dumps([json.dumps({"raw": once})])),
    ]
    for spelled in spellings:
        hidden = secrets.hide(f"before {spelled} after")
        assert "[key]" in hidden
        assert value[2:9] not in hidden
        assert secrets.hide_bytes(spelled.encode()).count(b"[key]") == 1


@pytest.mark.parametrize("value", ["", "none", "EMPTY", "ollama"])
def test_words_that_stand_for_no_key_stay_in_texts(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLGAUGE_TEST_CANARY", value)
    local = make_plan(Path()).endpoints["local"]
    secrets = secrets_of([replace(local, key_variable="CALLGAUGE_TEST_CANARY")])
    assert secrets.hide(f"say {value} to ollama, none EMPTY") == f"say {value} to ollama, none EMPTY"


def test_what_servers_say_goes_through_the_patterns_of_ingest(tmp_path: Path) -> None:
    other = "AKIA" + "ABCDEFGHIJ234567"

    def brain(request: Asked) -> Emitted:
        if city_of(request) == "City0":
            return Emitted(status=400, body={"error": f"account {other} is closed"})
        return Emitted(f"I know {other}.")

    plan = make_plan(tmp_path, arms=("one",))
    end = go(plan, make_tasks(2), tmp_path / "r.1", brain, privacy=RunPrivacy(b"k" * 32, redacts=False))
    silent = next(outcome for outcome in end.outcomes if outcome.status == "no_reply")
    assert "account" in str(silent.why)
    assert other not in str(silent.why)
    logs = {file.stem: file.read_text() for file in end.folder.sessions.rglob("*.jsonl")}
    assert other not in logs["task-0.0"]
    assert other in logs["task-1.0"], "a model's text stays without --redact"
    whole = go(plan, make_tasks(2), tmp_path / "r.2", brain, privacy=RunPrivacy(b"k" * 32, redacts=True))
    assert not [file for file in whole.folder.root.rglob("*.jsonl") if other in file.read_text()]


def test_redacted_logs_keep_what_a_load_counts(tmp_path: Path) -> None:
    def brain(request: Asked) -> Emitted:
        if request.last.role == "tool":
            return Emitted("Written to ada@example.org.")
        return Emitted(calls=[("get_weather", '{"city": "ada@example.org", "days": "3",}')])

    plan = make_plan(tmp_path, arms=("one",))
    end = go(plan, make_tasks(3), tmp_path / "r.1", brain, privacy=RunPrivacy(b"k" * 32, redacts=True))
    assert not [file for file in end.folder.root.rglob("*.jsonl") if "ada@" in file.read_text()]
    load([end.folder.root], tmp_path / "store")
    assert ask(tmp_path / "store", "SELECT outcome, arm, count(*)::INT FROM tool_calls GROUP BY ALL") == [
        ("repaired", "one", 3)
    ]

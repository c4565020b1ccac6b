"""Tests field maps of chat transcripts."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from callgauge.configuration.configuration_file import read_configuration
from callgauge.nightly.source_loads import load_sources
from ingest.errors import OptionError
from ingest.formats import chat_jsonl
from ingest.maintenance.rejects import retry_rejected
from ingest.pipeline.dry_run import forecast_load
from ingest.pipeline.load import load
from ingest.pipeline.planning.naming import MAP_UNUSED
from ingest.pipeline.reading import checkpoint
from ingest.record_mapping import (
    FIELDS,
    BadMappingError,
    FieldPath,
    RecordMapping,
    find_message_lists,
)
from tests.sources.archives import zipped
from tests.store.night import ask, session

MESSAGES = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi!"}]
MAP = {"messages": ".request.messages", "model": ".meta.llm"}
MODELS = "SELECT DISTINCT model FROM turns ORDER BY ALL"
FILES = "SELECT parse_filename(path), status, source FROM files ORDER BY ALL"


def line(number: int = 0, model: str = "m", **fields: Any) -> str:
    messages = [{**MESSAGES[0], "content": f"Hello {number}"}, MESSAGES[1]]
    return json.dumps({"request": {"messages": messages}, "meta": {"llm": model}, **fields}) + "\n"


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        (".request.messages", ("request", "messages")),
        (".choices[0].message", ("choices", 0, "message")),
        (".a[-1][2]", ("a", -1, 2)),
        ('["odd key"].b', ("odd key", "b")),
        ('.a["x.y"]', ("a", "x.y")),
        ('.["x\\"y"]', ('x"y',)),
        (".@timestamp", ("@timestamp",)),
    ],
)
def test_a_path_has_keys_and_indexes(path: str, steps: tuple[str | int, ...]) -> None:
    assert FieldPath.parse(path).steps == steps


@pytest.mark.parametrize("path", ["", ".", "..a", ".a.", ".a[", ".a[x]", ".a b", "$", '["a]', ".a[]"])
def test_another_text_is_no_path_and_an_example_is_given(path: str) -> None:
    with pytest.raises(BadMappingError, match=r"is not a path; write one such as \.request\.messages"):
        FieldPath.parse(path)


@pytest.mark.parametrize("path", ["request[0].x", "$.request[0].x"])
def test_a_path_without_its_dot_is_shown_with_it(path: str) -> None:
    with pytest.raises(BadMappingError, match=r"a path begins with a dot; write \.request\[0\]\.x"):
        FieldPath.parse(path)


@pytest.mark.parametrize(
    ("field", "hint"),
    [
        ("mesages", "did you mean messages?"),
        ("created_at", "did you mean timestamp?"),
        ("foo", "the fields are"),
    ],
)
def test_an_unknown_field_is_refused_with_the_known_ones(field: str, hint: str) -> None:
    with pytest.raises(BadMappingError) as refused:
        RecordMapping.parse({field: ".a"})
    assert hint in str(refused.value)
    assert ", ".join(FIELDS) in str(refused.value)


def test_what_a_path_finds_counts_before_the_usual_field() -> None:
    mapping = RecordMapping.parse({"model": ".llm", "input_tokens": ".in", "output_tokens": ".nowhere"})
    record = {"model": "old", "llm": "new", "in": 7, "usage": {"completion_tokens": 2, "prompt_tokens": 1}}
    assert mapping.apply(record) == {
        **record, "model": "new", "usage": {"completion_tokens": 2, "prompt_tokens": 7},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("path", "why"),
    [
        (".meta.model", ".meta has the keys llm, none, text"),
        (".meta.none.x", ".meta has none = null"),
        (".list.x", ".list is an array of 1; write .list[0] for its first item"),
        (".list[3]", ".list has 1 items"),
        (".meta.llm.x", ".meta.llm is a text"),
        (".meta[0]", ".meta is an object"),
        (".meta.text.b", ".meta.text has the keys a"),
    ],
)
def test_a_path_that_finds_nothing_is_explained(path: str, why: str) -> None:
    record = {"meta": {"llm": "m", "none": None, "text": '{"a": 1}'}, "list": [{"x": 1}]}
    assert FieldPath.parse(path).find(record) is None
    assert FieldPath.parse(path).explain_gap(record) == why


def test_every_field_is_where_the_chat_format_looks_first() -> None:
    usual = {
        "messages": MESSAGES[:1], "response": "Hi!", "system": "Be kind.", "tools": [{"name": "t"}],
        "model": "m", "provider": "p", "session_id": "s", "id": "i", "timestamp": "2026-11-20T10:00:00Z",
        "user": "u", "usage": {"prompt_tokens": 5, "completion_tokens": 6}, "latency_ms": 9,
        "stop_reason": "stop", "task": "k",
    }  # fmt: skip
    mapping = RecordMapping.parse({field: f".x.{field}" for field in usual})
    assert FIELDS.keys() - usual.keys() == {"input_tokens", "output_tokens"}
    others = {
        "model_name": "no",
        "conversation_id": "no",
        "created": 1,
        "finish_reason": "no",
        "user_id": "no",
    }
    fields = chat_jsonl.describe_record(mapping.apply({"x": usual, **others}))
    assert fields == {
        "messages": "1 user, 1 assistant", "tools": "1 definition", "model": "m", "provider": "p",
        "session_id": "s", "id": "i", "timestamp": "2026-11-20T10:00:00+00:00", "usage": "5 in, 6 out",
        "latency_ms": "9.0", "stop_reason": "stop", "user": "u", "task": "k",
    }  # fmt: skip


def test_a_map_reads_what_was_in_no_known_format(logs: Path, store: Path) -> None:
    put(logs / "a.jsonl", line())
    (refused,) = load([logs], store).rejected
    assert (
        "its messages are at .request.messages: --map 'messages=.request.messages' reads them; "
        "its model may be at .meta.llm: --map 'model=.meta.llm'" in refused.reason
    )
    report = load([logs], store, mapping=MAP)
    assert (report.loaded, report.sessions, report.turns) == (1, 1, 1)
    assert ask(store, MODELS) == [("m",)]


def test_an_unchanged_file_is_read_again_when_its_map_changes_only(logs: Path, store: Path) -> None:
    put(logs / "a.jsonl", line(name="given"))
    put(logs / "b.jsonl", session("other"))
    put(logs / "c.jsonl", json.dumps({"events": [1]}) + "\n")
    assert load([logs], store, mapping=MAP).loaded == 2
    assert load([logs], store, mapping=dict(reversed(MAP.items()))).generation is None
    assert load([logs], store).generation is None, "the store remembers the map"
    report = load([logs], store, mapping={**MAP, "model": ".name"})
    assert (report.loaded, report.unchanged) == (1, 1), "files of other formats stay as they are"
    assert ask(store, MODELS) == [("given",), (None,)]
    rows = ask(store, "SELECT path_facts FROM files ORDER BY path")
    assert [json.loads(facts)["mapping"][0] if facts else None for (facts,) in rows] == [
        json.dumps({**MAP, "model": ".name"}), None, json.dumps({**MAP, "model": ".name"}),
    ]  # fmt: skip


def test_a_map_of_other_messages_reads_a_refused_file_that_did_not_change(logs: Path, store: Path) -> None:
    put(logs / "a.jsonl", json.dumps({"turns": {"all": [["user", "Hello"]]}}) + "\n")
    zipped(logs / "b.zip", {"x.jsonl": json.dumps({"body": {"turns": MESSAGES}}).encode()})
    file = put(logs / "c.jsonl", json.dumps({"event": "start"}) + "\n" + json.dumps({"body": 1}) + "\n")
    assert load([logs], store).loaded == 0
    assert load([logs], store, mapping={"messages": ".nowhere"}).loaded == 0
    assert load([logs], store, mapping={"messages": ".nowhere"}).generation is None
    assert load([logs], store).generation is None
    assert load([logs], store, mapping={"messages": ".body.turns"}).loaded == 1
    file.write_text(json.dumps({"event": "start"}))
    assert load([logs], store).loaded == 0


def test_a_known_format_is_read_as_before(logs: Path, store: Path) -> None:
    path = put(logs / "a.jsonl", session("s"))
    report = load([path], store, mapping={"messages": ".content", "model": ".sessionId"})
    assert report.notes == (MAP_UNUSED,)
    assert ask(store, FILES) == [("a.jsonl", "loaded", "session_history")]
    assert ask(store, MODELS) == [(None,)]
    assert forecast_load([path], store.parent / "other", mapping=MAP).notes == (MAP_UNUSED,)


def test_a_known_format_is_mapped_where_the_format_is_named(logs: Path, store: Path) -> None:
    reply = {"object": "chat.completion", "choices": [{"message": MESSAGES[1], "finish_reason": "stop"}]}
    put(
        logs / "a.jsonl",
        json.dumps({"messages": MESSAGES[:1], "model": "m", "response": reply, "real": "x"}) + "\n",
    )
    load([logs], store, mapping={"model": ".real"})
    assert ask(store, FILES) == [("a.jsonl", "loaded", "request_log")]
    load([logs], store, mapping={"model": ".real"}, form="chat_jsonl")
    assert ask(store, FILES) == [("a.jsonl", "loaded", "chat_jsonl")]
    assert ask(store, MODELS) == [("x",)]


def test_records_with_the_usual_fields_are_read_next_to_mapped_ones(logs: Path, store: Path) -> None:
    usual = json.dumps({"messages": MESSAGES, "model": "usual"}) + "\n"
    put(logs / "a.jsonl", line() + usual)
    assert load([logs], store, mapping=MAP).sessions == 2
    assert ask(store, MODELS) == [("m",), ("usual",)]


def test_records_of_other_kinds_are_skipped_unless_they_hold_calls(logs: Path, store: Path) -> None:
    other = json.dumps({"event": "health", "ok": True}) + "\n"
    called = json.dumps({"event": "x", "tool_calls": [{"name": "ls", "arguments": "{}"}]}) + "\n"
    path = put(logs / "a.jsonl", other * 30 + line() + other * 5 + called)
    assert [record.number for record in forecast_load([path], store, mapping=MAP).mapped] == [31]
    report = load([path], store, mapping=MAP)
    assert (report.sessions, report.rejects) == (1, 1)
    assert ask(store, "SELECT line, code FROM rejects") == [(37, "unread_calls")]


def test_a_grown_file_goes_on_with_its_map(logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "WORTH", 1)
    path = put(logs / "a.jsonl", "".join(map(line, range(20))))
    load([logs], store, mapping=MAP)
    path.write_text("".join(map(line, range(22))))
    report = load([logs], store)
    assert (report.lines, ask(store, "SELECT count(*), count(model) FROM turns")) == (2, [(22, 22)])


@pytest.mark.thorough
def test_retried_rejects_are_read_with_the_map(logs: Path, store: Path) -> None:
    put(logs / "a.jsonl", line() + '{"request": {"messages": 3}}\n')
    assert load([logs], store, mapping=MAP).rejects == 1
    put(logs / "a.jsonl", line() + line(1))
    retry_rejected(store)
    assert ask(store, "SELECT count(*) FROM turns") == [(2,)]


def test_naming_toml_has_a_map_for_paths_and_one_for_all_others(logs: Path, store: Path) -> None:
    put(logs / "a/x.jsonl", line(model="a"))
    put(logs / "b/x.jsonl", json.dumps({"turns": MESSAGES, "who": "b"}) + "\n")
    put(
        store / "naming.toml",
        '[map]\nmessages = ".request.messages"\nmodel = ".meta.llm"\n'
        '[[path]]\npattern = "b/*"\nrun = "r"\nmap = { messages = ".turns", model = ".who" }\n',
    )
    load([logs], store)
    assert ask(store, "SELECT t.model, s.run FROM turns t JOIN sessions s USING (session_id) ORDER BY 1") == [
        ("a", None), ("b", "r"),
    ]  # fmt: skip
    load([logs], store, mapping={"messages": ".request.messages", "model": ".meta.other"})
    assert ask(store, "SELECT model FROM turns WHERE model = 'a'") == [], "--map counts before the file"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[map]\nmesages = '.a'", "'mesages' is not a field; did you mean messages?"),
        ("[map]\nmodel = 'a'", "model: 'a' is not a path: a path begins with a dot; write .a"),
        ("[map]\nmodel = 3", 'map needs lines such as messages = ".request.messages"'),
        ("map = 3", 'map needs lines such as messages = ".request.messages"'),
        ("[[path]]\npattern = 'a'\nmap = 'b'", 'map needs lines such as messages = ".request.messages"'),
    ],
)
def test_a_bad_map_in_the_file_stops_the_load_and_says_where(store: Path, text: str, problem: str) -> None:
    put(store / "naming.toml", text)
    with pytest.raises(OptionError) as refused:
        load([store.parent], store)
    assert str(store / "naming.toml") in str(refused.value)
    assert problem in str(refused.value)


def test_a_source_of_a_team_has_a_map(tmp_path: Path) -> None:
    put(tmp_path / "logs/a.jsonl", line())
    file = put(
        tmp_path / "callgauge.toml",
        'store = "store"\n[sources.gateway]\npaths = "logs"\n'
        'map = { messages = ".request.messages", model = ".meta.llm" }\n',
    )
    loads = load_sources(
        read_configuration(file),
        given={},
        show_progress=lambda: nullcontext(lambda _: None),
        stop=lambda: False,
    )
    (loaded,) = loads
    assert loaded.report is not None
    assert (loaded.report.loaded, ask(tmp_path / "store", MODELS)) == (1, [("m",)])


def test_paths_that_find_nothing_are_named(logs: Path, store: Path) -> None:
    path = put(logs / "a.jsonl", line())
    wrong = {"messages": ".request.messages", "model": ".meta.model", "user": ".meta.user"}
    notes = load([logs], store, mapping=wrong).notes
    assert notes[:2] == (
        f"no model at .meta.model in {path}; `callgauge ingest --dry-run` shows what --map finds",
        f"no user at .meta.user in {path}; `callgauge ingest --dry-run` shows what --map finds",
    )
    assert not any(note.startswith("no model in") for note in notes), "once is enough"
    forecast = forecast_load([logs], store, mapping={**wrong, "user": ".meta.name"})
    assert forecast.notes[0] == f"no model at .meta.model (.meta has the keys llm) in {path}"


def test_a_map_that_finds_no_messages_is_named_in_the_reason(logs: Path, store: Path) -> None:
    put(logs / "a.jsonl", line())
    (refused,) = load([logs], store, mapping={"messages": ".request.msgs"}).rejected
    assert "--map finds no messages at .request.msgs (.request has the keys messages)" in refused.reason
    (refused,) = load([logs], store, mapping={"messages": ".meta.llm"}).rejected
    assert "what --map finds in it cannot be read as messages" in refused.reason


def test_a_dry_run_shows_three_mapped_records(logs: Path, store: Path) -> None:
    path = put(logs / "a.jsonl", "".join(map(line, range(9))))
    forecast = forecast_load([logs], store, mapping=MAP, model="other")
    assert [(record.file, record.number) for record in forecast.mapped] == [
        (str(path), number) for number in (1, 2, 3)
    ]
    first = forecast.mapped[0]
    assert first.fields == {"messages": "1 user, 1 assistant", "model": "m"}
    assert first.missing == ("session_id", "timestamp", "tools", "usage")
    assert not store.exists()
    assert forecast_load([logs], store).mapped == ()


def test_messages_are_found_in_objects_and_in_text() -> None:
    record = {"a": {"b": json.dumps({"messages": MESSAGES})}, "tags": [{"x": 1}], "log": [{"role": "user"}]}
    assert list(find_message_lists(record)) == [".log", ".a.b.messages"]

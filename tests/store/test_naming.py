"""Tests models, prompts, trial runs and days that are taken from a log's file path, and models that share a
name.
"""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from ingest.errors import OptionError
from ingest.maintenance.model_names import count_models_anew
from ingest.pipeline.load import load
from ingest.pipeline.planning.model_aliases import find_alias
from ingest.pipeline.planning.naming import AliasSettings, read_naming
from ingest.sessions.path_facts import NO_FACTS
from tests.store.night import ask, session

MODELS = "SELECT DISTINCT model, model_name, model_source FROM tool_calls ORDER BY ALL"


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def chat() -> str:
    call = {"id": "1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "read it"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "ok"},
        {"role": "assistant", "content": "Done."},
    ]
    return json.dumps({"messages": messages}) + "\n"


def named(name: str, model: str) -> str:
    return session(name, turns=(1,)).replace('{"mode": "once"}', f'{{"provider": "p", "model": "{model}"}}')


def facts(pattern: str, path: str) -> dict[str, str] | None:
    json_text = read_naming(Path("/nowhere"), [pattern]).facts_of(path, NO_FACTS).to_json()
    return {name: value for name, (value, _) in json.loads(json_text).items()} if json_text else None


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("result/{model}/*", "/x/result/gpt-4o/a.json", {"model": "gpt-4o"}),
        ("result/{model}", "/x/result/gpt-4o/deep/a.json", {"model": "gpt-4o"}),
        ("result/{model}/*", "/x/my-result/gpt-4o/a.json", None),
        ("{model}-airline.json", "/x/gpt-4o-airline.json", {"model": "gpt-4o"}),
        ("{model}-airline.json", "/x/gpt-4o-airline.json.gz", None),
        (
            "p/{prompt}/**/{date}.jsonl",
            "/p/short@2/a/b/2026-11-20.jsonl",
            {"prompt": "short@2", "date": "2026-11-20"},
        ),
        ("runs/{run}/{model}.jsonl", "/n.zip!runs/7/m.jsonl", {"run": "7", "model": "m"}),
        ("{date}/*", "/x/20261120/a", {"date": "2026-11-20"}),
        ("{date}/*", "/x/20269999/a", None),
        ("{date}/*", "/x/notaday/a", None),
        ("a.b/{model}", "/x/aXb/m", None),
    ],
)
def test_a_pattern_takes_facts_from_a_path(pattern: str, path: str, expected: dict[str, str] | None) -> None:
    assert facts(pattern, path) == expected


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [("{modell}/x", "{modell}, which is unknown"), ("{model}/{model}", "{model} twice")],
)
def test_a_pattern_that_cannot_be_used_is_refused(pattern: str, problem: str) -> None:
    with pytest.raises(OptionError) as refused:
        read_naming(Path("/nowhere"), [pattern])
    assert problem in str(refused.value)


@pytest.mark.thorough(quick=3)
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[[path]]\nmodel = 'x'", "has no pattern"),
        ("[[path]]\npattern = 'a'\nmodle = 'x'", "'modle', which is unknown"),
        ("[[path]]\npattern = '{date}'\ndate = 2026-11-20", "date twice"),
        ("[[path]]\npattern = 'a'\ndate = 'soon'", "write a day"),
        ("path = 3", "under [[path]]"),
        ("[aliases]\nenabled = 'no'", "enabled of [aliases] must be true or false"),
        ("[aliases.names]\na = 3", '"name in the log" = "model"'),
        ("[names]", "'names' is unknown"),
        ("path = [", "cannot be read"),
    ],
)
def test_a_bad_rule_file_stops_the_load_and_says_where(store: Path, text: str, problem: str) -> None:
    put(store / "naming.toml", text)
    with pytest.raises(OptionError) as refused:
        load([store.parent], store)
    assert str(store / "naming.toml") in str(refused.value)
    assert problem in str(refused.value)


def test_what_the_log_says_counts_before_the_path_and_the_path_before_what_is_given(
    logs: Path, store: Path
) -> None:
    put(logs / "result/from-path/a.jsonl", chat())
    put(logs / "result/from-path/b.jsonl", named("b", "from-log"))
    put(logs / "other/c.jsonl", chat().replace("read it", "again"))
    load([logs], store, from_path=["result/{model}/*"], model="given-name")
    assert ask(store, MODELS) == [
        ("from-log", "from-log", "log"),
        ("from-path", "from-path", "path"),
        ("given-name", "given-name", "given"),
    ]
    assert ask(store, "SELECT model, sum(calls)::INT FROM daily_calls GROUP BY ALL ORDER BY ALL") == [
        ("from-log", 1), ("from-path", 1), ("given-name", 1),
    ]  # fmt: skip


def test_day_prompt_and_run_come_from_the_path_and_are_stored_as_such(logs: Path, store: Path) -> None:
    put(logs / "exp-7/2026-11-20/short@2/a.jsonl", chat())
    load([logs], store, from_path=["{run}/{date}/{prompt}/*"])
    assert ask(store, "SELECT run, day FROM sessions") == [("exp-7", date(2026, 11, 20))]
    assert ask(store, "SELECT ts, day, prompt_id FROM tool_calls") == [(None, date(2026, 11, 20), "short@2")]
    assert ask(store, "SELECT name, version FROM prompts") == [("short", "2")]
    ((stored,),) = ask(store, "SELECT path_facts FROM files")
    assert json.loads(stored) == {
        "prompt": ["short@2", "path"], "run": ["exp-7", "path"], "date": ["2026-11-20", "path"],
    }  # fmt: skip


@pytest.mark.thorough
def test_a_model_given_later_is_read_in_and_stays_without_being_given_again(logs: Path, store: Path) -> None:
    log = put(logs / "a.jsonl", chat())
    load([logs], store)
    assert ask(store, MODELS) == [(None, None, None)]
    assert load([logs], store, model="m").loaded == 1
    assert load([logs], store, model="m").generation is None
    assert load([logs], store).generation is None
    log.write_text(chat() + chat().replace("read it", "again"))
    load([logs], store)
    assert ask(store, MODELS) == [("m", "m", "given")]


@pytest.mark.thorough
def test_only_rules_of_the_file_are_remembered_for_other_logs(logs: Path, store: Path) -> None:
    put(logs / "a/x.jsonl", chat())
    load([logs], store, from_path=["a/{model}"])
    put(logs / "a/y.jsonl", chat().replace("read it", "again"))
    load([logs], store)
    assert (None, None, None) in ask(store, MODELS)
    put(store / "naming.toml", '[[path]]\npattern = "a/*"\nmodel = "fixed"\n')
    load([logs], store)
    assert ask(store, MODELS) == [("fixed", "fixed", "path")]


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", "claude-sonnet-4"),
        ("us.anthropic.claude-sonnet-4", "claude-sonnet-4"),
        ("anthropic/claude-sonnet-4.6", "claude-sonnet-4-6"),
        ("openrouter/anthropic/claude-sonnet-4", "claude-sonnet-4"),
        ("claude-sonnet-4@20250514", "claude-sonnet-4"),
        (
            "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-opus-4-1-20250805-v1:0",
            "claude-opus-4-1",
        ),
        ("anthropic.claude-3-5-sonnet-20241022-v2:0", "claude-3-5-sonnet-20241022"),
        ("claude-3-5-sonnet-20240620", None),
        ("us.anthropic.claude-opus-4-6-v1", "claude-opus-4-6"),
        ("us.anthropic.claude-opus-4-6-v1[1m]", "claude-opus-4-6"),
        ("claude-opus-4-6[1m]", "claude-opus-4-6"),
        ("anthropic/claude-opus-4.6:thinking", "claude-opus-4-6"),
        ("claude-opus-7-1-20280131", "claude-opus-7-1"),
        ("claude-opus-4-6@default", "claude-opus-4-6"),
        (
            "projects/p/locations/us-east5/publishers/anthropic/models/claude-opus-4-6@20260205",
            "claude-opus-4-6",
        ),
        ("gpt-5.4-2026-03-05", "gpt-5.4"),
        ("openai/gpt-9-mini-2029-12-31", "gpt-9-mini"),
        ("o1-preview-2024-09-12", "o1-preview"),
        ("deepseek/deepseek-v4:free", "deepseek-v4"),
        ("llama3:latest", "llama3"),
        ("qwen3:9b-q4km", None),
        ("deepseek-r1-0528", None),
        ("gpt-4-0613", None),
        ("command-r-08-2024", None),
        ("qwen-max-2025-01-25", None),
        ("gpt-5-2026-13-45", None),
        ("[1m]", None),
        ("claude-3-5-sonnet@20240620", "claude-3-5-sonnet-20240620"),
        ("gpt-4o-2024-05-13", None),
        ("gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("openai/gpt-5", "gpt-5"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("our-lab/llama-tuned", None),
        ("gpt-4o", None),
        ("anthropic/", None),
        ("", None),
    ],
)
def test_rules_take_away_who_serves_a_model_how_it_is_called_and_the_date_of_a_snapshot(
    name: str, model: str | None
) -> None:
    alias = find_alias(name, AliasSettings())
    assert (alias.model if alias else None) == model
    if alias:
        assert find_alias(alias.model, AliasSettings()) is None
    assert find_alias(name, AliasSettings(enabled=False)) is None


def test_names_of_the_file_count_before_the_rules_and_may_not_go_in_circles() -> None:
    own = AliasSettings(own={"openai/gpt-5": "five", "five": "V", "a": "b", "b": "a"})
    alias = find_alias("openai/gpt-5", own)
    assert alias is not None
    assert (alias.model, alias.rule) == ("V", "naming.toml")
    find_alias("a", own)
    alone = AliasSettings(defaults=False)
    assert find_alias("openai/gpt-5", alone) is None


@pytest.mark.thorough
def test_aliases_are_switched_off_and_on_without_the_logs(logs: Path, store: Path) -> None:
    put(logs / "a.jsonl", named("a", "anthropic/claude-sonnet-4.6"))
    put(logs / "b.jsonl", named("b", "claude-sonnet-4-6"))
    load([logs], store)
    counted = "SELECT model, sum(calls)::INT FROM daily_calls GROUP BY ALL ORDER BY ALL"
    assert ask(store, counted) == [("claude-sonnet-4-6", 2)]
    assert ask(store, "SELECT * FROM model_aliases") == [
        ("anthropic/claude-sonnet-4.6", "claude-sonnet-4-6", "host, spelling")
    ]
    assert load([logs], store).generation is None
    for log in logs.iterdir():
        log.unlink()
    put(store / "naming.toml", "[aliases]\nenabled = false\n")
    report = count_models_anew(store)
    assert report.generation is not None
    assert {name.model for name in report.names} == {"anthropic/claude-sonnet-4.6", "claude-sonnet-4-6"}
    assert ask(store, counted) == [("anthropic/claude-sonnet-4.6", 1), ("claude-sonnet-4-6", 1)]
    assert count_models_anew(store).generation is None
    put(store / "naming.toml", '[aliases.names]\n"claude-sonnet-4-6" = "sonnet"\n')
    assert count_models_anew(store).generation is not None
    assert ask(store, counted) == [("sonnet", 2)]
    assert count_models_anew(store).generation is None


def test_a_log_with_times_keeps_its_days(logs: Path, store: Path) -> None:
    put(logs / "2026-01-01/a.jsonl", session("a"))
    load([logs], store, from_path=["{date}/*"])
    assert ask(store, "SELECT DISTINCT day FROM tool_calls") == [(date(2026, 11, 1),)]

"""Tests forked sessions. A fork repeats calls of its parent. Each call counts once, on its original day."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from ingest.maintenance.reparse import reparse
from ingest.pipeline.load import load
from tests.store.night import ROLLUPS, ask, claude_code_session, contents, session
from tests.store.test_copies import from_scratch

Line = dict[str, Any]

CALLS = "SELECT day, session_id, count(*) FROM tool_calls WHERE NOT duplicate GROUP BY ALL ORDER BY ALL"
TURNS = """
    SELECT day, session_id, count(*), sum(steps)::INT, sum(input_tokens)::INT FROM turns
    WHERE NOT duplicate GROUP BY ALL ORDER BY ALL"""
RANDOM_ID, SHORT_IDS = "call_{}GV3wIN5Z4NZaM6QnnxGD56", ("call_{}b1c2d3", "functions.exec:{}", "abcdefgh{}")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def line(at: datetime, kind: str, **payload: Any) -> Line:
    return {"timestamp": at.isoformat(), "type": kind, "payload": payload}


def meta(name: str, day: int, parent: str | None = None) -> list[Line]:
    at = datetime(2026, 10, day, 10, tzinfo=UTC)
    forked = {"forked_from_id": parent} if parent else {}
    return [line(at, "session_meta", id=name, cli_version="0.120.0", model_provider="openai", **forked)]


def turn(key: str, day: int, calls: Iterable[str], *, ended: bool = True, hour: int = 10) -> list[Line]:
    """Return a turn with a step for each call, with token counts. If it has ended, an answer follows."""
    at = datetime(2026, 10, day, hour, 1, tzinfo=UTC)
    lines = [
        line(at, "event_msg", type="task_started", turn_id=key),
        line(at, "turn_context", turn_id=key, model="gpt-5.3-codex"),
        line(at, "event_msg", type="user_message", message=f"do {key}"),
    ]
    used = {"last_token_usage": {"input_tokens": 100, "output_tokens": 10}}
    for call_id in calls:
        at += timedelta(seconds=1)
        made = {"name": "exec_command", "arguments": '{"cmd": "ls"}', "call_id": call_id}
        output = "Chunk ID: 1\nProcess exited with code 0\nOutput:\nok"
        lines += [
            line(at, "response_item", type="function_call", **made),
            line(at, "response_item", type="function_call_output", call_id=call_id, output=output),
            line(at, "event_msg", type="token_count", info=used),
        ]
    if ended:
        content = [{"type": "output_text", "text": "done"}]
        lines += [
            line(at, "response_item", type="message", role="assistant", content=content),
            line(at, "event_msg", type="token_count", info=used),
            line(at, "event_msg", type="task_complete", turn_id=key, last_agent_message="done"),
        ]
    return lines


def fork(lines: Sequence[Line], name: str, day: int, parent: str, *, hour: int = 9) -> list[Line]:
    """Return the beginning of a forked session's log: all lines of the parent, with the time of the fork."""
    at = datetime(2026, 10, day, hour, tzinfo=UTC).isoformat()
    return [*meta(name, day, parent), *({**record, "timestamp": at} for record in lines)]


def write(file: Path, lines: Iterable[Line]) -> Path:
    file.write_text("".join(json.dumps(record) + "\n" for record in lines))
    return file


def family(id_: str = RANDOM_ID) -> dict[str, list[Line]]:
    """Return a session, two forks of it, and a fork of a fork, each with one additional turn."""
    ids = iter(id_.format(letter) for letter in _LETTERS)
    own = {
        name: turn(f"t-{name}", day, [next(ids) for _ in range(calls)])
        for name, day, calls in (("parent", 1, 2), ("fork", 3, 3), ("other", 4, 1), ("below", 5, 4))
    }
    parent = meta("parent", 1) + own["parent"]
    forked = fork(parent, "fork", 3, "parent") + own["fork"]
    return {
        "parent": parent,
        "fork": forked,
        "other": fork(parent, "other", 4, "parent") + own["other"],
        "below": fork(forked, "below", 5, "fork") + own["below"],
    }


EXPECTED_CALLS = [
    (date(2026, 10, 1), "parent", 2),
    (date(2026, 10, 3), "fork", 3),
    (date(2026, 10, 4), "other", 1),
    (date(2026, 10, 5), "below", 4),
]
EXPECTED_TURNS = [(day, name, 1, calls + 1, (calls + 1) * 100) for day, name, calls in EXPECTED_CALLS]


@pytest.mark.thorough
@pytest.mark.parametrize("order", list(permutations(("parent", "fork", "other", "below"))))
def test_a_session_keeps_what_its_forks_repeat_in_any_order_of_nights(
    logs: Path, store: Path, tmp_path: Path, order: Sequence[str]
) -> None:
    rollouts = family()
    for name in order:
        write(logs / f"{name}.jsonl", rollouts[name])
        load([logs], store)
    assert (ask(store, CALLS), ask(store, TURNS)) == (EXPECTED_CALLS, EXPECTED_TURNS)
    assert contents(store, ROLLUPS) == from_scratch(store, tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize("names", [("a", "b", "c", "d"), ("d", "c", "b", "a")])
@pytest.mark.parametrize("id_", [RANDOM_ID, *SHORT_IDS])
def test_the_copies_of_calls_without_a_unique_id_are_recognised(
    logs: Path, store: Path, names: Sequence[str], id_: str
) -> None:
    for name, lines in zip(names, family(id_).values(), strict=True):
        write(logs / f"{name}.jsonl", lines)
    assert load([logs], store).duplicates == 2 + 2 + 5
    assert (ask(store, CALLS), ask(store, TURNS)) == (EXPECTED_CALLS, EXPECTED_TURNS)
    reparse(store, everything=True)
    assert (ask(store, CALLS), ask(store, TURNS)) == (EXPECTED_CALLS, EXPECTED_TURNS)


@pytest.mark.thorough
@pytest.mark.parametrize("order", list(permutations(("parent", "fork"))))
def test_a_fork_of_the_same_day_whose_lines_look_older_is_still_the_copy(
    logs: Path, store: Path, order: Sequence[str]
) -> None:
    parent = meta("parent", 1) + turn("t-a", 1, ["call_ThGV3wIN5Z4NZaM6QnnxGD56"])
    forked = fork(parent, "fork", 1, "parent", hour=8) + turn("t-b", 1, ["call_b0"], hour=11)
    for name in order:
        write(logs / f"{name}.jsonl", parent if name == "parent" else forked)
        load([logs], store)
    assert [row[1:] for row in ask(store, CALLS)] == [("fork", 1), ("parent", 1)]


@pytest.mark.thorough
@pytest.mark.parametrize("order", list(permutations(("parent", "below"))))
def test_a_fork_whose_own_parent_is_not_loaded_is_still_the_copy(
    logs: Path, store: Path, order: Sequence[str]
) -> None:
    rollouts = family()
    for name in order:
        write(logs / f"{name}.jsonl", rollouts[name])
        load([logs], store)
    assert ask(store, CALLS) == [(date(2026, 10, 1), "parent", 2), (date(2026, 10, 5), "below", 7)]


@pytest.mark.thorough
@pytest.mark.parametrize("order", list(permutations(("parent", "fork"))))
def test_a_rollout_that_does_not_name_its_parent_has_the_one_whose_lines_it_repeats(
    logs: Path, store: Path, order: Sequence[str]
) -> None:
    rollouts = family()
    del rollouts["fork"][0]["payload"]["forked_from_id"]
    for name in order:
        write(logs / f"{name}.jsonl", rollouts[name])
        load([logs], store)
    assert ask(store, CALLS) == EXPECTED_CALLS[:2]
    assert ask(store, "SELECT parent_session_id FROM sessions ORDER BY session_id") == [("parent",), (None,)]


@pytest.mark.thorough
def test_a_turn_that_goes_on_after_the_fork_is_the_parents(logs: Path, store: Path) -> None:
    ids = [RANDOM_ID.format(letter) for letter in "abc"]
    begun = meta("parent", 1) + turn("t-a", 1, ids[:2], ended=False)
    aborted = line(
        datetime(2026, 10, 2, 9, tzinfo=UTC),
        "event_msg",
        type="turn_aborted",
        turn_id="t-a",
        reason="interrupted",
    )
    write(logs / "fork.jsonl", [*fork(begun, "fork", 2, "parent"), aborted, *turn("t-b", 2, ["call_b0"])])
    write(logs / "parent.jsonl", begun)
    load([logs], store)
    write(logs / "parent.jsonl", meta("parent", 1) + turn("t-a", 1, ids))
    load([logs], store)
    assert ask(store, CALLS) == [(date(2026, 10, 1), "parent", 3), (date(2026, 10, 2), "fork", 1)]
    ends = "SELECT session_id, recorded_status, steps FROM turns WHERE NOT duplicate ORDER BY ALL"
    assert ask(store, ends) == [("fork", "complete", 2), ("parent", "complete", 4)]


def test_sessions_that_name_each_other_as_parents_count_once(logs: Path, store: Path) -> None:
    for name, other in (("a", "b"), ("b", "a")):
        write(logs / f"{name}.jsonl", meta(name, 1, other) + turn("t", 1, [RANDOM_ID.format(0)]))
    write(logs / "own.jsonl", meta("own", 1, "own") + turn("t", 1, [RANDOM_ID.format(0)], hour=12))
    load([logs], store)
    assert [row[1:] for row in ask(store, CALLS)] == [("own", 1)]


def test_the_earlier_of_two_copies_without_a_known_fork_counts(logs: Path, store: Path) -> None:
    """The earlier session counts, even if the later session is longer."""
    shared = turn("t", 1, [RANDOM_ID.format(0)])
    later = [{**record, "timestamp": "2026-10-02T09:00:00.000Z"} for record in shared]
    write(logs / "a.jsonl", meta("later", 2) + later + turn("t2", 2, [RANDOM_ID.format(1)]))
    write(logs / "b.jsonl", meta("earlier", 1) + shared)
    load([logs], store)
    assert ask(store, CALLS) == [(date(2026, 10, 1), "earlier", 1), (date(2026, 10, 2), "later", 1)]


def test_calls_at_one_place_of_turns_that_differ_all_count(logs: Path, store: Path) -> None:
    for name in "ab":
        lines = turn(f"t-{name}", 1, ["call_0", "call_0"])
        write(logs / f"{name}.jsonl", meta(name, 1) + lines)
    assert load([logs], store).duplicates == 0


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(12))
def test_however_rollouts_are_loaded_the_figures_are_those_of_one_load(
    logs: Path, store: Path, tmp_path: Path, seed: int
) -> None:
    """Forked sessions grow over several loads in a random order, next to a session without forks."""
    chance = random.Random(seed)
    rollouts, own_calls = made_family(chance)
    (logs / "session.jsonl").write_text(session("s"))
    written = dict.fromkeys(rollouts, 0)
    for _ in range(3):
        for name in chance.sample(list(rollouts), k=len(rollouts)):
            written[name] = chance.randint(written[name], len(rollouts[name]))
            if written[name]:
                write(logs / f"{name}.jsonl", rollouts[name][: written[name]])
            if chance.random() < 0.3:
                load([logs], store)
        load([logs], store)
    for name, lines in rollouts.items():
        write(logs / f"{name}.jsonl", lines)
    load([logs], store)
    if seed % 2:
        reparse(store, everything=True)
    together = tmp_path / "together"
    load([logs], together)
    assert (ask(store, CALLS), ask(store, TURNS)) == (ask(together, CALLS), ask(together, TURNS))
    assert contents(store, ROLLUPS) == contents(together, ROLLUPS) == from_scratch(store, tmp_path)
    counted = {name: sum(row[2] for row in ask(store, CALLS) if row[1] == name) for name in rollouts}
    assert counted == own_calls


def made_family(chance: random.Random) -> tuple[dict[str, list[Line]], dict[str, int]]:
    """Return session logs by name, with their numbers of calls. All sessions but the first are forks, made at
    the end of a turn.
    """
    id_, numbers = chance.choice((RANDOM_ID, *SHORT_IDS)), iter(range(10, 100))
    heads: dict[str, list[Line]] = {}
    turns: dict[str, list[list[Line]]] = {}
    own_calls: dict[str, int] = {}
    for number in range(chance.randint(2, 5)):
        name, day = f"{chance.randint(0, 99):02}-{number}", number * 3 + 1
        heads[name] = meta(name, day)
        if turns:
            parent = chance.choice(list(turns))
            copied = turns[parent][: chance.randint(1, len(turns[parent]))]
            history = [*heads[parent], *(record for some in copied for record in some)]
            heads[name] = fork(history, name, day, parent, hour=chance.choice((3, 9)))
        calls = [chance.randint(0, 3) for _ in range(chance.randint(1, 3))]
        own_calls[name] = sum(calls)
        turns[name] = [
            turn(
                f"{name}-{at}",
                day + at,
                [id_.format(next(numbers) if id_ == RANDOM_ID else _LETTERS[n]) for n in range(made)],
            )
            for at, made in enumerate(calls)
        ]
    lines = {name: [*head, *(item for some in turns[name] for item in some)] for name, head in heads.items()}
    return lines, own_calls


def test_short_ids_of_a_resumed_session_are_known_and_those_of_others_all_count(
    logs: Path, store: Path
) -> None:
    """Claude Code may use a provider that numbers tool calls. Then every session has a call `t1`."""
    first = claude_code_session("a")
    (logs / "a.jsonl").write_text(first)
    (logs / "b.jsonl").write_text(claude_code_session("b"))
    (logs / "resumed.jsonl").write_text(first.replace('"sessionId": "a"', '"sessionId": "c"'))
    assert load([logs], store).duplicates == 1
    counted = "SELECT session_id, tool_call_id FROM tool_calls WHERE NOT duplicate ORDER BY ALL"
    assert ask(store, counted) == [("a", "t1"), ("b", "t1")]

"""Tests that, after any sequence of loads, daily sums equal the sums that are computed from all rows."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path

import pytest

from ingest.errors import IngestError
from ingest.maintenance.forget import SessionChoice, forget
from ingest.maintenance.retention import apply_retention
from ingest.pipeline.load import load
from ingest.pipeline.reading import checkpoint
from ingest.store.daily_tables import DAILY_TABLES
from ingest.store.settling import rollup
from tests.store.night import ROLLUPS, ask, claude_code_session, contents, session
from tests.store.test_copies import from_scratch
from tests.store.test_late_facts import halves

RAWS = ('{"path": "a.py"}', "{'path': 1,}", "]", '{"path": 7, "path": 8}', '{"path": "b.py"')
MODELS = ("anthropic/claude-sonnet-4.6", "claude-sonnet-4-6", "gpt-4o", None)
FILES = tuple("abcde")
FROZEN = date(2026, 11, 2)


def made_session(number: int) -> str:
    """Return a session that depends only on `number`. Some sessions have faulty calls, a trial run or several
    days.
    """
    chance = random.Random(number)
    name = f"s{number}"
    if number % 7 == 5:
        return claude_code_session(name)
    if number % 7 == 6:  # a forked session repeats the records of another session under a new id
        return claude_code_session(f"s{number - 1}").replace(
            f'"sessionId": "s{number - 1}"', f'"sessionId": "{name}"'
        )
    turns = [chance.randint(0, 3) for _ in range(chance.randint(1, 4))]
    text = session(
        name, turns=turns, day=chance.randint(1, 4), raw=chance.choice(RAWS), ended=chance.random() < 0.8
    )
    meta: dict[str, object] = {"mode": "once"}
    if (model := chance.choice(MODELS)) is not None:
        meta |= {"provider": "p", "model": model}
    if number % 4 == 3:
        meta |= {"trial": {"run": "orders.7f3a", "arm": chance.choice(("old", "new"))}}
    text = text.replace('{"mode": "once"}', json.dumps(meta))
    if chance.random() < 0.2:
        text = "".join(_without_times(line) for line in text.splitlines())
    return text


def _without_times(line: str) -> str:
    record = json.loads(line)
    record.pop("ts")
    return json.dumps(record) + "\n"


class Chain:
    """A folder of logs and a store, which change at random."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.logs, self.store = folder / "logs", folder / "store"
        self.logs.mkdir()
        self.whole: dict[str, str] = {}  # the final content of each growing file
        self.clock = 0

    def write(self, name: str, text: str) -> None:
        self.clock += 1
        path = self.logs / f"{name}.jsonl"
        path.write_text(text)
        os.utime(path, ns=(self.clock * 10**9, self.clock * 10**9))

    def some_sessions(self) -> str:
        return "".join(made_session(self.chance.randrange(21)) for _ in range(self.chance.randint(1, 3)))

    def grow(self) -> None:
        name = self.chance.choice(FILES)
        text = self.whole.setdefault(name, self.some_sessions())
        path = self.logs / f"{name}.jsonl"
        content = path.read_text() if path.exists() else ""
        if content and not text.startswith(content):
            text = self.whole[name] = content + self.some_sessions()
        least = len(content.splitlines())
        lines = text.splitlines(keepends=True)
        self.write(name, "".join(lines[: self.chance.randint(least, len(lines))]))

    def write_over(self) -> None:
        self.write(self.chance.choice(FILES), self.some_sessions())

    def repeat(self) -> None:
        """Write a file of sessions, some of which are also in other files."""
        self.write(f"{self.chance.choice(FILES)}-copy", self.some_sessions())

    def split(self) -> None:
        log = made_session(self.chance.randrange(21))
        parts = halves(log, self.chance.randint(1, len(log.splitlines()) - 1))
        for number, half in enumerate(parts):
            self.write(f"part-{number}", half)
            if self.chance.random() < 0.5:
                load([self.logs], self.store)

    def remove(self) -> None:
        for path in self.chance.sample(sorted(self.logs.iterdir()), k=1) if any(self.logs.iterdir()) else []:
            path.unlink()

    def rename_models(self) -> None:
        self.store.mkdir(exist_ok=True)
        names = self.chance.choice(
            ["enabled = false", 'names = {"claude-sonnet-4-6" = "sonnet"}', "enabled = true"]
        )
        (self.store / "naming.toml").write_text(f"[aliases]\n{names}\n")

    def forget(self) -> None:
        with suppress(IngestError):
            forget(self.store, SessionChoice(sessions=[f"s{self.chance.randrange(21)}"]))

    def change(self) -> None:
        kinds: Sequence[Callable[[], None]] = (
            self.grow, self.grow, self.grow, self.write_over, self.repeat, self.split, self.remove,
            self.rename_models, self.forget,
        )  # fmt: skip
        for kind in self.chance.choices(kinds, k=self.chance.randint(1, 3)):
            kind()
        if any(self.logs.iterdir()):
            load([self.logs], self.store, replacing=self.chance.random() < 0.3)


def rows(tables: dict[str, list[str]], frozen: bool) -> dict[str, list[str]]:
    """Return the rows of all days from FROZEN on, or of the earlier days if `frozen` is True."""
    days = [repr(date(2026, 11, day)) for day in range(1, FROZEN.day)]
    return {
        table: [row for row in entries if any(day in row for day in days) is frozen]
        for table, entries in tables.items()
        if table != "signatures"
    }


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(6))
def test_after_any_chain_of_loads_the_sums_equal_those_made_from_scratch(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if seed % 2:
        monkeypatch.setattr(checkpoint, "WORTH", 0)  # a load resumes every log that grew, even if it is small
    if seed % 3 == 1:
        monkeypatch.setattr(rollup, "FEW_CALLS", 0)
    if seed % 3 == 2:
        monkeypatch.setattr(rollup, "AT_ONCE", 3)
    chain = Chain(tmp_path, seed)
    for _ in range(8):
        chain.change()
        if (chain.store / "CURRENT").exists():
            assert contents(chain.store, ROLLUPS) == from_scratch(chain.store, tmp_path)


@pytest.mark.thorough
def test_the_sums_of_days_whose_facts_are_gone_stay_whatever_is_loaded(tmp_path: Path) -> None:
    chain = Chain(tmp_path, 1)
    for _ in range(4):
        chain.change()
    apply_retention(chain.store, fact_days=1, today=date(2026, 11, 3))
    assert ask(chain.store, "SELECT facts_before FROM store_info") == [(FROZEN,)]
    before = rows(contents(chain.store, ROLLUPS), frozen=True)
    (chain.store / "naming.toml").unlink(missing_ok=True)
    for change in (chain.grow, chain.write_over, chain.repeat, chain.grow, chain.split):
        change()
        load([chain.logs], chain.store)
        tables = contents(chain.store, ROLLUPS)
        assert rows(tables, frozen=False) == rows(from_scratch(chain.store, tmp_path), frozen=False)
        assert rows(tables, frozen=True) == before


@pytest.mark.thorough
def test_the_example_of_an_error_is_the_next_newest_when_its_session_goes(tmp_path: Path) -> None:
    logs, store = tmp_path / "logs", tmp_path / "store"
    logs.mkdir()
    for name in "ab":
        (logs / f"{name}.jsonl").write_text(session(name, turns=(1,), raw="]"))
        load([logs], store)
    examples = "SELECT session_id FROM tool_calls JOIN daily_errors ON call_id = example"
    ((newest,),) = ask(store, examples)
    forget(store, SessionChoice(sessions=[newest]))
    assert {newest, *(example for (example,) in ask(store, examples))} == {"a", "b"}
    assert contents(store, ROLLUPS) == from_scratch(store, tmp_path)


def test_every_daily_table_is_kept(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(session("a"))
    load([tmp_path / "a.jsonl"], tmp_path / "store")
    tables = {name for (name,) in ask(tmp_path / "store", "SELECT table_name FROM duckdb_tables()")}
    assert {name for name in tables if name.startswith("daily_")} == {table.name for table in DAILY_TABLES}

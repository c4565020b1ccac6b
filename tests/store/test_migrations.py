"""Tests that the next load migrates a store of an older version without losing data."""

# ruff: noqa: S608 - the queries are made of our own column names

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from ingest.backup.make_backup import make_backup
from ingest.backup.restore import restore
from ingest.backup.verify import verify_store
from ingest.errors import StoreError
from ingest.maintenance.retention import apply_retention
from ingest.pipeline.load import load
from ingest.store.generations import published_generation
from ingest.store.migrations import SCHEMA_VERSION
from tests.store.night import FACTS, ask, contents, opened, rows_by_reference, session
from tests.store.older import described, make_older
from tests.store.recount import ROLLUPS, Facts, sorted_rows
from tests.store.sealed_months import in_month, seal_months
from tests.store.test_shared_session_ids import ONE, OTHER

OLDER = range(1, SCHEMA_VERSION)
TOKENS = (
    "counted_steps", "counted_input", "counted_cached", "counted_cache_write", "counted_output",
    "cached_tokens", "cache_write_tokens",
)  # fmt: skip
# Older versions did not store these values, and no UPDATE can compute them.
LOST = {
    1: (
        "retry_of",
        "refused_by_harness",
        "tool_sent",
        "result_fault_layer",
        "syntax_told",
        "schema_told",
        "first_step",
        "offered_tools",
        "arguments_depth",
        *TOKENS,
    ),
    2: TOKENS,
    3: TOKENS,
    4: (),
    5: (),
    6: (),
    7: (),
    8: (),
    9: (),
    10: (),
}
KEPT = tuple(table for table in FACTS if table != "step_texts")


def night(logs: Path) -> None:
    (logs / "a.jsonl").write_text(session("a") + session("b", raw="{'path': 1,}") + "broken\n")
    (logs / "b.jsonl").write_text(session("b", raw="]", turns=(2, 2)) + session("c", ended=False, day=3))


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("version", OLDER)
def test_an_older_store_is_brought_up_to_date_by_the_next_load(logs: Path, store: Path, version: int) -> None:
    night(logs)
    load([logs], store)
    before, tables = contents(store, KEPT, without=LOST[version]), described(store)
    make_older(store, version)
    report = load([logs], store)
    assert (report.loaded, report.unchanged, report.generation) == (0, 2, "gen-000002.duckdb")
    assert ask(store, "SELECT schema_version FROM store_info") == [(SCHEMA_VERSION,)]
    assert described(store) == tables
    assert contents(store, KEPT, without=LOST[version]) == before
    assert load([logs], store).generation is None


@pytest.mark.thorough
@pytest.mark.parametrize("version", OLDER)
def test_the_rollups_of_an_older_store_are_made_anew(logs: Path, store: Path, version: int) -> None:
    night(logs)
    load([logs], store)
    make_older(store, version)
    load([logs], store)
    facts = Facts(store)
    for table, count in ROLLUPS.items():
        counted = list(count(facts))
        columns = sorted(counted[0]) if counted else []
        assert sorted_rows(facts.tables[table], columns) == sorted_rows(counted, columns), table


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("version", OLDER)
def test_logs_can_be_loaded_into_an_older_store(logs: Path, store: Path, version: int) -> None:
    night(logs)
    load([logs / "a.jsonl"], store)
    make_older(store, version)
    load([logs], store)
    fresh = store.with_name("fresh")
    load([logs], fresh)
    mine, expected = rows_by_reference(store), rows_by_reference(fresh)
    assert {name: len(mine[name]) for name in KEPT} == {name: len(expected[name]) for name in KEPT}


@pytest.mark.thorough
def test_ids_of_older_stores_get_their_marks(logs: Path, store: Path) -> None:
    """The store contains leaked, rejected and reserialised calls, and split turns. Each of them has a marked
    id.
    """
    samples = Path(__file__).parents[2] / "sample_data" / "logs"
    load([samples], store)
    (logs / "a.jsonl").write_text("".join(session("cut", turns=(3, 2), raw="]").splitlines(True)[:6]))
    (logs / "b.jsonl").write_text("".join(session("cut", turns=(3, 2), raw="]").splitlines(True)[6:]))
    load([logs], store)
    ids = ("tool_calls", "turns", "turn_parts", "step_texts", "diagnostics", "sessions")
    # Version 6 was the first to store some of these values. Version 11 was the first to store the others.
    with opened(published_generation(store) or store) as con:
        con.execute("UPDATE turns SET tool_list = NULL, cost = NULL")
        con.execute("UPDATE sessions SET project = NULL, branch = NULL, sub_agent = NULL, environment = NULL")
    before = contents(store, ids)
    assert ask(store, "SELECT count(*) > 10 FROM tool_calls WHERE length(call_id) = 24") == [(True,)]
    make_older(store, 5)
    load([logs], store)
    assert contents(store, ids) == before


@pytest.mark.thorough
def test_runs_that_shared_ids_in_an_older_store_count_both(logs: Path, store: Path) -> None:
    (logs / "a.json").write_text(ONE)
    (logs / "b.json").write_text(OTHER)
    load([logs], store)
    made = "SELECT call_id, turn_id, tool, duplicate FROM tool_calls ORDER BY ALL"
    before = ask(store, made)
    make_older(store, 5)
    with opened(published_generation(store) or store) as con:
        con.execute("UPDATE tool_calls SET duplicate = true WHERE file_id = 2")
        con.execute("UPDATE turns SET duplicate = true WHERE file_id = 2")
    load([logs], store)
    assert ask(store, made) == before
    assert ask(store, "SELECT sum(calls)::INT FROM daily_calls") == [(4,)]
    assert ask(store, "SELECT count(*) FROM turns WHERE duplicate") == [(0,)]


def test_a_migration_that_fails_leaves_the_older_store_as_it_was(logs: Path, store: Path) -> None:
    night(logs)
    load([logs], store)
    make_older(store, 1)
    before = (store / "gen-000001.duckdb").read_bytes()

    def fail(step: str) -> None:
        if step == "migrate":
            raise StoreError("no more")

    with pytest.raises(StoreError):
        load([logs], store, on_write=fail)
    assert (store / "CURRENT").read_text() == "gen-000001.duckdb\n"
    assert (store / "gen-000001.duckdb").read_bytes() == before


@pytest.mark.thorough
def test_the_older_generation_stays_until_the_next_load_after_the_upgrade(logs: Path, store: Path) -> None:
    night(logs)
    load([logs], store)
    make_older(store, SCHEMA_VERSION - 1)
    older = (store / "gen-000001.duckdb").read_bytes()
    load([logs], store)
    assert verify_store(store).generation == "gen-000002.duckdb"
    assert (store / "gen-000001.duckdb").read_bytes() == older, "an older Callgauge can be given it back"
    (logs / "c.jsonl").write_text(session("new"))
    load([logs], store)
    assert not (store / "gen-000001.duckdb").exists()


@pytest.mark.thorough
def test_a_backup_of_an_older_version_is_restored_and_brought_up_to_date(
    logs: Path, store: Path, tmp_path: Path
) -> None:
    night(logs)
    load([logs], store)
    before = contents(store, KEPT)
    make_older(store, SCHEMA_VERSION - 1)
    make_backup(store, tmp_path / "backups")
    restored = tmp_path / "restored"
    restore(tmp_path / "backups", restored)
    assert verify_store(restored).generation == "gen-000001.duckdb"
    load([logs], restored)
    assert contents(restored, KEPT) == before


@pytest.mark.thorough
def test_retention_brings_an_older_store_up_to_date(logs: Path, store: Path) -> None:
    night(logs)
    load([logs], store)
    sums = contents(store, ["daily_calls", "daily_turns", "daily_rates"])
    make_older(store, SCHEMA_VERSION - 1)
    with opened(store / "gen-000001.duckdb") as con:
        # this makes the store like an older store that lacks these rates
        con.execute("DELETE FROM daily_rates")
    assert apply_retention(store, fact_days=10, today=date(2026, 11, 12)).sessions_removed == 2
    assert ask(store, "SELECT DISTINCT session_id FROM sessions") == [("c",)]
    assert contents(store, list(sums)) == sums


@pytest.mark.thorough
@pytest.mark.parametrize("sealed", [False, True])
def test_days_without_facts_take_turn_success_from_what_the_log_reported(
    logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch, sealed: bool
) -> None:
    if sealed:
        seal_months(monkeypatch)
    (logs / "a.jsonl").write_text(in_month(session("old", day=1), 9) + session("young", day=20))
    load([logs], store)
    apply_retention(store, fact_days=10, today=date(2026, 11, 25))
    assert ask(store, "SELECT count(*) FROM segments WHERE month IS NOT NULL") == [(2 * sealed,)]
    make_older(store, 9)
    generation = published_generation(store)
    assert generation is not None
    for file in (generation, *store.glob("seg-*")):
        with opened(file) as con:
            con.execute("DELETE FROM daily_rates WHERE rate IN ('turn_success', 'defined')")
            for column in ("mended", "parse_errors", "schema_errors"):
                con.execute(f"ALTER TABLE daily_calls DROP COLUMN IF EXISTS {column}")
            for column in ("success_known", "succeeded"):
                con.execute(f"ALTER TABLE daily_turns DROP COLUMN IF EXISTS {column}")
    load([logs], store)
    columns = "day::VARCHAR, k, n, total, group_k"
    query = f"SELECT {columns} FROM daily_rates WHERE rate = '{{}}' AND cut = 'all' ORDER BY day"
    successes, reported = ask(store, query.format("turn_success")), ask(store, query.format("recorded_ok"))
    assert successes[0] == reported[0]
    assert (successes[0][0][:7], successes[1][0][:7], len(successes)) == ("2026-09", "2026-11", 2)
    ((_, k, n, *_), *_), ((_, _, measured, *_), *_) = (
        ask(store, query.format(rate)) for rate in ("defined", "parse_error")
    )
    assert k == n == measured > 0
    assert ask(store, "SELECT count(*) FROM daily_calls WHERE parse_errors IS NULL") == [(0,)]


def test_what_it_takes_to_judge_a_call_again_is_stored(logs: Path, store: Path) -> None:
    lines = session("s", turns=(2,), raw="]").splitlines()
    again = lines[-1 - next(i for i, line in enumerate(reversed(lines)) if '"toolBlocks"' in line)]
    named = json.loads(again)
    named["meta"]["toolBlocks"][0] |= {"retry_of": "s-1-0", "name": "read<|channel|>json"}
    (logs / "a.jsonl").write_text("\n".join(lines).replace(again, json.dumps(named)) + "\n")
    load([logs], store)
    columns = "tool, tool_sent, refused_by_harness, result_fault_layer, retry_of, tools_offered"
    assert ask(store, f"SELECT {columns}, definition_origin FROM tool_calls ORDER BY step") == [
        ("read", None, None, "syntax", None, False, None),
        ("read", "read<|channel|>json", None, "syntax", "s-1-0", False, None),
    ]
    turns = "SELECT results_expected, begun, first_step, derived_reason FROM turns"
    assert ask(store, turns) == [(True, True, 0, "chain_abandoned")]

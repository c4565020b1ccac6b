"""Measures how many stored calls per second a replay parses again, on one core, on a generated store."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.dashboard.made_store import make
from callgauge.analysis.metrics import answer_metric, read_batches
from callgauge.analysis.metrics.published_store import Connection, open_generation
from callgauge.analysis.replay.replay_calls import CallReplay, StoredCall, restore_definition
from callgauge.analysis.replay.scenarios import STORED, Scenario
from callgauge.analysis.replay.tally import ReplayTally
from lenient import ToolDefinition

PROMISED = 10_000  # calls per second
EDITED = (
    '{"name": "read_file", "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}}}'
)
SCENARIOS = {
    "nothing changed": Scenario(),
    "policy strict": Scenario(policy="strict"),
    "definition edited": Scenario(edited=EDITED),
    "against the store": Scenario(before=STORED),
}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev bench replay", description=__doc__)
    parser.add_argument("--calls", type=int, default=500_000, help="how many calls the store holds")
    parser.add_argument("--store", type=Path, help="a folder with a store, used as it is")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="callgauge-bench-") as folder:
        store = options.store or Path(folder)
        if not (store / "CURRENT").exists():
            make(store / "gen-000001.duckdb", options.calls)
        print(f"{'replay':20} {'calls':>10} {'calls/s':>10}  of {PROMISED:,} promised")
        for name, calls, seconds in measured(store):
            rate = calls / seconds
            print(f"{name:20} {calls:10,} {rate:10,.0f}  {rate / PROMISED:.1f}×")
    return 0


def measured(store: Path) -> Iterator[tuple[str, int, float]]:
    """Yield the scenario, the number of calls and the CPU seconds."""
    path = store / (store / "CURRENT").read_text(encoding="utf-8").strip()
    with open_generation(path, texts=True) as connection:
        for name, scenario in SCENARIOS.items():
            started = time.process_time()
            calls = _replayed(connection, scenario)
            yield name, calls, time.process_time() - started


def _replayed(connection: Connection, scenario: Scenario) -> int:
    def find(definition_id: str) -> ToolDefinition | None:
        rows = answer_metric(connection, "replayed_definition", {"definition": definition_id}).to_dict(
            "records"
        )
        return restore_definition(rows)

    replay, tally = CallReplay(scenario, find), ReplayTally()
    for rows in read_batches(connection, "replayed_calls", {"stored": scenario.before == STORED}, 1_000):
        for row in rows:
            tally.take(replay.replay_call(StoredCall(*row)))
    tally.summary()
    return tally.calls

"""Tests that metrics count trials only if a trial run or a variant is selected."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.metrics import answer_metric, metrics
from callgauge.analysis.metrics.published_store import Connection, open_generation, published_generation
from callgauge.analysis.queries import queries
from callgauge.cli.render.loads import describe_store_rates
from ingest.pipeline.load import load
from tests.store.made_runs import RUN, offered, write_run
from tests.store.night import claude_code_session, session

_OF_TRIALS = re.compile(
    r"\b(?:FROM|JOIN)\s+(daily_\w+|task_trials|tool_calls|turns|sessions|probes)\b", re.IGNORECASE
)
# These metrics take the id of a session, turn or call. The id may be that of a trial.
BY_ID = {
    "call", "call_neighbours", "chain_calls", "id_find", "messages_so_far", "sequence_calls", "session",
    "session_find", "session_kin", "session_outline", "session_turns", "step_calls", "step_words",
    "session_definitions", "testset_calls", "testset_steps", "turn_answers", "turn_calls", "turn_texts",
}  # fmt: skip
# These metrics list tables or loads, and also the loads of trial runs.
OF_FILES = {
    "absent_sources", "files", "foreign_files", "last_load", "loads", "rejected_files", "rejects",
    "rejects_by_code", "store_columns", "store_tables", "call_findings", "replayed_definition",
    "version_text", "loaded_runs",
}  # fmt: skip
PAGE = {"limit": 1000, "offset": 0}
ASKED: Mapping[str, Mapping[str, Any]] = {
    "breakdown": {"rates": list(RATES), "dimensions": ["model", "tool", "prompt"], "by": "source"},
    "definitions": {"tools": ["read"]},
    "parameter_values": {"tools": ["read"], "parameter": ""},
    "new_errors": {"newest": date(2026, 11, 14), "least_days": 3},
    "pass_k": {"measure": "recorded_ok"},
    "returned_errors": {"signatures": ["216bcf6323af"], "fixed_days": [date(2026, 11, 12)]},
    "session_counts": {"rate": "parse_error"},
    "shared_tasks": {"measure": "parse_error"},
    "signature_use": {"signature": "216bcf6323af"},
    "slice_views": {
        "views": json.dumps(
            [{"view": 0, "rates": list(RATES), "by": "model"}, {"view": 1, "rates": ["retried"]}]
        )
    },
    "slices": {"rates": list(RATES), "by": "model", "also": "day"},
    "strata": {"rates": list(RATES), "by": "model", "first": "tool", "second": "prompt", "third": "strategy"},
    "versions": {"kind": "prompt", "name": "agent"},
}
OF_RUNS = {
    "trial_conditions", "trial_differences", "trial_looks", "trial_probes", "trial_results", "trial_runs",
    "trials_left_out",
}  # fmt: skip
PARTS = sorted(set(metrics()) - BY_ID - OF_FILES - OF_RUNS)


def night(logs: Path) -> None:
    """Write the logs of two weeks, in which a prompt and a tool change, a new error appears, and a source
    stops.
    """
    for day in range(1, 15):
        texts = [nightly(f"{day}-{n}", day) for n in range(4)]
        if day == 3:
            start, rest = texts[0].split("\n", 1)
            texts[0] = f"{start}\n" + rest.replace('"read"', '"raed"')
        (logs / f"{day}.jsonl").write_text("".join(texts))
        if day < 9:
            text = claude_code_session(f"c{day}").replace("2026-11-01", f"2026-11-{day:02}")
            (logs / f"claude-{day}.jsonl").write_text(text)
    shutil.copy(logs / "1.jsonl", logs / "again.jsonl")
    with (logs / "again.jsonl").open("a") as stream:
        stream.write(nightly("other", 2))


def nightly(name: str, day: int) -> str:
    raw = '{"path": "a.py"}' if day < 13 else "]"
    start, *lines = map(json.loads, session(name, day=day, raw=raw).splitlines())
    half = 1 if day < 8 else 2
    start["meta"] |= {"model": "heron-2", "prompt": {"name": "agent", "version": str(half)}}
    start["meta"] |= {
        "tools": [offered(f"Reads a file, as of {half}.")],
        "probe": {"ok": True, "id": f"p{day}"},
    }
    for line in lines:
        if line["type"] == "action":
            (block,) = line["meta"]["toolBlocks"]
            line["meta"]["toolBlocks"].append(block | {"id": f"{block['id']}-beside"})
        elif line["type"] == "turn_start":
            line["content"] = "What is in the file? " * 4
    return "".join(json.dumps(line) + "\n" for line in (start, *lines))


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return three stores: without trials, with only a trial run, and with logs and a trial run."""
    base = tmp_path_factory.mktemp("apart")
    nights, runs = base / "nights", base / "runs"
    nights.mkdir()
    night(nights)
    write_run(runs)
    made = {name: base / f"store-{name}" for name in ("nights", "runs", "both")}
    load([nights], made["nights"])
    load([runs], made["runs"])
    load([nights], made["both"])
    load([runs], made["both"])
    return made


def opened(store: Path) -> Connection:
    return open_generation(published_generation(str(store)), texts=True)


def rows(store: Path, metric: str, **parameters: Any) -> list[str]:
    """Return a result's rows as a string, without file numbers, which depend on the order of loads."""
    with opened(store) as connection:
        rows_of_metric = answer_metric(connection, metric, {**PAGE, **ASKED.get(metric, {}), **parameters})
    kept = [name for name in rows_of_metric.columns if name != "file_id"]
    return sorted(
        json.dumps([str(value) for value in row]) for row in rows_of_metric[kept].itertuples(index=False)
    )


def test_every_metric_that_reads_sums_or_facts_takes_runs_and_arms() -> None:
    for name, metric in metrics().items():
        if _OF_TRIALS.search(metric.sql) and name not in BY_ID | OF_RUNS | {"loaded_runs"}:
            assert {"runs", "arms"} <= metric.parameters or {"a_runs", "b_arms"} <= metric.parameters, name


@pytest.mark.thorough(quick=3)
@pytest.mark.parametrize("metric", PARTS)
def test_no_answer_changes_when_a_run_is_loaded(stores: dict[str, Path], metric: str) -> None:
    before, after = rows(stores["nights"], metric), rows(stores["both"], metric)
    if metric == "choices":
        after = [row for row in after if json.loads(row)[0] not in ("run", "arm")]
    assert after == before
    assert before or metric in SILENT


@pytest.mark.parametrize("name", queries())
def test_no_query_of_the_sql_page_counts_a_trial(stores: dict[str, Path], name: str) -> None:
    answers = []
    for store in ("nights", "both"):
        with opened(stores[store]) as connection:
            answers.append(sorted(map(str, connection.execute(queries()[name].sql).fetchall())))
    assert answers[0] == answers[1]


SILENT = {"failure_envelopes", "redacted_arguments", "session_runs", "worst_parameters"}


@pytest.mark.thorough(quick=10)
@pytest.mark.parametrize("metric", PARTS)
def test_with_the_run_chosen_the_nights_do_not_count(stores: dict[str, Path], metric: str) -> None:
    chosen = {f"{prefix}runs": [RUN] for prefix in ("", "a_", "b_")}
    alone, both = (rows(stores[name], metric, **chosen) for name in ("runs", "both"))
    assert both == alone


@pytest.mark.thorough(quick=10)
@pytest.mark.parametrize("metric", PARTS)
def test_a_store_of_trials_alone_counts_nothing(stores: dict[str, Path], metric: str) -> None:
    counted = rows(stores["runs"], metric)
    numbers = {value for row in counted for value in json.loads(row) if value.isdigit()}
    assert metric == "choices" or numbers <= {"0"}, counted


def test_an_arm_alone_is_counted_without_naming_its_run(stores: dict[str, Path]) -> None:
    parameters: dict[str, Any] = {"rates": ["parse_error"], "by": "arm"}
    with opened(stores["both"]) as connection:
        rows_of_arm = answer_metric(connection, "slices", parameters | {"arms": ["old"]})
        assert rows_of_arm[["slice", "k", "total"]].to_dict("records") == [
            {"slice": "old", "k": 6, "total": 6}
        ]
        rows_of_arm = answer_metric(connection, "slices", parameters | {"runs": [RUN]})
        assert rows_of_arm[["slice", "k", "total"]].to_dict("records") == [
            {"slice": "new", "k": 0, "total": 6},
            {"slice": "old", "k": 6, "total": 6},
        ]
        assert answer_metric(connection, "slices", parameters | {"runs": ["another"]}).empty


def test_the_rates_that_a_load_prints_leave_trials_out(stores: dict[str, Path]) -> None:
    assert describe_store_rates(stores["both"]) == describe_store_rates(stores["nights"]) != []
    assert describe_store_rates(stores["runs"]) == []

"""Tests that every metric gives the same rows whether or not the sums of old months are in separate files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from callgauge.analysis.measures.rates import LEADING
from callgauge.analysis.metrics import DaysUsed, MetricError, adds_up_months, answer_metric, metrics
from callgauge.analysis.metrics.published_store import Connection, open_generation, published_generation
from callgauge.analysis.metrics.slice_views import ask_views
from ingest.pipeline.load import load
from ingest.store import building_months, segments
from tests.analysis.test_trials_kept_apart import ASKED, PAGE, nightly
from tests.store.made_runs import RUN, write_run
from tests.store.night import ask
from tests.store.sealed_months import in_month, seal_months

_SUMS = [name for name, metric in metrics().items() if "daily_" in metric.sql or "task_trials" in metric.sql]
RANGES: Mapping[str, dict[str, Any]] = {
    "all days": {},
    "whole months": {"from_day": date(2026, 8, 1), "to_day": date(2026, 9, 30)},
    "cut months": {"from_day": date(2026, 8, 5), "to_day": date(2026, 10, 8)},
    "from a day on": {"from_day": date(2026, 9, 10)},
    "until a day": {"to_day": date(2026, 9, 10)},
    "one day": {"from_day": date(2026, 8, 2), "to_day": date(2026, 8, 2)},
    "no month": {"from_day": date(2026, 11, 2)},
    "before all": {"to_day": date(2026, 1, 1)},
}
_PRICES = json.dumps(
    [
        {"model": "heron-2", "from_day": start, "to_day": end, "input": price, "cached_input": price / 2}
        | {"cache_write": 2 * price, "output": 3 * price}
        for start, end, price in (("2026-01-01", "2026-08-05", 1.0), ("2026-08-05", None, 2.5))
    ]
)
_DIMENSIONS = (
    "model", "provider", "prompt", "prompt_name", "tool", "definition", "strategy", "source",
    "harness_version", "day",
)  # fmt: skip


TURN = '{"ts": "2026-11-09T10:00:00.000Z", "sessionId": "long", "turn": 2'


def months_of_nights(logs: Path) -> None:
    """Write the logs of five months, on up to ten days of each month.

    Each month has different tools, and one session starts in one month and ends in the next.
    """
    for month in range(7, 12):
        for day in range(1, 11):
            if (month + day) % 4:
                text = nightly(f"{month}-{day}", day) + nightly(f"{month}-{day}-too", day)
                text = text.replace('"read"', f'"read{month % 2}"') if day % 3 else text
                text = text.replace('"a.py"', "'a.py'") if day == 7 else text
                text = text.replace('{\\"path\\": \\"a.py\\"}', "]") if day == 6 else text
                if day == 3:
                    start, rest = text.split("\n", 1)
                    text = f"{start}\n" + rest.replace('"read"', '"raed"')
                (logs / f"{month}-{day}.jsonl").write_text(in_month(text, month))
    first, rest = nightly("long", 9).split(TURN, 1)
    (logs / "long.jsonl").write_text(in_month(first, 8) + in_month(TURN + rest, 9))
    (logs / "dayless.jsonl").write_text(nightly("dayless", 1).replace("2026-11-01T10:00:00.000Z", "never"))


Stores = Mapping[tuple[str, bool], Connection]
"""Maps the kind of store (whole or sealed), and whether content is visible, to a connection."""


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stores]:
    base = tmp_path_factory.mktemp("months")
    logs, runs = base / "logs", base / "runs"
    logs.mkdir()
    months_of_nights(logs)
    write_run(runs)
    load([logs, runs], base / "whole")
    with pytest.MonkeyPatch.context() as patched:
        seal_months(patched)
        patched.setattr(building_months, "KEPT_OPEN", timedelta(0))
        load([logs, runs], base / "sealed")
    assert ask(base / "sealed", "SELECT month(month) FROM segments ORDER BY month") == [
        (7,),
        (8,),
        (9,),
        (10,),
    ]
    opened = {
        (name, texts): open_generation(published_generation(str(base / name)), texts=texts)
        for name in ("whole", "sealed")
        for texts in (True, False)
    }
    yield opened
    for connection in opened.values():
        connection.close()


def _questions(name: str, signature: str) -> Iterator[dict[str, Any]]:
    """Yield sets of parameters for a metric: all ranges of days, and all dimensions of the metric."""
    parameters = metrics()[name].parameters
    values = {**PAGE, **ASKED.get(name, {}), "prices": _PRICES, "newest": date(2026, 11, 10)}
    values |= {"signature": signature} if name == "signature_use" else {}
    values |= (
        {"signatures": [signature], "fixed_days": [date(2026, 8, 2)]} if name == "returned_errors" else {}
    )
    values = {key: value for key, value in values.items() if key in parameters}
    for days in RANGES.values():
        yield values | {f"{prefix}{key}": day for key, day in days.items() for prefix in ("", "a_", "b_")}
    days = RANGES["cut months"]
    for dimension in _DIMENSIONS if "by" in parameters else ():
        yield values | days | {"by": dimension}
    if {"by", "first"} <= parameters:
        yield values | days | {"by": "model", "first": "day"}
    if "tools" in parameters:
        yield values | days | {"tools": ["read", "read1"]}
    if "runs" in parameters:
        yield values | {"runs": [RUN]}


def _rows(connection: Connection, name: str, parameters: Mapping[str, Any]) -> list[str]:
    rows = answer_metric(connection, name, parameters).drop(columns="loaded_at", errors="ignore")
    return [str([_plain(value) for value in row]) for row in rows.itertuples(index=False)]


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 9)  # DuckDB may add floats in any order, so the last digits differ
    return [_plain(item) for item in value.to_pylist()] if hasattr(value, "to_pylist") else value


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("name", _SUMS)
def test_a_metric_gives_the_same_rows_from_months(stores: Stores, name: str) -> None:
    """Test all ranges of days with visible content, but only the first three with hidden content."""
    ((signature,),) = stores["whole", True].execute("SELECT min(signature_id) FROM signatures").fetchall()
    answers = 0
    for number, parameters in enumerate(_questions(name, signature)):
        for texts in (True, False) if number < 3 else (True,):
            expected = _rows(stores["whole", texts], name, parameters)
            assert _rows(stores["sealed", texts], name, parameters) == expected, (parameters, texts)
            answers += len(expected)
    assert answers or name in {"new_errors", "silent_sources"}


@pytest.mark.parametrize(
    ("also", "parts"),
    [
        (None, ["daily_rates_0", "daily_rates_2", "monthly_rates_3", "daily_rates_4"]),
        ("day", ["daily_rates_0", "daily_rates_2", "daily_rates_3", "daily_rates_4"]),
    ],
)
def test_what_adds_up_days_reads_the_sums_of_whole_months(
    stores: Stores, monkeypatch: pytest.MonkeyPatch, also: str | None, parts: list[str]
) -> None:
    seen: list[str] = []

    def see(names: Iterable[str]) -> str:
        seen.extend(names)
        return "FROM parts.daily_rates_0"

    monkeypatch.setattr(segments, "_union_views", see)
    parameters = {"rates": ["parse_error"], "also": also, **RANGES["cut months"]}
    answer_metric(stores["sealed", True], "slices", parameters)
    # For these metrics, the query reads monthly sums, and also reads counts of single days from the month
    # files.
    daily = [] if also else [part.replace("monthly", "daily") for part in parts]
    assert seen == [f"parts.{part}" for part in [*parts, *daily]]


@pytest.mark.parametrize("tools", [None, ["read", "read1"]])
def test_one_query_answers_several_queries_of_slices(stores: Stores, tools: list[str] | None) -> None:
    connection = stores["sealed", True]
    queries: list[dict[str, Any]] = [
        {"rates": list(LEADING), "by": "model", "tools": tools, "from_day": None, "to_day": None},
        {"rates": ["parse_error"], "by": "tool", "also": "day", "tools": tools, **RANGES["cut months"]},
        {"rates": ["retried"], "tools": tools, **RANGES["whole months"]},
    ]
    together = ask_views(lambda name, **parameters: answer_metric(connection, name, parameters), queries)
    for query, rows in zip(queries, together, strict=True):
        expected = answer_metric(connection, "slices", query)
        assert len(expected)
        assert rows.astype(str).values.tolist() == expected.astype(str).values.tolist()


def test_only_queries_of_whole_months_read_monthly_sums(stores: Stores) -> None:
    expected = {"all days", "whole months", "cut months", "from a day on", "until a day"}
    ranges = {name: (days.get("from_day"), days.get("to_day")) for name, days in RANGES.items()}
    assert {
        name for name, days in ranges.items() if adds_up_months(stores["sealed", True], *days)
    } == expected
    assert not any(adds_up_months(stores["whole", True], *days) for days in ranges.values())


def test_costs_are_read_by_the_day_in_months_in_which_a_price_changes(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def see(names: Iterable[str]) -> str:
        seen.extend(name.removeprefix("parts.") for name in names)
        return "FROM parts.daily_tokens_0"

    monkeypatch.setattr(segments, "_union_views", see)
    with suppress(MetricError):
        answer_metric(stores["sealed", True], "costs", {"prices": _PRICES})
    tokens = [name for name in seen if "tokens" in name]
    assert tokens == [
        "daily_tokens_0", "monthly_tokens_1", "daily_tokens_2", "monthly_tokens_3", "monthly_tokens_4",
    ]  # fmt: skip


def test_metrics_that_filter_days_say_how_they_use_them() -> None:
    """A metric that uses daily sums without a field `days:` reads the sums of all days on purpose."""
    ranged = {name for name in _SUMS if {"from_day", "a_from_day"} & metrics()[name].parameters}
    silent = {name for name in ranged if metrics()[name].days is DaysUsed.ALL}
    assert silent == {"definitions", "invented_tools", "shared_tasks", "signatures"}

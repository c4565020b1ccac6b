"""The Prometheus metrics of a store: its newest load, and the calls and rates of each model.

All metrics are gauges, because retention and `callgauge forget` remove calls. The most used models have their
own series, and all other models share one series.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING, Any

from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from callgauge.analysis.measures.rates import HEADLINES, RATES
from callgauge.analysis.metrics.published_store import StoreReader
from ingest.time_ranges import TimeRange

if TYPE_CHECKING:
    import pandas as pd

MOST_MODELS = 20
OTHER = "other"
SPANS = (1, 7, 28)
"""The lengths of the spans in days. Each span ends on the newest day with data."""
WATCHED = (*HEADLINES, "emission", "tool_rejected", "execution")
"""The rates that have a metric."""
_LONGEST = 100  # A label has at most this many characters.
_MOST_CODES = 50  # A load distinguishes fewer reasons than this limit.


def collect_store_figures(store: StoreReader, today: date) -> Iterator[Metric]:
    """Yield the metrics of a published store file. Raises MetricError."""
    yield from _collect_load(store)
    newest = store.ask("extent")["last_day"].iloc[0]
    if newest is None:
        return
    yield _gauge(
        "newest_day_timestamp_seconds", "The newest day with calls or turns, its midnight UTC.", newest
    )
    yield from _collect_spans(store, newest, today)
    silent = GaugeMetricFamily(
        "callgauge_format_silent_days",
        "Days without data of a log format that came more often before; only those that are silent.",
        labels=["format"],
    )
    silent_sources = store.ask("silent_sources")
    for source, days in zip(silent_sources["source"], silent_sources["silent_days"], strict=True):
        silent.add_metric([clean_label(source)], days)
    yield silent


def clean_label(text: str) -> str:
    """Return log content as a label with only printable characters and a maximum length."""
    shown = "".join(character if character.isprintable() else "\ufffd" for character in text[: _LONGEST + 1])
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"


def _collect_load(store: StoreReader) -> Iterator[Metric]:
    state = store.ask("last_load").iloc[0]
    yield _gauge("newest_data_timestamp_seconds", "The time of the newest turn.", state.newest)
    files = {"loaded": state.files, "rejected": state.rejected_files, "foreign": state.foreign_files}
    yield _labelled("store_files", "Files of the store: in it, of no use, or no logs at all.", "state", files)
    yield _gauge("store_lines", "Lines of the files that are in.", state.lines)
    yield _gauge("store_lines_left_out", "Files with unreadable lines.", state.lines_left_out)
    yield _gauge("store_calls", "Tool calls that the pages count.", state.calls)
    yield _gauge("store_copies", "Copies of calls in a second file; they count once.", state.copies)
    codes = store.ask("rejects_by_code").head(_MOST_CODES)
    rejects = {
        clean_label(str(code)): lines for code, lines in zip(codes["code"], codes["lines"], strict=True)
    }
    yield _labelled("store_rejects", "Lines, or values of a line, that could not be used.", "code", rejects)
    loads = store.ask("loads")
    if loads.empty:
        return
    load = loads.iloc[0]
    yield _gauge(
        "last_load_timestamp_seconds", "When the newest load that changed the store ended.", load.finished_at
    )
    if load.finished_at and load.started_at:
        seconds = (load.finished_at - load.started_at).total_seconds()
        yield _gauge("last_load_duration_seconds", "How long it took.", seconds)
    files = {"loaded": load.files_loaded, "unchanged": load.files_unchanged, "rejected": load.files_rejected}
    yield _labelled("last_load_files", "Files that it met.", "state", files)
    yield _gauge("last_load_bytes", "Bytes that it read.", load.bytes)
    yield _gauge("last_load_lines", "Lines that it read.", load.lines)
    yield _gauge("last_load_calls", "Tool calls that it found.", load.calls)
    yield _gauge("last_load_rejects", "Lines, or values of a line, that it could not use.", load.rejects)


def _collect_spans(store: StoreReader, newest: date, today: date) -> Iterator[Metric]:
    calls = GaugeMetricFamily(
        "callgauge_calls",
        "Tool calls by outcome, within the newest days with data.",
        labels=["model", "days", "outcome"],
    )
    parts = {
        part: GaugeMetricFamily(
            f"callgauge_rate_{part}",
            f"{meaning}, within the newest days with data. Rates: "
            + "; ".join(f"{name} = {RATES[name].title.lower()}, of {RATES[name].noun}s" for name in WATCHED),
            labels=["rate", "model", "days"],
        )
        for part, meaning in (
            ("numerator", "Numerator of a rate: calls, retry sequences or turns"),
            ("denominator", "Denominator of a rate: measured calls, retry sequences or turns"),
            (
                "unmeasured",
                "Calls, retry sequences or turns that were not measured; in neither number of the rate",
            ),
        )
    }
    models = _find_models(store, newest, today)
    for length in SPANS:
        within = _find_days(length, newest, today)
        counts = store.ask("outcomes", by="model", **within)
        for (model, outcome), (number,) in _sum(counts, models, "outcome", ("calls",)).items():
            calls.add_metric([model, str(length), outcome], number)
        rates = store.ask("slices", rates=WATCHED, by="model", **within)
        for (model, rate), (k, n, total) in _sum(rates, models, "rate", ("k", "n", "total")).items():
            for part, number in (("numerator", k), ("denominator", n), ("unmeasured", total - n)):
                parts[part].add_metric([rate, model, str(length)], number)
    yield calls
    yield from parts.values()


def _find_days(length: int, newest: date, today: date) -> dict[str, date]:
    days = TimeRange(length).resolve(newest, today)
    return dict(zip(("from_day", "to_day"), days, strict=True)) if days else {}


def _find_models(store: StoreReader, newest: date, today: date) -> frozenset[str]:
    counts = store.ask("slices", rates=("emission",), by="model", **_find_days(max(SPANS), newest, today))
    ranked = counts.sort_values(["total", "slice"], ascending=[False, True])
    return frozenset(ranked["slice"].head(MOST_MODELS))


def _sum(
    rows: pd.DataFrame, models: frozenset[str], key: str, columns: tuple[str, ...]
) -> Mapping[tuple[str, str], list[int]]:
    """Return the sum of each column for each pair of model label and `key`."""
    sums: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0] * len(columns))
    for model, name, *numbers in rows[["slice", key, *columns]].itertuples(index=False):
        label = clean_label(model) if model in models else OTHER
        sums[label, name] = [total + more for total, more in zip(sums[label, name], numbers, strict=True)]
    return sums


def _gauge(name: str, meaning: str, value: Any) -> Metric:
    family = GaugeMetricFamily(f"callgauge_{name}", meaning)
    if value is not None:
        family.add_metric([], to_seconds(value) if isinstance(value, date) else float(value))
    return family


def _labelled(name: str, meaning: str, label: str, values: Mapping[str, Any]) -> Metric:
    family = GaugeMetricFamily(f"callgauge_{name}", meaning, labels=[label])
    for key, value in values.items():
        if value is not None:
            family.add_metric([key], value)
    return family


def to_seconds(moment: date) -> float:
    """Return a day or a time as seconds since 1970. A time without a time zone is in UTC."""
    instant = moment if isinstance(moment, datetime) else datetime.combine(moment, time())
    return (instant if instant.tzinfo else instant.replace(tzinfo=UTC)).timestamp()

"""Tests that load reports and Prometheus metrics have the same rates as the Overview."""

from __future__ import annotations

from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from callgauge.analysis.measures.rates import HEADLINES, RATES
from callgauge.cli.render.loads import describe_store_rates, load_report
from callgauge.monitoring.exposition import StoreFigures
from ingest.pipeline.load import load
from tests.analysis.store_fixture import a_call, publish
from tests.dashboard.conftest import opened, page_text

LOGS = Path(__file__).parents[2] / "sample_data" / "logs"
OVERVIEW = "callgauge/dashboard/pages/overview/page.py"

SHOWN = [name for name in HEADLINES if name != "mended"]


@pytest.fixture
def sample(store: Path) -> str:
    """Load the sample, and return the report that `callgauge ingest` prints on a terminal."""
    report = load([LOGS], store)
    return load_report(report, store, describe_store_rates(store))


@pytest.mark.thorough
def test_the_report_of_the_sample_says_what_the_overview_says(sample: str, store: Path) -> None:
    assert "rejected" not in sample
    rates = describe_store_rates(store)
    page = opened(OVERVIEW, days="all")
    captions = [caption.value for caption in page.caption]
    shown = {metric.label: metric.value for metric in page.metric}
    assert [title for title, _ in rates] == [RATES[name].title.lower() for name in HEADLINES]
    width = max(len(title) for title, _ in rates)
    for name, (title, figures) in zip(HEADLINES, rates, strict=True):
        assert f"{title:{width}}  {figures}" in sample
        if name not in SHOWN:
            continue
        k, n = figures.split(" (")[0].replace(" calls", "").replace(" turns", "").split(" of ")
        assert f"({shown[RATES[name].title]})" in figures
        assert any(caption.startswith(f"{k} / {n} ") for caption in captions), figures
        measured = figures.split("measured on ")[1].split(" ")[0]
        assert measured == "all" or f"{measured} measured" in page_text(page), "how much could be measured"
    assert_prometheus_reads_what_the_overview_shows(store)


def assert_prometheus_reads_what_the_overview_shows(store: Path) -> None:
    text, _ = StoreFigures(store).write()
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    for days in ("1", "7", "28"):
        captions = [caption.value for caption in opened(OVERVIEW, days=f"{days} days").caption]
        for rate in SHOWN:
            k, n = (
                sum(
                    sample.value
                    for sample in samples
                    if sample.name == f"callgauge_rate_{part}"
                    and (sample.labels["rate"], sample.labels["days"]) == (rate, days)
                )
                for part in ("numerator", "denominator")
            )
            assert any(caption.startswith(f"{k:,.0f} / {n:,.0f} ") for caption in captions), (days, rate)


def test_a_rate_of_which_nothing_is_known_is_left_out(store: Path) -> None:
    publish(store, {"tool_calls": [a_call(1)]})
    rates = dict(describe_store_rates(store))
    assert "parse errors" in rates
    assert "turn success" not in rates

"""Tests that Plotly figures contain plain data and a description."""

from __future__ import annotations

from callgauge.dashboard.charts import draw_flow


def test_a_flow_leads_from_the_outcomes_before_to_those_after() -> None:
    figure = draw_flow([("coerced", "clean", 5), ("coerced", "failed", 2), ("repaired", "failed", 1)])
    (trace,) = figure["data"]
    assert trace["node"]["label"] == ["coerced −7", "repaired −1", "clean +5", "failed +3"]
    assert list(
        zip(trace["link"]["source"], trace["link"]["target"], trace["link"]["value"], strict=True)
    ) == [
        (0, 2, 5),
        (0, 3, 2),
        (1, 3, 1),
    ]

"""Builds Plotly figures as plain dicts, because building graph objects takes longer than the queries.

Colours are Streamlit's placeholders for the series colours of the theme, so a figure works in light and dark
themes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from callgauge.analysis import wording

Figure = dict[str, Any]

# The frontend replaces #000001 to #00000a with chartCategoricalColors, in order.
SERIES = tuple(f"#00000{number}" for number in range(1, 7))
_OUTCOMES = {"clean": SERIES[2], "coerced": SERIES[0], "repaired": SERIES[4], "failed": SERIES[1]}
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "solid")
# These greys have enough contrast in light and dark themes (3.9 : 1 and 4.7 : 1).
_MARK = "rgba(128,128,128,0.9)"
CONFIG = {
    "displayModeBar": True,
    "displaylogo": False,
    "modeBarButtons": [["toImage"]],
    "toImageButtonOptions": {"format": "png", "filename": "callgauge_chart", "scale": 2},
    "responsive": True,
}


def draw_flow(moved: Sequence[tuple[str, str, int]]) -> Figure:
    """Return a flow diagram of tool calls.

    Each entry of `moved` is (outcome before, outcome after, number of calls).
    """
    left = list(dict.fromkeys(before for before, _, _ in moved))
    right = list(dict.fromkeys(after for _, after, _ in moved))
    lost, won = Counter[str](), Counter[str]()
    for before, after, calls in moved:
        lost[before] += calls
        won[after] += calls
    labels = [f"{wording.outcome(name)} −{lost[name]:,}" for name in left]
    labels += [f"{wording.outcome(name)} +{won[name]:,}" for name in right]
    link = {
        "source": [left.index(before) for before, _, _ in moved],
        "target": [len(left) + right.index(after) for _, after, _ in moved],
        "value": [calls for _, _, calls in moved],
        "label": [f"{wording.outcome(before)} → {wording.outcome(after)}" for before, after, _ in moved],
        "color": "rgba(128,128,128,0.35)",
        "hovertemplate": "%{label}: %{value:,}<extra></extra>",
    }
    node = {
        "label": [wording.in_figure(label) for label in labels],
        "color": [_OUTCOMES.get(name, _MARK) for name in [*left, *right]],
        "hovertemplate": "%{label}<extra></extra>",
        "pad": 18,
        "thickness": 14,
        "line": {"width": 0},
    }
    trace: Figure = {"type": "sankey", "node": node, "link": link, "arrangement": "fixed"}
    height = 90 + 60 * max(len(left), len(right))
    drawn = layout(height=height, margin={"l": 4, "r": 4, "t": 10, "b": 14}) | {"font": {"size": 13}}
    return {"data": [trace], "layout": drawn}


def layout(*, height: int, margin: Mapping[str, int]) -> Figure:
    return {"height": height, "margin": dict(margin), "dragmode": False, "uirevision": "kept"}

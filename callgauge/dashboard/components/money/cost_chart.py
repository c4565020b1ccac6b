"""Draws a chart of cost per turn against turn success, with one point per model."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from callgauge.analysis import wording
from callgauge.analysis.measures.costs import MeanCost
from callgauge.dashboard.charts import SERIES, Figure, layout
from callgauge.stats import ENOUGH, Share

_GREY = "rgba(128,128,128,0.9)"
_APART = 8  # ratio of the highest to the lowest cost above which the cost axis is logarithmic
_LABELLED = 12  # maximum number of points with a label


@dataclass(frozen=True, slots=True)
class CostPoint:
    """One model in the chart, with its cost per turn and its turn success."""

    name: str
    cost: MeanCost
    success: Share

    @property
    def rate(self) -> float:
        return self.success.rate or 0.0

    @property
    def is_solid(self) -> bool:
        """True when cost and success both have enough data.

        The cost needs 30 turns and an interval, and the success needs ten sessions.
        """
        return self.success.has_enough and self.cost.turns >= ENOUGH and self.cost.interval is not None


def find_front(points: Sequence[CostPoint]) -> list[CostPoint]:
    """Return the Pareto front, cheapest point first.

    For each point of the front, no other point succeeds more often at the same or a lower cost.
    """
    front: list[CostPoint] = []
    for point in sorted(points, key=lambda point: (point.cost.amount, -point.rate)):
        if not front or point.rate > front[-1].rate:
            front.append(point)
    return front


def draw_cost_chart(
    points: Sequence[CostPoint], front: Collection[CostPoint], currency: str, rate: str
) -> Figure:
    """Return a Plotly figure. `front` holds the points to mark. `rate` is the title of the rate."""
    amounts = [point.cost.amount for point in points]
    is_log = min(amounts) > 0 and max(amounts) > _APART * min(amounts)
    named = {
        point.name for point in [*front, *sorted(points, key=lambda point: -point.success.n)][:_LABELLED]
    }
    middle = math.sqrt(min(amounts) * max(amounts)) if is_log else (min(amounts) + max(amounts)) / 2
    others = [point for point in points if point not in front]
    traces = [
        _draw_front(list(front)),
        _draw_points("Pareto front", list(front), SERIES[0], named, currency, middle),
        _draw_points("Others", others, _GREY, named, currency, middle),
    ]
    drawn = layout(height=420, margin={"l": 60, "r": 24, "t": 16, "b": 56}) | {
        "hovermode": "closest",
        "showlegend": True,
        "legend": {"orientation": "h", "x": 0.94, "xanchor": "right", "y": 1.02, "yanchor": "bottom"},
        "xaxis": _money_axis(points, currency, is_log=is_log),
        "yaxis": _rate_axis(points, rate),
    }
    return {"data": [trace for trace in traces if trace["x"]], "layout": drawn}


def _draw_front(front: Sequence[CostPoint]) -> Figure:
    """Return the step line through the Pareto front: the best success rate up to each cost."""
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [point.cost.amount for point in front],
        "y": [point.rate for point in front],
        "line": {"shape": "hv", "color": SERIES[0], "width": 1, "dash": "dot"},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _draw_points(
    title: str, points: Sequence[CostPoint], colour: str, named: Collection[str], currency: str, middle: float
) -> Figure:
    """Return the points as a Plotly trace. Points that cost more than `middle` have labels on the left."""
    return {
        "type": "scatter",
        "mode": "markers+text",
        "cliponaxis": False,
        "name": title,
        "x": [point.cost.amount for point in points],
        "y": [point.rate for point in points],
        "text": [wording.in_figure(point.name) if point.name in named else "" for point in points],
        "textposition": ["top left" if point.cost.amount > middle else "top right" for point in points],
        "textfont": {"size": 12},
        "marker": {
            "color": colour,
            "size": 10,
        },
        "error_x": _whiskers([_money_reach(point) for point in points], colour),
        "error_y": _whiskers([_rate_reach(point) for point in points], colour),
        "customdata": [_hover_text(point, currency) for point in points],
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _money_reach(point: CostPoint) -> tuple[float, float]:
    bounds, amount = point.cost.interval, point.cost.amount
    return (amount - bounds.low, bounds.high - amount) if bounds else (0.0, 0.0)


def _rate_reach(point: CostPoint) -> tuple[float, float]:
    bounds = point.success.interval
    return (point.rate - bounds.low, bounds.high - point.rate) if bounds else (0.0, 0.0)


def _whiskers(reaches: Sequence[tuple[float, float]], colour: str) -> Figure:
    return {
        "type": "data",
        "symmetric": False,
        "arrayminus": [below for below, _ in reaches],
        "array": [above for _, above in reaches],
        "color": colour,
        "thickness": 1,
        "width": 3,
    }


def _hover_text(point: CostPoint, currency: str) -> str:
    places = wording.money_places(point.cost.amount)
    k, n = point.success.k, point.success.n
    return (
        f"{wording.in_figure(point.name)}<br>{wording.money(point.cost.amount, currency, places)} a turn"
        f"<br>{wording.rate(k, n)} turn success · {wording.fraction(k, n)}"
        f"<br>95% {wording.interval(point.success.interval)}"
    )


def _money_axis(points: Sequence[CostPoint], currency: str, *, is_log: bool) -> Figure:
    lows = [point.cost.amount - _money_reach(point)[0] for point in points]
    highs = [point.cost.amount + _money_reach(point)[1] for point in points]
    title = f"Cost per turn, {currency}{', logarithmic' if is_log else ''}"
    axis: Figure = {"title": {"text": title}, "fixedrange": True, "zeroline": False}
    if not is_log:
        return axis | {"range": [0, 1.15 * max(highs) or 1.0]}
    low, high = min(lows) / 1.6, max(highs) * 1.6
    steps = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    factors = (1,) if len(steps) > 4 else (1, 2, 5)
    ticks = [
        factor * 10.0**step for step in steps for factor in factors if low <= factor * 10.0**step <= high
    ]
    return axis | {
        "type": "log",
        "range": [math.log10(low), math.log10(high)],
        "tickvals": ticks,
        "ticktext": [f"{tick:.10f}".rstrip("0").rstrip(".") for tick in ticks],
    }


def _rate_axis(points: Sequence[CostPoint], rate: str) -> Figure:
    lowest = min(point.rate - _rate_reach(point)[0] for point in points)
    start = max(0.0, math.floor(10 * (lowest - 0.02)) / 10) if lowest > 0.3 else 0.0
    return {
        "title": {"text": rate},
        "range": [start, 1.04],
        "tickformat": ",.0%",
        "fixedrange": True,
        "zeroline": False,
        "nticks": 7,
    }

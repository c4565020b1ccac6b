"""Draws the difference at each interim analysis of a trial run, with the boundary that decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.measures.trials import (
    CoursePoint,
    RunResults,
    StoredLook,
    TrialMeasure,
    TrialRun,
)
from callgauge.analysis.verdicts import trials
from callgauge.dashboard import charts
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.chart import draw_chart
from callgauge.dashboard.components.controls.rate_choice import choose_segment

_READING = (
    "Dots: interim analyses with their intervals. A dot beyond the dashed line decides. Between analyses, "
    "read the grey interval only: it is valid at any time. In the green band a "
    "difference is too small to matter."
)
_GREY = "rgba(128,128,128,0.9)"
_SHADE = "rgba(128,128,128,0.16)"
_ALIKE = "rgba(0,150,110,0.10)"
_ROOM = 1.15  # factor by which the axis is longer than the largest drawn value
_MOST_ARMS = 8
Place = Callable[[float | None], float]


def draw_course(run: TrialRun, results: RunResults, looks: Mapping[str, Sequence[StoredLook]]) -> None:
    """Draw the difference at each interim analysis. Draw nothing for a trial run with a single variant."""
    if not run.others or not results.trials:
        return
    with cards.draw_card("Course of the difference", "trial_looks", height=420):
        names = list(run.others[:_MOST_ARMS])
        arm = names[0]
        if len(names) > 1:
            arm = choose_segment("Variant", "arm_shown", names, lambda name: wording.in_markdown(name, 40))
        points, analyses = results.follow_course(arm), looks.get(arm, ())
        if not points:
            st.caption("No difference yet: fewer than two tasks have trials of both variants.")
            return
        title = (
            f"{trials.name_arm(arm)} minus {trials.name_arm(run.reference)}: {trials.NOUNS[run.primary.name]}"
        )
        st.caption(wording.in_markdown(title, 160))
        draw_chart(
            draw_figure(run, points, analyses),
            config=charts.CONFIG,
            key="course",
            alt=f"{title}, by completed tasks, with the boundary of each interim analysis",
        )
        st.caption(_READING if analyses else f"{_READING} No interim analysis yet.")


def draw_figure(run: TrialRun, points: Sequence[CoursePoint], looks: Sequence[StoredLook]) -> charts.Figure:
    """Return a Plotly figure of the difference at each interim analysis.

    Differences of shares are in percentage points.
    """
    factor = 100.0 if run.primary.is_share else 1.0
    measured = [look for look in looks if look.estimate is not None and look.reach is not None]
    limit = factor * _choose_limit(run, points, measured)

    def place(value: float | None) -> float:
        return max(-limit, min(limit, factor * (value or 0.0)))

    x = [point.tasks for point in points]
    traces: list[charts.Figure] = [
        _line(
            [*x, *reversed(x)],
            [*(place(point.high) for point in points), *(place(point.low) for point in reversed(points))],
        )
        | {"name": "Valid at any time", "fill": "toself", "fillcolor": _SHADE, "hoverinfo": "skip"},
        _line(x, [place(point.estimate) for point in points])
        | {
            "name": "Difference so far",
            "line": {"color": charts.SERIES[0], "width": 1.8},
            "customdata": [_describe_point(run.primary, point) for point in points],
            "hovertemplate": "%{customdata}<extra></extra>",
        },
    ]
    if measured:
        traces += [_draw_boundary(measured, place, sign) for sign in (1, -1)]
        traces.append(_draw_looks(run.primary, measured, place))
    planned = max(run.tasks, x[-1])
    drawn = charts.layout(height=360, margin={"l": 56, "r": 12, "t": 16, "b": 44}) | {
        "hovermode": "closest",
        "showlegend": True,
        "legend": {"orientation": "h", "y": -0.2, "x": 0, "font": {"size": 12}},
        "xaxis": {
            "range": [0, planned * 1.02],
            "title": {"text": "Tasks with trials of both variants", "standoff": 8},
            "fixedrange": True,
            "zeroline": False,
            "showgrid": False,
        },
        "yaxis": {
            "range": [-limit, limit],
            "title": {"text": _name_axis(run.primary), "standoff": 8},
            "fixedrange": True,
            "zeroline": True,
            "zerolinecolor": _GREY,
            "nticks": 7,
        },
        "shapes": _draw_alike(run, factor, limit),
    }
    return {"data": traces, "layout": drawn}


def _choose_limit(run: TrialRun, points: Sequence[CoursePoint], looks: Sequence[StoredLook]) -> float:
    """Return the end of the axis, which fits the differences, the last interval and the equivalence band."""
    settled = points[len(points) // 5 :]
    ends = [
        run.smallest,
        *(abs(point.estimate) for point in settled),
        *(abs(look.estimate or 0.0) for look in looks),
    ]
    if looks:
        ends += [abs(looks[-1].low or 0.0), abs(looks[-1].high or 0.0)]
    else:
        ends += [min(3 * max(ends), max(abs(points[-1].low), abs(points[-1].high)))]
    return _ROOM * max(ends) or 1.0


def _line(x: Sequence[float], y: Sequence[float]) -> charts.Figure:
    return {"type": "scatter", "mode": "lines", "x": list(x), "y": list(y), "line": {"width": 0}}


def _draw_boundary(looks: Sequence[StoredLook], place: Place, sign: int) -> charts.Figure:
    y = [place(sign * (look.reach or 0.0)) for look in looks]
    return _line([look.tasks for look in looks], y) | {
        "name": "Decided beyond",
        "mode": "lines+markers",
        "marker": {"symbol": "line-ew-open", "size": 9, "color": _GREY},
        "line": {"color": _GREY, "width": 1.2, "dash": "dash"},
        "hoverinfo": "skip",
        "showlegend": sign > 0,
    }


def _draw_looks(measure: TrialMeasure, looks: Sequence[StoredLook], place: Place) -> charts.Figure:
    y = [place(look.estimate) for look in looks]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "Interim analysis",
        "x": [look.tasks for look in looks],
        "y": y,
        "marker": {"color": charts.SERIES[0], "size": 9},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [place(look.high) - at for look, at in zip(looks, y, strict=True)],
            "arrayminus": [at - place(look.low) for look, at in zip(looks, y, strict=True)],
            "color": charts.SERIES[0],
            "thickness": 1.4,
            "width": 0,
        },
        "customdata": [_describe_look(measure, look) for look in looks],
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _describe_point(measure: TrialMeasure, point: CoursePoint) -> str:
    change, ends = (
        trials.write_change(measure, point.estimate),
        trials.write_ends(measure, point.low, point.high),
    )
    return f"{wording.plural(point.tasks, 'task')}<br>{change} ({ends})"


def _describe_look(measure: TrialMeasure, look: StoredLook) -> str:
    if look.estimate is None or look.low is None or look.high is None:
        return f"Interim analysis {look.look}"
    return (
        f"Interim analysis {look.look}: {look.decision}<br>{trials.write_change(measure, look.estimate)} "
        f"({trials.write_ends(measure, look.low, look.high)})<br>"
        f"z = {look.statistic or 0.0:.2f}, decided beyond ±{look.boundary or 0.0:.2f}"
    )


def _name_axis(measure: TrialMeasure) -> str:
    unit = {"share": "points", "tokens": "tokens a trial", "USD": "USD a trial"}[measure.unit]
    return f"Difference, {unit}"


def _draw_alike(run: TrialRun, factor: float, limit: float) -> list[charts.Figure]:
    size = min(limit, factor * run.smallest)
    across = {"type": "rect", "xref": "paper", "x0": 0, "x1": 1, "layer": "below", "line": {"width": 0}}
    return [across | {"y0": -size, "y1": size, "fillcolor": _ALIKE}] if size else []

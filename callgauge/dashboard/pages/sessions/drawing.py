"""Builds the data that the timeline component draws: a window of one session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from callgauge.analysis import wording
from callgauge.dashboard import store_queries
from callgauge.dashboard.pages.sessions import timelines
from callgauge.dashboard.pages.sessions.timeline_items import (
    Item,
    Row,
    ShownSession,
    TimelineDrawing,
    turn_item,
)
from callgauge.dashboard.pages.sessions.timelines import AskedPlace, TimelinePlace, TimelineWindow

_CALLS = 400  # maximum number of calls that the page draws together


def make_drawing_data(
    session: ShownSession,
    places: Sequence[TimelinePlace],
    shown: TimelineWindow,
    turns: Mapping[str, Row],
    target: AskedPlace,
    size: int = timelines.WINDOW,
) -> Item:
    """Return the data for the timeline component.

    `places` holds all positions of the session, and `shown` the drawn window. `target` is the position that
    the link opens.
    """
    drawing = _make_drawing(session, places, shown, target)
    jumps = timelines.find_jumps(places, shown, target.call if shown.at is not None else None)
    faults = wording.plural(jumps.faults, "failed call")
    before, after = max(0, shown.start - size), shown.end
    later = min(after - shown.start, len(places) - after)
    return {
        "label": f"Time line, places {shown.start + 1} to {shown.end} of {len(places)}",
        "lit": f"{target.call}/{target.turn}/{target.step}" if shown.at is not None else "",
        "start": shown.start,
        "strip": _make_strip(session, places, shown, jumps.faults),
        "jumps": [
            ["← Failure", "p", jumps.fault_before and session.link(call=jumps.fault_before)],
            ["Failure →", "n", jumps.fault_after and session.link(call=jumps.fault_after)],
            ["← Turn", "k", _turn_link(session, places, jumps.turn_before)],
            ["Turn →", "j", _turn_link(session, places, jumps.turn_after)],
        ],
        "where": f"{shown.start + 1:,}–{shown.end:,} of {len(places):,} · {faults}",
        "width": _make_width_link(session, places, shown, size),
        "earlier": [f"{shown.start - before:,} earlier", session.link(**{"from": before + 1})]
        if shown.start
        else None,
        "later": [f"{later:,} later", session.link(**{"from": after + 1})] if later else None,
        "turns": _make_turns(drawing, places, turns),
    }


def _make_width_link(
    session: ShownSession, places: Sequence[TimelinePlace], shown: TimelineWindow, size: int
) -> list[str] | None:
    start = {"from": shown.start + 1} if shown.start else {}
    if size > timelines.WINDOW:
        return [f"Show {timelines.WINDOW} together", session.link(**start, wide=None)]
    if len(places) <= timelines.WINDOW:
        return None
    most = f"all {len(places)}" if len(places) <= timelines.WIDE else f"{timelines.WIDE} together"
    return [f"Show {most}", session.link(**start, wide="1")]


def _turn_link(session: ShownSession, places: Sequence[TimelinePlace], index: int | None) -> str | None:
    if index is None:
        return None
    number = places[index].turn
    first = timelines.find_place(places, AskedPlace(turn=number))
    # If two turns have the same number, a link to the second turn must name its position.
    return session.link(turn=number) if first == index else session.link(**{"from": index + 1})


def _make_drawing(
    session: ShownSession, places: Sequence[TimelinePlace], shown: TimelineWindow, target: AskedPlace
) -> TimelineDrawing:
    first, last = places[shown.start], places[shown.end - 1]
    steps = {
        **session.metric_parameters(),
        "first_turn": first.turn,
        "first_step": first.step or 0,
        "last_turn": last.turn,
        "last_step": last.step or 0,
    }
    texts = store_queries.ask("turn_texts", **steps).to_dict("records")
    words = store_queries.ask("step_words", **steps).to_dict("records")
    calls: dict[tuple[str, int], list[Row]] = {}
    for row in store_queries.ask("step_calls", **steps, call=target.call, limit=_CALLS).to_dict("records"):
        calls.setdefault((row["turn_id"], row["step"]), []).append(row)
    return TimelineDrawing(
        session,
        target,
        shown,
        timelines.index_attempts(places),
        timelines.lay_out_threads(places),
        {row["turn_id"]: row for row in texts},
        {(row["turn_id"], row["step"]): row for row in words},
        calls,
    )


_KINDS = {"bad": "invalid arguments", "warn": "a failed tool run", "call": "calls", "words": "text only"}


def _make_strip(
    session: ShownSession, places: Sequence[TimelinePlace], shown: TimelineWindow, faults: int
) -> Item:
    cells = []
    for cell in timelines.summarise_places(places):
        first, last = places[cell.start], places[cell.end - 1]
        upto = "" if cell.end - cell.start == 1 else f" to {_describe_place(last)}"
        href = session.link(call=cell.fault) if cell.fault else session.link_to_place(first)
        cells.append([cell.kind, cell.turns, f"{_describe_place(first)}{upto}: {_KINDS[cell.kind]}", href])
    label = f"Overview of {wording.plural(len(places), 'place')} with {wording.plural(faults, 'failed call')}"
    return {"count": len(places), "start": shown.start, "end": shown.end, "label": label, "cells": cells}


def _describe_place(place: TimelinePlace) -> str:
    return f"turn {place.turn}" + (f", step {place.step}" if place.step is not None else "")


def _make_turns(
    drawing: TimelineDrawing, places: Sequence[TimelinePlace], turns: Mapping[str, Row]
) -> list[Item]:
    shown = drawing.shown
    groups: dict[str, list[int]] = {}
    for index in range(shown.start, shown.end):
        groups.setdefault(places[index].turn_id, []).append(index)
    return [turn_item(drawing, places, indexes, turns) for indexes in groups.values()]

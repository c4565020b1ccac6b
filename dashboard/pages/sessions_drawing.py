"""The places of a session in, the window of them that the time line's component draws out: plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dashboard import answers, timelines, wording
from dashboard.pages.sessions_items import Drawing, Item, Row, Session, turn_item
from dashboard.timelines import Asked, Place, Window

_CALLS = 400  # of one window


def drawn(
    session: Session, found: Sequence[Place], shown: Window, turns: Mapping[str, Row], asked: Asked
) -> Item:
    """The data of the time line's component."""
    drawing = _drawing(session, found, shown, asked)
    jumps = timelines.jumps(found, shown, asked.call if shown.at is not None else None)
    size, faults = shown.end - shown.start, wording.plural(jumps.faults, "fault")
    before, after = max(0, shown.start - timelines.WINDOW), shown.end
    return {
        "label": f"Time line, places {shown.start + 1} to {shown.end} of {len(found)}",
        "lit": f"{asked.call}/{asked.turn}/{asked.step}" if shown.at is not None else "",
        "start": shown.start,
        "strip": _strip(session, found, shown, jumps.faults),
        "jumps": [
            ["← Fault", "p", jumps.fault_before and session.link(call=jumps.fault_before)],
            ["Fault →", "n", jumps.fault_after and session.link(call=jumps.fault_after)],
            ["← Turn", "k", _turn_link(session, found, jumps.turn_before)],
            ["Turn →", "j", _turn_link(session, found, jumps.turn_after)],
        ],
        "where": f"{shown.start + 1:,}–{shown.end:,} of {len(found):,} · {faults}",
        "earlier": [f"{shown.start - before:,} earlier", session.link(**{"from": before + 1})]
        if shown.start
        else None,
        "later": [f"{min(size, len(found) - after):,} later", session.link(**{"from": after + 1})]
        if after < len(found)
        else None,
        "turns": _turns(drawing, found, turns),
    }


def _turn_link(session: Session, found: Sequence[Place], index: int | None) -> str | None:
    if index is None:
        return None
    number = found[index].turn
    first = timelines.place_of(found, Asked(turn=number))
    # Of two turns with one number, the second has no name but its place.
    return session.link(turn=number) if first == index else session.link(**{"from": index + 1})


def _drawing(session: Session, found: Sequence[Place], shown: Window, asked: Asked) -> Drawing:
    first, last = found[shown.start], found[shown.end - 1]
    steps = {
        **session.named(),
        "first_turn": first.turn,
        "first_step": first.step or 0,
        "last_turn": last.turn,
        "last_step": last.step or 0,
    }
    texts = answers.ask("turn_texts", **steps).to_dict("records")
    words = answers.ask("step_words", **steps).to_dict("records")
    calls: dict[tuple[str, int], list[Row]] = {}
    for row in answers.ask("step_calls", **steps, call=asked.call, limit=_CALLS).to_dict("records"):
        calls.setdefault((row["turn_id"], row["step"]), []).append(row)
    return Drawing(
        session,
        asked,
        shown,
        timelines.attempts(found),
        timelines.threads(found),
        {row["turn_id"]: row for row in texts},
        {(row["turn_id"], row["step"]): row for row in words},
        calls,
    )


_KINDS = {"bad": "bad arguments", "warn": "a failed run", "call": "calls", "words": "words"}


def _strip(session: Session, found: Sequence[Place], shown: Window, faults: int) -> Item:
    cells = []
    for cell in timelines.overview(found):
        first, last = found[cell.start], found[cell.end - 1]
        upto = "" if cell.end - cell.start == 1 else f" to {_where(last)}"
        href = session.link(call=cell.fault) if cell.fault else session.place(first)
        cells.append([cell.kind, cell.turns, f"{_where(first)}{upto}: {_KINDS[cell.kind]}", href])
    label = f"Overview of {wording.plural(len(found), 'place')} with {wording.plural(faults, 'fault')}"
    return {"count": len(found), "start": shown.start, "end": shown.end, "label": label, "cells": cells}


def _where(place: Place) -> str:
    return f"turn {place.turn}" + (f", step {place.step}" if place.step is not None else "")


def _turns(drawing: Drawing, found: Sequence[Place], turns: Mapping[str, Row]) -> list[Item]:
    shown = drawing.shown
    groups: dict[str, list[int]] = {}
    for index in range(shown.start, shown.end):
        groups.setdefault(found[index].turn_id, []).append(index)
    return [turn_item(drawing, found, indexes, turns) for indexes in groups.values()]

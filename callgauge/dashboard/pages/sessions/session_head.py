"""Draws the top of a session: facts, parent session and sub-agents."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from callgauge.analysis import wording
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.links import session_link
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.pages.sessions.timeline_items import Row, ShownSession

_LISTED = 12
_RELATIONS = {"parent": "Started by", "told_in": "Repeats turns of", "child": "Sub-agent"}


def show(session: ShownSession, row: Row, turns: Sequence[Row]) -> None:
    _draw_facts(row, turns)
    _draw_kin(session)


def _draw_facts(row: Row, turns: Sequence[Row]) -> None:
    started, ended = row["started_at"], row["ended_at"]
    steps, calls, faults, retries = (
        sum(turn[name] for turn in turns) for name in ("steps", "calls", "faults", "retries")
    )
    user = f"user {wording.one_line(row['user_name'], 40)}" if row["user_name"] else None
    harness = wording.one_line(" ".join(filter(None, (row["harness"], row["harness_version"]))), 60)
    run = f"run {wording.one_line(row['run'], 40)}" if row["run"] else ""
    cells = {
        "Start": Cell(wording.utc_to_the_second(started), sub=user),
        "Duration": Cell(
            wording.duration((ended - started).total_seconds() or None if started and ended else None)
        ),
        "Source": Cell(row["title"], sub="\n".join(filter(None, (harness, run))) or None),
        **_trial_cell(row),
        "Turns": Cell(f"{len(turns):,}", sub=wording.plural(steps, "step")),
        "Calls": Cell(f"{calls:,}", sub=f"{wording.plural(faults, 'failure')}\nretries: {retries:,}"),
        "Successful turns": _success_cell(turns),
        "Tokens": _tokens_cell(turns),
        "Place in the log": _place_cell(row),
    }
    columns = [Column(title, "name") for title in cells]
    draw_table("session_facts", "What is known of the session", columns, [list(cells.values())])


def _trial_cell(row: Row) -> dict[str, Cell]:
    """Return a cell that links a trial session to its trial run. Other sessions get no cell."""
    if not row["trial_run"]:
        return {}
    run = str(row["trial_run"])
    about = [f"arm {wording.one_line(row['arm'], 40)}"] if row["arm"] else ["probe"]
    if row["task"]:
        about.append(f"task {wording.one_line(row['task'], 40)}")
    link = filters.page_link("trials", {"run": (), "arm": ()}, {"trial": run})
    return {"Trial": Cell(wording.one_line(run, 40), sub="\n".join(about), href=link)}


def _place_cell(row: Row) -> Cell:
    path = wording.visible(row["file"] or "unknown file")
    copies = f"\nalso in {row['copies']:,} more" if row["copies"] else ""
    return Cell(
        f"{path.rpartition('/')[2]}:{row['line']}",
        sub=f"byte {row['byte_offset'] or 0:,}{copies}",
        title=path,
        mono=True,
    )


def _success_cell(turns: Sequence[Row]) -> Cell:
    """Return a cell with the number of successful turns, as logged or derived."""
    successes = [turn["derived_ok"] if turn["recorded_ok"] is None else turn["recorded_ok"] for turn in turns]
    measured = [success for success in successes if success is not None]
    unknown = len(turns) - len(measured)
    return Cell(
        wording.fraction(sum(measured), len(measured)) if measured else "–",
        sub=f"{wording.plural(unknown, 'turn')} not measured" if unknown else None,
    )


def _tokens_cell(turns: Sequence[Row]) -> Cell:
    names = ("input_tokens", "output_tokens")
    measured = [turn for turn in turns if any(turn[name] is not None for name in names)]
    unknown = (
        f"{wording.plural(len(turns) - len(measured), 'turn')} not measured"
        if len(measured) < len(turns)
        else ""
    )
    if not measured:
        return Cell("–", sub=unknown or None)
    read, written = (wording.compact(sum(turn[name] or 0 for turn in measured)) for name in names)
    return Cell(f"{read} in", sub="\n".join(filter(None, (f"{written} out", unknown))))


def _draw_kin(session: ShownSession) -> None:
    kin: Sequence[Row] = store_queries.ask("session_kin", **session.metric_parameters()).to_dict("records")
    children = [row for row in kin if row["relation"] == "child"]
    shown = [row for name in ("parent", "told_in") for row in kin if row["relation"] == name]
    shown += children[:_LISTED]
    if not shown:
        return
    with cards.draw_card("Sessions around it", "session_kin"):
        columns = [
            Column("Relation", "tight"), Column("Session", "file"), Column("Start (UTC)", "tight"),
            Column("Turns", "number"), Column("Calls", "number"), Column("Failed calls", "number"),
        ]  # fmt: skip
        draw_table("session_kin", "Sessions around this one", columns, [_kin_row(row) for row in shown])
        if len(children) > _LISTED:
            st.caption(f"{len(children) - _LISTED:,} more sub-agents are not listed.")


def _kin_row(row: Row) -> list[Cell]:
    name = wording.one_line(row["session_id"], 90)
    link = session_link(row["session_id"]) if row["stored"] else None
    return [
        Cell(_RELATIONS[row["relation"]]),
        Cell(name, mono=True, href=link, sub=None if row["stored"] else "not in the store"),
        Cell(f"{row['started_at']:%Y-%m-%d %H:%M:%S}" if row["started_at"] else "–"),
        *(Cell("–" if row[count] is None else f"{row[count]:,}") for count in ("turns", "calls", "faults")),
    ]

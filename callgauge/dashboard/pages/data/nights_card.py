"""Draws a card of the page Data on the nightly job: the last nightly runs, and each source's newest data."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.load_state import write_days
from callgauge.dashboard import store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.table import Cell, Column, Tone, draw_table
from callgauge.dashboard.viewer import current_viewer, leave_place_out
from callgauge.memory.memory_file import MemoryProblemError
from callgauge.memory.nights.night_steps import STEPS, NightStep
from callgauge.memory.nights.past_nights import PastNight
from callgauge.memory.nights.source_states import SourceState

_SHOWN = 7  # nightly runs that are shown before "Show all"
_TONES: dict[str, Tone] = {"failed": "bad", "broken off": "bad", "stopped": "bad"}


def show() -> None:
    """Draw the card on the nightly job. Draw nothing if there was no nightly run yet."""
    try:
        state = store_queries.service_state()
    except MemoryProblemError as problem:
        with cards.draw_card("Nightly runs"):
            st.error(wording.in_markdown(leave_place_out(str(problem)), 600))
        return
    if state.nights:
        with cards.draw_card(
            "Nightly runs",
            caption="What `callgauge nightly` did: load, retention, backup, report. "
            "Unreadable files and lines count in the run that found them first.",
        ):
            _draw_nights(state.nights)
    if state.sources:
        with cards.draw_card(
            "Sources of callgauge.toml", caption="How new their data was at the last load. Not filtered."
        ):
            _draw_sources(state.sources, datetime.now(UTC))


def _draw_nights(nights: Sequence[PastNight]) -> None:
    columns = [
        Column("Nightly run", "tight"), Column("Started (UTC)", "tight"), Column("Took", "number"),
        Column("Files", "number"), Column("Calls", "number"), Column("Unreadable", "number"),
        *(Column(step.capitalize(), "tight") for step in STEPS), Column("Problem"),
    ]  # fmt: skip
    draw_table(
        "nights",
        "Nightly runs, the newest first",
        columns,
        [_night_row(night) for night in nights],
        shown=_SHOWN,
    )


def _night_row(night: PastNight) -> list[Cell]:
    load = night.step("load")
    figures = load.figures if load else {}
    refused = [(figures.get("refused_files", 0), "file"), (figures.get("refused_lines", 0), "line")]
    lost = ", ".join(wording.plural(count, noun) for count, noun in refused if count)
    return [
        Cell(f"{night.night}"),
        Cell(f"{night.began:%H:%M}", title=wording.utc(night.began)),
        Cell(wording.duration(night.seconds) if night.seconds is not None else "–"),
        *(Cell(f"{figures[name]:,}" if name in figures else "–") for name in ("files", "calls")),
        Cell(lost or ("0" if "files" in figures else "–"), tone="bad" if lost else None),
        *(_step_cell(night.step(name), is_running=night.is_running) for name in STEPS),
        _trouble_cell(night),
    ]


def _step_cell(step: NightStep | None, *, is_running: bool) -> Cell:
    if step is None:
        return Cell("–", title="Not started.")
    word = step.outcome or ("running" if is_running else "interrupted")
    tries = int(step.figures.get("tries", 1))
    title = wording.visible(str(step.figures.get("reason") or "")) or None
    return Cell(
        word,
        sub=f"{tries} tries" if tries > 1 else None,
        tone=_TONES.get(word),
        pale=word == "skipped",
        title=title,
    )


def _trouble_cell(night: PastNight) -> Cell:
    """Return a cell with the known problem of each failed step.

    Only admins see problems, because these contain paths and log content.
    """
    if night.unfinished and not current_viewer().is_admin:
        return Cell("visible to admins")
    problems = [
        (step.step, str(step.figures["problem"])) for step in night.unfinished if step.figures.get("problem")
    ]
    short = "\n".join(f"{name}: {wording.one_line(problem, 120)}" for name, problem in problems)
    whole = "\n".join(f"{name}: {wording.visible(problem)}" for name, problem in problems)
    return Cell(short, title=whole or None)


def _draw_sources(sources: Sequence[SourceState], now: datetime) -> None:
    columns = [
        Column("Source", "name"), Column("Newest data", "tight"), Column("Last checked", "tight"),
        Column("Silent after", "tight"), Column("State"),
    ]  # fmt: skip
    rows = [_source_row(source, now) for source in sources]
    draw_table("team_sources", "Sources of callgauge.toml", columns, rows)


def _source_row(source: SourceState, now: datetime) -> list[Cell]:
    return [
        Cell(wording.one_line(source.name, 64)),
        Cell(wording.utc(source.newest) if source.newest else "none yet"),
        Cell(wording.utc(source.looked)),
        Cell(write_days(source.silent_after) if source.silent_after else "never"),
        _state_cell(source, now),
    ]


def _state_cell(source: SourceState, now: datetime) -> Cell:
    if source.problem and not current_viewer().is_admin:
        return Cell("not loaded", sub="visible to admins", tone="bad")
    if source.problem:
        return Cell(
            "not loaded",
            sub=wording.one_line(source.problem, 120),
            tone="bad",
            title=wording.visible(source.problem),
        )
    if source.is_silent(now):
        return Cell(f"no data for {write_days(source.count_silent_days(now))}", tone="bad")
    return Cell("gives data", tone="good")

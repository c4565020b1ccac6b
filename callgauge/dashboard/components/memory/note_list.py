"""Shows the team's notes on the page of their subject, with the forms that write notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from hashlib import sha256

import streamlit as st

from callgauge.analysis import wording
from callgauge.dashboard import filters
from callgauge.dashboard.components.controls.links import draw_link
from callgauge.dashboard.components.controls.url_widgets import draw_popover
from callgauge.dashboard.components.memory.changes import (
    apply_change,
    draw_author_field,
    may_write,
    owns,
    read_records,
    take_author,
)
from callgauge.dashboard.components.memory.trend_marks import SERIES, Subject
from callgauge.memory.notes import Note, SubjectKind, add_note, change_note, delete_note

_LONGEST = 2_000  # characters in a note


def draw_notes(kind: SubjectKind, subject: str) -> None:
    """Draw the notes on a subject and a control to add a note.

    Draws nothing when there are no notes and the person may not write notes.
    """
    notes = [note for note in read_records().notes if (note.kind, note.subject) == (kind, subject)]
    if not notes and not may_write():
        return
    with st.container(gap="xxsmall", key=f"memory_of_{kind}"):
        for note in notes:
            draw_note(note)
        if may_write():
            place = f"{kind}_{_digest(subject)}"
            draw_popover("Add a note", f"note_{place}", lambda: _ask_note(place, {"": (kind, subject)}, None))


def draw_note(note: Note, about: str = "", href: str | None = None) -> None:
    """Draw one note as a line, with controls for people who may change or delete the note.

    `about` names the note's subject in words.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        day = f"{note.day}: " if note.day else ""
        text = wording.in_markdown(f"{day}{note.text}", _LONGEST)
        st.markdown(text, width="content")
        if about:
            draw_link(f"note_about_{note.id}", wording.one_line(about, 120), href)
        st.caption(_describe_author(note), width="content")
        if owns(note.by):
            with st.container(width="content"):
                draw_popover("Change", f"change_note_{note.id}", lambda: _ask_change(note))


def _ask_change(note: Note) -> None:
    with st.form(f"change_note_form_{note.id}", border=False):
        text = st.text_input("Note", note.text, key=f"changed_text_{note.id}", max_chars=_LONGEST)
        when = _ask_day(note.day, f"changed_day_{note.id}", is_needed=note.kind == "day")
        is_sent = st.form_submit_button("Save note")
    if is_sent:
        apply_change(lambda file: change_note(file, note, text, day=when))
    if st.button("Delete", key=f"delete_note_{note.id}", type="tertiary"):
        apply_change(lambda file: delete_note(file, note))


def _describe_author(note: Note) -> str:
    by = f"{wording.in_markdown(note.by, 60)}, " if note.by else ""
    return f"{by}{note.at:%Y-%m-%d}"


def draw_trend_note_control(key: str, by: str, series: Sequence[str], newest: date) -> None:
    """Draw a control that adds a note with a day.

    The note is about the day or about one series of a trend.
    """
    if not may_write():
        return
    kind = SERIES.get(by)
    abouts: dict[str, Subject] = {"The day": ("day", "")}
    if kind:
        abouts |= {filters.short_label(by, name): (kind, name) for name in series if name != "unknown"}
    with st.container(width="content"):
        draw_popover("Note", f"note_{key}", lambda: _ask_note(key, abouts, newest, needs_day=True))


def _ask_note(
    place: str, abouts: Mapping[str, Subject], day: date | None, *, needs_day: bool = False
) -> None:
    with st.form(f"note_form_{place}", border=False, clear_on_submit=True):
        text = st.text_input(
            "Note", key=f"note_text_{place}", placeholder="temperature lowered", max_chars=_LONGEST
        )
        marked = _ask_day(day, f"note_day_{place}", is_needed=needs_day)
        about = next(iter(abouts))
        if len(abouts) > 1:
            about = st.selectbox("About", list(abouts), key=f"note_about_{place}")
        draw_author_field(f"note_by_{place}")
        is_sent = st.form_submit_button("Add note")
    if is_sent:
        kind, subject = abouts[about]
        if kind == "day" and marked is None:
            st.error("Choose the day.")
            return
        named = str(marked) if kind == "day" else subject
        by = take_author(f"note_by_{place}")
        apply_change(lambda file: add_note(file, kind, named, text, day=marked, by=by))


def _ask_day(day: date | None, key: str, *, is_needed: bool) -> date | None:
    label = "Day (UTC)" if is_needed else "Marked on trends at (UTC)"
    when = st.date_input(label, day, key=key, format="YYYY-MM-DD")
    return when if isinstance(when, date) else None


def _digest(subject: str) -> str:
    return sha256(subject.encode(errors="replace")).hexdigest()[:12]

"""Changes the team's decisions and notes. Checks permissions, asks for the author's name and shows errors."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from callgauge.analysis import wording
from callgauge.dashboard import store_queries
from callgauge.dashboard.viewer import current_viewer, leave_place_out
from callgauge.memory.memory_file import MemoryFile, MemoryProblemError
from callgauge.memory.records import TeamRecords

_NAME = "_acknowledged_by"
_LONGEST = 200  # maximum length of an author name, in characters


def read_records() -> TeamRecords:
    """Return the team's decisions, notes and rules, or no records if the file cannot be read."""
    try:
        return store_queries.team_records()
    except MemoryProblemError:
        return TeamRecords()


def may_write() -> bool:
    return current_viewer().may_write


def describe_reader() -> str:
    """Return the sentence for a person who may not change records."""
    if current_viewer().name:
        return "You can read the team's decisions and notes, but not change them."
    return "Without sign-in, only users of this machine can change decisions and notes."


def author_name() -> str:
    """Return the name of the signed-in user, or the author name that this person typed before."""
    return current_viewer().name or str(st.session_state.get(_NAME, ""))


def draw_author_field(key: str) -> None:
    """Draw a field for the author's name when nobody is signed in.

    The field starts with the name typed before.
    """
    if not current_viewer().name:
        st.text_input("Your name", author_name(), key=key, placeholder="optional", max_chars=_LONGEST)


def take_author(key: str) -> str:
    """Return the author name typed into `draw_author_field(key)`, and remember the name for the next form."""
    if not current_viewer().name:
        st.session_state[_NAME] = str(st.session_state.get(key, "")).strip()
    return author_name()


def owns(owner: str) -> bool:
    """Return True when this person may change a record that `owner` wrote."""
    viewer = current_viewer()
    return viewer.may_write and (viewer.is_admin or owner == author_name())


def apply_change(write: Callable[[MemoryFile], None]) -> None:
    """Apply a change and redraw the page. If the change fails, draw the error."""
    if problem := try_change(write):
        st.error(wording.in_markdown(problem, 600))
    else:
        st.rerun()


def try_change(write: Callable[[MemoryFile], None]) -> str | None:
    """Apply a change to the team's records. Return the error, or None on success."""
    if not may_write():
        return describe_reader()
    try:
        write(store_queries.team_memory().file)
    except MemoryProblemError as problem:
        return leave_place_out(str(problem))
    except ValueError as problem:
        return f"{str(problem)[:1].upper()}{str(problem)[1:]}."
    return None

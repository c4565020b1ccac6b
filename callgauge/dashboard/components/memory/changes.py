"""Changes that a person makes to the team's memory: who may, under which name, and what went wrong."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from callgauge.analysis import wording
from callgauge.dashboard import store_queries
from callgauge.dashboard.viewer import current_viewer, leave_place_out
from callgauge.memory.memory_file import MemoryFile, MemoryProblemError
from callgauge.memory.records import TeamRecords

_NAME = "_acknowledged_by"
_LONGEST = 200  # characters of a name


def read_records() -> TeamRecords:
    """Return what the team's memory holds; nothing where it cannot be read, which the filter bar says."""
    try:
        return store_queries.team_records()
    except MemoryProblemError:
        return TeamRecords()


def may_write() -> bool:
    return current_viewer().may_write


def describe_reader() -> str:
    """Return the sentence for a person who may not change the memory."""
    if current_viewer().name:
        return "You can read the team's decisions and notes, but not change them."
    return "Without sign-in, only users of this machine can change decisions and notes."


def author_name() -> str:
    """Return under which name this person writes: that of the sign-in, or the one typed here before."""
    return current_viewer().name or str(st.session_state.get(_NAME, ""))


def draw_author_field(key: str) -> None:
    """Draw the field for the name, where nobody is signed in; it holds the name that was typed before."""
    if not current_viewer().name:
        st.text_input("Your name", author_name(), key=key, placeholder="optional", max_chars=_LONGEST)


def take_author(key: str) -> str:
    """Return the name for a form with `draw_author_field(key)`, and keep it for the next form."""
    if not current_viewer().name:
        st.session_state[_NAME] = str(st.session_state.get(key, "")).strip()
    return author_name()


def owns(owner: str) -> bool:
    """Return True when this person may change what `owner` wrote: it is their own, or they are an admin."""
    viewer = current_viewer()
    return viewer.may_write and (viewer.is_admin or owner == author_name())


def apply_change(write: Callable[[MemoryFile], None]) -> None:
    """Carry out a change and draw the page anew; draw what went wrong in its place."""
    if problem := try_change(write):
        st.error(wording.in_markdown(problem, 600))
    else:
        st.rerun()


def try_change(write: Callable[[MemoryFile], None]) -> str | None:
    """Carry out a change of the memory; return what went wrong, None where nothing did."""
    if not may_write():
        return describe_reader()
    try:
        write(store_queries.team_memory().file)
    except MemoryProblemError as problem:
        return leave_place_out(str(problem))
    except ValueError as problem:  # a field that the form lets through and the memory does not
        return f"{str(problem)[:1].upper()}{str(problem)[1:]}."
    return None

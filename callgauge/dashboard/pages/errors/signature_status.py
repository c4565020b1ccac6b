"""Triage status of error signatures: which errors are known or fixed, and which fixed errors returned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Literal

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.measures.attention import ReturnedError, find_returned_errors
from callgauge.dashboard import store_queries
from callgauge.dashboard.components.controls.rate_choice import choose_segment
from callgauge.dashboard.components.controls.url_widgets import draw_popover
from callgauge.dashboard.components.memory.changes import (
    apply_change,
    draw_author_field,
    may_write,
    read_records,
    take_author,
)
from callgauge.dashboard.components.table import Cell
from callgauge.memory.signature_states import STATES, SignatureState, State, clear_state, set_state

Status = Literal["new", "known", "being fixed", "fixed", "back"]
KEY = "status"
_WORDS: Mapping[str, str] = {
    "all": "All",
    "back": "Back after a fix",
    "new": "Not triaged",
    "known": "Known",
    "being fixed": "Being fixed",
    "fixed": "Fixed",
}
_TONES: Mapping[Status, Literal["bad", "warn", "good", "calm", "info"]] = {
    "back": "bad",
    "known": "calm",
    "being fixed": "info",
    "fixed": "good",
}
_NOT_TRIAGED = "not triaged"


@dataclass(frozen=True, slots=True)
class KnownErrors:
    """The triage status that the team set for each signature, and the signatures of returned errors."""

    states: Mapping[str, SignatureState]
    returned: Mapping[str, ReturnedError]

    def find_status(self, signature: str) -> Status:
        if signature in self.returned:
            return "back"
        state = self.states.get(signature)
        return state.state if state else "new"

    def list_with(self, status: Status) -> tuple[str, ...]:
        """Return the signatures to which somebody gave this status."""
        return tuple(name for name in self.states if self.find_status(name) == status)

    def narrow(self, chosen: str) -> dict[str, Any]:
        """Return parameters of the metric `signatures` that select the errors with a triage status.

        Returned errors come first.
        """
        first = {"first": tuple(self.returned) or None}
        if chosen == "all":
            return first
        if chosen == "new":
            return first | {"without": tuple(self.states) or None}
        return first | {"among": self.list_with(_read_status(chosen))}


def read_known_errors() -> KnownErrors:
    states = read_records().signature_states
    returned = find_returned_errors(store_queries.ask_all, states.values())
    return KnownErrors(states, {error.state.signature: error for error in returned})


def choose_status(known_errors: KnownErrors) -> str:
    """Draw the selector of a triage status and return the chosen status. The URL key is `status`."""
    counted = {
        status: len(known_errors.list_with(_read_status(status))) for status in _WORDS if status != "all"
    }
    always = ("all", "new", st.query_params.get(KEY))
    shown = [status for status in _WORDS if status in always or counted[status]]

    def name(status: str) -> str:
        return f"{_WORDS[status]} ({counted[status]})" if counted.get(status) else _WORDS[status]

    return choose_segment("Triage status", KEY, shown, name)


def _read_status(text: str) -> Status:
    for status in ("new", "known", "being fixed", "fixed", "back"):
        if text == status:
            return status
    raise ValueError(text)


def status_cell(known_errors: KnownErrors, signature: str) -> Cell:
    """Return a cell with the triage status of a signature. The cell is empty when no status is set."""
    status = known_errors.find_status(signature)
    if status == "new":
        return Cell("", values={"": _NOT_TRIAGED})
    state = known_errors.states[signature]
    return Cell(
        status,
        sub=(f"fixed {_describe_fix(state)}" if status == "back" else _describe_fix(state)) or None,
        tone=_TONES[status],
        title=wording.one_line(state.note, 300) or None,
        order=list(_WORDS).index(status),
        values={"": status},
    )


def _describe_fix(state: SignatureState) -> str:
    version = f"in {wording.one_line(state.fixed_in, 30)}, " if state.fixed_in else ""
    return f"{version}{state.fixed_day}" if state.fixed_day else ""


def draw_status(signature: str) -> None:
    """Draw the triage status of one signature, and the control that changes the status."""
    known_errors = read_known_errors()
    state, back = known_errors.states.get(signature), known_errors.returned.get(signature)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="memory_status"):
        if state:
            st.markdown(_describe_state(state, back), width="content")
            by = f"{wording.in_markdown(state.by, 60)}, " if state.by else ""
            st.caption(f"{by}{state.at:%Y-%m-%d}", width="content")
        if may_write():
            with st.container(width="content"):
                draw_popover("Triage status", "change_status", lambda: _ask_status(signature, state))


def _describe_state(state: SignatureState, back: ReturnedError | None) -> str:
    fix = _describe_fix(state)
    status = f"{state.state.capitalize()}{f' {wording.in_markdown(fix)}' if fix else ''}"
    note = f": {wording.in_markdown(state.note, 600)}" if state.note else ""
    line = f"**{status}**{note}"
    if back is None:
        return line
    calls = wording.plural(back.calls, "call")
    return f":red[**Back since {back.back_day}**], {calls} since then. {line}"


def _ask_status(signature: str, state: SignatureState | None) -> None:
    statuses: Sequence[str] = [_NOT_TRIAGED, *STATES]
    chosen = st.selectbox(
        "Triage status",
        statuses,
        statuses.index(state.state) if state else 0,
        format_func=str.capitalize,
        key="status_state",
    )
    with st.form("signature_status_form", border=False):
        version, fixed_on = "", None
        if chosen == "fixed":
            version = st.text_input(
                "Fixed in",
                state.fixed_in if state else "",
                key="status_version",
                placeholder="release 13",
                max_chars=200,
            )
            today = datetime.now(UTC).date()
            fixed_on = st.date_input(
                "Day of the fix (UTC)",
                (state and state.fixed_day) or today,
                key="status_day",
                format="YYYY-MM-DD",
            )
            st.caption("If it is seen on a later day, it is listed as back here and on Overview.")
        note = st.text_input(
            "Note", state.note if state else "", key="status_note", placeholder="optional", max_chars=2000
        )
        draw_author_field("status_by")
        is_sent = st.form_submit_button("Save status")
    if is_sent:
        _keep_status(signature, str(chosen), version, fixed_on if isinstance(fixed_on, date) else None, note)


def _keep_status(signature: str, chosen: str, version: str, fixed_on: date | None, note: str) -> None:
    by = take_author("status_by")
    state: State | None = next((name for name in STATES if name == chosen), None)
    if state is None:
        apply_change(lambda file: clear_state(file, signature))
        return
    apply_change(
        lambda file: set_state(file, signature, state, fixed_in=version, fixed_day=fixed_on, note=note, by=by)
    )

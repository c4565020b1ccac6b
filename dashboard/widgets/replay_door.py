"""A tool in, a link out that opens its history in Replay, with an edited definition where there is one."""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from dashboard import answers
from dashboard.links import LinkError, packed


def replay_door(tool: str, definition: str = "") -> None:
    """Nothing is drawn where the store has no call of the tool. `definition`: what its calls are held to.

    A definition that no link can carry stays behind: Replay then starts from the newest of the store.
    """
    if not answers.is_open():
        return
    choices = answers.ask("choices")
    if tool not in choices[choices.dimension == "tool"].value.tolist():
        return
    given = {"replay_tool": tool}
    with suppress(LinkError):
        given |= {"definition": packed(definition)} if definition.strip() else {}
    label = "Replay its calls under this definition" if "definition" in given else "Replay its calls"
    st.page_link(
        "dashboard/pages/replay.py",
        label=label,
        icon=":material/history:",
        query_params=given,
        width="content",
    )

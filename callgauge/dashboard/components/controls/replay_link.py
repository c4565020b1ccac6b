"""A link that opens a tool's history in Replay, with an edited definition where there is one."""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from callgauge.analysis.texts.url_texts import LinkError, pack_text
from callgauge.dashboard import store_queries
from callgauge.dashboard.page_files import page_file


def draw_replay_link(tool: str, definition: str = "") -> None:
    """Draw a link that replays a tool's calls; nothing when the store has no call of the tool.

    `definition`: the definition to replay the calls under. A definition that is too long for a link is left
    out: Replay then starts from the newest definition in the store.
    """
    if not store_queries.is_open():
        return
    choices = store_queries.ask("choices")
    if tool not in choices[choices.dimension == "tool"].value.tolist():
        return
    given = {"replay_tool": tool}
    with suppress(LinkError):
        given |= {"definition": pack_text(definition)} if definition.strip() else {}
    label = "Replay its calls under this definition" if "definition" in given else "Replay its calls"
    st.page_link(
        page_file("replay"),
        label=label,
        icon=":material/history:",
        query_params=given,
        width="content",
    )

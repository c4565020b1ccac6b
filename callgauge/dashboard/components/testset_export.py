"""A control that exports calls as a test set: choice of the format, calls left out, download."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from callgauge.dashboard import store_queries, wording
from callgauge.dashboard.testsets import MOST, MOST_BYTES, REASONS, CaseFile, make_case_file
from callgauge.dashboard.testsets.shapes import SHAPES


def draw_testset_export(key: str, calls: Callable[[], Sequence[str]], found: int) -> None:
    """Draw the export of `found` calls as a test set.

    `calls` returns the ids of the calls, and is called when a person asks for the file.
    """
    with st.popover("Export as test set", type="tertiary", width="content"):
        shape = st.selectbox(
            "Shape", list(SHAPES), format_func=lambda name: SHAPES[name].title, key=f"{key}_testset_shape"
        )
        cap = f" The first {MOST:,} of {found:,} calls are looked at." if found > MOST else ""
        st.caption(f"{wording.in_markdown(SHAPES[shape].about, 200)}{cap}")
        st.caption(
            "Each line holds what came before the call in its turn. Messages and results are as the store "
            "keeps them: long ones are cut at 2,000 characters, redacted ones stay redacted."
        )
        if st.button("Prepare the file", key=f"{key}_testset_prepare"):
            with st.spinner("Reading and checking …"):
                st.session_state[f"_{key}_testset"] = (
                    shape,
                    make_case_file(shape, calls()[:MOST], store_queries.row_reader()),
                )
        prepared: tuple[str, CaseFile] | None = st.session_state.get(f"_{key}_testset")
        if prepared and prepared[0] == shape:
            _draw_prepared(key, shape, prepared[1])


def _draw_prepared(key: str, shape: str, made: CaseFile) -> None:
    st.text(f"{wording.plural(made.lines, 'line')}, each read again and found whole.")
    for reason, calls in made.left_out.most_common():
        st.text(f"Left out: {calls:,}: {REASONS[reason]}.")
    if made.full:
        st.text(f"The file ends at {wording.size(MOST_BYTES)}; more calls would have fitted the selection.")
    if made.lines:
        st.download_button(
            SHAPES[shape].name,
            made.data,
            SHAPES[shape].name,
            "application/jsonl",
            icon=":material/download:",
            on_click="ignore",
            key=f"{key}_testset_file",
        )

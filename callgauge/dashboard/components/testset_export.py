"""Draws a control that exports calls as a test set or as a trial.

The control shows the format, the skipped calls and a download.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.testsets import MOST, MOST_BYTES, REASONS, make_case_file
from callgauge.analysis.testsets.shapes import SHAPES
from callgauge.analysis.testsets.trial_package import gather_tasks, make_package, name_package
from callgauge.dashboard import store_queries
from callgauge.dashboard.viewer import refuse_file

TRIAL = "trial"
_TRIAL_TITLE = "Trial: tasks and a plan"
_TRIAL_ABOUT = (
    "A zip: the turn up to each call as a task, its definitions and prompt, the results as recorded answers, "
    "and a plan of the same model for `callgauge trial`."
)


class _Prepared(NamedTuple):
    """A file to download, with sentences about its content and about skipped calls."""

    choice: tuple[str, bool]
    sentences: Sequence[str]
    name: str
    data: bytes
    kind: str


def draw_testset_export(
    key: str,
    calls: Callable[[], Sequence[str]],
    total: int,
    *,
    is_for_trials: bool = False,
    edited_tool: str | None = None,
) -> None:
    """Draw the control that exports `total` calls as a test set or a trial.

    `calls` returns the ids of the calls. With `is_for_trials` the control offers a trial first. With
    `edited_tool`, the control offers only a trial whose second variant uses this definition, as JSON.
    """
    shapes = [TRIAL] if edited_tool else [*SHAPES, TRIAL]
    label = "Export as trial" if is_for_trials else "Export as test set"
    label = "Send to a trial as the second variant" if edited_tool else label
    with st.popover(label, type="tertiary", width="content"):
        if refusal := refuse_file(of_texts=True):
            st.caption(refusal)
            return
        shape = st.selectbox(
            "Shape",
            shapes,
            index=shapes.index(TRIAL) if is_for_trials else 0,
            format_func=lambda name: _TRIAL_TITLE if name == TRIAL else SHAPES[name].title,
            key=f"{key}_testset_shape",
        )
        is_trial = shape == TRIAL
        about = _TRIAL_ABOUT if is_trial else wording.in_markdown(SHAPES[shape].about, 200)
        cap = f" The first {MOST:,} of {total:,} calls are looked at." if total > MOST else ""
        st.caption(f"{about}{cap}")
        takes_cut = True
        if is_trial:
            takes_cut = st.checkbox(
                "Take cut texts too",
                key=f"{key}_testset_cut",
                help="The store keeps the first 2,000 characters of a message or a result. Without this, "
                "calls with a longer one before them are left out.",
            )
        else:
            st.caption(
                "Each line contains what came before the call in its turn. Messages and results are as the "
                "store keeps them: long ones are cut at 2,000 characters, redacted ones stay redacted."
            )
        if st.button("Prepare the file", key=f"{key}_testset_prepare"):
            with st.spinner("Reading and checking …"):
                choice, ids = (shape, takes_cut), calls()[:MOST]
                prepared = (
                    _prepare_trial(choice, ids, edited_tool) if is_trial else _prepare_testset(choice, ids)
                )
                st.session_state[f"_{key}_testset"] = (edited_tool, prepared)
        kept: tuple[str | None, _Prepared] | None = st.session_state.get(f"_{key}_testset")
        if kept and (kept[0], kept[1].choice) == (edited_tool, (shape, takes_cut)):
            _draw_prepared(key, kept[1])


def _prepare_testset(choice: tuple[str, bool], call_ids: Sequence[str]) -> _Prepared:
    made = make_case_file(choice[0], call_ids, store_queries.row_reader())
    sentences = [
        f"{wording.plural(made.lines, 'line')}, each read again and found whole.",
        *_describe_left_out(made.left_out),
    ]
    if made.full:
        sentences.append(
            f"The file ends at {wording.size(MOST_BYTES)}; more calls would have fitted the selection."
        )
    return _Prepared(
        choice, sentences, SHAPES[choice[0]].name, made.data if made.lines else b"", "application/jsonl"
    )


def _prepare_trial(choice: tuple[str, bool], call_ids: Sequence[str], edited_tool: str | None) -> _Prepared:
    left_out: Counter[str] = Counter()
    tasks = gather_tasks(call_ids, store_queries.row_reader(), left_out, takes_cut=choice[1])
    package = make_package(tasks, left_out, edited_tool=edited_tool)
    sentences = [
        f"{wording.plural(package.tasks, 'task')} and a plan." if package.tasks else "No task.",
        *_describe_left_out(package.left_out),
        *package.notes,
    ]
    data = package.to_zip() if package.tasks else b""
    return _Prepared(choice, sentences, name_package(tasks), data, "application/zip")


def _describe_left_out(left_out: Counter[str]) -> list[str]:
    return [f"Left out: {calls:,}: {REASONS[reason]}." for reason, calls in left_out.most_common() if calls]


def _draw_prepared(key: str, made: _Prepared) -> None:
    for sentence in made.sentences:
        st.text(sentence)
    if made.data:
        st.download_button(
            made.name,
            made.data,
            made.name,
            made.kind,
            icon=":material/download:",
            on_click="ignore",
            key=f"{key}_testset_file",
        )
        shape = SHAPES.get(made.choice[0])
        if shape and shape.companion:
            st.download_button(
                shape.companion,
                shape.read_companion(),
                shape.companion,
                "text/plain",
                icon=":material/download:",
                on_click="ignore",
                key=f"{key}_testset_companion",
            )

"""The page Playground: one tab parses a text, and the other tab parses stored calls again."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.regression_cases import case_json, text_case_json
from callgauge.analysis.texts.url_texts import LinkError
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.links import draw_replay_link
from callgauge.dashboard.components.controls.rate_choice import choose_segment
from callgauge.dashboard.components.controls.url_widgets import draw_tabs
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.pages.playground import live_card, result, tool_card
from callgauge.dashboard.pages.playground import whole_reply as reply
from callgauge.dashboard.pages.playground.inputs import PlaygroundInputs, choose_example, draw_inputs
from callgauge.dashboard.pages.playground.link_texts import LONGEST, make_link_parameter
from callgauge.dashboard.pages.playground.parsing import parse_request
from callgauge.dashboard.pages.playground.playground_examples import EXAMPLES, REPLIES
from callgauge.dashboard.pages.playground.replay import tab as replay_tab
from callgauge.dashboard.pages.playground.start import KNOWN, ROADS, clear_desk, open_desk
from callgauge.dashboard.shown_page import record_setting, refuse_link

_TABS = {"text": "One text", "stored": "Stored calls"}
_MODES = {"arguments": "Arguments of a call", "reply": "A whole reply"}
_URL_KEYS = ("mode", "which", "look", "dialect", "nth", "shape", "shapes", "steps", "others", "advice")


# On wide screens the texts stay visible next to a longer result. On other screens the texts are above the
# result.
_STYLE = """<style>
@media (min-width: 1200px) {
  .stColumn:has(.st-key-playground_texts) {
    position: sticky; top: 0; align-self: flex-start; max-height: 100vh; overflow-y: auto;
    scrollbar-width: thin; padding: 2px;
  }
}
@media (max-width: 1199px) {
  .stHorizontalBlock:has(> .stColumn .st-key-playground_texts) { flex-direction: column; }
  .stHorizontalBlock:has(> .stColumn .st-key-playground_texts) > .stColumn { width: 100%; flex: none; }
}
@media (min-width: 700px) and (max-width: 1199px) {
  .st-key-playground_texts { display: grid; grid-template-columns: 1fr 1fr; align-items: start; }
  .st-key-playground_texts > * { grid-column: 1; min-width: 0; }
  .st-key-playground_texts > :has(.st-key-playground_definition) { grid-column: 2; grid-row: 1 / span 3; }
}
.st-key-playground_marks { min-height: 180px; }
.st-key-playground_marks .stCode pre { min-height: 132px; }
.st-key-playground_texts .stCode code { font-size: 12.5px; }
@media (max-width: 699px) {
  .st-key-playground_marks { min-height: 196px; }
  .st-key-playground_texts .stCode code { font-size: 11px; }
}
.st-key-playground_no_marks .stElementContainer { width: auto; }
.st-key-playground_no_marks {
  min-height: 180px; align-items: center; justify-content: center; border-radius: 6px;
  border: 1px dashed color-mix(in srgb, currentColor 25%, transparent);
}
.st-key-result h2 { padding-top: 0; }
.st-key-playground_texts .stCode pre { padding: 0.5rem 0.7rem; }
</style>"""


def show() -> None:
    st.html(_STYLE)
    st.title("Playground", anchor=False)
    drawn_for = st.query_params.get("tab")
    with draw_tabs("tab", _TABS) as tab:
        if st.query_params.get("tab") != drawn_for:
            st.rerun()  # run again, because only one of the two tabs uses the filter bar
        if tab == "stored":
            replay_tab.show()
        else:
            _draw_one_text()


def _draw_one_text() -> None:
    desk = open_desk()
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="playground_head"):
        whole_reply = choose_segment("What the text is", "mode", list(_MODES), _MODES.__getitem__) == "reply"
        choose_example(reply=whole_reply)
    left, right = st.columns([5, 7], gap="medium")
    with left, st.container(key="playground_texts", gap="small"):
        inputs = draw_inputs(
            desk, reply=whole_reply, draw_marks=reply.draw_marks if whole_reply else _draw_raw
        )
        if inputs.raw or inputs.definition:
            _draw_actions(inputs, whole_reply=whole_reply)
    with right:
        _draw_right(inputs, whole_reply=whole_reply)


def _draw_right(inputs: PlaygroundInputs, *, whole_reply: bool) -> None:
    if not inputs.raw and not inputs.definition:
        _draw_examples(reply_wanted=whole_reply)
        return
    answer = st.container()
    if inputs.tool is not None:
        # Draw the link before the result, which takes longer, so that the link is never outdated.
        query = {
            name: st.query_params[name] for name in (*ROADS, KNOWN, *_URL_KEYS) if name in st.query_params
        }
        draw_replay_link(inputs.tool.name, inputs.definition, query)
    with answer:
        _draw_result(inputs, whole_reply=whole_reply)


def _draw_result(inputs: PlaygroundInputs, *, whole_reply: bool) -> None:
    if len(inputs.raw) > LONGEST:
        _too_long()
    elif whole_reply:
        reply.show(inputs)
    else:
        request = parse_request(inputs.raw, inputs.definition, inputs.which)
        result.draw_result(request)
        result.draw_details(request)
        result.draw_other_parsers(inputs.raw, inputs.definition, inputs.which)
    if inputs.which is not None:
        tool_card.show(inputs.definition, inputs.which)
    call = st.query_params.get("call")
    if inputs.tool is not None and call and not whole_reply:
        live_card.show(inputs.tool, call)


def _draw_raw(inputs: PlaygroundInputs) -> None:
    result.draw_raw(parse_request(inputs.raw, inputs.definition, inputs.which))


def _too_long() -> None:
    with cards.draw_card("Not parsed"):
        st.text(
            f"The text has more than {LONGEST:,} characters, the limit of the playground. "
            "Parse the file in a terminal:"
        )
        st.code("callgauge parse < FILE", language=None)


def _draw_examples(*, reply_wanted: bool) -> None:
    mode = {"mode": "reply"} if reply_wanted else {}
    with cards.draw_card(
        "Nothing to parse yet",
        caption="Paste what a model sent, open a call from the page Calls, or pick an example. The result "
        "updates while you type. Nothing is stored or sent to another server.",
    ):
        rows = [
            [
                Cell(example.title, href=f"playground?{urlencode({**mode, 'example': example.title})}"),
                Cell(wording.one_line(example.raw, 120), mono=True),
            ]
            for example in (REPLIES if reply_wanted else EXAMPLES)
        ]
        draw_table("examples", "Examples", [Column("Example", "name"), Column("Text", "clip")], rows)


def _draw_actions(inputs: PlaygroundInputs, *, whole_reply: bool) -> None:
    problem = None
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        try:
            record_setting("p", make_link_parameter(inputs.raw, inputs.definition))
            for name in ("call", "example", KNOWN):
                record_setting(name, None)
        except LinkError as too_long:
            problem = str(too_long)
            refuse_link(problem)
        if len(inputs.raw) <= LONGEST:
            st.download_button(
                "Save as regression case",
                lambda: _make_case(inputs, whole_reply=whole_reply),
                "saved_case.json",
                "application/json",
                on_click="ignore",
                help="A file for tests/cases/lenient, with the text and today's result.",
                key="save_case",
            )
        st.button("Clear", on_click=clear_desk, key="clear_playground")
    if problem:
        st.caption(f"No link: {problem} Save as regression case instead.")


def _make_case(inputs: PlaygroundInputs, *, whole_reply: bool) -> bytes:
    if whole_reply:
        return text_case_json(
            inputs.raw, inputs.tools.tools, dialect=inputs.dialect, leaked=inputs.leaked
        ).encode()
    return case_json(inputs.raw, inputs.tool).encode()


show()

"""The page Errors, which shows failures and new errors. A second tab shows what retries cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.call_traits import TITLES
from callgauge.analysis.measures.slices import make_slices
from callgauge.analysis.verdicts.calls import describe_failures, describe_new_errors
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards, fault_cards
from callgauge.dashboard.components.controls.url_widgets import draw_fold, draw_tabs
from callgauge.dashboard.components.definition_note import draw_definition_note
from callgauge.dashboard.components.slice_table import (
    READING,
    IntervalScale,
    describe_basis,
    make_scale,
    share_cell,
)
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.pages.errors import retries
from callgauge.dashboard.pages.errors import signature_list as signatures
from callgauge.dashboard.pages.errors.correlates import (
    TraitClass,
    describe_standout,
    find_apart,
    find_standouts,
    trait_classes,
)
from callgauge.dashboard.pages.errors.signature_status import read_known_errors

_TABS = {"errors": "What fails", "retries": "Retries"}


def show() -> None:
    signature = st.query_params.get("signature")
    if signature is not None:
        signatures.show_one(signature)
        return
    st.title("Errors", anchor=False)
    chosen = filters.chosen_filters().parameters()
    with draw_tabs("tab", _TABS) as tab:
        if tab == "retries":
            retries.show(chosen)
        else:
            _draw_errors(chosen)


def _draw_errors(chosen: Mapping[str, Any]) -> None:
    rows = store_queries.ask("slices", rates=("parse_error", "defined", "emission"), **chosen)
    if rows.empty:
        cards.show_no_matches("calls")
        return
    layers = store_queries.ask("fault_layers", **chosen).to_dict("records")
    known_errors = read_known_errors()
    recent = signatures.read_recent(known_errors, chosen)
    cards.draw_answer(f"{describe_failures(layers)} {_describe_recent(recent)}".rstrip(), 600)
    draw_definition_note(make_slices(rows, related=False))
    signatures.show_recent(recent, known_errors)
    signatures.show(known_errors, chosen, recent)
    stages = draw_fold("Failed calls by stage and by diagnostic", "stages")
    if stages is not None:
        with stages:
            wide, narrow = st.columns([8, 5], gap="small")
            with wide:
                totals = {row["rate"]: row for row in rows.to_dict("records")}
                judged = totals["defined"]["n"] if "defined" in totals else 0
                fault_cards.draw_findings(chosen, judged, rows.total.max())
            with narrow:
                fault_cards.draw_layers(chosen)
    traits = draw_fold("What correlates with failures", "traits")
    if traits is not None:
        with traits:
            _draw_correlates(chosen)


def _describe_recent(recent: signatures.RecentErrors) -> str:
    """Return the new errors in words.

    The result is empty when the store has no earlier day with which to compare.
    """
    if recent.day is None:
        return ""
    return describe_new_errors(
        len(recent.on_day), recent.day, earlier=len(recent.earlier), returned=recent.returned_count
    )


def _draw_correlates(chosen: Mapping[str, Any]) -> None:
    with cards.draw_card(
        "Which calls fail more often?",
        "traits",
        take=cards.Download("traits", store_queries.ask_later("traits", **chosen)),
    ):
        classes = trait_classes(store_queries.ask("traits", **chosen))
        if not classes:
            st.caption("Not measured: no call of this selection could be checked.")
            return
        answer = describe_standout(find_standouts(classes), find_apart(classes))
        st.markdown(wording.in_markdown(answer, 800))
        st.caption(f"Parse errors by traits of the calls. {READING}")
        scale = make_scale([trait_class.share for trait_class in classes])
        with st.grid(3, min_column_width=300, gap="medium"):
            for trait in dict.fromkeys(trait_class.trait for trait_class in classes):
                _draw_trait(
                    trait, [trait_class for trait_class in classes if trait_class.trait == trait], scale
                )


def _draw_trait(trait: str, classes: Sequence[TraitClass], scale: IntervalScale) -> None:
    heads = [
        Column(TITLES[trait], "tight"),
        Column("Parse errors", "rate", "Share of judged calls, with its 95% interval", scale=scale.ends()),
    ]
    rows = [
        [
            Cell(trait_class.class_words),
            share_cell(trait_class.share, scale, title=describe_basis(trait_class.share), ordered=False),
        ]
        for trait_class in classes
    ]
    draw_table(f"trait_{trait}", f"Parse errors by {TITLES[trait].lower()}", heads, rows)


show()

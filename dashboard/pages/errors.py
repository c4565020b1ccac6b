"""What goes wrong: signatures, new ones first, or one of them in full; codes, layers, what goes with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import answers, filters, wording
from dashboard.correlates import TraitClass, sentence, standouts, trait_classes
from dashboard.pages import error_signatures
from dashboard.traits import TITLES
from dashboard.widgets import cards, fault_cards
from dashboard.widgets.sheet import Cell, Column, sheet
from dashboard.widgets.slice_table import READING, Scale, rests_on, scale_of, share_cell


def show() -> None:
    signature = st.query_params.get("signature")
    if signature is not None:
        error_signatures.show_one(signature)
        return
    st.title("Errors", anchor=False)
    chosen = filters.chosen().parameters()
    known = answers.ask("slices", rates=("mended", "emission"), **chosen)
    if known.empty:
        cards.nothing_matches("calls")
        return
    error_signatures.show(chosen)
    wide, narrow = st.columns([8, 5], gap="small")
    with wide:
        totals = {row["rate"]: row for row in known.to_dict("records")}
        judged = totals["mended"]["n"] if "mended" in totals else 0
        fault_cards.findings(chosen, judged, known.total.max())
    with narrow:
        fault_cards.layers(chosen)
    _correlates(chosen)


def _correlates(chosen: Mapping[str, Any]) -> None:
    with cards.card(
        "What goes with failure",
        "traits",
        take=cards.Take("traits", answers.later("traits", **chosen)),
    ):
        classes = trait_classes(answers.ask("traits", **chosen).to_dict("records"))
        if not classes:
            st.caption("Not measured: no call of this selection could be judged.")
            return
        st.markdown(wording.in_markdown(sentence(standouts(classes)), 600))
        st.caption(f"Parse errors by traits of the calls. {READING}")
        scale = scale_of([one.share for one in classes])
        with st.grid(3, min_column_width=300, gap="medium"):
            for trait in dict.fromkeys(one.trait for one in classes):
                _trait(trait, [one for one in classes if one.trait == trait], scale)


def _trait(trait: str, classes: Sequence[TraitClass], scale: Scale) -> None:
    heads = [
        Column(TITLES[trait], "tight"),
        Column("Parse errors", "rate", "Share of judged calls, with its 95% interval", scale=scale.ends()),
    ]
    rows = [
        [Cell(one.words), share_cell(one.share, scale, title=rests_on(one.share), ordered=False)]
        for one in classes
    ]
    sheet(f"trait_{trait}", f"Parse errors by {TITLES[trait].lower()}", heads, rows)


show()

"""The page Errors: error signatures (or one in full), findings by code, fault layers, traits of calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.call_traits import TITLES
from callgauge.analysis.measures.slices import make_slices
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards, fault_cards
from callgauge.dashboard.components.controls.url_widgets import draw_fold
from callgauge.dashboard.components.definition_note import draw_definition_note
from callgauge.dashboard.components.slice_table import (
    READING,
    IntervalScale,
    describe_basis,
    make_scale,
    share_cell,
)
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.pages.errors import signature_list as signatures
from callgauge.dashboard.pages.errors.correlates import (
    TraitClass,
    describe_standout,
    find_apart,
    find_standouts,
    trait_classes,
)
from callgauge.dashboard.pages.errors.signature_status import read_known_errors


def show() -> None:
    signature = st.query_params.get("signature")
    if signature is not None:
        signatures.show_one(signature)
        return
    st.title("Errors", anchor=False)
    chosen = filters.chosen_filters().parameters()
    known = store_queries.ask("slices", rates=("parse_error", "defined", "emission"), **chosen)
    if known.empty:
        cards.show_no_matches("calls")
        return
    layers = store_queries.ask("fault_layers", **chosen).to_dict("records")
    known_errors = read_known_errors()
    newest = store_queries.ask("signatures", **chosen, limit=signatures.PER_PAGE, offset=0).to_dict("records")
    cards.draw_answer(describe_errors(layers, newest, len(known_errors.returned)), 600)
    draw_definition_note(make_slices(known, related=False))
    signatures.show(known_errors, chosen)
    wide, narrow = st.columns([8, 5], gap="small")
    with wide:
        totals = {row["rate"]: row for row in known.to_dict("records")}
        judged = totals["defined"]["n"] if "defined" in totals else 0
        fault_cards.draw_findings(chosen, judged, known.total.max())
    with narrow:
        fault_cards.draw_layers(chosen)
    fold = draw_fold("What goes with failure", "traits")
    if fold is not None:
        with fold:
            _draw_correlates(chosen)


def describe_errors(
    layers: Sequence[Mapping[Any, Any]], rows: Sequence[signatures.Row], back: int = 0
) -> str:
    """Return sentences on how many calls went wrong, where first, which signatures are new, and which back.

    `layers`: the rows of the metric `fault_layers`. `rows`: signatures, new ones first. `back`: how many
    fixed ones were seen again.
    """
    counts = {row["layer"]: row["calls"] for row in layers}
    failed = {layer: calls for layer, calls in counts.items() if layer not in ("none", "unknown")}
    wrong, total = sum(failed.values()), layers[0]["total"]
    untold = fault_cards.describe_untold(counts["unknown"])
    if not wrong:
        return f"No call of {total:,} was seen to go wrong{untold}."
    worst = max(failed, key=lambda layer: failed[layer])
    place = f"{fault_cards.LAYERS[worst][0].lower()} ({wording.fraction(failed[worst], wrong)})"
    where = (
        f"{wrong:,} of {wording.plural(total, 'call')} {'was' if wrong == 1 else 'were'} seen to go wrong, "
        f"most often at {place}{untold}."
    )
    new = sum(bool(row["new"]) for row in rows)
    newest = rows[0]["days"][-1] if rows and rows[0]["days"] else None
    returned = f" {wording.plural(back, 'fixed error')} {'is' if back == 1 else 'are'} back." if back else ""
    if not newest:
        return f"{where}{returned}"
    appeared = wording.plural(new, "error") if new else "no error"
    return f"{where} On {newest}, {appeared} appeared for the first time.{returned}"


def _draw_correlates(chosen: Mapping[str, Any]) -> None:
    with cards.draw_card(
        "Which calls fail more?",
        "traits",
        take=cards.Download("traits", store_queries.ask_later("traits", **chosen)),
    ):
        classes = trait_classes(store_queries.ask("traits", **chosen))
        if not classes:
            st.caption("Not measured: no call of this selection could be judged.")
            return
        answer = describe_standout(find_standouts(classes), find_apart(classes))
        st.markdown(wording.in_markdown(answer, 800))
        st.caption(f"Parse errors by traits of the calls. {READING}")
        scale = make_scale([one.share for one in classes])
        with st.grid(3, min_column_width=300, gap="medium"):
            for trait in dict.fromkeys(one.trait for one in classes):
                _draw_trait(trait, [one for one in classes if one.trait == trait], scale)


def _draw_trait(trait: str, classes: Sequence[TraitClass], scale: IntervalScale) -> None:
    heads = [
        Column(TITLES[trait], "tight"),
        Column("Parse errors", "rate", "Share of judged calls, with its 95% interval", scale=scale.ends()),
    ]
    rows = [
        [Cell(one.class_words), share_cell(one.share, scale, title=describe_basis(one.share), ordered=False)]
        for one in classes
    ]
    draw_table(f"trait_{trait}", f"Parse errors by {TITLES[trait].lower()}", heads, rows)


show()

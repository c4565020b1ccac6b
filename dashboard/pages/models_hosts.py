"""The same model on several hosts: the rate on each, held against the host that serves it most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import answers, filters, wording
from dashboard.rates import Rate
from dashboard.slices import Slice, beside, slices
from dashboard.widgets import cards
from dashboard.widgets.difference_cells import difference_cell, difference_column, reach_of, verdict_cell
from dashboard.widgets.sheet import Cell, Column, sheet
from dashboard.widgets.slice_table import rate_cell, scale_of

_SHOWN = 60  # rows


def hosts(rate: Rate, chosen: Mapping[str, Any]) -> None:
    """The card."""
    asked = {"rates": (rate.name,), "by": "model", "also": "provider"}
    title = f"{rate.title} of the same model on several hosts"
    take = cards.Take(f"{rate.name}_by_model_and_provider", answers.later("slices", **asked, **chosen))
    with cards.card(title, "slices", take=take, height=220):
        pairs = on_several(slices(answers.ask("slices", **asked, **chosen)))
        if not pairs:
            st.caption(
                "No model was seen on two hosts: the logs name one provider for it, or none. Widen the days "
                "or the sources, or load logs of another host."
            )
            return
        judged = _table(rate, pairs[:_SHOWN])
        st.caption(
            "Each host is held against the one that serves the model most; the verdict counts that "
            f"{wording.plural(judged, 'difference')} are "
            "looked at together (Holm)."
            + (f" {_SHOWN} of {len(pairs)} rows are shown." if len(pairs) > _SHOWN else "")
        )


def on_several(several: Sequence[Slice]) -> list[tuple[Slice, Slice | None]]:
    """Each host of a model that was observed on two known ones, beside the one that serves it most.

    The slices are models, `also` their hosts. Unknown hosts are not listed: they may be any of the others.
    """
    by_model: dict[str, list[Slice]] = {}
    for one in several:
        if one.also != "unknown" and one.share.n:
            by_model.setdefault(one.name, []).append(one)
    pairs: list[tuple[Slice, Slice | None]] = []
    for its in by_model.values():
        if len(its) > 1:
            first, *others = sorted(its, key=lambda one: (-one.share.n, one.also))
            pairs += [(first, None), *((other, first) for other in others)]
    return pairs


def _table(rate: Rate, pairs: Sequence[tuple[Slice, Slice | None]]) -> int:
    """Draw it; the number of differences that are judged together."""
    held = beside(pairs)
    scale, reach = scale_of([one.share for one, _ in pairs]), reach_of(held)
    columns = [
        Column("Model", "name"),
        Column("Host", "text"),
        Column(rate.title, "rate", f"Share of {rate.noun}s that {rate.hit}", scale=scale.ends()),
        difference_column("Difference", reach),
        Column("Verdict", "tight"),
    ]
    rows = []
    for beside_it, (one, other) in zip(held, pairs, strict=True):
        label = filters.label("model", one.name)
        rows.append(
            [
                Cell(
                    wording.one_line(label, 60),
                    href=filters.link("calls", {"model": one.name}, {}) if other is None else None,
                    pale=other is not None,
                ),
                Cell(wording.one_line(one.also, 60)),
                rate_cell(one, scale),
                difference_cell(beside_it, reach, none="reference"),
                Cell("Reference", tone="info") if other is None else verdict_cell(beside_it, other),
            ]
        )
    sheet("hosts", f"{rate.title} by model and host", columns, rows)
    return sum(one.p is not None for one in held)

"""Draws an expander with the tool-call errors of each model and host, next to imported public rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.comparisons.public_rates import (
    PublicRow,
    UnmatchedRates,
    compare_with_public,
)
from callgauge.analysis.measures.rates import PUBLIC_ERROR, RATES
from callgauge.analysis.verdicts.public_rates import PublicVerdict, describe_days_apart
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.url_widgets import draw_fold
from callgauge.dashboard.components.slice_table import (
    IntervalScale,
    calls_link,
    compact_rate_cell,
    make_scale,
    rate_cell,
)
from callgauge.dashboard.components.table import Cell, Column, Tone, draw_table
from callgauge.dashboard.shown_slices import list_public_rates

_COMMAND = "callgauge public-rates --store DIR --import rates.csv"
_TITLE = "Next to the public numbers"
_SHOWN = 10
_PARSE = RATES["parse_error"]
_TONES: Mapping[PublicVerdict, Tone] = {PublicVerdict.HIGHER: "bad", PublicVerdict.LOWER: "good"}


def draw_public_rates(chosen: Mapping[str, Any], smallest: float) -> None:
    """Draw the expander. A closed expander runs no query.

    `smallest` is the smallest difference of interest between two hosts, as a share.
    """
    fold = draw_fold(_TITLE, "public_rates")
    if fold is None:
        return
    with fold, cards.draw_card(_TITLE, "public_rates", framed=False, height=220, verdict="difference"):
        rates = list_public_rates()
        table = store_queries.derive(
            lambda ask: compare_with_public(ask, rates, chosen), "public_rates", chosen, rates
        )
        for sentence in table.write_sentences(_label, smallest):
            st.markdown(f"**{wording.in_markdown(sentence, 900)}**")
        shown = [row for row in table.rows if row.slice.share.n or row.public]
        if shown:
            _draw_rows(shown)
        if left := len(table.rows) - len(shown):
            st.caption(
                f"Not listed: {wording.plural(left, 'pair')} of model and host without a request that could "
                "be checked. Their logs lack the model's own text or the tool definitions."
            )
        if table.unmatched:
            _draw_unmatched(table.unmatched)
        st.caption(
            "Errors are counted as OpenRouter counts them: per request, before any repair. Schema accuracy "
            "is the figure of K2-Vendor-Verifier: the share of the other requests. To import public rates, "
            "write a CSV file with the columns model, host, date, rate and source:"
        )
        st.code(_COMMAND, language="bash")


def _label(model: str) -> str:
    return filters.short_label("model", model)


def _draw_rows(rows: Sequence[PublicRow]) -> None:
    scale = make_scale([row.slice.share for row in rows])
    columns = [
        Column("Model", "name"),
        Column("Host", "short"),
        Column(PUBLIC_ERROR.title, "rate", PUBLIC_ERROR.meaning, scale=scale.ends()),
        Column("Schema accuracy", "number", "Share of requests in which every tool call fits its definition"),
        Column("Public rate", "tight", "The newest public rate of each source"),
        Column("Verdict", "tight", "Against the public rate, corrected for all rows (Holm)"),
        Column("Parse errors", "cell", f"{_PARSE.meaning}. Repaired calls do not count."),
    ]
    draw_table(
        "public_rate_rows",
        "Tool-call errors by model and host, next to public rates",
        columns,
        [_build_row(row, scale) for row in rows],
        shown=_SHOWN,
    )


def _build_row(row: PublicRow, scale: IntervalScale) -> list[Cell]:
    slice_, narrowed = row.slice, {"model": row.slice.name, "provider": row.slice.also}
    share = slice_.share
    verdict = row.verdict
    return [
        Cell(_label(slice_.name), href=filters.page_link("calls", narrowed, {}), order=slice_.name),
        Cell(wording.one_line(slice_.also, 60), title=wording.one_line(slice_.also, 400), order=slice_.also),
        rate_cell(slice_, scale),
        Cell(
            wording.rate(share.n - share.k, share.n),
            title=_describe_counts(row),
            pale=not slice_.is_solid,
            order=share.complement.rate,
            values={"rate": share.complement.rate, "k": share.n - share.k, "n": share.n},
        ),
        _public_cell(row),
        Cell("–" if row.public is None else verdict.value.capitalize(), tone=_TONES.get(verdict)),
        compact_rate_cell(row.parse_errors, calls_link(_PARSE, narrowed)),
    ]


def _describe_counts(row: PublicRow) -> str:
    counts = row.counts
    return (
        f"{wording.plural(counts.calls, 'call')}: {counts.valid:,} valid, {counts.not_json:,} not JSON, "
        f"{counts.unknown_tool:,} of unknown tools, {counts.schema_errors:,} not fitting the definition; not "
        f"measured: {counts.no_text:,} without the model's own text, {counts.no_definition:,} without a "
        f"definition, {counts.unclear:,} not checked completely"
    )


def _public_cell(row: PublicRow) -> Cell:
    public = row.public
    if public is None:
        return Cell("–", values={"rate": None})
    apart = describe_days_apart(row.days_apart)
    n = f"n = {public.n:,}" if public.n else ""
    details = [public.day.isoformat(), wording.one_line(public.source, 40), n, apart, row.other_spelling]
    return Cell(
        wording.percent(public.rate),
        sub=" · ".join(filter(None, details)),
        title=wording.one_line(public.source, 400),
        order=public.rate,
        values={
            "rate": public.rate,
            "date": public.day.isoformat(),
            "source": public.source,
            "n": public.n,
            "listed model": public.model,
            "listed host": public.host,
            "days apart": row.days_apart,
        },
    )


def _draw_unmatched(unmatched: Sequence[UnmatchedRates]) -> None:
    st.caption(f"{wording.plural(sum(each.rates for each in unmatched), 'public rate')} of no calls:")
    draw_table(
        "unmatched_public_rates",
        "Public rates that match no calls",
        [Column("Public model", "name"), Column("Public host", "short"), Column("Reason")],
        [
            [
                Cell(wording.one_line(each.model, 60), title=wording.one_line(each.model, 400)),
                Cell(wording.one_line(each.host, 60), title=wording.one_line(each.host, 400)),
                Cell(each.reason),
            ]
            for each in unmatched
        ],
        shown=_SHOWN,
    )

"""Draws the Retries tab of the page Errors: the outcome of failures, and what retries cost."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.day_paging import CALLS, read_page
from callgauge.analysis.measures.slices import Slice, make_slices
from callgauge.analysis.verdicts.retries import (
    describe_cost,
    describe_kinds,
    describe_recovery,
    find_given_up,
    write_given_up,
)
from callgauge.analysis.verdicts.sentences import RULE, format_difference
from callgauge.analysis.verdicts.tools import judge_tools
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.links import call_link, session_link
from callgauge.dashboard.components.controls.rate_choice import choose_one, choose_segment
from callgauge.dashboard.components.controls.url_widgets import draw_fold
from callgauge.dashboard.components.slice_table import READING, IntervalScale, share_cell
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.pages.errors import losses, recovery
from callgauge.dashboard.pages.errors.retry_table import draw_chain_table, draw_funnel, link_to_chains
from callgauge.stats import Share, compare_rates

Row = Mapping[Hashable, Any]
_ROWS = 10  # tools or models that are shown before "Show all"
_WAYS = {"tool": "By tool", "model": "By model", "layer": "By stage", "attempt": "By attempt"}
_EXAMPLES = 3


def show(chosen: Mapping[str, Any]) -> None:
    rows: list[dict[Hashable, Any]] = store_queries.ask("chains", **chosen).to_dict("records")
    if not rows:
        cards.show_no_matches("failed calls")
        return
    tools = make_slices(
        store_queries.ask("slices", rates=("recovered", "parse_error", "defined"), by="tool", **chosen)
    )
    recovered = [each for each in tools if each.rate.name == "recovered"]
    verdict = judge_tools(recovered, [each for each in tools if each.rate.name != "recovered"])
    steps, tokens = (recovery.sum_cost(rows, what) for what in ("steps", "tokens"))
    sentences = (
        write_given_up(verdict),
        describe_recovery(recovery.recovery_share(rows)),
        describe_cost(round(steps.total), tokens.total, tokens.known, tokens.retried),
    )
    cards.draw_answer(" ".join(filter(None, sentences)), 600)
    _draw_chains(chosen, rows, recovered)
    most = find_given_up(verdict)
    _draw_examples(chosen, most.name if most else None)
    fold = draw_fold("Cost of retries, and whether changed arguments help", "costs")
    if fold is not None:
        with fold:
            left, right = st.columns(2, gap="small")
            with left:
                _draw_cost(rows)
            with right:
                _draw_kinds(rows)
    losses.show(chosen)


def _draw_chains(chosen: Mapping[str, Any], rows: Sequence[Row], recovered: Sequence[Slice]) -> None:
    with cards.draw_card(
        "Outcome after a failure",
        "chains",
        caption="A retry sequence is a failed call and its retries. A number opens the first call of each.",
        take=cards.Download("chains", store_queries.ask_later("chains", **chosen)),
        verdict="worst",
    ):
        way = choose_segment("Sequences by", "by", tuple(_WAYS), _WAYS.__getitem__)
        if way == "attempt":
            _draw_attempts(recovery.group_by_slice(rows), rows)
        elif way == "layer":
            by_layer = recovery.group_by_slice(rows)
            order = [layer for layer in (*wording.STAGES, *by_layer) if layer in by_layer]
            draw_chain_table("layer", by_layer, list(dict.fromkeys(order)))
        else:
            by_slice = store_queries.ask("chains", by=way, **chosen).to_dict("records")
            if way == "model":
                recovered = make_slices(
                    store_queries.ask("slices", rates=("recovered",), by="model", **chosen)
                )
            _draw_most(way, by_slice, recovered)
        if way != "attempt":
            st.caption(READING)


def _draw_attempts(by_layer: Mapping[str, Sequence[Row]], rows: Sequence[Row]) -> None:
    layers = ["", *(layer for layer in wording.STAGES if layer in by_layer)]
    picked = choose_one(
        "Failed at", "layer", layers, "", lambda layer: wording.failure_stage(layer) if layer else "Any stage"
    )
    draw_funnel(by_layer[picked] if picked else rows, picked)


def _draw_most(dimension: str, rows: Sequence[Row], recovered: Iterable[Slice]) -> None:
    """Draw models or tools. The first ones have the largest share of retry sequences that were given up."""
    by_slice = recovery.group_by_slice(rows)
    # This page shows the same intervals as the pages Tools and Models, which use the same estimate.
    shares = recovery.relate_recoveries(by_slice)
    shares |= {
        each.name: each.share
        for each in recovered
        if each.name in shares and (each.share.k, each.share.n) == (shares[each.name].k, shares[each.name].n)
    }

    def sort_key(name: str) -> tuple[bool, float, int, str]:
        share = shares[name]
        given_up = share.n - share.k
        # Calls without a name may belong to several tools or models, so they get no rank.
        is_ranked = share.has_enough and name != "unknown"
        return not is_ranked, -given_up / share.n if is_ranked else 0.0, -given_up, name

    draw_chain_table(dimension, by_slice, sorted(by_slice, key=sort_key), shares=shares, shown=_ROWS)


# --- examples -------------------------------------------------------------------------------------


def _draw_examples(chosen: Mapping[str, Any], tool: str | None) -> None:
    """Draw the newest retry sequences that were given up, of `tool` or of any tool."""
    title = f"Given up: {filters.short_label('tool', tool)}" if tool else "Given up: newest examples"
    narrowed = {**chosen, "tools": (tool,)} if tool else dict(chosen)
    calls = _read_examples(narrowed)
    if not calls:
        return
    by_sequence: dict[str, list[Row]] = {}
    for call in calls:
        by_sequence.setdefault(call["first_call"], []).append(call)
    sequences = sorted(by_sequence.values(), key=lambda attempts: str(attempts[0]["ts"]), reverse=True)
    most = max(map(len, sequences))
    with cards.draw_card(
        wording.in_markdown(title, 80),
        "sequence_calls",
        caption="The newest sequences, those with a retry first. Each attempt opens the call.",
    ):
        heads = [
            Column("Session", "tight"),
            Column("Model", "name"),
            *(Column(f"Attempt {number}", "short") for number in range(1, min(most, _EXAMPLES) + 1)),
        ]
        built = [_build_example(attempts, min(most, _EXAMPLES)) for attempts in sequences]
        draw_table("examples", "Examples of sequences given up", heads, built)


def _read_examples(chosen: Mapping[str, Any]) -> Sequence[Row]:
    firsts: dict[str, Row] = {}
    for attempts in (2, None):  # sequences with a retry come first, because they show more
        wanted = {**chosen, "attempt": "first", "chain": "abandoned", "attempts_from": attempts}
        newest = read_page(store_queries.ask, CALLS, wanted, _EXAMPLES).rows.to_dict("records")
        firsts |= {row["call_id"]: row for row in newest if len(firsts) < _EXAMPLES}
        firsts = dict(list(firsts.items())[:_EXAMPLES])
        if len(firsts) == _EXAMPLES:
            break
    if not firsts:
        return []
    days = [row["ts"].date() for row in firsts.values() if isinstance(row["ts"], datetime)]
    rows = store_queries.ask(
        "sequence_calls",
        calls=tuple(firsts),
        sessions=tuple({row["session_id"] for row in firsts.values()}),
        since=min(days) if len(days) == len(firsts) else None,
    )
    return rows.to_dict("records")


def _build_example(attempts: Sequence[Row], columns: int) -> list[Cell]:
    first = attempts[0]
    cells = [
        Cell(
            wording.utc(first["ts"] if isinstance(first["ts"], datetime) else None),
            href=session_link(first["session_id"], call=first["call_id"]),
        ),
        Cell(filters.short_label("model", first["model"] or "unknown")),
        *(
            Cell(
                wording.failure_stage(call["fault_layer"]),
                sub=wording.one_line(call["preview"], 60) or None,
                href=call_link(call["call_id"]),
                title=wording.one_line(call["preview"], 200) or None,
                values={"": call["call_id"]},
            )
            for call in attempts[:columns]
        ),
    ]
    return [*cells, *(Cell("no retry" if not place else "") for place in range(columns + 2 - len(cells)))]


# --- what is behind the fold ----------------------------------------------------------------------


def _draw_kinds(rows: Sequence[Row]) -> None:
    with cards.draw_card("Do changed arguments help?", "chains", stretch=True):
        kinds = {kind: recovery.first_retry_share(rows, kind) for kind in ("changed", "identical")}
        difference = compare_rates(kinds["changed"], kinds["identical"])
        points = f" The difference is {format_difference(difference)}, 95%." if difference else ""
        st.markdown(f"{describe_kinds(kinds['changed'], kinds['identical'])}{points}")
        scale = IntervalScale(0.0, 1.0)
        drawn = [
            [
                Cell(f"{kind} arguments"),
                _worked_cell(share, scale, f"{kind}_worked"),
                Cell(f"{share.n:,}", href=link_to_chains({"first_retry": kind}) if share.n else None),
            ]
            for kind, share in kinds.items()
        ]
        unknown = recovery.retried_share(rows).k - sum(share.n for share in kinds.values())
        if unknown:
            href = link_to_chains({"first_retry": "unknown"})
            drawn.append([Cell("a text is missing"), Cell("–"), Cell(f"{unknown:,}", href=href)])
        draw_table(
            "kinds",
            "Retries that worked, by kind",
            [
                Column("First retry", "tight"),
                Column("Worked", "rate", scale=scale.ends()),
                Column("Sequences", "number"),
            ],
            drawn,
        )
        st.caption(
            "Only the first retry of a sequence counts, so that one long sequence does not outweigh many. "
            f"A verdict takes {RULE} of both kinds."
        )


def _worked_cell(share: Share, scale: IntervalScale, kind: str) -> Cell:
    if share.rate is None:
        return Cell("–")
    return share_cell(
        share, scale, href=link_to_chains({"first_retry": kind}) if share.k else None, ordered=False
    )


_COSTS = (("steps", "Model calls", 1.0, ""), ("tokens", "Tokens", 1.0, ""), ("ms", "Seconds", 1000.0, " s"))


def _draw_cost(rows: Sequence[Row]) -> None:
    with cards.draw_card("What a failure costs", "chains", stretch=True):
        again = recovery.retried_share(rows)
        st.markdown(
            f"{wording.rate(again.k, again.n)} of {wording.plural(again.n, 'retry sequence')} had a retry. "
            "Beyond the first attempt, each of these took:"
        )
        heads = [
            Column("Cost", "tight"), Column("Each", "number"), Column("In total", "number"),
            Column("Measured", "number", "Sequences with retries whose log has the number"),
        ]  # fmt: skip
        draw_table("cost", "Cost of retries", heads, [_cost_row(rows, *each) for each in _COSTS])
        st.caption("In total: where it was measured, without what turns cost that failed for good.")


def _cost_row(rows: Sequence[Row], what: str, title: str, unit: float, suffix: str) -> list[Cell]:
    cost = recovery.sum_cost(rows, what)
    each = cost.cost_per_chain
    whole = cost.retried > 0 and cost.known == cost.retried
    return [
        Cell(title),
        Cell("–" if each is None else f"{each / unit:,.{0 if each / unit >= 100 else 1}f}{suffix}"),
        Cell(f"{cost.total / unit:,.0f}{suffix}" if cost.known else "–"),
        Cell(
            wording.fraction(cost.known, cost.retried),
            sub=wording.rate(cost.known, cost.retried),
            href=link_to_chains({"attempts": "2-"}) if whole else None,
        ),
    ]

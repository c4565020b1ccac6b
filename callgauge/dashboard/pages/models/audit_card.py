"""Draws a card that compares each model's calling strategy with its probe results and parse errors."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.measures.slices import Slice, read_shares
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.rate_choice import choose_one
from callgauge.dashboard.components.slice_table import (
    IntervalScale,
    calls_link,
    draw_thin_slices,
    judged_rate_cell,
    make_scale,
)
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.pages.models.strategy_audit import (
    NATIVE,
    AuditFinding,
    StrategyUse,
    audit_strategies,
)
from callgauge.stats import Share, relate_shares

Row = Mapping[Hashable, Any]
_LEASTS = ("1", "2", "5", "10", "20")
_SHOWN = 40
_STRATEGIES = {"tool_use": "native", "json_fallback": "as text", "none": "not called", "unknown": "unknown"}


def draw_strategies(chosen: Mapping[str, Any]) -> None:
    """Draw one row per model, host and strategy. Rows with a problem come first."""
    title = "Calling strategy: probe results and calls"
    take = cards.Download("strategy_audit", store_queries.ask_later("strategy_audit", **chosen))
    with cards.draw_card(title, "strategy_audit", take=take, height=320):
        least = _choose_least()
        rows = store_queries.ask("strategy_audit", **chosen)
        used = [
            _strategy_use(row, share)
            for row, share in zip(rows.to_dict("records"), relate_shares(read_shares(rows)), strict=True)
        ]
        if not used:
            st.caption("No calls and no probes in the chosen logs.")
            return
        findings = audit_strategies(used, least)
        listed = [
            finding
            for finding in findings
            if finding.used.calls.is_solid or finding.used.probes or finding.tone in ("bad", "warn")
        ]
        shown = listed[:_SHOWN]
        if shown:
            scale = make_scale([finding.used.calls.share for finding in shown])
            draw_table(
                "audit", title, _build_columns(scale), [_build_row(finding, scale) for finding in shown]
            )
        named = [
            replace(finding.used.calls, name=_name_use(finding.used))
            for finding in findings
            if finding not in listed
        ]
        draw_thin_slices(
            "model", {"parse_error": named}, key="audit", leads=lambda _: None, noun="combination"
        )
        probed = sum(finding.used.probes > 0 for finding in findings)
        st.caption(
            (f"{probed} of {wording.plural(len(findings), 'row')} were probed." if probed else _NO_PROBE)
            + (f" {len(shown)} rows are shown." if len(listed) > len(shown) else "")
        )


_NO_PROBE = "These logs contain no probe; the verdict uses the calls only."


def _name_use(used: StrategyUse) -> str:
    """Return a name for a model with host and strategy, such as “gpt-4o on azure, native”."""
    model, host = filters.value_label("model", used.calls.name), used.calls.also
    place = "" if host == "unknown" else f" on {wording.one_line(host, 14)}"
    return f"{wording.one_line(model, 30)}{place}, {_name_strategy(used)}"


def _name_strategy(used: StrategyUse) -> str:
    return _STRATEGIES.get(used.strategy, wording.one_line(used.strategy, 30))


def _choose_least() -> float:
    text = choose_one(
        "Too many parse errors", "least", _LEASTS, "5", lambda value: f"{value}% or more", width=220
    )
    return int(text) / 100


def _strategy_use(row: Row, share: Share) -> StrategyUse:
    return StrategyUse(
        Slice(RATES["parse_error"], row["model"], row["provider"], share, row["total"]),
        row["strategy"], row["probes"], row["probes_ok"], row["last_ok"], row["last_day"], row["last_error"],
    )  # fmt: skip


def _build_columns(scale: IntervalScale) -> Sequence[Column]:
    return [
        Column("Model", "name"),
        Column("Verdict", "text"),
        Column("Host", "short"),
        Column("Called", "tight", "native: through the tool-call interface; as text: json_fallback"),
        Column("Last probe", "text"),
        Column("Parse errors", "rate", scale=scale.ends()),
    ]


def _build_row(finding: AuditFinding, scale: IntervalScale) -> list[Cell]:
    used = finding.used
    calls = used.calls
    narrowed = {"model": calls.name, "provider": calls.also}
    return [
        Cell(
            filters.short_label("model", calls.name),
            href=filters.page_link("calls", narrowed, {}),
        ),
        Cell(finding.text, tone=finding.tone) if finding.tone else Cell(finding.text, pale=True),
        Cell(wording.one_line(calls.also, 40)),
        Cell(_name_strategy(used)),
        _make_probe_cell(used),
        # Other strategies get no link, because the Calls page cannot filter by strategy and would list too
        # many calls.
        judged_rate_cell(calls, scale, calls_link(calls.rate, narrowed) if used.strategy == NATIVE else None),
    ]


def _make_probe_cell(used: StrategyUse) -> Cell:
    if not used.probes:
        return Cell("none", pale=True)
    result = {True: "passed", False: "failed", None: "no result"}[used.last_ok]
    why = f" “{wording.one_line(used.last_error, 60)}”" if used.last_error and not used.last_ok else ""
    day = f" on {used.last_day}" if used.last_day else ""
    return Cell(f"{result}{day}", sub=f"{wording.fraction(used.probes_ok, used.probes)} passed{why}")

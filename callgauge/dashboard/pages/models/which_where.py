"""Draws the tab Which model where: the model to use for each prompt or tool, and its routing files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.comparisons.model_choices import DIMENSIONS, choose_models
from callgauge.analysis.comparisons.routing_files import WRITERS
from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.verdicts.model_choices import (
    ModelChoice,
    ModelChoices,
    ModelUse,
    describe_blocked,
    describe_choice,
    describe_choices,
    describe_cost,
    describe_unlisted,
    write_saving,
)
from callgauge.analysis.verdicts.sentences import format_points
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.links import draw_link
from callgauge.dashboard.components.controls.rate_choice import choose_segment, link_here
from callgauge.dashboard.components.money.page_costs import read_prices
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.file_names import name_file
from callgauge.dashboard.shown_slices import list_prices
from callgauge.dashboard.viewer import refuse_file

_SHOWN = 15  # rows before "Show all"
_VIEWS = {"prompt": "By prompt", "tool": "By tool"}
_METRICS = {"prompt": "prompt_costs", "tool": "tool_costs"}
_BOTH = "Of the current model, then of the other model"
_FILES = {
    "litellm": ("LiteLLM", "yaml", "application/yaml"),
    "openrouter": ("OpenRouter", "json", "application/json"),
}


def draw_which_where(chosen: Mapping[str, Any], smallest: float) -> None:
    """Draw a sentence that counts the suggestions, a table with a row for each prompt or tool, and the
    routing files.
    """
    by = choose_segment("Choose a model for", "choice_by", DIMENSIONS, _VIEWS.__getitem__)
    metric_names = ("slices", "strata", _METRICS[by])
    # The card is below the fold, so a link from another page would seem to lead to the top of this page.
    page = f"{by}s"
    beside = partial(draw_link, "choice_page", f"All {page}", link_here(page, {}), appears=True)
    with cards.draw_card("Which model where", *metric_names, height=320, verdict="choice", beside=beside):
        choices = store_queries.derive(
            lambda ask: choose_models(ask, read_prices(), by, chosen, smallest),
            "model choices",
            *(by, chosen, smallest, list_prices()),
        )
        with st.container(key="choice_answer"):
            st.markdown(f"**{wording.in_markdown(describe_choices(choices), 600)}**")
        if choices.rows:
            _draw_table(choices)
            st.caption(_describe_reading(choices))
            _draw_files(choices)


def _describe_reading(choices: ModelChoices) -> str:
    current = "The current model has most calls in the newest 7 days."
    parts = [current, "Hover, focus or tap a suggestion for its reason and intervals."]
    if any(row.other and row.other.checks for row in choices.rows):
        parts.append("The last line of a rate or a cost is the mix-adjusted difference.")
    if choices.by == "tool":
        parts.append("The cost of a tool is the cost of the whole turns that call it.")
    return " ".join(filter(None, [*parts, describe_unlisted(choices)]))


def _draw_table(choices: ModelChoices) -> None:
    columns = [
        Column(wording.dimension(choices.by).capitalize(), "name"),
        Column("Current model", "short"),
        Column("Suggestion", "tight", "The cheapest model that is proven to be cheaper and not worse"),
        Column("Parse errors", "cell", f"{_BOTH}. Below: the mix-adjusted difference"),
        Column("Turn success", "cell", f"{_BOTH}. Below: the mix-adjusted difference"),
        Column("Cost / success", "cell", f"{_BOTH}. Below: the mix-adjusted difference"),
        Column("Saved", "cell", f"What the suggestion would have saved {choices.recent_words}"),
    ]
    costs = [use.cost.amount for row in choices.rows for use in _list_uses(row) if use.cost]
    places = wording.money_places(min(costs)) if costs else 2
    rows = [_make_row(row, choices, places) for row in choices.rows]
    draw_table("which_where", "Which model where", columns, rows, shown=_SHOWN)


def _list_uses(row: ModelChoice) -> list[ModelUse]:
    """Return the current model, and the suggested or blocked model."""
    return [row.current, *([row.other.use] if row.other else [])]


def _make_row(row: ModelChoice, choices: ModelChoices, places: int) -> list[Cell]:
    page, key = ("prompts", "of") if choices.by == "prompt" else ("tools", "tool_open")
    own = {} if choices.by == "prompt" else {key: row.name}
    narrowed = {"prompt": row.name} if choices.by == "prompt" else {}
    return [
        Cell(
            filters.short_label(choices.by, row.name),
            href=filters.page_link(page, narrowed, own),
            values={"": row.name},
        ),
        Cell(filters.short_label("model", row.current.model), values={"": row.current.model}),
        _suggestion_cell(row, choices),
        *(_rate_cell(name, row) for name in ("parse_error", "turn_success")),
        _cost_cell(row, choices.currency, places),
        _saved_cell(row, choices.currency),
    ]


def _suggestion_cell(row: ModelChoice, choices: ModelChoices) -> Cell:
    sentence = describe_choice(row, filters.short_label, choices.smallest)
    values = {"": row.model, "verdict": "switch" if row.suggestion else "keep", "reason": sentence}
    if row.suggestion:
        model = filters.short_label("model", row.suggestion.use.model)
        is_better = all(check.is_better for check in row.suggestion.checks)
        words = "cheaper and better" if is_better else "cheaper and not worse"
        return Cell(model, sub=words, tone="good", title=sentence, values=values)
    reason = row.obstacle.value if row.obstacle else ""
    if row.blocked:
        model = filters.short_label("model", row.blocked.use.model)
        reason = f"{model}:\n{describe_blocked(row.blocked)}"
    return Cell("keep", sub=reason, pale=True, title=sentence, values=values)


def _rate_cell(name: str, row: ModelChoice) -> Cell:
    """Return a cell with the rates of both models, and below them the difference that the sentence quotes."""
    uses = _list_uses(row)
    shares = [use.rates[name].share for use in uses]
    lines = [
        f"{wording.fraction(share.k, share.n)} · {wording.interval(share.interval)}"
        if share.n
        else "not measured"
        for share in shares
    ]
    values: dict[str, Any] = {}
    for words, use in zip(("current", "other"), uses, strict=False):
        share = use.rates[name].share
        values |= {f"{words} rate": share.rate, f"{words} k": share.k, f"{words} n": share.n}
    checks = row.other.checks if row.other else ()
    for difference in [check.difference for check in checks if check.rate.name == name and check.difference]:
        estimate, low, high = map(format_points, (difference.estimate, difference.low, difference.high))
        lines.append(f"{estimate} points ({low} to {high})")
        values |= {"difference": difference.estimate, "low": difference.low, "high": difference.high}
    return Cell(
        " → ".join(wording.rate(share.k, share.n) for share in shares),
        sub="\n".join(lines),
        pale=not all(use.rates[name].is_solid for use in uses),
        title=RATES[name].meaning,
        values=values,
    )


def _cost_cell(row: ModelChoice, currency: str, places: int) -> Cell:
    uses = _list_uses(row)
    texts: list[str] = []
    lines: list[str] = []
    values: dict[str, Any] = {}
    for words, use in zip(("current", "other"), uses, strict=False):
        bounds = use.cost.interval if use.cost else None
        texts.append(wording.money(use.cost.amount, currency, places) if use.cost else "–")
        lines.append(f"{bounds.low:,.{places}f}–{bounds.high:,.{places}f}" if bounds else "no interval")
        values |= {
            words: use.cost.amount if use.cost else None,
            f"{words} low": bounds.low if bounds else None,
            f"{words} high": bounds.high if bounds else None,
        }
    if row.other and row.other.ratio and row.other.checks:
        lines.append(describe_cost(row.other.ratio, unit=""))
    is_known = all(use.cost and use.cost.interval for use in uses)
    return Cell(" → ".join(texts), sub="\n".join(lines), pale=not is_known, values=values)


def _saved_cell(row: ModelChoice, currency: str) -> Cell:
    if row.saving is None:
        return Cell("–", values={"": None, "low": None, "high": None})
    amount, bounds = row.saving
    text, _, interval = write_saving(row.saving, currency).partition(" (")
    values = {"": amount, "low": bounds.low, "high": bounds.high}
    return Cell(text, sub=interval.rstrip(")"), order=amount, values=values)


def _draw_files(choices: ModelChoices) -> None:
    if refusal := refuse_file():
        st.caption(refusal)
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption("Routing files", width="content")
        for kind, (label, suffix, mime) in _FILES.items():
            st.download_button(
                label,
                WRITERS[kind](choices, filters.value_label).encode(),
                name_file(f"{kind}_by_{choices.by}", suffix),
                mime,
                type="tertiary",
                icon=":material/download:",
                on_click="ignore",
                key=f"take_{kind}",
            )

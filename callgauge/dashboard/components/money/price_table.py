"""Draws the prices in use.

Each row has the model, the first day and the owner of the price, and how the model name was matched.
"""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.measures.costs import COMMAND
from callgauge.dashboard import filters
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.memory.records import ModelPrice
from callgauge.prices import Owner, PriceList, PriceMatch, describe_our_list

_WHOSE = {Owner.TEAM: "the team's", Owner.OURS: "ours"}


def draw_no_price() -> None:
    """Draw a message that says that no model has a price, and how to load a team's prices."""
    st.caption(
        "No model call of the chosen logs has a price, or no log tells its tokens. Load your prices, a CSV "
        "file with the columns model, from_day, input, output, cached_input, cache_write and currency:"
    )
    st.code(COMMAND, language="bash")


def draw_prices(prices: PriceList, matches: Mapping[str, PriceMatch | None]) -> None:
    """Draw the prices of each model in the store, and who maintains the prices."""
    st.caption(
        f"Per million tokens, in {prices.currency}. The team's prices come before ours. Ours are public "
        f"{describe_our_list()}, and may be outdated. Names match exactly, or without provider or date."
        + (f" Ours are not used: they are not in {prices.currency}." if prices.leaves_ours_out else "")
    )
    columns = [
        Column("Model", "name"), Column("From", "tight"), Column("Input", "number"),
        Column("Cached input", "number", "Read from the provider's cache"),
        Column("Cache write", "number", "Written to the provider's cache"),
        Column("Output", "number"), Column("Whose", "tight"), Column("Price of", "short"),
        Column("Matched by", "tight"),
    ]  # fmt: skip
    priced = [
        _price_row(match, price) for match in matches.values() if match is not None for price in match.prices
    ]
    without = [
        [_name_cell(name), *[Cell("–", pale=True)] * 5, Cell("no price"), *[Cell("–", pale=True)] * 2]
        for name, match in matches.items()
        if match is None
    ]
    draw_table("prices", "Prices of the models in the store", columns, [*priced, *without], shown=20)
    st.code(COMMAND, language="bash")


def _price_row(match: PriceMatch, price: ModelPrice) -> list[Cell]:
    amounts = (price.input, price.cached_input, price.cache_write, price.output)
    return [
        _name_cell(match.model),
        Cell(price.from_day.isoformat()),
        *(
            Cell("as input", pale=True) if amount is None else Cell(f"{amount:g}", order=amount)
            for amount in amounts
        ),
        Cell(_WHOSE[match.owner], title=wording.one_line(price.source, 200) or None),
        Cell(wording.one_line(price.model, 60), mono=True),
        Cell(match.how),
    ]


def _name_cell(model: str) -> Cell:
    return Cell(filters.short_label("model", model))

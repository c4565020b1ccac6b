"""Rewrites callgauge/prices/prices.csv from the installed genai-prices (`./dev prices`).

Callgauge does not depend on genai-prices, which would add four packages. It also matches names by prefix, so
a fine-tuned `gpt-4o-acme` would get the price of gpt-4o. `PriceList.match` compares whole names.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from genai_prices.data import providers
from genai_prices.types import (
    ClauseAnd,
    ClauseEquals,
    ClauseOr,
    ClauseStartsWith,
    ConditionalPrice,
    MatchLogic,
    ModelInfo,
    ModelPrice,
    Provider,
    StartDateConstraint,
    TieredPrices,
    TimeOfDateConstraint,
)

PRICE_LIST = Path(__file__).parents[2] / "callgauge" / "prices" / "prices.csv"
COLUMNS = ("model", "from_day", "input", "output", "cached_input", "cache_write", "currency", "source")
# These companies sell their own models. If several companies sell a model of one name, the first company sets
# the price.
MAKERS = (
    "anthropic", "openai", "google", "deepseek", "mistral", "x-ai", "moonshotai", "zai", "minimax", "cohere",
)  # fmt: skip
# for prices without a day in the library; this day is earlier than any log
FIRST_DAY = "2020-01-01"
# These models are not priced per text token.
NO_TEXT = re.compile(r"audio|embed|image|live|ocr|realtime|transcribe|tts|voice|voxtral|whisper")
DAY_OF_VERSION = re.compile(r"[-@](20[0-9]{6}|20[0-9]{2}-[0-9]{2}-[0-9]{2})$")
HEADER = """\
# List prices of {day}, from genai-prices {version}: ./dev prices rewrites this file; our own rows are in
# tests/prices/rewrite_price_list.py.
# Copyright (c) Pydantic Services Inc. 2025 to present; MIT License, see LICENSE.genai-prices.
# Per million tokens, in USD, without discounts for batches, priority or long prompts. cache_write: to the
# cache of five minutes. An empty cached_input or cache_write: priced as other input. A price from 2020-01-01
# holds from the release of its model. The team's own prices win: callgauge prices FILE --store DIR.
"""
# The library lacks these prices. Some ended before the library existed. DeepSeek's prices depend on the hour
# in the library, but not here. Each row replaces the model's price without a day.
OWN_ROWS = """\
gpt-4o,2024-05-13,5,15,,,USD,OpenAI price page
gpt-4o,2024-10-02,2.5,10,1.25,,USD,OpenAI price page
o3,2025-04-16,10,40,2.5,,USD,OpenAI price page
claude-3-5-haiku,2025-01-01,0.8,4,0.08,1,USD,Anthropic price page
deepseek-chat,2025-09-29,0.28,0.42,0.028,,USD,DeepSeek price page
deepseek-reasoner,2025-09-29,0.28,0.42,0.028,,USD,DeepSeek price page
"""
# Known release days. A model has no price before its release.
RELEASED = """\
claude-3-5-sonnet 2024-06-20
claude-3-7-sonnet 2025-02-24
claude-3-haiku 2024-03-13
claude-3-opus 2024-03-04
claude-haiku-4-5 2025-10-15
claude-opus-4 2025-05-22
claude-opus-4-1 2025-08-05
claude-opus-4-5 2025-11-24
claude-sonnet-4 2025-05-22
claude-sonnet-4-5 2025-09-29
gemini-2.0-flash 2025-02-05
gemini-2.5-flash 2025-06-17
gemini-2.5-flash-lite 2025-07-22
gemini-2.5-pro 2025-06-17
gemini-3-pro-preview 2025-11-18
gpt-3.5-turbo-0125 2024-01-25
gpt-4-0613 2023-06-13
gpt-4-turbo 2024-04-09
gpt-4.1 2025-04-14
gpt-4.1-mini 2025-04-14
gpt-4.1-nano 2025-04-14
gpt-4o-mini 2024-07-18
gpt-5 2025-08-07
gpt-5-codex 2025-09-23
gpt-5-mini 2025-08-07
gpt-5-nano 2025-08-07
gpt-5.1 2025-11-13
gpt-5.1-codex 2025-11-13
gpt-5.1-codex-mini 2025-11-13
gpt-5.2 2025-12-11
grok-3 2025-04-09
grok-3-mini 2025-04-09
grok-4 2025-07-09
o1 2024-12-17
o3-mini 2025-01-31
o4-mini 2025-04-16
"""


class Row(NamedTuple):
    model: str
    from_day: str
    input: str
    output: str
    cached_input: str
    cache_write: str
    currency: str
    source: str


def list_rows() -> list[Row]:
    own = [Row(*fields) for fields in csv.reader(io.StringIO(OWN_ROWS))]
    named = {row.model for row in own}
    by_id = {provider.id: provider for provider in providers}
    rows: dict[str, list[Row]] = {}
    for provider in (by_id[maker] for maker in MAKERS):
        for model in provider.models:
            for name in _list_names(provider, model):
                priced = list(_price_name(name, model))
                if priced and name not in rows:
                    rows[name] = priced
    kept = [row for name in rows for row in rows[name] if not _is_priced_without_day(name, rows, named)]
    dated = [row for row in kept if row.model not in named or row.from_day != FIRST_DAY]
    released = dict(line.split() for line in RELEASED.splitlines())
    return sorted([*own, *(_date_from_release(row, released) for row in dated)])


def _date_from_release(row: Row, released: Mapping[str, str]) -> Row:
    if row.from_day != FIRST_DAY:
        return row
    named_day = DAY_OF_VERSION.search(row.model)
    day = named_day[1] if named_day else released.get(row.model, FIRST_DAY)
    return row._replace(from_day=date.fromisoformat(day).isoformat())


def _is_priced_without_day(name: str, rows: Mapping[str, list[Row]], own_names: set[str]) -> bool:
    """For a name such as `x-2026-11-01`, return True if the list has the same prices for `x`."""
    bare = DAY_OF_VERSION.sub("", name)
    if bare == name or bare in own_names:
        return False
    return [row._replace(model=bare) for row in rows[name]] == rows.get(bare)


def _list_names(provider: Provider, model: ModelInfo) -> Iterator[str]:
    if provider.id == "google" and not model.id.startswith("gem"):
        return  # Vertex AI also has models of other companies
    for name in dict.fromkeys((model.id, *_list_texts(model.match))):
        first = next((other for other in provider.models if other.is_match(name)), None)
        is_whole = not name.endswith(("-", "/")) and not name.startswith("ft:")
        if first is model and is_whole and not NO_TEXT.search(name.lower()):
            yield name


def _list_texts(match: MatchLogic) -> Iterator[str]:
    if isinstance(match, ClauseEquals):
        yield match.equals
    elif isinstance(match, ClauseStartsWith):
        yield match.starts_with
    elif isinstance(match, ClauseOr | ClauseAnd):
        for part in match.or_ if isinstance(match, ClauseOr) else match.and_:
            yield from _list_texts(part)


def _price_name(name: str, model: ModelInfo) -> Iterator[Row]:
    """Yield the prices of a model, oldest first. Yield nothing if the prices depend on the hour."""
    prices = model.prices if isinstance(model.prices, list) else [ConditionalPrice(prices=model.prices)]
    if any(isinstance(price.constraint, TimeOfDateConstraint) for price in prices):
        return
    last = None
    for price in prices:
        constraint = price.constraint
        day = FIRST_DAY
        if isinstance(constraint, StartDateConstraint):
            day = constraint.start_date.isoformat()
        row = _make_row(name, day, price.prices)
        if row is not None and (last is None or row._replace(from_day=last.from_day) != last):
            last = row
            yield row


def _make_row(name: str, day: str, price: ModelPrice) -> Row | None:
    """Return one row. Return None if the model has no prices for input and output tokens."""
    amounts = [price.input_mtok, price.output_mtok, price.cache_read_mtok, price.cache_write_mtok]
    read, written, from_cache, to_cache = map(_write_amount, amounts)
    if {read, written} & {"", "0"}:
        return None
    starts = {tier.start for amount in amounts if isinstance(amount, TieredPrices) for tier in amount.tiers}
    note = f"; prompts up to {min(starts):,} tokens" if starts else ""
    source = f"genai-prices {version('genai-prices')}{note}"
    return Row(name, day, read, written, from_cache, to_cache, "USD", source)


def _write_amount(amount: Decimal | TieredPrices | None) -> str:
    if amount is None:
        return ""
    return f"{float(amount.base if isinstance(amount, TieredPrices) else amount):.12g}"


def main() -> None:
    text = io.StringIO()
    text.write(HEADER.format(day=datetime.now(UTC).date().isoformat(), version=version("genai-prices")))
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(COLUMNS)
    lines.writerows(list_rows())
    PRICE_LIST.write_text(text.getvalue(), encoding="utf-8")


if __name__ == "__main__":
    main()

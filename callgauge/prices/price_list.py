"""Finds the price of a model by its name. The team's price overrides the built-in price."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import cache
from itertools import pairwise
from pathlib import Path

from callgauge.memory.records import ModelPrice
from callgauge.prices.price_file import read_price_file

_OURS = Path(__file__).with_name("prices.csv")
_OUR_HEADER = re.compile(r"# List prices of (\S+), from (\S+ \S+): ")
# Anthropic, Vertex AI and OpenAI append a version date: -20250929, @20250929, -2025-08-07.
_DATE = re.compile(r"[-@](20[0-9]{6}|20[0-9]{2}-[0-9]{2}-[0-9]{2})$")


class Owner(StrEnum):
    """The owner of a price: the team or Callgauge."""

    TEAM = "team"
    OURS = "ours"


@dataclass(frozen=True, slots=True)
class PriceMatch:
    """The prices of a model, oldest first. `model` is the model's name in the logs. `how` says how this name
    matched.
    """

    model: str
    how: str
    owner: Owner
    prices: tuple[ModelPrice, ...]

    def periods(self) -> Iterator[tuple[ModelPrice, date | None]]:
        """Yield each price with the day on which the next price begins, or None for the last price."""
        ends = [later.from_day for _, later in pairwise(self.prices)]
        yield from zip(self.prices, [*ends, None], strict=True)


class PriceList:
    """The prices of a team and the built-in prices. The currency is the team's; prices in other currencies
    are not used.

    If the team has a price for a model, the built-in prices of the model never apply.
    """

    def __init__(self, team: Iterable[ModelPrice] = ()) -> None:
        own, ours = tuple(team), our_prices()
        self.currency = own[0].currency if own else "USD"
        self.leaves_ours_out = any(price.currency != self.currency for price in ours)
        self._of_owner = {
            Owner.TEAM: _group_by_model(own),
            Owner.OURS: _group_by_model(price for price in ours if price.currency == self.currency),
        }

    def match(self, model: str) -> PriceMatch | None:
        """Return the prices of a model by its name in the logs, or None if the model has no price."""
        for owner, prices in self._of_owner.items():
            for name, how in _name_forms(model):
                if name in prices:
                    return PriceMatch(model, how, owner, prices[name])
        return None

    def find(self, model: str, day: date) -> ModelPrice | None:
        """Return the price of a model on a day. Return None if there is no price for that day."""
        matched = self.match(model)
        dated = [price for price in matched.prices if price.from_day <= day] if matched else []
        return dated[-1] if dated else None

    def listed(self) -> Iterator[tuple[Owner, ModelPrice]]:
        """Yield all prices with their owner. The team's prices come first. Each owner's prices are sorted by
        model and day.
        """
        for owner, prices in self._of_owner.items():
            for name in sorted(prices):
                yield from ((owner, price) for price in prices[name])


def cost_of_tokens(
    price: ModelPrice, read: int | None, written: int | None, cached: int | None = None
) -> float | None:
    """Return the cost of tokens in the price's currency. Return None if the tokens were not counted.

    `read` counts the input tokens. `cached` counts those input tokens that were read from a provider's cache.
    """
    if read is None or written is None:
        return None
    of_cache = price.input if price.cached_input is None else price.cached_input
    from_cache = min(cached or 0, read)
    millionths = (read - from_cache) * price.input + from_cache * of_cache + written * price.output
    return millionths / 1_000_000


@cache
def our_prices() -> tuple[ModelPrice, ...]:
    """Return the built-in prices."""
    return tuple(read_price_file(_OURS))


@cache
def describe_our_list() -> str:
    """Return the date and the source of the built-in prices."""
    with _OURS.open(encoding="utf-8") as lines:
        header = _OUR_HEADER.match(next(lines))
    assert header is not None  # noqa: S101 - the file is ours
    return f"list prices of {header[1]} ({header[2]})"


def _group_by_model(prices: Iterable[ModelPrice]) -> dict[str, tuple[ModelPrice, ...]]:
    by_model: dict[str, list[ModelPrice]] = {}
    for price in sorted(prices, key=lambda price: price.from_day):
        by_model.setdefault(price.model, []).append(price)
    return {model: tuple(several) for model, several in by_model.items()}


def _name_forms(model: str) -> Iterator[tuple[str, str]]:
    """Yield each name under which a price list may list a model, and how this name was derived."""
    bare = model.rpartition("/")[2]
    yield model, "exact name"
    yield _DATE.sub("", model), "without its date"
    yield bare, "without its provider"
    yield _DATE.sub("", bare), "without provider and date"

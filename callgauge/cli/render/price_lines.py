"""Format the current prices, and list the models of a store that have no price."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from callgauge.cli.render.terminal import align_columns, escape_for_terminal
from callgauge.memory.records import ModelPrice
from callgauge.prices import Owner, PriceList, describe_our_list

_HEADS = ("model", "from", "input", "output", "cached", "cache write", "whose")
_LONGEST = 60  # The maximum number of characters of a model name.


def price_lines(price_list: PriceList, used: Mapping[str, int]) -> Iterator[str]:
    """Yield the lines of the price list. `used` is the number of calls per model in the store."""
    team = [price for owner, price in price_list.listed() if owner is Owner.TEAM]
    if team:
        models = len({price.model for price in team})
        yield f"The team's prices: {len(team)}, for {models} model{'' if models == 1 else 's'}."
    else:
        yield "The team has no prices of its own. Add them with: callgauge prices FILE --store DIR"
    if price_list.leaves_ours_out:
        yield f"The built-in prices are not used: they are not in {price_list.currency}."
    matches = [match for match in map(price_list.match, used) if match and match.owner is Owner.OURS]
    matched = {match.prices[0].model for match in matches}
    ours = [price for owner, price in price_list.listed() if owner is Owner.OURS]
    shown = [price for price in ours if price.model in matched]
    yield f"Per million tokens, in {price_list.currency}. Built-in prices: {describe_our_list()}."
    yield ""
    rows = [*(_row(Owner.TEAM, price) for price in team), *(_row(Owner.OURS, price) for price in shown)]
    yield from align_columns([_HEADS, *rows])
    if others := len(ours) - len(shown):
        yield f"Built-in prices for models that are not in the store: {others}. --json prints them, too."
    unpriced = {model: calls for model, calls in used.items() if price_list.match(model) is None}
    yield ""
    yield f"Models without a price: {len(unpriced)} of {len(used)}."
    for model, calls in unpriced.items():
        yield f"  {_name(model)}: {calls:,} model call{'' if calls == 1 else 's'}"


def _row(owner: Owner, price: ModelPrice) -> tuple[str, ...]:
    amounts = (price.input, price.output, price.cached_input, price.cache_write)
    cells = ("as input" if amount is None else f"{amount:g}" for amount in amounts)
    return _name(price.model), price.from_day.isoformat(), *cells, owner


def _name(model: str) -> str:
    return escape_for_terminal(model if len(model) <= _LONGEST else f"{model[: _LONGEST - 1]}…")

"""Finds the price of a model on a day, in the team's price list or in the built-in price list."""

from callgauge.prices.price_file import PriceFileError, read_price_file
from callgauge.prices.price_list import (
    Owner,
    PriceList,
    PriceMatch,
    cost_of_tokens,
    describe_our_list,
    our_prices,
)

__all__ = [
    "Owner",
    "PriceFileError",
    "PriceList",
    "PriceMatch",
    "cost_of_tokens",
    "describe_our_list",
    "our_prices",
    "read_price_file",
]

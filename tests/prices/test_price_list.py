"""Tests which price a model has on a day."""

from __future__ import annotations

import csv
from datetime import date
from importlib.metadata import version

import pytest

from callgauge.memory.records import ModelPrice
from callgauge.prices import Owner, PriceList, describe_our_list, our_prices
from tests.prices.rewrite_price_list import COLUMNS, PRICE_LIST, list_rows

DAY = date(2026, 11, 1)


def price(model: str, day: date = DAY, *, currency: str = "USD", amount: float = 1.0) -> ModelPrice:
    return ModelPrice(model, day, amount, 2 * amount, currency=currency)


@pytest.mark.parametrize(
    ("logged", "listed", "how"),
    [
        ("owl-1", "owl-1", "exact name"),
        ("owl-1-20261101", "owl-1", "without its date"),
        ("owl-1-2026-11-01", "owl-1", "without its date"),
        ("owl-1@20261101", "owl-1", "without its date"),
        ("acme/owl-1", "owl-1", "without its provider"),
        ("router/acme/owl-1-20261101", "owl-1", "without provider and date"),
        ("acme/owl-1", "acme/owl-1", "exact name"),
        ("北斗-20261101", "北斗", "without its date"),
    ],
)
def test_a_name_matches_exactly_or_without_provider_and_date(logged: str, listed: str, how: str) -> None:
    match = PriceList([price(listed)]).match(logged)
    assert match is not None
    assert (match.model, match.how, match.owner, match.prices[0].model) == (logged, how, Owner.TEAM, listed)


@pytest.mark.parametrize(
    "logged",
    [
        "owl", "owl-10", "Owl-1", "owl-1 ", "owl-1-latest", "owl-1:free", "owl-1-1101", "owl-1-19990101",
        "my-owl-1", "acme.owl-1", "", "/", "owl-1/", "owl-1-20261101-20261101", "'; DROP TABLE prices --",
        "owl-1\x00", "x" * 100_000,
    ],
)  # fmt: skip
def test_nothing_else_matches(logged: str) -> None:
    assert PriceList([price("owl-1")]).match(logged) is None


def test_the_price_of_a_dated_version_is_not_that_of_others() -> None:
    known = PriceList([price("owl-1-20261101")])
    assert known.match("owl-1-20261101") is not None
    assert known.match("owl-1") is None


def test_a_price_holds_until_the_next_and_none_before_the_first() -> None:
    match = PriceList([price("owl", date(2026, 11, 10), amount=3), price("owl", DAY)]).match("owl")
    assert match is not None
    periods = [(period.from_day, end, period.input) for period, end in match.periods()]
    assert periods == [(DAY, date(2026, 11, 10), 1.0), (date(2026, 11, 10), None, 3.0)]


def test_the_team_prices_a_model_alone_even_by_a_looser_name() -> None:
    known = PriceList([price("gpt-4o", date(2026, 1, 1), amount=7)])
    match = known.match("gpt-4o-2024-08-06")
    assert match is not None
    assert (match.owner, match.how) == (Owner.TEAM, "without its date")
    assert [price.from_day for price in match.prices] == [date(2026, 1, 1)]


def test_prices_of_another_currency_than_the_teams_are_left_out() -> None:
    known = PriceList([price("owl", currency="EUR")])
    assert (known.currency, known.leaves_ours_out, known.match("gpt-4o")) == ("EUR", True, None)
    assert {owner for owner, _ in known.listed()} == {Owner.TEAM}
    assert not PriceList().leaves_ours_out


def test_our_prices_are_plausible_and_dated() -> None:
    for price in our_prices():
        assert price.currency == "USD"
        assert price.source
        assert price.from_day >= date(2020, 1, 1)
        assert 0 < price.input <= price.output <= 1000
        assert price.cached_input is None or 0 < price.cached_input < price.input
        assert price.cache_write is None or price.cache_write > 0


def test_our_list_is_that_of_the_locked_genai_prices() -> None:
    lines = PRICE_LIST.read_text(encoding="utf-8").splitlines()
    listed = [tuple(row) for row in csv.reader(line for line in lines if not line.startswith("#"))]
    assert listed == [COLUMNS, *list_rows()], "run ./dev prices"
    assert version("genai-prices") in describe_our_list()


@pytest.mark.parametrize(
    ("model", "day", "wanted"),
    [
        ("gpt-4o", date(2024, 6, 1), (5, 15)),
        ("gpt-4o", date(2026, 6, 1), (2.5, 10)),
        ("o3-2025-04-16", date(2025, 6, 9), (10, 40)),
        ("o3-2025-04-16", date(2025, 6, 10), (2, 8)),
        ("anthropic/claude-sonnet-4-5-20250929", date(2025, 10, 1), (3, 15)),
        ("gpt-4o-acme", date(2026, 6, 1), None),
    ],
)
def test_our_list_knows_what_changed_and_guesses_no_name(
    model: str, day: date, wanted: tuple[float, float] | None
) -> None:
    period = PriceList().find(model, day)
    assert (period and (period.input, period.output)) == wanted

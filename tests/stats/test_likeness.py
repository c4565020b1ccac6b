"""Tests that the rates of one table share an estimate of the correlation within sessions."""

from __future__ import annotations

import numpy as np
import pytest

from callgauge.stats import Share, relate_shares
from callgauge.stats.rates import lend_likeness
from tests.analysis.session_shares import draw_share, of_sessions, place_sessions

MOST_LENT = 30
LEAST_OF_FEW = 4
OF_SESSIONS = 0.8


def table_of(*shares: Share, tables: list[object] | None = None) -> list[Share]:
    """Return the rates as a page computes them, with all rows in one table or each row in its own table."""
    return relate_shares(
        [Share(share.k, share.n, share.sessions or 0, share.by_group) for share in shares], tables
    )


def width(share: Share) -> float:
    assert share.interval is not None
    return share.interval.high - share.interval.low


def draw_rows(several: int, alike: float, *, seed: int = 1, sessions: int = 100) -> list[Share]:
    random = np.random.default_rng(seed)
    return [draw_share(random, sessions, 10, 0.1, alike) for _ in range(several)]


FEW = of_sessions([(1, 10)] * 3 + [(0, 10)] * 12)
"""This row has three hits in fifteen sessions, so its own correlation is almost unknown."""


def test_a_row_with_few_hits_borrows_its_spread_from_the_others() -> None:
    """Sessions are assigned to groups at random. The shared estimate reduces the effect of the assignment."""
    sessions, others = [(1, 10)] * 3 + [(0, 10)] * 12, draw_rows(20, 0.0)
    alone = [of_sessions(sessions, place_sessions(15, seed)) for seed in range(60)]
    lent = [table_of(*others, each)[-1] for each in alone]
    for lone, other in zip(alone, lent, strict=True):
        assert lone.estimate is not None
        assert other.estimate is not None
        assert other.estimate.own_freedom == lone.estimate.own_freedom
        assert lone.estimate.own_freedom == lone.estimate.freedom <= 0.8 * 3
        assert other.estimate.freedom > lone.estimate.freedom
    assert np.median([width(each) for each in lent]) < 0.75 * np.median([width(each) for each in alone])
    assert np.ptp([width(each) for each in lent]) < 0.3 * np.ptp([width(each) for each in alone])


def test_a_row_is_drawn_towards_what_the_common_correlation_makes_of_it() -> None:
    """The hits of these sessions are evenly spread by chance. The correlation in other rows corrects this."""
    apart = of_sessions([(2, 10)] * 10 + [(1, 10)] * 10)
    assert apart.design_effect == 0.8, "less is never taken for true"
    *_, lent = table_of(*draw_rows(10, 0.5), apart)
    assert lent.likeness is not None
    assert lent.spread is not None
    common = lent.spread.effect_at(lent.likeness.correlation)
    assert common > 4
    assert 1.1 < lent.design_effect < common


def test_a_row_that_shows_its_spread_itself_keeps_to_it() -> None:
    many = draw_rows(1, 0.3, sessions=2_000)[0]
    *_, lent = table_of(*draw_rows(10, 0.0, seed=2), many)
    assert many.design_effect > 3
    assert lent.design_effect == pytest.approx(many.design_effect, rel=0.2)


@pytest.mark.parametrize("alike", [0.0, 0.05, 0.2, 0.5])
def test_the_common_correlation_is_that_of_the_sessions(alike: float) -> None:
    lent = lend_likeness(draw_rows(40, alike, sessions=200))
    assert lent[0] is not None
    assert lent[0].correlation == pytest.approx(alike, abs=0.04)


@pytest.mark.parametrize("rows", [2, 3, 10, 40])
def test_what_is_lent_has_limits(rows: int) -> None:
    shares = table_of(*draw_rows(rows - 1, 0.2), FEW)
    for share in shares:
        assert share.likeness is not None
        assert share.estimate is not None
        others = sum(other.spread.freedom for other in shares if other is not share and other.spread)
        assert 0 < share.likeness.freedom <= min(others + 1e-9, MOST_LENT)
        own = share.estimate.own_freedom
        assert own <= share.estimate.freedom <= own + share.likeness.freedom + 1e-9


def test_lending_does_not_make_many_sessions_of_few() -> None:
    """The number of sessions is estimated from their groups. The mean estimate equals the true number."""
    sessions, others = [(1, 10)] * 3 + [(0, 10)] * 12, draw_rows(30, 0.2)
    placed = [table_of(*others, of_sessions(sessions, place_sessions(15, seed)))[-1] for seed in range(60)]
    assert all(share.likeness is not None and share.likeness.freedom > 20 for share in placed)
    freedom = [share.estimate.freedom for share in placed if share.estimate]
    assert np.median(freedom) == pytest.approx(OF_SESSIONS * 14, rel=0.1)
    *_, lent = table_of(*others, of_sessions([(1, 10), (0, 10), (0, 10)], range(3)))
    assert lent.estimate is not None
    assert lent.estimate.own_freedom < 1
    assert lent.estimate.freedom == LEAST_OF_FEW


def test_rows_that_are_not_alike_lend_less() -> None:
    same = table_of(*draw_rows(20, 0.15), FEW)
    mixed = table_of(*draw_rows(10, 0.0), *draw_rows(10, 0.6, seed=2), FEW)
    assert same[-1].likeness is not None
    assert mixed[-1].likeness is not None
    assert mixed[-1].likeness.freedom < 0.7 * same[-1].likeness.freedom


def test_a_table_of_one_row_lends_nothing() -> None:
    (alone,) = table_of(FEW)
    assert alone.likeness is None
    assert alone.interval == FEW.interval


def test_rows_without_a_hit_lend_nothing() -> None:
    nothing = of_sessions([(0, 10)] * 30)
    _, few = table_of(nothing, FEW)
    assert few.likeness is None
    assert few.interval == FEW.interval


def test_a_row_without_a_hit_goes_by_what_the_others_show() -> None:
    """A session of ten calls counts as one call if the correlation is unknown. It counts as ten if the
    correlation is known to be 0.
    """
    nothing = of_sessions([(0, 10)] * 30)
    placed = [of_sessions([(0, 10)] * 30, place_sessions(30, seed)).effective_n for seed in range(100)]
    assert np.median(placed) == pytest.approx(30, rel=0.1)
    *_, lent = table_of(*draw_rows(20, 0.0), nothing)
    assert lent.effective_n > 150
    assert width(lent) < 0.5 * width(nothing)


def test_rates_of_different_tables_lend_each_other_nothing() -> None:
    rows = draw_rows(6, 0.2)
    of_two = table_of(*rows, tables=["a", "b", "a", "b", "a", "b"])
    for place, share in enumerate(of_two):
        table = table_of(*rows[place % 2 :: 2])
        assert share.interval == table[place // 2].interval
        assert share.interval != table_of(*rows)[place].interval


def test_a_row_that_saw_nothing_does_no_harm() -> None:
    unseen = Share(0, 0, 0, np.zeros((2, 50)))
    shares = table_of(*draw_rows(3, 0.2), unseen)
    assert shares[-1].interval is None
    assert [share.interval for share in shares[:3]] == [row.interval for row in table_of(*draw_rows(3, 0.2))]

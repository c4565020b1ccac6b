"""What a slice is expected to lose: its rate times all there are, measured or not."""

from __future__ import annotations

import pytest

from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.measures.slices import Slice
from callgauge.dashboard.pages.tools.expected_loss import expected_loss, sort_by_loss
from callgauge.stats import Share


def a_slice(name: str, k: int, n: int, total: int, rate: str = "parse_error") -> Slice:
    return Slice(RATES[rate], name, "all", Share(k, n), total)


@pytest.mark.parametrize(
    ("one", "loss"),
    [
        (a_slice("a", 5, 50, 200), 20.0),
        (a_slice("a", 40, 50, 100, "recovered"), 20.0),
        (a_slice("a", 0, 0, 100), 0.0),
        (None, 0.0),
    ],
)
def test_the_loss_is_the_bad_share_of_all(one: Slice | None, loss: float) -> None:
    assert expected_loss(one) == pytest.approx(loss)


def test_many_calls_at_a_small_rate_lose_more_than_one_call_that_failed() -> None:
    several = {one.name: one for one in (a_slice("once", 1, 1, 1), a_slice("busy", 50, 5000, 5000))}
    assert sort_by_loss(several, ["once", "busy"]) == ["busy", "once"]


def test_what_is_hardly_measured_or_not_at_all_stands_last() -> None:
    several = {one.name: one for one in (a_slice("unseen", 10, 10, 1000), a_slice("fine", 0, 30, 30))}
    assert sort_by_loss(several, ["absent", "unseen", "fine"]) == ["fine", "unseen", "absent"]

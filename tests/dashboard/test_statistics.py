"""Intervals against published values and R's binom.confint(k, n, methods = "wilson")."""

from __future__ import annotations

import pytest

from dashboard.statistics import wilson


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [
        # Newcombe (1998), Statistics in Medicine 17:857, table I, method 3 (Wilson, uncorrected).
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_the_interval_is_the_published_one(k: int, n: int, low: float, high: float) -> None:
    bounds = wilson(k, n)
    assert bounds is not None
    assert bounds.low == pytest.approx(low, abs=5e-5)
    assert bounds.high == pytest.approx(high, abs=5e-5)


def test_nothing_observed_has_no_interval() -> None:
    assert wilson(0, 0) is None


@pytest.mark.parametrize(("k", "n"), [(2, 1), (-1, 3), (1, 0)])
def test_more_hits_than_tries_is_refused(k: int, n: int) -> None:
    with pytest.raises(ValueError, match="no share"):
        wilson(k, n)

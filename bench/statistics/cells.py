"""One simulated proportion, with its Monte-Carlo interval and its allowed range."""

from __future__ import annotations

from dataclasses import dataclass

from scipy.stats import beta

_DOUBT = 0.001  # a Monte-Carlo interval has a confidence of 99.9 %


@dataclass(frozen=True, slots=True)
class Cell:
    """A proportion that a simulation measured: `hits` of `draws` repetitions, for one topic in one setting.

    `topic` is what was measured, such as "coverage of one rate". `setting` describes the parameters in words.
    The true proportion must be between `least` and `most`; None means no limit on this side.
    """

    topic: str
    setting: str
    hits: int
    draws: int
    least: float | None = None
    most: float | None = None

    @property
    def share(self) -> float:
        return self.hits / self.draws

    @property
    def doubt(self) -> tuple[float, float]:
        """The 99.9 % Monte-Carlo interval of the proportion (Clopper & Pearson 1934)."""
        low = beta.ppf(_DOUBT / 2, self.hits, self.draws - self.hits + 1) if self.hits else 0.0
        high = (
            beta.ppf(1 - _DOUBT / 2, self.hits + 1, self.draws - self.hits) if self.hits < self.draws else 1.0
        )
        return float(low), float(high)

    @property
    def leaves_band(self) -> bool:
        """True when the whole Monte-Carlo interval is outside of the allowed range."""
        low, high = self.doubt
        return (self.least is not None and high < self.least) or (self.most is not None and low > self.most)

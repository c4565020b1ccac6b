"""The mean cost of a turn, and the format of amounts."""

from __future__ import annotations


def cost_per_turn(amount: float, turns: int) -> float | None:
    """Return the mean amount of a turn; None without turns."""
    return amount / turns if turns else None


def format_amount(value: float) -> str:
    """Write three significant digits: 12,345.6 as 12,300, and 3.456 as 3.46."""
    if value >= 100:
        magnitude = 10 ** (len(str(int(value))) - 3)
        return f"{magnitude * round(value / magnitude):,}"
    return f"{value:.3g}"

"""Parses formatted amounts for exported files: `383 ms`, `97%`, `$0.14`, `12 / 40`."""

from __future__ import annotations

import re
from collections.abc import Mapping

_FACTORS = {"ms": 1, "s": 1_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
_BYTES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9}
_COUNTS = {"k": 10**3, "M": 10**6, "G": 10**9}
_SIGNS = {"$": "USD", "€": "EUR", "£": "GBP"}
_NUMBER = r"[-+−]?\d[\d,]*(?:\.\d+)?"
_DURATION = re.compile(rf"({_NUMBER}) (ms|s|min|h|d)(?: (\d+) (s|min|h))?")
_WITH_UNIT = re.compile(rf"[<>]?({_NUMBER}) ?(%|B|kB|MB|GB|k|M|G)")
_MONEY = re.compile(rf"<?([$€£]|[A-Z]{{3}} )({_NUMBER})")
_PART = re.compile(rf"({_NUMBER}) / ({_NUMBER})")


def read_amount(text: str) -> Mapping[str, float | str] | None:
    """Return the plain numbers of an amount by their units. Return None for a string that is not an amount.

    `383 ms` is `{"ms": 383}`, `97%` is `{"share": 0.97}`, `$0.14` is `{"": 0.14, "currency": "USD"}`, `2.1
    kB` is `{"bytes": 2100}`, `1.2k` is `{"": 1200}`, and `12 / 40` is `{"k": 12, "n": 40}`. A bound becomes
    the number after its sign: `<0.1%` is 0.001.
    """
    if duration := _DURATION.fullmatch(text):
        large, unit, small, below = duration.groups()
        total = read_number(large) * _FACTORS[unit] + (int(small) * _FACTORS[below] if small else 0)
        return {"ms": _shorten(total)}
    if part := _PART.fullmatch(text):
        return {"k": read_number(part[1]), "n": read_number(part[2])}
    if money := _MONEY.fullmatch(text):
        return {"": read_number(money[2]), "currency": _SIGNS.get(money[1], money[1].strip())}
    if amount := _WITH_UNIT.fullmatch(text):
        number, unit = read_number(amount[1]), amount[2]
        if unit == "%":
            return {"share": round(number / 100, 8)}
        if unit in _BYTES:
            return {"bytes": _shorten(number * _BYTES[unit])}
        return {"": _shorten(number * _COUNTS[unit])}
    return None


def read_number(text: str) -> float:
    """Return the number in a string, which may have thousands separators and a typographic minus."""
    plain = text.replace(",", "").replace("−", "-")
    return float(plain) if "." in plain else int(plain)


def _shorten(number: float) -> float:
    """Return the number without binary rounding errors, as an integer if the number is whole."""
    rounded = round(number, 6)
    return int(rounded) if rounded == int(rounded) else rounded

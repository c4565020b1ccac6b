"""Words for the traits of tool calls, such as length and depth, and for the classes of each trait
(rollups/traits.sql).
"""

from __future__ import annotations

TITLES = {
    "length": "Length of the arguments",
    "depth": "Nesting of the arguments",
    "non_ascii": "Share of non-ASCII text",
    "turn": "Turn of the session",
    "offered": "Number of tools offered",
}
_CLASSES = {
    "non_ascii": ("none", "a few, up to 1% more bytes", "some, up to 10%", "many, up to 50%", "mostly"),
    "turn": (None, "1st", "2nd", "3rd", "4th or 5th", "6th to 10th", "11th to 20th", "21st or later"),
    "offered": ("none or one", "2 to 5", "6 to 10", "11 to 20", "21 to 50", "more than 50"),
}
_SHORTEST, _LONGEST = 4, 16  # lengths in bytes, as exponents of two
_DEEPEST = 6


def class_words(trait: str, number: int) -> str:
    """Return the words for a class of a trait. For example, class 6 of the length is "64 to 127 bytes".

    An unknown class is written as its number.
    """
    if trait == "length":
        return _length_words(number)
    if trait == "depth":
        return (
            f"{number} levels or more"
            if number >= _DEEPEST
            else f"{number} level{'' if number == 1 else 's'}"
        )
    words = _CLASSES.get(trait, ())
    return (words[number] if 0 <= number < len(words) else None) or str(number)


def _length_words(power: int) -> str:
    if power <= _SHORTEST:
        return f"under {2 ** (_SHORTEST + 1)} bytes"
    if power >= _LONGEST:
        return f"{2 ** (_LONGEST - 10)} kB or more"
    return f"{2**power:,} to {2 ** (power + 1) - 1:,} bytes"

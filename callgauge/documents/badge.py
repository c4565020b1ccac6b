"""Draws a badge for a README: a label and a value side by side, as one SVG file without other files."""

from __future__ import annotations

import unicodedata

from callgauge.documents.svg import escape

_HEIGHT, _EDGE = 20, 6
_SIZE = 11  # of the font, in pixels
# Approximate widths in pixels of Verdana at this size. The attribute textLength makes every font fit them.
_NARROW, _WIDE = frozenset("!'(),-./:;I[]`fijlrt|"), frozenset("%@MW_mw")
_WIDTHS = {"narrow": 4.4, "wide": 10.2, "capital": 7.8, "other": 7.0}
_LONGEST = 120


def draw_badge(label: str, value: str, description: str) -> str:
    """Return a badge as an SVG file. `description` is the tooltip, and the text for screen readers."""
    label, value = label.strip()[:_LONGEST], value.strip()[:_LONGEST]
    widths = [measure_text(text) + 2 * _EDGE for text in (label, value)]
    left, right = widths
    whole = left + right
    words = escape(description)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole}" height="{_HEIGHT}" '
        f'viewBox="0 0 {whole} {_HEIGHT}" role="img" aria-label="{words}"><title>{words}</title>'
        f'<rect width="{whole}" height="{_HEIGHT}" rx="3" fill="#3d444d"/>'
        f'<path fill="#005a9c" d="M{left} 0H{whole - 3}a3 3 0 0 1 3 3V{_HEIGHT - 3}a3 3 0 0 1 -3 3H{left}z"/>'
        f'<g fill="#ffffff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="{_SIZE}">'
        f"{_write_text(_EDGE, left, label)}{_write_text(left + _EDGE, right, value)}</g></svg>\n"
    )


def _write_text(x: int, width: int, text: str) -> str:
    length = width - 2 * _EDGE
    return f'<text x="{x}" y="14" textLength="{length}" lengthAdjust="spacingAndGlyphs">{escape(text)}</text>'


def measure_text(text: str) -> int:
    """Return the width of a text in pixels, rounded up to whole pixels."""
    return max(1, round(sum(map(_measure_character, text)) + 0.5))


def _measure_character(character: str) -> float:
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return float(_SIZE)
    if character in _NARROW or character.isspace():
        return _WIDTHS["narrow"]
    if character in _WIDE:
        return _WIDTHS["wide"]
    return _WIDTHS["capital" if character.isupper() else "other"]

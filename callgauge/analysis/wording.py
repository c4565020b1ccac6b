"""Formats numbers, times and log content as a page prints them.

Log content may be hostile. Before it is shown in a label, a figure or a CSV file, it must pass through the
escape function for that target.
"""

from __future__ import annotations

import html
import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # output to a terminal does not need numpy
    from callgauge.stats import Interval

_MARKDOWN = re.compile(r"([!-/:-@\[-`{-~])")
# Streamlit turns these addresses into links without Markdown, even if they are escaped.
_ADDRESS = re.compile(r"https?:(?=//)|www(?=\.)|@(?=[-\w]+\.[-\w])", re.IGNORECASE)
_WORD_JOINER = "\u2060"  # this character has no width and breaks an address
# maximum number of characters of a label; every page sends all labels, so they must be short
_LONGEST_LABEL = 120
# With fewer observations, one hit moves a share by over a point, so a third digit is meaningless.
_EXACT = 100
STALE = timedelta(hours=36)  # after this time, at least one nightly load is missing
# Spreadsheets ignore blanks and zero-width characters before a sign, and accept full-width signs.
_NO_WIDTH = r"\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff"
_FORMULA_SIGN = r"[=+\-@\uff1d\uff0b\uff0d\uff20]"
_FORMULA = re.compile(rf"[\t\r\n]|[\s{_NO_WIDTH}]*{_FORMULA_SIGN}")
# A formula may also begin after a separator of cells (; or a tab), or after a line break that ends a row.
_LATER_FORMULA = re.compile(rf"(?<=[;\t\r\n])(?=(?:[^\S\t\r\n]|[{_NO_WIDTH}])*{_FORMULA_SIGN})")
# A stretch of right-to-left script ends at a letter of another script, or at @, which precedes a version.
# drawing.js isolates the same stretches.
_RTL = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
_LTR = "A-Za-z\u00aa-\u024f\u0370-\u058f\u0900-\u1fff\u3040-\u9fff\uac00-\ud7af"
_RIGHT_TO_LEFT = re.compile(f"[{_RTL}](?:[^{_LTR}@\n]*[{_RTL}])?")
_SHOWN_SPACE = str.maketrans({" ": "·", "\t": "→", "\n": "↵\n", "\r": "␍", "\u00a0": "⍽"})
_HIDDEN = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})


def percent(share: float, significant: int = 3) -> str:
    """Write a share with one decimal from 1 % on, and with two decimals below. 0.0325 becomes 3.3%, and
    0.0032 becomes 0.32%.

    Shares just above 0 and just below 1 print as <0.01% and >99.9%.
    """
    points = share * 100
    if points in (0, 100):
        return f"{points:.0f}%"
    if points < 0.01:
        return "<0.01%"
    if points > 99.95:
        return ">99.9%"
    digits = significant - 1 - math.floor(math.log10(points))
    return f"{points:.{min(1 if points >= 1 else 2, max(0, digits))}f}%"


def fixed_percent(share: float | None, decimals: int) -> str:
    """Write a share with `decimals` decimals, for a table column. With one decimal, 0.0325 becomes 3.3%.

    Shares that would be rounded to 0 or 100 print as <0.1% and >99.9%. None prints as a dash.
    """
    if share is None:
        return "–"
    points, finest = 100 * share, 10.0**-decimals
    if 0 < points < finest / 2:
        return f"<{finest:.{decimals}f}%"
    if 100 - finest / 2 < points < 100:
        return f">{100 - finest:.{decimals}f}%"
    return f"{points:.{decimals}f}%"


def fixed_interval(bounds: Interval, decimals: int) -> str:
    """Write an interval with `decimals` decimals, such as 3.8–5.9%."""
    return f"{100 * bounds.low:.{decimals}f}–{100 * bounds.high:.{decimals}f}%"


def rate(k: int, n: int) -> str:
    """Write `k` of `n` as a percentage, with the digits that `n` allows. Write a dash if `n` is 0."""
    return percent(k / n, 2 if n < _EXACT else 3) if n else "–"


def fraction(k: int, n: int) -> str:
    return f"{k:,} / {n:,}"


def interval(bounds: Interval | None) -> str:
    """Write an interval as 3.8–5.9%. Return "" when there is no interval."""
    if bounds is None:
        return ""
    return f"{percent(bounds.low).rstrip('%')}–{percent(bounds.high)}"


def known_share(measured: int, total: int, noun: str) -> str:
    """Write which share of `total` was measured, such as "measured on 9.6% of turns"."""
    several = plural_of(noun)
    return (
        f"measured on {rate(measured, total)} of {several}"
        if total > measured
        else f"measured on all {several}"
    )


def plural(n: int, noun: str) -> str:
    return f"{n:,} {noun if n == 1 else plural_of(noun)}"


def plural_of(noun: str) -> str:
    """Return the plural of an English noun, such as models, strategies or branches."""
    if noun.endswith("ch"):
        return f"{noun}es"
    return f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in "aeou" else f"{noun}s"


def dimension(name: str) -> str:
    """Return the displayed name of a dimension, such as `agent version` for `harness_version`."""
    return _DIMENSIONS.get(name) or name.replace("_", " ")


_DIMENSIONS = {
    "harness_version": "agent version",
    "mcp_server": "MCP server",
    "provider": "host",
    "sub_agent": "sub-agent",
}


def list_words(words: Sequence[str], last: str = "and") -> str:
    """Write a list in words, such as "a, b and c". `last` is the word before the last item."""
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def utc(moment: datetime | None) -> str:
    """Write a moment as 2026-11-21 03:00 UTC. `moment` is naive UTC, as in the store."""
    return f"{moment:%Y-%m-%d %H:%M} UTC" if moment else "unknown time"


def utc_to_the_second(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC" if moment else "unknown time"


def age(moment: datetime | None, now: datetime) -> str:
    """Write ` · 3 days old` for a load that is 36 hours old or older.

    Return "" for a newer load. Times are naive UTC.
    """
    if moment is None or now - moment < STALE:
        return ""
    return f" · {plural(max(1, (now - moment).days), 'day')} old"


_RESULTS = {"missing": "not in the log", "unknown": "not reported"}


def result_status(status: str | None) -> str:
    """Return the words for the status of a call's result: ok, error, denied, not in the log, not reported."""
    return _RESULTS.get(status or "missing", status or "")


def sequence_end(outcome: str | None) -> str:
    """Return the displayed name of the end of a retry sequence."""
    return {"recovered": "recovered", "abandoned": "given up"}.get(outcome or "", "end not known")


_NOT_JUDGED = "arguments not measured"


def outcome(name: str | None) -> str:
    """Return the displayed name of an outcome of a call's arguments. "unmeasured" is only used for rates."""
    return _NOT_JUDGED if name == "unmeasured" else name or "–"


STAGES: Mapping[str, tuple[str, str]] = {
    "emission": ("Missing call", "The model wrote text where a call was due, or the call was cut off"),
    "syntax": ("Syntax", "The arguments are not JSON"),
    "schema": ("Schema", "The arguments are JSON that does not fit the tool's definition"),
    "tool_rejected": ("Rejected by the tool", "The tool itself rejected the arguments"),
    "execution": ("Execution", "The tool ran and failed"),
    "refused": ("Denied", "A user, a policy or the agent stopped the call"),
}
"""The title and the meaning of each failure stage (`fault_layer`), in the order of a call."""


def failure_stage(name: str | None) -> str:
    """Return the title of a failure stage, or a dash for a call that did not fail."""
    return STAGES[name][0] if name and name in STAGES else name or "–"


def _write_short(number: float) -> str:
    return f"{number:.{1 if number < 99.95 else 0}f}"


def size(n: int | None) -> str:
    if n is None:
        return "–"
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if n >= factor:
            return f"{_write_short(n / factor)} {unit}"
    return f"{n} B"


def duration(seconds: float | None) -> str:
    """Write seconds as 420 ms, 3.2 s, 4 min 12 s, 2 h 3 min or 5 d 4 h."""
    if seconds is None:
        return "–"
    if seconds < 1:
        return f"{round(1000 * seconds)} ms"
    if seconds < 100:
        return f"{seconds:.1f} s"
    units = ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min"), (60, "min", 1, "s"))
    large, name, small, below = next(unit for unit in units if seconds >= unit[0])
    return f"{seconds // large:,.0f} {name} {seconds % large // small:.0f} {below}"


def compact(n: float | None) -> str:
    """Write a number as 987, 12.3k, 485k or 27.9M, with one decimal below 100. None becomes a dash."""
    if n is None:
        return "–"
    for unit, factor in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if n >= 0.9995 * factor:
            return f"{_write_short(n / factor)}{unit}"
    return f"{n:,.0f}"


_CURRENCY_SIGNS = {"USD": "$", "EUR": "€", "GBP": "£"}
_MOST_PLACES = 5  # maximum number of decimals of an amount of money


def money_places(amount: float, digits: int = 2) -> int:
    """Return how many decimals (two to five) show `digits` digits of an amount above 0."""
    return min(_MOST_PLACES, max(2, digits - 1 - math.floor(math.log10(amount)))) if amount > 0 else 2


def money(amount: float, currency: str, places: int) -> str:
    """Write an amount with `places` decimals, such as $0.013 or CHF 12.50.

    An amount that would round to zero becomes <$0.01.
    """
    sign = _CURRENCY_SIGNS.get(currency, f"{currency} ")
    least = 10.0**-places
    if 0 < amount < least / 2:
        return f"<{sign}{least:.{places}f}"
    return f"{sign}{amount:,.{places}f}"


def shorten(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def one_line(text: str, limit: int) -> str:
    """Return a string for a table cell: one line of at most `limit` characters, with invisible ones shown."""
    return visible(shorten(" ".join(text[: 4 * limit].split()), limit))


def short_name(text: str, limit: int) -> str:
    """Return a name on one line, cut in the middle to `limit` characters, so the version at the end stays."""
    line = visible(" ".join(text[:4000].split()))
    if len(line) <= limit:
        return line
    end = min(max(limit // 2, len(line) - line.rfind("@")), limit - 4) if "@" in line else limit // 2
    return f"{line[: limit - end - 1]}…{line[-end:]}"


def isolate(text: str) -> str:
    """Return the string with right-to-left script isolated, so that the text after it does not move.

    Use this function only for display. Files, copies and addresses must not contain the invisible characters.
    """
    return _RIGHT_TO_LEFT.sub("\u2068\\g<0>\u2069", text)


def quote(text: str | None, limit: int) -> str:
    """Return a string in typographic quotes, cut to `limit` characters.

    None and an empty string become the word "nothing".
    """
    if not text:
        return "nothing"
    return f"“{visible(shorten(text, limit), spaces=not text.strip())}”"


def round_up(number: int) -> str:
    """Round an estimate up to two digits, such as 1,234 to 1,300."""
    step: int = 10 ** max(0, len(str(number)) - 2)
    return f"{-(-number // step) * step:,}"


def unique_labels(values: Sequence[str], labels: Sequence[str]) -> dict[str, str]:
    """Return a unique label on one line for each value. An ambiguous label is followed by the value."""
    shown = [one_line(label, _LONGEST_LABEL) for label in labels]
    times = Counter(shown)
    return {
        value: f"{label} · {_short_value(value)}" if times[label] > 1 else label
        for value, label in zip(values, shown, strict=True)
    }


def _short_value(value: str) -> str:
    """Return the value, or 12 digits of its SHA-256 if the value is long or has invisible characters."""
    plain = one_line(value, _LONGEST_LABEL)
    return value if plain == value else sha256(value.encode()).hexdigest()[:12]


def in_markdown(text: str, limit: int = 120) -> str:
    """Escape a string for labels, titles and boxes, which Streamlit renders as Markdown."""
    unlinked = _ADDRESS.sub(rf"\g<0>{_WORD_JOINER}", one_line(text, limit))
    return isolate(_MARKDOWN.sub(r"\\\1", unlinked))


def link_label(text: str) -> str:
    """Return the label of a page link in the colour of links.

    `text` is not escaped: never pass log content.
    """
    return f":blue[{text}]"


def in_figure(text: str) -> str:
    """Escape a string for Plotly, which renders a subset of HTML in every label."""
    return isolate(html.escape(one_line(text, 60), quote=False))


def in_sheet(text: str) -> str:
    """Return a CSV cell, with an apostrophe before a string that a spreadsheet would read as a formula."""
    text = _LATER_FORMULA.sub("'", text)
    return f"'{text}" if _FORMULA.match(text) else text


def escape(json_text: str) -> str:
    """Return JSON text with invisible characters escaped. The JSON value stays the same."""
    return "".join(
        char
        if char == "\n" or unicodedata.category(char) not in _HIDDEN
        else json.dumps(char).strip('"')  # in JSON text, such characters occur only in strings
        for char in json_text
    )


def visible(text: str, *, spaces: bool = False) -> str:
    """Return the string with control characters and direction marks written as `⟨U+202E⟩`.

    Line breaks and tabs stay. If `spaces` is True, white space is also shown as symbols.
    """
    shown = "".join(
        char if char in "\n\t" or unicodedata.category(char) not in _HIDDEN else f"⟨U+{ord(char):04X}⟩"
        for char in text
    )
    return shown.translate(_SHOWN_SPACE) if spaces else shown

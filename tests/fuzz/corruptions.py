"""Adds one defect to a string, as models and transports do.

Each corruption is one function. `Choices` selects the position and the character. A defect may destroy the
intended value, so tests check only rules that apply to any string.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from tests.fuzz.choices import Choices

Corruption = Callable[[str, Choices], str]

_BRACKETS = "{}[]()｛｝［］"
_FENCES = (
    "```json\n{}\n```",
    "```\n{}",
    "{}\n```",
    "~~~json5\n{}\n~~~",
    "```json\n```\n{}\n```\n```",
    "`{}`",
)
_SURROUNDINGS = (
    "Sure, here you go: {} Anything else?",
    "<arguments>{}</arguments>",
    "<think>Maybe {{}} or {{'a'}}?</think>{}",
    "参数如下：{}。",
    "Action Input: {}\nObservation:",
    "{} {}",
    "[{}]",
    "({})",
    "{};",
    "args = {}",
    "json\n{}",
    "\ufeff{}\x00",
)
_SIGNS = "\"'\\,:{}[]()\n\t\x00`“”‘’：，…#/;=+-.eE\ud800\ufeff<>|"


def _at(text: str, choices: Choices) -> int:
    return choices.below(len(text) + 1) if text else 0


def _place_of(text: str, signs: str, choices: Choices) -> int | None:
    """Return the position of one of these characters. Return None if the string contains none of them."""
    places = [at for at, sign in enumerate(text) if sign in signs]
    return choices.one_of(places) if places else None


def _without(text: str, signs: str, choices: Choices) -> str:
    at = _place_of(text, signs, choices)
    return text if at is None else text[:at] + text[at + 1 :]


def _doubled(text: str, signs: str, choices: Choices) -> str:
    at = _place_of(text, signs, choices)
    return text if at is None else text[:at] + text[at] + text[at:]


def cut(text: str, choices: Choices) -> str:
    return text[: _at(text, choices)]


def cut_start(text: str, choices: Choices) -> str:
    return text[_at(text, choices) :]


def sign_inserted(text: str, choices: Choices) -> str:
    at = _at(text, choices)
    return text[:at] + choices.one_of(_SIGNS) + text[at:]


def quote_inserted(text: str, choices: Choices) -> str:
    at = _at(text, choices)
    return text[:at] + '"' + text[at:]


def quote_removed(text: str, choices: Choices) -> str:
    return _without(text, "\"'", choices)


def bracket_swapped(text: str, choices: Choices) -> str:
    at = _place_of(text, _BRACKETS, choices)
    return text if at is None else text[:at] + choices.one_of(_BRACKETS) + text[at + 1 :]


def bracket_removed(text: str, choices: Choices) -> str:
    return _without(text, _BRACKETS, choices)


def bracket_doubled(text: str, choices: Choices) -> str:
    return _doubled(text, _BRACKETS, choices)


def separator_removed(text: str, choices: Choices) -> str:
    return _without(text, ",:", choices)


def separator_doubled(text: str, choices: Choices) -> str:
    return _doubled(text, ",:", choices)


def separator_swapped(text: str, choices: Choices) -> str:
    at = _place_of(text, ",:", choices)
    return (
        text
        if at is None
        else text[:at] + choices.one_of((";", "=", "=>", ":", ",", "：", "，")) + text[at + 1 :]
    )


def trailing_comma(text: str, choices: Choices) -> str:
    at = _place_of(text, "}]", choices)
    return text if at is None else text[:at] + "," + text[at:]


def escapes_doubled(text: str, choices: Choices) -> str:
    return text.replace("\\", "\\\\")


def escapes_halved(text: str, choices: Choices) -> str:
    return text.replace("\\\\", "\\").replace('\\"', '"')


def escape_removed(text: str, choices: Choices) -> str:
    return _without(text, "\\", choices)


def quotes_escaped(text: str, choices: Choices) -> str:
    return text.replace('"', '\\"')


def quotes_swapped(text: str, choices: Choices) -> str:
    opening, closing = choices.one_of(
        [("'", "'"), ("`", "`"), ("“", "”"), ("‘", "’"), ("«", "»"), ("„", "“")]
    )
    parts = text.split('"')
    return "".join(part + (closing if at % 2 else opening) for at, part in enumerate(parts[:-1])) + parts[-1]


def controls_raw(text: str, choices: Choices) -> str:
    return text.replace("\\n", "\n").replace("\\t", "\t").replace("\\u0000", "\x00")


def newline_inserted(text: str, choices: Choices) -> str:
    at = _at(text, choices)
    return text[:at] + choices.one_of(("\n", "\r\n", "\t", "\x0b", "\u2028")) + text[at:]


def fenced(text: str, choices: Choices) -> str:
    return choices.one_of(_FENCES).replace("{}", text)


def surrounded(text: str, choices: Choices) -> str:
    return choices.one_of(_SURROUNDINGS).replace("{{}}", "\x01").replace("{}", text).replace("\x01", "{}")


def encoded_again(text: str, choices: Choices) -> str:
    for _ in range(1 + choices.below(10)):
        if len(text) > 4_000:  # each level of escaping may double the length of the text
            break
        text = json.dumps(text, ensure_ascii=False)
    return text


def comment_inserted(text: str, choices: Choices) -> str:
    at = _at(text, choices)
    return text[:at] + choices.one_of(("// note\n", "/* note */", "# note\n", "/* open", "//")) + text[at:]


def literals_of_python(text: str, choices: Choices) -> str:
    return text.replace("true", "True").replace("false", "False").replace("null", "None")


def repeated(text: str, choices: Choices) -> str:
    return text + choices.one_of(("", "\n", ",", " ", ";")) + text


def empty_object_before(text: str, choices: Choices) -> str:
    return "{}" + text


def part_repeated(text: str, choices: Choices) -> str:
    start, length = _at(text, choices), choices.below(40)
    return text[: start + length] + text[start:]


def ellipsis_inserted(text: str, choices: Choices) -> str:
    at = _place_of(text, ",}]", choices)
    return text if at is None else text[:at] + choices.one_of(("...", ", ...", "…")) + text[at:]


CORRUPTIONS: Mapping[str, Corruption] = {
    corruption.__name__: corruption
    for corruption in (
        cut, cut_start, sign_inserted, quote_inserted, quote_removed, bracket_swapped, bracket_removed,
        bracket_doubled, separator_removed, separator_doubled, separator_swapped, trailing_comma,
        escapes_doubled, escapes_halved, escape_removed, quotes_escaped, quotes_swapped, controls_raw,
        newline_inserted, fenced, surrounded, encoded_again, comment_inserted, literals_of_python, repeated,
        empty_object_before, part_repeated, ellipsis_inserted,
    )
}  # fmt: skip


def damaged(raw: bytes, choices: Choices) -> bytes:
    """Return the bytes after a change: one byte changed or removed, or the bytes cut within a character."""
    if not raw:
        return b"\xff"
    at = choices.below(len(raw))
    changed = bytes([choices.below(256)])
    return choices.one_of(
        (raw[:at] + changed + raw[at + 1 :], raw[:at] + raw[at + 1 :], raw[:at], b"\xef\xbb\xbf" + raw)
    )

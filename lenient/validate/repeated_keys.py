"""Finds repeated keys, which decoding hides, by comparing numbers of quotes."""

from __future__ import annotations

from typing import Any

import orjson


def holds_each_key_once(text: str, arguments: dict[str, Any]) -> bool:
    """Return True when it is certain that no object in the text repeats a key, and that none was left out.

    The text must hold as many double quotes as the decoded `arguments` when they are encoded again: a
    repeated key is decoded once, so the text then has more quotes. A quote inside a string is escaped by a
    backslash in both texts. A quote sent as `\\u0022` would be counted in one of them only, so a text with
    this escape gives False.
    """
    try:
        written = orjson.dumps(arguments)
    except orjson.JSONEncodeError:  # nested deeper than orjson writes
        return False
    return text.count('"') == written.count(b'"') and ("\\" not in text or "\\u0022" not in text)

"""Recognises arguments that some program replaced by a placeholder before the log was written or shared.

The placeholder says nothing about the model's arguments, so such a call is not measured.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from ingest.events import ArgsSource, CallMade, Visibility
from ingest.sessions.stored_text import decode_json, json_text

_LONGEST = 4_096  # characters; no placeholder is longer
_LONGEST_PLACEHOLDER = 300
_MARKS = "[]<>(){}*_#/ \t\r\n"
_OTHER_BRACKETS = re.compile(r"""["\[\]{}<>]|\w\(""")  # a placeholder contains none of these
_WORDS = r"(?:redact(?:ed|ion)|masked|scrubbed|saniti[sz]ed|filtered|hidden|withheld|confidential)"
_SAYS_REDACTED = re.compile(rf"(?:[a-z]+[\s_-]+){{0,2}}{_WORDS}(?![a-z])", re.IGNORECASE)
_BARE = re.compile(r"redacted(?:[-_]by[-_]\w+)?", re.IGNORECASE)  # matches redacted-by-litellm, for example
_BLACKED_OUT = re.compile(r"\*{3,}|[•●∙█▇■]{3,}|[xX]{4,}")
# An object without these parts is no placeholder. To search for them takes a tenth of a pattern's time.
_SIGNS = ("redact", "mask", "scrub", "saniti", "filter", "hidden", "withheld", "confidential")
_RAW, _UNATTRIBUTED, _RESERIALISED = ArgsSource.RAW, ArgsSource.UNATTRIBUTED, ArgsSource.RESERIALISED
_FLAG = "redacted"


def mark_redacted(call: CallMade) -> CallMade:
    """Return the call with `args_source` REDACTED if its arguments are a placeholder.

    `raw_arguments` is then the placeholder. Otherwise the call is returned unchanged.
    """
    source = call.args_source
    if (source is _RAW or source is _UNATTRIBUTED) and call.raw_arguments is not None:
        text = call.raw_arguments
        if len(text) > _LONGEST or not _is_redacted_text(text):
            return call
    elif source is _RESERIALISED and _is_redacted_value(call.arguments):
        text = json_text(call.arguments)
    else:
        return call
    return replace(
        call,
        raw_arguments=text,
        arguments=None,
        args_source=ArgsSource.REDACTED,
        syntax_seen=Visibility.NONE,
        schema_seen=Visibility.NONE,
    )


def _is_redacted_text(text: str) -> bool:
    bare = text.strip()
    if not bare.startswith(("{", '"')):
        return is_placeholder(bare)
    if bare[0] == "{":
        folded = bare.casefold()
        for sign in _SIGNS:
            if sign in folded:
                break
        else:
            return False
    value = decode_json(bare)
    return is_placeholder(bare) if value is None else _is_redacted_value(value)


def _is_redacted_value(value: Any) -> bool:
    if isinstance(value, str):
        return is_placeholder(value)
    if not isinstance(value, dict):
        return False
    if any(flag is True and name.strip("_").lower() == _FLAG for name, flag in value.items()):
        return True
    found = False
    for text in _texts_of(value):
        if not _names_redaction(text.strip()):  # "***" or "redacted" alone may be a search text of the model
            return False
        found = True
    return found


def _texts_of(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part


def is_placeholder(text: str) -> bool:
    """Return True for a string such as `[REDACTED]`, `<redacted>`, `"[REDACTED]"` or `***`."""
    bare = text.strip().strip("\"'\\").strip()
    return bool(_BLACKED_OUT.fullmatch(bare) or _BARE.fullmatch(bare)) or _names_redaction(bare)


def _names_redaction(text: str) -> bool:
    if len(text) > _LONGEST_PLACEHOLDER:
        return False
    words = text.strip(_MARKS)
    in_marks = text[:1] in _MARKS and text[-1:] in _MARKS
    return in_marks and _SAYS_REDACTED.match(words) is not None and _OTHER_BRACKETS.search(words) is None

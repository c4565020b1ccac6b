"""Reads strings between the tokens that Gemma writes for quotes, as in `{city:<|"|>Oslo<|"|>}`.

The tokens are those of `lenient.calls.dialects.gemma`. Text between two of them is taken as it is, without
escapes.
"""

from __future__ import annotations

import re
from array import array

from lenient.definitions.json_schema.json_values import to_json_text
from lenient.diagnostics import Diagnostic, Findings, Path, render_path
from lenient.scan.source_text import SourceText

_TOKEN = re.compile(r"<\|[\"']\|>|<escape>")
_STRING = re.compile(rf"\"?(?P<token>{_TOKEN.pattern})(?P<body>.*?)(?P=token)\"?", re.DOTALL)
_LOOK = 100  # characters
_BEFORE, _AFTER = ("{", "[", "(", ",", ":", "="), ("}", "]", ")", ",", ":", "")


def read_quote_tokens(piece: SourceText, findings: Findings, path: Path) -> SourceText | None:
    """Return the text with JSON strings in place of those between tokens, which are reported.

    Return None when there are none, or when one does not stand where a string can.
    """
    text = piece.text
    if _TOKEN.search(text) is None:
        return None
    parts: list[str] = []
    starts, sources = array("q", [0]), array("q", [0])
    found: list[Diagnostic] = []
    length = last = 0
    for match in _STRING.finditer(text):
        start, end = match.span()
        before, after = text[last:start].rstrip()[-1:], text[end : end + _LOOK].lstrip()[:1]
        if before not in _BEFORE or after not in _AFTER or text.count('"', last, start) % 2:
            return None
        written = to_json_text(match["body"])
        parts += (text[last:start], written)
        length += start - last
        for offset, source in ((0, start), (1, match.start("body")), (len(written) - 1, match.end("body"))):
            starts.append(length + offset)
            sources.append(source)
        length, last = length + len(written), end
        starts.append(length)
        sources.append(end)
        span = piece.raw_span(start, end)
        found.append(Diagnostic("token_quotes", render_path(path), *span, found=match["token"]))
    if not found:
        return None
    findings.extend(found)
    parts.append(text[last:])
    return SourceText("".join(parts), piece, 0, len(text), runs=(starts, sources))

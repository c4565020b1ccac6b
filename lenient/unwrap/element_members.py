"""Reads arguments in elements of XML: `<city>Bern</city>`, or `<parameter name="city">Bern</parameter>`.

Such text is read only when it is nothing but elements and each of their names is declared.
"""

from __future__ import annotations

import re
from collections.abc import Collection

_TAG = "parameter|param|argument|arg"
_NAMED = rf"\s*+<({_TAG})(?:\s++name=\"([^\"<>]{{1,64}})\"\s*+|=([^\s\"<>]{{1,64}}))>(.*?)</\1>"
_PAIRED = r"\s*+<arg_key>([^<>]{1,64})</arg_key>\s*+<arg_value>(.*?)</arg_value>"
_OWN = r"\s*+<([A-Za-z_][\w.\-]{0,63})>(.*?)</\1>"
_FORMS = tuple(re.compile(form, re.DOTALL) for form in (_NAMED, _PAIRED, _OWN))
_UNCERTAIN = re.compile(rf"&#?\w{{1,8}};|</?(?:{_TAG}|arg_key|arg_value)\b")
"""Entities that may stand for a sign, and further tags."""


def find_elements(text: str, declared: Collection[str]) -> list[tuple[str, int, int]]:
    """Return the name of each element and the span of its text, [] when the text has another form."""
    if not declared or not text.lstrip().startswith("<"):
        return []
    for form in _FORMS:
        if form.match(text) is not None:
            return _find_all(form, text, declared)
    return []


def _find_all(form: re.Pattern[str], text: str, declared: Collection[str]) -> list[tuple[str, int, int]]:
    found: dict[str, tuple[str, int, int]] = {}
    position, end = 0, len(text.rstrip())
    while position < end:
        element = form.match(text, position)
        if element is None or _is_uncertain(element[element.lastindex or 0]):
            return []
        name = next(part for part in element.groups()[-2::-1] if part is not None)
        if name not in declared or name in found:
            return []
        found[name] = (name, *element.span(element.lastindex or 0))
        position = element.end()
    return list(found.values())


def _is_uncertain(text: str) -> bool:
    """Return True when the text of an element may mean another: line breaks at its ends may be layout."""
    return text.strip() != text.strip(" \t") or _UNCERTAIN.search(text) is not None

"""Reads docstrings in Google, NumPy or Sphinx style: the summary and the description of each parameter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_SECTION = re.compile(r"(?:args|arguments|parameters|params|keyword args|keyword arguments|other parameters)")
_OTHER_SECTION = re.compile(
    r"(?:returns?|yields?|raises?|examples?|notes?|warnings?|warns|see also|attributes|references|todo)"
)
_RULE = re.compile(r"[ \t]*(-{3,}|={3,})[ \t]*")
_GOOGLE = re.compile(r"\*{0,2}(\w+)[ \t]*(?:\([^\n]*?\))?[ \t]*:(?:[ \t]+(.*))?")
_NUMPY = re.compile(r"\*{0,2}(\w+(?:[ \t]*,[ \t]*\*{0,2}\w+)*)[ \t]*(?::.*)?")
_SPHINX = re.compile(
    r":(?:param|parameter|arg|argument|key|keyword)(?:[ \t][^:\n]*?)?[ \t]\*{0,2}(\w+)[ \t]*:[ \t]*(.*)"
)
_FIELD = re.compile(r":[a-z]+[^:\n]*:")


@dataclass(slots=True)
class Docstring:
    """A docstring as read.

    `summary` is the text above the first section or field; `parameters` are the descriptions by parameter
    name.
    """

    summary: str = ""
    parameters: dict[str, str] = field(default_factory=dict)


def read_docstring(text: str) -> Docstring:
    """Read a docstring whose indentation was cleaned by `inspect.getdoc`."""
    lines = text.splitlines()
    result = Docstring()
    first = len(lines)
    for start, title, body in _find_sections(lines):
        first = min(first, start)
        if _SECTION.fullmatch(title):
            underlined = start + 1 < len(lines) and _RULE.fullmatch(lines[start + 1]) is not None
            result.parameters |= _read_entries(body, _NUMPY if underlined else _GOOGLE)
    fields = [at for at, line in enumerate(lines) if _FIELD.match(line)]
    if fields:
        first = min(first, fields[0])
        result.parameters |= _read_sphinx_fields(lines[fields[0] :])
    result.summary = _join_lines(lines[:first], paragraphs=True)
    return result


def _find_sections(lines: list[str]) -> Iterator[tuple[int, str, list[str]]]:
    """Yield each section: the line number of its title, the title in lower case, its lines."""
    starts = [at for at in range(len(lines)) if _read_title(lines, at)]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=False):
        title = _read_title(lines, start) or ""
        body = lines[start + 1 : end]
        if body and _RULE.fullmatch(body[0]):
            body = body[1:]
        yield start, title, body


def _read_title(lines: list[str], at: int) -> str | None:
    """Return the section title on the line `at` in lower case, None when the line is no title.

    A title is `Args:`, or `Parameters` with a rule under it.
    """
    line = lines[at]
    title = line.strip().rstrip(":").lower()
    if line[:1].isspace() or not (_SECTION.fullmatch(title) or _OTHER_SECTION.fullmatch(title)):
        return None
    ruled = at + 1 < len(lines) and _RULE.fullmatch(lines[at + 1])
    return title if ruled or line.rstrip().endswith(":") else None


def _read_entries(body: list[str], head: re.Pattern[str]) -> dict[str, str]:
    """Return the descriptions in a section by name.

    Names stand at the least indentation, descriptions beside the names or indented below them.
    """
    indents = [len(line) - len(line.lstrip()) for line in body if line.strip()]
    least = min(indents, default=0)
    entries: dict[str, list[str]] = {}
    names: list[str] = []
    for line in body:
        outermost = bool(line.strip()) and len(line) - len(line.lstrip()) == least
        found = head.fullmatch(line.strip()) if outermost else None
        if found:
            names = [name.strip(" \t*") for name in found.group(1).split(",")]
            beside = found.group(2) if head is _GOOGLE else None
            entries.update((name, [beside or ""]) for name in names)
        else:
            for name in names:
                entries[name].append(line)
    return {name: _join_lines(lines) for name, lines in entries.items() if _join_lines(lines)}


def _read_sphinx_fields(lines: list[str]) -> dict[str, str]:
    entries: dict[str, list[str]] = {}
    name = None
    for line in lines:
        found = _SPHINX.fullmatch(line.strip())
        if found:
            name = found.group(1)
            entries[name] = [found.group(2)]
        elif _FIELD.match(line.strip()):
            name = None
        elif name is not None:
            entries[name].append(line)
    return {name: _join_lines(texts) for name, texts in entries.items() if _join_lines(texts)}


def _join_lines(lines: list[str], *, paragraphs: bool = False) -> str:
    """Join lines to running text; blank lines separate paragraphs if `paragraphs`, else are dropped."""
    text = "\n".join(line.strip() for line in lines).strip()
    parts = re.split(r"\n{2,}", text)
    return ("\n\n" if paragraphs else " ").join(" ".join(part.split()) for part in parts)

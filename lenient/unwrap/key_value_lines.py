"""Reads values without braces: lines of `key=value`, several pairs on one line, YAML block style, XML
elements.

Every line must fit and the keys must be plausible parameters. This is so if one key is declared, or if there
are several keys and no line looks like prose. Values are JSON literals, numbers, or quoted or unquoted
strings.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, NamedTuple

from lenient.regex import compile_regex
from lenient.scan.source_text import SourceText, ValueSpan
from lenient.scan.strings.escapes import decode_body
from lenient.unwrap.surrounding_text import are_json_members
from lenient.unwrap.yaml_blocks import KEY_LINE, LITERALS, NUMBER, UnfitError, YamlLine, YamlReader, read_flow

_FIRST_LINE = compile_regex(
    r"[\s\ufeff]*+(?:```[\w+\-]*+[ \t]*+\r?\n\s*+)?(?:---[ \t]*+\r?\n)?(?:[ \t]*+#[^\n]*+\n)*+"
    r"[ \t]*+[\"']?[A-Za-z_][\w.\-]*+[\"']?[ \t]*+[:=]"
)
_FENCE = compile_regex(r"\s*+(```[\w+\-]*+[ \t]*+\r?\n)(.*?)\r?\n[ \t]*+```\s*+\Z", re.DOTALL)
_NAMED_FENCE = compile_regex(r"[^`{]{0,2000}+(```ya?ml[ \t]*+\r?\n)([^`]*+)```[^`{]{0,2000}+\Z")
_EQUALS = compile_regex(r"([A-Za-z_][\w.\-]*+)([ \t]*+)=(?!=)[ \t]*+(.*+)")
_PLAIN_NAME = compile_regex(r"[a-z][a-z\d]*+(?:[_\-]?[A-Za-z\d]++)*+", re.ASCII)
_QUOTED = compile_regex(r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'", re.DOTALL)
_VALUE = rf"(?:{_QUOTED.pattern}|-?\d[\d.eE+\-]*+|(?:true|false|null|True|False|None)\b)"
_PAIR = compile_regex(
    rf"\s*+([A-Za-z_][\w\-]*+)[ \t]*+(?P<sign>[:=])[ \t]*+({_VALUE})"
    r"(?:\s*+[,;]|[ \t]++(?=[A-Za-z_][\w\-]*+=)|\s*+\}?\s*+\Z)",
    re.DOTALL,
)
_BARE_PAIR = compile_regex(
    rf"\s*+([A-Za-z_][\w\-]*+)=({_VALUE}|[^\s,;={{}}\[\]\"'][^,;={{}}\[\]\"'\n]*+)(?:[,;](?=\s*+[A-Za-z_]\w*+=)|\s*+\Z)",
    re.DOTALL,
)
"""A pair whose value may be words without quotes."""
_NEXT_PAIR = compile_regex(r"[\"'\d\]}el],\s*+[A-Za-z_]\w*+=(?!=)")
_LATER_PAIR = compile_regex(r",\s*+[A-Za-z_]\w*+=(?!=)")
_LATER_NAME = compile_regex(r"[ \t&,;]([A-Za-z_][\w.\-]*+)(?:[ \t]*+=(?!=)|:[ \t])")
_BRACKETS = ("{", "[")
_CALL = compile_regex(
    r"\s*+(?:([A-Za-z_]\w*+\s*+=\s*+(?:await\s++)?|return\s++))?(?:[A-Za-z_][\w.]*+)?\((?=\s*+[A-Za-z_]\w*+\s*+=)"
)
"""The beginning of a Python call.

A group matches the statement that contains the function call.
"""
_PYTHON = {"True": True, "False": False, "None": None}
_MAX_LINES = 20_000


class KeyValueObject(NamedTuple):
    """An object read from lines or pairs without braces, the object's span (`mark`), and the code of the
    notation.

    `fence` is the span of an opening code fence. `doubtful` are spans with another possible meaning: removed
    comments that may belong to a value, and values that may contain another pair.
    """

    value: dict[str, Any]
    mark: ValueSpan
    code: str
    fence: tuple[int, int] | None = None
    doubtful: tuple[ValueSpan, ...] = ()


def lacks_braces(text: str, declared: Collection[str]) -> bool:
    """Return True if the input has the form `name: "value", other: 1` and the names can be parameters."""
    pairs = _find_pairs(text)
    names = {pair.group(1) for pair in pairs}
    return bool(pairs) and pairs[0].group(2) == ":" and _fit_call(names, declared)


def read_key_values(piece: SourceText, declared: Collection[str]) -> KeyValueObject | None:
    """Return the object that the lines or pairs form, or None when the input has another form.

    `declared` are the names of the tool's parameters.
    """
    text, fence = piece.text, None
    if elements := _find_elements(text, declared):
        marks = {name: ValueSpan(start, end) for name, start, end in elements}
        value = {name: _read_scalar(text[start:end]) for name, start, end in elements}
        return KeyValueObject(value, ValueSpan(0, len(text.rstrip()), marks), "key_value_lines")
    call = _CALL.match(text)
    if call is not None and declared:
        return _read_call(text, call, declared)
    if _FIRST_LINE.match(text):
        fence = _FENCE.match(text)
    elif "```y" not in text or (fence := _NAMED_FENCE.match(text)) is None:
        return None
    start, end = fence.span(2) if fence else (0, len(text))
    lines = _split_lines(text, start, end)
    if not lines or len(lines) > _MAX_LINES:
        return None
    try:
        read = _read_pair_row(text, declared) or _read_equations(piece, lines, declared)
        read = read or _read_yaml_blocks(piece, lines, declared)
    except UnfitError:
        return None
    return read._replace(fence=fence and fence.span(1)) if _are_arguments(read.value, declared) else None


def _find_pairs(text: str, form: re.Pattern[str] = _PAIR) -> list[re.Match[str]]:
    pairs: list[re.Match[str]] = []
    position, end = 0, len(text.rstrip())
    while position < end:
        pair = form.match(text, position)
        if pair is None:
            return []
        pairs.append(pair)
        position = pair.end()
    return pairs


def _read_call(text: str, call: re.Match[str], declared: Collection[str]) -> KeyValueObject | None:
    """Read a Python call, `name(key=value, …)`. Return None unless all names are declared."""
    end = len(text.rstrip().rstrip(";"))
    read = None
    if text[end - 1 : end] == ")":
        inner = " " * call.end() + text[call.end() : end - 1]
        try:
            if call[1] and not _find_pairs(inner):
                return None  # unquoted words are variables of a program, so this is not a tool call
            read = _read_pair_row(inner, declared)
        except UnfitError:
            return None
    if read is None or not all(name in declared for name in read.value):
        return None
    return read._replace(mark=ValueSpan(call.end() - len(call.group().lstrip()), end, read.mark.children))


def _read_pair_row(text: str, declared: Collection[str]) -> KeyValueObject | None:
    """Read several `key=value` pairs on one line, as in a function call, else return None.

    Raises UnfitError when a name is repeated.
    """
    pairs = _find_pairs(text)
    if not pairs and declared:
        pairs = _find_pairs(text, _BARE_PAIR)
        if len(pairs) < 2 or any(pair.group(1) not in declared for pair in pairs):
            return None
    if (
        not pairs
        or any(pair.groupdict().get("sign", "=") != "=" for pair in pairs)
        or (len(pairs) == 1 and not declared)
    ):
        return None
    last = pairs[0].re.groups
    value = {pair.group(1): _read_plain_value(pair.group(last).rstrip()) for pair in pairs}
    marks = {pair.group(1): ValueSpan(*pair.span(last)) for pair in pairs}
    if len(value) < len(pairs):
        raise UnfitError
    return KeyValueObject(value, ValueSpan(pairs[0].start(1), pairs[-1].end(last), marks), "key_value_lines")


def _split_lines(text: str, start: int, end: int) -> list[YamlLine]:
    """Return the lines of `text[start:end]`.

    Blank lines at both ends, comments and `---` at the start, and `...` at the end are left out.
    """
    lines: list[YamlLine] = []
    position = start
    for written in text[start:end].splitlines(keepends=True):
        content = written.strip("\r\n\ufeff")
        indent = len(content) - len(content.lstrip(" "))
        lines.append(YamlLine(position + written.find(content), indent, content.strip()))
        position += len(written)
    while lines and lines[-1].text in ("", "..."):
        lines.pop()
    first = next(
        (at for at, line in enumerate(lines) if line.text != "---" and line.text[:1] not in ("", "#")), 0
    )
    return lines[first:]


def _read_equations(
    piece: SourceText, lines: list[YamlLine], declared: Collection[str]
) -> KeyValueObject | None:
    """Read lines of `key=value`. Return None when the first line has another form.

    Raises UnfitError when a later line has another form.
    """
    if not _EQUALS.fullmatch(lines[0].text):
        return None
    value: dict[str, Any] = {}
    marks: dict[str, ValueSpan] = {}
    doubtful: list[ValueSpan] = []
    for line in lines:
        match = _EQUALS.fullmatch(line.text)
        if match is None and (not line.text or line.text.startswith("#")):
            continue
        if (
            match is None
            or not match.group(3)
            or match.group(1) in value
            or (match.group(2) and not declared)
        ):
            raise UnfitError  # blanks around `=` indicate program code, unless the name is declared
        name, written = match.group(1, 3)
        at = line.start + line.indent + match.start(3)
        mark = ValueSpan(at, at + len(written))
        if _LATER_PAIR.search(written) and not _QUOTED.fullmatch(written):
            doubtful.append(mark)
        value[name], marks[name] = (
            read_flow(piece, *mark[:2])
            if written[:1] in _BRACKETS
            else (_read_plain_value(written, declared), mark)
        )
    whole = ValueSpan(lines[0].start, marks[name].end, marks)
    return KeyValueObject(value, whole, "key_value_lines", doubtful=tuple(doubtful))


def _read_plain_value(written: str, declared: Collection[str] = ()) -> Any:
    """Return the value after an equals sign: a literal, a number, or a quoted or unquoted string.

    Raises UnfitError when an unquoted string contains another pair.
    """
    if (scalar := _read_scalar(written)) is not written:
        return scalar
    if _QUOTED.fullmatch(written):
        return decode_body(written, 1, len(written) - 1).text
    if _NEXT_PAIR.search(written) or _runs_on(written, declared):
        raise UnfitError
    return written


def _read_scalar(written: str) -> Any:
    if written in LITERALS or written in _PYTHON:
        return LITERALS[written] if written in LITERALS else _PYTHON[written]
    if NUMBER.fullmatch(written):
        return float(written) if any(sign in written for sign in ".eE") else int(written)
    return written


def _read_yaml_blocks(piece: SourceText, lines: list[YamlLine], declared: Collection[str]) -> KeyValueObject:
    start, last = lines[0].start + lines[0].indent, lines[-1]
    if KEY_LINE.fullmatch(lines[0].text) is None:
        raise UnfitError
    if are_json_members(piece.text, start, last.start + last.indent + len(last.text), declared):
        raise UnfitError
    blocks = YamlReader(piece, lines)
    value, mark = blocks.read_lines()
    marks = mark.children if isinstance(mark.children, dict) else {}
    for name, (start, end, _) in marks.items():
        if isinstance(value[name], str) and _runs_on(piece.text[start:end], declared):
            raise UnfitError
    return KeyValueObject(value, mark, "yaml_block", doubtful=tuple(blocks.doubtful))


def _runs_on(written: str, declared: Collection[str]) -> bool:
    """Return True when an unquoted string contains a declared name followed by `=` or `:`."""
    return written[:1] not in "\"'|>" and any(name in declared for name in _LATER_NAME.findall(written))


def _are_arguments(value: dict[str, Any], declared: Collection[str]) -> bool:
    """Return True when the object can be the arguments of a tool call rather than a sentence with a colon."""
    sentences = () if declared else (text for text in value.values() if isinstance(text, str))
    return _fit_call(value, declared) and not any(map(_is_sentence, sentences))


def _fit_call(names: Collection[str], declared: Collection[str]) -> bool:
    """Return True when the names can be the parameters of one tool call.

    At least one name must be declared. Without a definition, there must be several names.
    """
    declared_names = [name for name in names if name in declared]
    return (len(declared_names) > 0 if declared else len(names) > 1) and all(
        name in declared_names or _PLAIN_NAME.fullmatch(name) for name in names
    )


def _is_sentence(text: str) -> bool:
    words = text.split()
    return "\n" not in text and (
        (len(words) > 4 and text[-1] in ".?!…") or (len(words) > 6 and text[0].isupper())
    )


# --- elements of XML -----------------------------------------------------------------------------------

_TAG = "parameter|param|argument|arg"
_NAMED = rf"\s*+<({_TAG})(?:\s++name=\"([^\"<>]{{1,64}})\"\s*+|=([^\s\"<>]{{1,64}}))>(.*?)</\1>"
_PAIRED = r"\s*+<arg_key>([^<>]{1,64})</arg_key>\s*+<arg_value>(.*?)</arg_value>"
_OWN = r"\s*+<([A-Za-z_][\w.\-]{0,63})>(.*?)</\1>"
_FORMS = tuple(compile_regex(form, re.DOTALL) for form in (_NAMED, _PAIRED, _OWN))
_UNCERTAIN = compile_regex(rf"&#?\w{{1,8}};|</?(?:{_TAG}|arg_key|arg_value)\b")
"""Entities that may mean a character, and inner tags."""


def _find_elements(text: str, declared: Collection[str]) -> list[tuple[str, int, int]]:
    """Return the name of each XML element and the span of its content, or [] for input of another form."""
    if not declared or not text.lstrip().startswith("<"):
        return []
    for form in _FORMS:
        if form.match(text) is not None:
            return _find_all(form, text, declared)
    return []


def _find_all(form: re.Pattern[str], text: str, declared: Collection[str]) -> list[tuple[str, int, int]]:
    elements: dict[str, tuple[str, int, int]] = {}
    position, end = 0, len(text.rstrip())
    while position < end:
        element = form.match(text, position)
        if element is None or _is_uncertain(element[element.lastindex or 0]):
            return []
        name = next(part for part in element.groups()[-2::-1] if part is not None)
        if name not in declared or name in elements:
            return []
        elements[name] = (name, *element.span(element.lastindex or 0))
        position = element.end()
    return list(elements.values())


def _is_uncertain(text: str) -> bool:
    """Return True when the line breaks at the ends of an element's content may be layout."""
    return text.strip() != text.strip(" \t") or _UNCERTAIN.search(text) is not None

"""Finds the secret that follows a name such as `password` in prose, tables and settings.

`find_stated_values` checks the text after the name: a sentence (`Your password is: …`), markup
(`**Password:** …`), the next cell of a table, the next word (`ENV DB_PASSWORD …`, netrc, SQL), or another
attribute or member (`name: DB_PASSWORD`, `value: …`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.privacy.matches import Match, SearchedText
from ingest.privacy.secret_names import Family, is_bare_secret, is_named_secret, is_plain_value

_QUOTE = "\"'`“”„‘’«»「」『』【】"
_TAG = r"</?(?:a|b|i|u|em|strong|code|span|font|kbd|tt|small|mark|label|p|div|li|td|th|dt|dd)\b[^<>]{0,80}>"
_COLOUR = r"\[[\d;]{0,12}m"  # a terminal colour whose escape character is missing in the log
_MARKUP = (
    rf"(?P<markup>(?:[*_~]{{1,3}}\s{{0,4}}|`{{3}}\w{{0,10}}\s{{1,4}}|{_TAG}\s{{0,40}}|{_COLOUR}){{0,6}})"
)
_VALUE = (
    rf"(?:[{_QUOTE}](?P<quoted>[^{_QUOTE}\\\r\n]{{3,200}})[{_QUOTE}]"
    rf"|(?P<bare>[^\s{_QUOTE}<>(){{}}\[\]\\|│║&,;，。；、（）]{{3,256}})(?!\[(?![\d;]{{0,12}}m)|\())"
)
_BLANK_END = re.compile(r"[.!]?[*_~`]{0,3}[ \t]*(?:[\r\n|│║<\\\"']|\[[\d;]{0,12}m|\Z)")
_TRAILING = ".!?:*_~"

_SIGN = r"(?:[:：＝—–]|=(?=\s{0,4}[\"'`*<])|-(?=\s)|(?=[「『【]))"
_YAML_BLOCK = r"(?:[|>][+-]?[ \t]{0,4}\r?\n[ \t]{1,40}|!{1,2}\w{1,20}\s|&\w{1,20}\s)?"
_SENTENCE = re.compile(
    rf"(?:[\]\"'`”’*_~]{{0,6}}(?:{_COLOUR})?)"
    r"(?P<whom>\s(?:for|of|für|pour|para|per|för|voor|для)\s[^\s:]{1,60}(?:\s[^\s:]{1,60})?)?"
    r"(?:\s?\([^()\r\n]{1,40}\))?[*_~]{0,3}"
    r"(?:(?P<verb>\s{0,2}"
    r"(?:\b(?:is|was|to|ist|war|lautet|est|es|era|è|é|je|jest|este|är|er|on)\b|это|[はが是为為는은])"
    rf"(?:\s(?:now|jetzt|ahora|(?:re)?set\sto|changed\sto)\b)?(?P<colon>\s{{0,2}}{_SIGN})?)"
    rf"|(?:</?\w{{1,8}}>){{0,3}}(?P<sign>\s{{0,2}}{_SIGN}))"
    rf"\s{{0,8}}{_YAML_BLOCK}{_MARKUP}{_VALUE}",
    re.IGNORECASE,
)
_HAS_SIGN = re.compile(r"\d|[a-z][A-Z]|[!#$%^&*]")
_HAS_DIGIT = re.compile(r"\d|[!#$%^&*]")

_CELL = re.compile(
    rf"[*_~`]{{0,3}}:?(?:[ \t]{{1,60}}[|│║][ \t]{{1,60}}|\|){_MARKUP}{_VALUE}"
    r"(?=[*_~`]{0,3}[ \t]{0,200}(?:[|│║\r\n\"'\\]|\Z))"
    rf"|:?\s{{0,4}}(?:</\w{{1,8}}>\s{{0,40}}){{1,3}}(?:{_TAG}\s{{0,40}}){{1,4}}"
    r"(?P<element>[^<>\r\n]{3,200}?)(?=\s{0,40}</)"
)
_CELL_BEGIN = re.compile(
    r"(?:(?:[|│║\n\"']|\A)[ \t]{0,60}[*_~`]{0,3}|<[a-z]{1,8}\b[^<>]{0,80}>\s{0,40})[\w.-]{0,40}\Z",
    re.IGNORECASE,
)
_ROW_BEGIN = re.compile(r"(?:\A|[\n\"'])[ \t]{0,40}\|[\w.-]{0,40}\Z")
_RULE = re.compile(r"[^\r\n]*\r?\n[ \t]*[|│+├]?[ \t]?:?[-─═+|│┼: ]*[-─═]{3}")
_ROWS_MOST, _ROW_LONGEST = 50, 500

_NEXT = re.compile(
    rf"[\"'`*_]{{0,3}}(?P<open>[ \t]{{1,4}}|\s{{0,2}}\([ \t]{{0,4}}|[ \t]{{0,4}}\r?\n[ \t]{{1,40}}){_VALUE}"
)
_TYPED = re.compile(
    r":[ ]{0,4}[\w.\[\]?|& <>']{1,60}=\s{0,4}[bfuBFU]?([\"'])(?P<quoted>[^\"'\\\r\n]{3,200})\1"
)
_ARGUMENT = re.compile(r"[\"'\])]{1,3}\s{0,2},\s{0,2}([\"'])(?P<quoted>[^\"'\\\r\n]{3,200})\1\s{0,2}\)")
_WITHIN = re.compile(
    r"[\"']?\s{0,4}[:=]\s{0,4}(?:\{\s{0,60}|\r?\n\s{1,60})"
    rf"[\"']?(?:value|default|S)[\"']?\s{{0,4}}[:=]\s{{0,4}}{_VALUE}"
)
_SETTING = re.compile(
    r"(?:(?<![\w-])(?:ENV|ARG|export)|\b(?i:setx(?:\s/\w)?|setenv))\s{1,4}[\w.-]{0,60}\Z"
    r"|\bconfig(?:ure)?(?:\s--?\w{1,20}){0,3}\s(?:set\s)?[\w.:/-]{0,60}\Z"
    r"|\brequire\Z"
)
_SET = re.compile(r"(?<![\w-])set(?:\s-\w{1,4}){0,3}\s{1,4}[\w.-]{0,60}\Z", re.IGNORECASE)
_NETRC = re.compile(
    r"machine\s{1,20}\S{1,100}\s{1,40}(?:(?:login|user|account)\s{1,20}\S{1,100}\s{1,40}){0,2}\Z"
    r"|(?:default|(?:\A|[\n\"'])[ \t]{0,40})[ \t]{0,4}(?:login|user(?:name)?)"
    r"[ \t]{1,20}(?!and\b|or\b|with\b)\S{1,100}\s{1,40}\Z",
)
_TAKES_TEXT = re.compile(  # Matches a SQL statement or a function that sets a value.
    r"\bwith\s{1,4}(?:un)?(?:encrypted\s{1,4})?\Z|\b(?:create|alter)\s{1,8}(?:user|role)\b"
    r"|\boptions\s?\([^()]{0,80}\Z|\bset_?\Z",
    re.IGNORECASE,
)
_BEFORE, _BEFORE_VALUE = 120, 400

_NAMES_IT = re.compile(
    r"(?:(?<![a-z])(?:parameter_?)?(?:name|key|header|id|type)[\"']?\s{0,4}[:=]\s{0,4}[\"']?|<)[\w.:-]{0,40}\Z",
    re.IGNORECASE,
)
_BESIDE = re.compile(
    r"[\"']?(?:\s{0,4},)?(?:\s{1,40}[\w:-]{1,40}(?:=[\"'][^\"'<>]{0,80}[\"'])?){0,6}?\s{0,60}[\"']?"
    r"(?:(?:parameter_?)?value|content)[\"']?\s{0,4}[:=]\s{0,4}"
    rf"(?:\{{\s{{0,60}}[\"']string_?value[\"']\s{{0,4}}:\s{{0,4}})?{_VALUE}",
    re.IGNORECASE,
)
_BESIDE_BEFORE = re.compile(
    r"(?<![a-z])(?:parameter_?)?value[\"']?\s{0,4}[:=]\s{0,4}[\"'](?P<quoted>[^\"'\\\r\n<>]{3,200})[\"']"
    r"(?:\s{0,4},)?(?:\s{1,40}[\w:-]{1,40}=[\"'][^\"'<>]{0,80}[\"']){0,4}\s{0,60}[\"']?"
    r"(?:parameter_?)?(?:name|key|header|id|type)[\"']?\s{0,4}[:=]\s{0,4}[\"']?[\w.-]{0,40}\Z",
    re.IGNORECASE,
)
_MEMBER_END = re.compile(r"[ \t]{0,4}(?:[\r\n<>}/\\\"']|\Z)")
_VALUE_WORD = re.compile("value", re.IGNORECASE)
_NAME_ENDS = frozenset("'\"\r\n, >")
_TAGGED = re.compile(
    r"(?:[\"'][^<>]{0,80}|(?:\s[^<>]{1,80})?)>(?:<!\[CDATA\[)?(?P<element>[^<>\r\n\]]{3,200})(?:\]\]>)?</"
)

_IDENTIFIED = re.compile(
    rf"identified\s{{1,8}}(?:with\s{{1,8}}\S{{1,60}}\s{{1,8}})?(?:by|as)\s{{1,8}}"
    rf"(?:password\s{{1,8}}|values\s{{1,8}})?{_VALUE}",
    re.IGNORECASE,
)
_STATEMENT = re.compile(r"\b(?:create|alter)\s{1,8}(?:user|role)\b|\bgrant\s", re.IGNORECASE)
_PASSWORD_LINE = re.compile(
    r"(?:\A|[\n\"'])[^\s:#\"']{1,200}:(?:[56]4\d\d|\*):[^\s:]{1,100}:[^\s:]{1,100}:"
    r"(?P<bare>[^\s:\"'\\]{3,200})[ \t]*(?=[\r\n\"'\\]|\Z)"
)
PASSWORD_FILE_NEEDLES = (":54", ":64", ":*:*:")  # the usual ports of PostgreSQL, as in a pgpass file


_Span = tuple[int, int]


def find_stated_values(text: str, place: int, end: int, name: str, family: Family) -> Iterator[_Span]:
    """Yield the positions of the values that belong to the name that ends at `end`.

    `place` is an offset within the name.
    """
    if name.lower() == "pass":  # the word "pass" is usually a verb
        return
    before = text[max(0, place - _BEFORE) : place]
    match = (
        _find_beside(text, before, place, end, name, family)
        or _find_in_cell(text, before, end, name, family)
        or _find_assigned(text, end, name, family)
        or _find_next(text, before, end, name, family)
        or _find_in_sentence(text, end, name, family)
    )
    if match:
        yield match
    else:
        yield from _find_in_column(text, place, end, name, family)


def _find_in_sentence(text: str, end: int, name: str, family: Family) -> _Span | None:
    """Return the value that a sentence states: `Your password is: …`, `**Password:** …`, `Password for bob:
    …`.
    """
    match = _SENTENCE.match(text, end, end + 700)
    if match is None:
        return None
    sign = match["colon"] is not None or match["sign"] is not None
    start, value = _value_of(match)
    if match["quoted"] is not None:
        is_likely = sign or family is Family.PASSWORD or is_bare_secret(value)
        return (start, start + len(value)) if is_likely and is_named_secret(value, family, name) else None
    # In these scripts no blank separates words, so a word may follow the value directly. Keep only ASCII.
    if not name.isascii() and value[0].isascii():
        value = re.match("[!-~]*", value)[0]  # type: ignore[index]
    alone = (sign or match["markup"]) and _BLANK_END.match(text, start + len(value))
    if is_bare_secret(value) or (family is Family.PASSWORD and alone and _is_word(value)):
        return start, start + len(value)
    return None


def _value_of(match: re.Match[str]) -> tuple[int, str]:
    if match["quoted"] is not None:
        return match.start("quoted"), match["quoted"]
    return match.start("bare"), match["bare"].rstrip(_TRAILING)


def _is_word(value: str) -> bool:
    return len(value) >= 3 and is_plain_value(value)


def _find_in_cell(text: str, before: str, end: int, name: str, family: Family) -> _Span | None:
    match = _CELL.match(text, end, end + 900)
    if match is None or not (_CELL_BEGIN if text[end] != "|" else _ROW_BEGIN).search(before):
        return None
    if match["element"] is not None:
        start, value = match.start("element"), match["element"]
    else:
        start, value = _value_of(match)
        if _RULE.match(text, match.end(), match.end() + _ROW_LONGEST):
            return None
    is_likely = is_bare_secret(value) or (family is Family.PASSWORD and _is_word(value) and " " not in value)
    return (start, start + len(value)) if is_likely and is_named_secret(value, family, name) else None


def _find_in_column(text: str, place: int, end: int, name: str, family: Family) -> Iterator[_Span]:
    """Yield the values below a column name, in a table with `|` between the cells."""
    if text.find("|", end, end + 200) < 0 and text.rfind("|", max(0, place - 200), place) < 0:
        return
    rule = _RULE.match(text, end, end + 2 * _ROW_LONGEST)
    if rule is None:
        return
    line = max(text.rfind("\n", max(0, place - _ROW_LONGEST), place) + 1, place - _ROW_LONGEST, 0)
    column = text.count("|", line, place)
    at = text.find("\n", rule.end())
    for _ in range(_ROWS_MOST):
        if at < 0:
            return
        start, at = at + 1, text.find("\n", at + 1)
        row = text[start : min(at if at >= 0 else len(text), start + _ROW_LONGEST)]
        cells = row.split("|")
        if len(cells) <= column or len(cells) < 2:
            return
        value = cells[column].strip(" \t\r*_`")
        is_likely = _is_word(value) if family is Family.PASSWORD else is_bare_secret(value)
        if is_likely and " " not in value and is_named_secret(value, family, name):
            start += row.index(value, sum(map(len, cells[:column])) + column)
            yield start, start + len(value)


def _find_assigned(text: str, end: int, name: str, family: Family) -> _Span | None:
    """Return the value after a type (`name: str = …`), inside the member with this name, or in the next
    argument.
    """
    match = _TYPED.match(text, end, end + 300) or _WITHIN.match(text, end, end + 400)
    if match is None:
        match = _ARGUMENT.match(text, end, end + 300)
        if match is None or family is not Family.PASSWORD or not _HAS_DIGIT.search(match["quoted"]):
            return None
    start, value = _value_of(match)
    is_likely = match["quoted"] is not None or is_plain_value(value)
    return (start, start + len(value)) if is_likely and is_named_secret(value, family, name) else None


def _find_next(text: str, before: str, end: int, name: str, family: Family) -> _Span | None:
    """Return the next word if it is the value, as in a setting, in netrc, in SQL, or in quotes."""
    match = _NEXT.match(text, end, end + 400)
    if match is None:
        return None
    start, value = _value_of(match)
    stop = start + len(value)
    if match["quoted"] is not None:
        statement = name.isupper() and family is not Family.TOKEN and text[start - 1] in "\"'"
        is_likely = statement or (
            family is Family.PASSWORD
            and (_HAS_SIGN.search(value) or not name.isascii() or _TAKES_TEXT.search(before))
        )
        return (start, stop) if is_likely and is_named_secret(value, family, name) else None
    if "(" in match["open"]:
        return None
    if _SETTING.search(before) or (_SET.search(before) and ("_" in name or name.isupper())):
        return (start, stop) if _is_word(value) else None
    if family is not Family.PASSWORD or not _is_word(value):
        return None
    ends = _BLANK_END.match(text, stop)
    if _NETRC.search(before) and (ends or "machine" in before):
        return start, stop
    return (start, stop) if is_bare_secret(value) else None


def _find_beside(text: str, before: str, place: int, end: int, name: str, family: Family) -> _Span | None:
    """Return the value next to a name: `name: DB_PASSWORD`, `value: …`.

    The value is in the attribute, member or element after or before the name.
    """
    if text[end : end + 1] not in _NAME_ENDS:
        return None
    if match := _TAGGED.match(text, end, end + 300):
        start, value = match.start("element"), match["element"]
    elif match := _BESIDE.match(text, end, end + 900):
        start, value = _value_of(match)
        if match["bare"] and not (is_plain_value(value) and _MEMBER_END.match(text, start + len(value))):
            return None
    else:
        first = max(0, place - _BEFORE_VALUE)
        match = _BESIDE_BEFORE.search(text, first, place) if _VALUE_WORD.search(text, first, place) else None
        if match is None:
            return None
        start, value = match.start("quoted"), match["quoted"]
    if not _NAMES_IT.search(before):
        return None
    return (start, start + len(value)) if is_named_secret(value, family, name) else None


def find_sql_passwords(looked: SearchedText) -> Iterator[Match]:
    """Yield the passwords in `CREATE USER … IDENTIFIED BY …`."""
    for place in looked.find_needle("identified"):
        match = _IDENTIFIED.match(looked.text, place, place + 400)
        if match is None:
            continue
        start, value = _value_of(match)
        if not match[0][0].isupper() and not _STATEMENT.search(looked.text, max(0, place - 200), place):
            continue
        if is_named_secret(value, Family.PASSWORD, "password"):
            yield Match(start, start + len(value), "password")


def find_password_lines(looked: SearchedText) -> Iterator[Match]:
    """Yield the passwords in lines of a pgpass file: `host:port:database:user:password`."""
    for match in _PASSWORD_LINE.finditer(looked.text):
        if is_plain_value(match["bare"]):
            yield Match(*match.span("bare"), "password")

"""Finds credentials in requests and commands: headers, cookies, options of `curl`, `mysql` …"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator

from ingest.privacy.matches import Match, SearchedText
from ingest.privacy.secret_names import is_secret

_QUOTES = r"[\"'`\\]{0,4}"
_SCHEME = (
    r"(?:Basic|Bearer|Token|Digest|Api-?Key|Key|Negotiate|NTLM|OAuth|GoogleLogin|Splunk|SSWS|DeepL-Auth-Key)"
)
_AUTHORIZATION = re.compile(
    rf"authorization{_QUOTES}\s{{0,4}}(?:=>|[:=,])\s{{0,4}}(?:[bfru](?=[\"']))?{_QUOTES}"
    rf"(?:(?P<scheme>{_SCHEME})\s{{1,4}}(?:token=)?{_QUOTES})?"
    r"(?P<value>[^\s\"'`\\<>{}$,;&]{4,2000})",
    re.IGNORECASE,
)
# characters of a value that has no scheme; shorter values are words in a text about headers
_PLAIN_SHORTEST = 12
_BASIC = re.compile(r"basic ([A-Za-z0-9+/]{8,1000}={0,2})", re.IGNORECASE)


def find_authorization(looked: SearchedText) -> Iterator[Match]:
    """Yield the credentials of `Authorization` headers.

    Credentials of the scheme `Basic` are also found elsewhere if they decode to user:password.
    """
    text = looked.text
    for place in looked.find_needle("authorization"):
        match = _AUTHORIZATION.match(text, place, place + 2_100)
        if match is None or not is_secret(match["value"]):
            continue
        value = match["value"]
        if match["scheme"] or (len(value) >= _PLAIN_SHORTEST and any(map(str.isdigit, value))):
            yield Match(*match.span("value"), "authorization")
    for place in looked.find_needle("basic "):
        match = _BASIC.match(text, place)
        if match and _is_user_and_password(match[1]):
            yield Match(*match.span(1), "authorization")


def _is_user_and_password(encoded: str) -> bool:
    try:
        decoded = b64decode(encoded + "=" * (-len(encoded) % 4), validate=True).decode()
    except ValueError:
        return False
    return ":" in decoded and decoded.isprintable()


_COOKIES = re.compile(
    rf"cookies?{_QUOTES}\s{{0,4}}[:=,]\s{{0,4}}\[?{_QUOTES}(?=[\w!#$%&*+.^|~-]{{1,100}}=)", re.IGNORECASE
)
_CURL_COOKIES = re.compile(rf"(?<=\s)(?:-b|--cookie)[ =]{{1,2}}{_QUOTES}(?=[\w!#$%&*+.^|~-]{{1,100}}=)")
_COOKIE = re.compile(r"([\w!#$%&*+.^|~-]{1,100})=([^\s;,\"'`\\<>]{0,4000})(?:;[ ]?|(?=[\s\"'`\\<>]|\Z))")
_ATTRIBUTES = frozenset({"path", "domain", "expires", "max-age", "samesite", "priority", "version"})
_ATTRIBUTE = re.compile(
    r"(?:(?:HttpOnly|Secure|Partitioned|Expires=[^;\"'\r\n]{0,40})(?:;[ ]?|(?=[\s\"'`\\]|\Z)))+",
    re.IGNORECASE,
)
_COOKIES_MOST = 100  # largest number of cookies in one header
_COOKIE_SHORTEST = 3
COOKIE_NEEDLES = ("cookie", "curl")


def find_cookies(looked: SearchedText) -> Iterator[Match]:
    """Yield the values of cookies in headers and in options of curl.

    The names and attributes of cookies are not included.
    """
    behind = 0
    for place in looked.find_needle("cookie"):
        if place >= behind and (begin := _COOKIES.match(looked.text, place)):
            cookies, behind = _collect_values(looked.text, begin.end())
            yield from cookies
    behind = 0
    for begin in _find_options(looked, _CURL_COOKIES):
        if begin.end() >= behind:
            cookies, behind = _collect_values(looked.text, begin.end())
            yield from cookies


def _collect_values(text: str, start: int) -> tuple[list[Match], int]:
    """Return the values of the cookies from `start` on, and the offset at which the last cookie ends."""
    values: list[Match] = []
    for _ in range(_COOKIES_MOST):
        match = _COOKIE.match(text, start)
        if match is None:
            break
        long = match.end(2) - match.start(2) >= _COOKIE_SHORTEST
        if long and match[1].lower() not in _ATTRIBUTES and is_secret(match[2]):
            values.append(Match(*match.span(2), "cookie"))
        attribute = _ATTRIBUTE.match(text, match.end())
        start = attribute.end() if attribute else match.end()
    return values, start


_USER = re.compile(
    rf"(?<=\s)(?:-u|--(?:proxy-)?user)(?:[ =]{{1,2}}|(?=[\w\"'])){_QUOTES}"
    r"[^\s:\"'`\\]{1,100}:(?P<value>[^\s\"'`\\]{1,256})"
)
_COMMAND = 1_000  # characters of a command that are searched for the option with the password
# Matches commands in which a password follows the option -p, -a or -w.
_LOGIN = re.compile(rf"login\b[^\r\n|;&]{{0,300}}?\s-p\s{{1,4}}{_QUOTES}([^\s\"'`\\]{{3,128}})")
_MYSQL = re.compile(
    rf"(?:mysql|mariadb)[\w-]{{0,20}}\s[^\r\n|;&]{{0,300}}?(?<=\s)-p{_QUOTES}([^\s\"'`\\]{{3,128}})"
)
_OPTIONS = (
    ("login", _LOGIN),
    ("mysql", _MYSQL),
    ("mariadb", _MYSQL),
    ("sshpass", re.compile(rf"sshpass\b[^\r\n|;&]{{0,40}}?\s-p\s{{0,4}}{_QUOTES}([^\s\"'`\\]{{3,128}})")),
    (
        "redis-cli",
        re.compile(rf"redis-cli\b[^\r\n|;&]{{0,300}}?\s-a\s{{1,4}}{_QUOTES}([^\s\"'`\\]{{3,128}})"),
    ),
    (
        "ldap",
        re.compile(rf"ldap\w{{1,20}}\b[^\r\n|;&]{{0,300}}?\s-w\s{{1,4}}{_QUOTES}([^\s\"'`\\]{{3,128}})"),
    ),
)
_OPTION_LONGEST = 600
COMMAND_NEEDLES = ("curl", *(needle for needle, _ in _OPTIONS))


def find_command_passwords(looked: SearchedText) -> Iterator[Match]:
    """Yield the passwords in `curl -u user:…`, `mysql -p…`, `sshpass -p …`, `docker login -p …`."""
    text = looked.text
    for match in _find_options(looked, _USER):
        if not match["value"].isdecimal() and is_secret(match["value"]):
            yield Match(*match.span("value"), "password")
    for needle, pattern in _OPTIONS:
        for place in looked.find_needle(needle):
            found_option = pattern.match(text, place, place + _OPTION_LONGEST)
            if found_option and is_secret(found_option[1]) and not found_option[1].startswith("-"):
                yield Match(*found_option.span(1), "password")


def _find_options(looked: SearchedText, option: re.Pattern[str]) -> Iterator[re.Match[str]]:
    behind = 0
    for place in looked.find_needle("curl"):
        yield from option.finditer(looked.text, max(place, behind), max(behind, place + _COMMAND))
        behind = max(behind, place + _COMMAND)

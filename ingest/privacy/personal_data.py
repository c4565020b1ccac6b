"""Finds e-mail addresses and user names in the paths of home folders."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator

from ingest.privacy.matches import ESCAPED_LETTER, Match, SearchedText

_LOCAL = re.compile(rf"(?:[\w.+%-]|{ESCAPED_LETTER})+\Z")
_PLAIN = string.ascii_letters + string.digits + "_.+%-"  # the same without other scripts, for speed
_LOCAL_LONGEST = 64  # RFC 5321, 4.5.3.1.1
_DOMAIN = re.compile(r"@(?!v?\d+\.\d)(?:[^\W_][\w-]{0,62}\.){1,8}[^\W\d_]{2,24}(?![\w-])")
_IN_URL = re.compile(r"/[^\s/@:]+:\Z")  # https://bob:secret@host: no address
_SERVICES = frozenset({"git", "svn", "hg"})  # git@github.com is an address for programs

_NAME = rf"(?:[^/\\\s\"'`<>:;,|*?(){{}}\[\]$&=#%!~\x00-\x1f]|{ESCAPED_LETTER})+"
# After `/`, `\` or, where a harness makes one folder's name of a path, `-`.
_HOME = re.compile(
    rf"(?<=[/\\!])(?:home|[Uu]sers)(?:(?:\\*/)(?P<name>{_NAME})"
    rf"|\\+(?P<windows>{_NAME}(?:[ ]{_NAME}){{1,3}}(?=\\)|{_NAME}))"
    rf"|(?<![\w-]-)(?<=-)(?:home|Users)-(?P<flat>[^-/\\\s\"'`<>:;,|\x00-\x1f]+)(?=[-/\\])"
)
_NOBODY = frozenset({"shared", "public", "default", "all users", ".", ".."})
_LONGEST = 200
HOME_NEEDLES = ("home", "users")


def find_emails(looked: SearchedText) -> Iterator[Match]:
    """Yield e-mail addresses in the usual form, without the quoted forms of RFC 5322."""
    text = looked.text
    for place in looked.find_needle("@"):
        domain = _DOMAIN.match(text, place, place + 300)
        if domain is None or text[place - 1 : place] == ".":
            continue
        start = looked.skip_escape(place - _local_part_length(text[max(0, place - _LOCAL_LONGEST) : place]))
        if (
            start < place
            and text[start:place] not in _SERVICES
            and not _IN_URL.search(text, start - 80, start)
        ):
            yield Match(start, domain.end(), "email")


def _local_part_length(before: str) -> int:
    """Return the length of the address part at the end of `before`, the text before an @, in characters."""
    rest = before.rstrip(_PLAIN)
    if not rest or (rest[-1] != "\\" and rest[-1].isascii()):
        return len(before) - len(rest)
    found = _LOCAL.search(before)
    return len(found[0]) if found else 0


def find_home_names(looked: SearchedText) -> Iterator[Match]:
    r"""Yield the user name in paths of home folders: `name` in /home/name, /Users/name and C:\Users\name.

    Folder names that harnesses make of such a path (-home-name-…) are searched, too.
    """
    for needle in HOME_NEEDLES:
        for place in looked.find_needle(needle):
            found = _HOME.match(looked.text, place, place + _LONGEST)
            if found is None or found.lastgroup is None:
                continue
            name = found[found.lastgroup]
            if name.lower() not in _NOBODY and any(map(str.isalnum, name)):
                yield Match(*found.span(found.lastgroup), "user")

"""Finds data that identifies a person: e-mail addresses, user names in paths, card, IBAN and phone numbers.

A card number must match the digits of its card network and the check digit of ISO/IEC 7812 (Luhn). An IBAN
must match the length for its country and the check digits of ISO 13616. A phone number must have a plus sign
and a country code, or the North American form (212-555-0187), or a word such as `phone` next to it.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator

from ingest.privacy.matches import ESCAPED_LETTER, Match, SearchedText

_LOCAL = re.compile(rf"(?:[\w.+%-]|{ESCAPED_LETTER})+\Z")
# the ASCII characters of an address; searching for these characters is fast
_PLAIN = string.ascii_letters + string.digits + "_.+%-"
_LOCAL_LONGEST = 64  # RFC 5321, 4.5.3.1.1
_DOMAIN = re.compile(r"@(?!v?\d+\.\d)(?:[^\W_][\w-]{0,62}\.){1,8}[^\W\d_]{2,24}(?![\w-])")
_IN_URL = re.compile(r":(?:\\*/){2}[^\s/@:]+:\Z")  # https://bob:secret@host is not an e-mail address
_SERVICES = frozenset({"git", "svn", "hg"})  # git@github.com is not the address of a person

_NAME = rf"(?:[^/\\\s\"'`<>:;,|*?(){{}}\[\]$&=#%!~\x00-\x1f]|{ESCAPED_LETTER})+"
# A home folder follows `/` or `\`, or `-` where an agent writes a path as one folder name.
_HOME = re.compile(
    rf"(?<=[/\\!])(?:home|[Uu]sers)(?:(?:\\*/)(?P<name>{_NAME})"
    rf"|\\+(?P<windows>{_NAME}(?:[ ]{_NAME}){{1,3}}(?=\\)|{_NAME}))"
    rf"|(?<![\w-]-)(?<=-)(?:home|Users)-(?P<flat>[^-/\\\s\"'`<>:;,|\x00-\x1f]+)(?=[-/\\])"
)
_NOBODY = frozenset({"shared", "public", "default", "all users", ".", ".."})
_LONGEST = 200
HOME_NEEDLES = ("home", "users")

# Finds possible card numbers fast. It searches the shape of a text for four digits.
_CARD_SHAPE = re.compile(
    rb"1111(?<![a1_.+#/-]1111)"
    rb"(?:1{10,15}(?!1)|(?:-|\s{1,40})1(?:111(?:-|\s{1,40})1111|11111(?:-|\s{1,40})1111))"
)
_IBAN_SHAPE = re.compile(rb"1111(?:(?<=a1111)|(?<=aa11[ -]1111)|(?<=aa11[ -][a1]{4}[ -]1111))")
_AMERICAN_SHAPE = re.compile(rb"1111(?!1)(?<=111[ .-]1111)")

_GAP = r"(?:[ -]|[ ]?\r?\n[ \t]{0,40})?"  # text that may separate groups of digits
_CARD = re.compile(
    r"(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|3[47]\d\d|3[068]\d\d|35[2-8]\d|6011|64[4-9]\d|65\d\d|62\d\d)"
    rf"(?:{_GAP}\d{{4}}{_GAP}\d{{4}}{_GAP}\d{{4}}|{_GAP}\d{{6}}{_GAP}\d{{4,5}}|\d{{12,15}})(?!\w|[.,-]\d)"
)
# lengths of card numbers by first digit; all other card numbers have 16 digits
_CARD_LENGTHS = {"3": (14, 15, 16), "4": (16, 19), "6": (16, 19)}

# Number of characters of an IBAN by country (ISO 13616), from the registry of SWIFT.
_IBAN_LENGTHS = {
    country: length
    for length, countries in {
        15: "NO", 16: "BE", 18: "DK FI FO GL NL", 19: "MK SI", 20: "AT BA EE KZ LT LU MN XK",
        21: "CH HR LI LV", 22: "BG BH CR DE GB GE IE ME RS VA", 23: "AE GI IL IQ OM SO TL",
        24: "AD CZ ES MD PK RO SA SE SK TN VG", 25: "PT ST LY", 26: "IS TR", 27: "FR GR IT MC MR SM BI DJ",
        28: "AL AZ CY DO GT HU LB PL BY SV NI", 29: "BR EG PS QA UA", 30: "JO KW MU", 31: "MT SC", 32: "LC",
        33: "RU",
    }.items()
    for country in countries.split()
}  # fmt: skip
_IBAN = re.compile(r"(?<![A-Za-z0-9])([A-Z]{2})\d\d(?:" + _GAP + r"[A-Z0-9]){11,30}")
_IBAN_BEFORE, _IBAN_LONGEST = 12, 84

_PHONE = re.compile(r"\+[1-9](?:[ .()/-]{0,2}(?:\r?\n[ \t]{0,40}(?=\d{3}))?\d){7,14}(?!\w|[.-]\d)")
_BEFORE_PHONE = re.compile(r"[\w+/=.-]")
_PLAIN_PHONE = re.compile(r"\+\d+")
_PLAIN_SHORTEST = 11  # smallest number of characters if nothing except digits follows the plus sign
_AMERICAN = re.compile(
    r"(?<![\w.+/-])(?:1[ .-])?(?:\([2-9]\d\d\) ?|[2-9]\d\d([ .-]))[2-9]\d\d(?(1)\1|[ .-])\d{4}(?!\w|[.-]\d)"
)
_AMERICAN_LONGEST = 16
_NAMED_PHONE = re.compile(
    r"(?:[ _-]?(?:number|no|nr))?\.?[\"'\\]{0,4}\s{0,3}[:=]\s{0,3}[\"'\\]{0,4}"
    r"(\+?\(?\d[\d ()./-]{4,20}\d)(?!\w)",
    re.IGNORECASE,
)
_NAMED_SHORTEST = 7  # smallest number of digits in a number next to a word such as `phone`
PHONE_NEEDLES = ("phone", "mobile", "tel", "fax")


def find_emails(looked: SearchedText) -> Iterator[Match]:
    """Yield e-mail addresses in the usual form. The quoted forms of RFC 5322 are not found."""
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
    """Return how many characters at the end of `before`, the text before an @, belong to an address."""
    rest = before.rstrip(_PLAIN)
    if not rest or (rest[-1] != "\\" and rest[-1].isascii()):
        return len(before) - len(rest)
    match = _LOCAL.search(before)
    return len(match[0]) if match else 0


def find_home_names(looked: SearchedText) -> Iterator[Match]:
    r"""Yield the user name in paths of home folders: `name` in /home/name, /Users/name and C:\Users\name.

    Agents make folder names from such a path (-home-name-…). These folder names are searched, too.
    """
    for needle in HOME_NEEDLES:
        for place in looked.find_needle(needle):
            match = _HOME.match(looked.text, place, place + _LONGEST)
            if match is None or match.lastgroup is None:
                continue
            name = match[match.lastgroup]
            if name.lower() not in _NOBODY and any(map(str.isalnum, name)):
                yield Match(*match.span(match.lastgroup), "user")


def find_cards(looked: SearchedText) -> Iterator[Match]:
    """Yield the numbers of payment cards. The digits may be in groups."""
    for place in _CARD_SHAPE.finditer(looked.shape):
        match = _CARD.match(looked.text, place.start())
        if match is None:
            continue
        digits = re.sub(r"[\s-]", "", match[0])
        if len(digits) in _CARD_LENGTHS.get(digits[0], (16,)) and _has_check_digit(digits):
            yield Match(*match.span(), "card")


def _has_check_digit(digits: str) -> bool:
    """Return True if the last digit is the check digit of ISO/IEC 7812-1 (Luhn) and the digits differ."""
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (sum(doubled) + sum(map(int, digits[-1::-2]))) % 10 == 0 and len(set(digits)) > 1


def find_ibans(looked: SearchedText) -> Iterator[Match]:
    """Yield International Bank Account Numbers. The characters may be in groups of four."""
    text, behind = looked.text, 0
    for place in _IBAN_SHAPE.finditer(looked.shape):
        start = place.start()
        if start < behind or text[start - 1 : start].islower():
            continue
        for match in _IBAN.finditer(text, max(behind, start - _IBAN_BEFORE), start + _IBAN_LONGEST):
            end = _find_iban_end(text, match)
            if end is not None:
                behind = end
                yield Match(match.start(), end, "iban")
                break


def _find_iban_end(text: str, match: re.Match[str]) -> int | None:
    length, end = _IBAN_LENGTHS.get(match[1]), match.start()
    signs: list[str] = []
    while length and end < match.end() and len(signs) < length:
        if text[end].isalnum():
            signs.append(text[end])
        end += 1
    if length is None or len(signs) < length or text[end : end + 1].isalnum():
        return None
    moved = "".join([*signs[4:], *signs[:4]])
    return end if int("".join(str(int(sign, 36)) for sign in moved)) % 97 == 1 else None


def find_international_phones(looked: SearchedText) -> Iterator[Match]:
    """Yield phone numbers with a plus sign and a country's code."""
    text = looked.text
    for place in looked.find_needle("+"):
        if not text[place + 1 : place + 2].isdigit():
            continue
        match = _PHONE.match(text, place, place + 64)
        if match is None or (place and _BEFORE_PHONE.match(text, place - 1)):
            continue
        plain = _PLAIN_PHONE.fullmatch(match[0])
        # In a diff, a plus sign at the start of a line marks an added line, so it does not begin a phone
        # number.
        if not plain or (len(match[0]) >= _PLAIN_SHORTEST and text[place - 1 : place] not in ("", "\n")):
            yield Match(*match.span(), "phone")


def find_american_phones(looked: SearchedText) -> Iterator[Match]:
    """Yield phone numbers in the form of North America."""
    for run in _AMERICAN_SHAPE.finditer(looked.shape):
        start = max(0, run.start() - _AMERICAN_LONGEST)
        for match in _AMERICAN.finditer(looked.text, start, run.end() + 2):
            yield Match(*match.span(), "phone")


def find_named_phones(looked: SearchedText) -> Iterator[Match]:
    """Yield phone numbers next to a word such as `phone`."""
    for word in PHONE_NEEDLES:
        for place in looked.find_needle(word):
            match = _NAMED_PHONE.match(looked.text, place + len(word), place + 64)
            if match and sum(map(str.isdecimal, match[1])) >= _NAMED_SHORTEST:
                yield Match(*match.span(1), "phone")

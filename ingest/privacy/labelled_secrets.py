"""Finds private keys in PEM, passwords in URLs and public IP addresses by a word or sign next to them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from ipaddress import IPv6Address

from ingest.privacy.matches import LabelDetector, Match, SearchedText
from lenient.regex import compile_regex

_NEAR = 160  # characters that are searched after the needle when a pattern may skip any number of blanks
_LONGEST = 1_200
# the body may contain the margin of a quotation
_KEY_BODY = compile_regex(r"(?:(?!-----END)[\w+/=:,.\s|>→-]|\\+[nrt])*+")
KEY_NEEDLES = ("private key", "putty-user-key-file-")
_KEY_SHORTEST = 40  # characters; a text with a shorter body only mentions a key
# A real key has a line of Base64 near its beginning. This pattern finds the line.
_KEY_LINE = re.compile(r"[\w+/=]{24}")
_KEY_BEGIN = re.compile(
    r"BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?(?:-----)?|PuTTY-User-Key-File-\d"
)
# Matches quoted text in the letters of Base64 or of hexadecimal numbers. The figure is the bits per character
# in random text.
_RANDOM = (
    (re.compile(r"(['\"])([A-Za-z0-9+/\\_=-]+)\1"), 4.5),
    (re.compile(r"(['\"])([0-9a-fA-F]+)\1"), 3.0),
)


def find_private_keys(looked: SearchedText) -> Iterator[Match]:
    """Yield the body of each private key in PEM or PuTTY format. The key may be encrypted or truncated.

    The header line is not included in the match.
    """
    last = 0
    for needle in KEY_NEEDLES:
        for place in looked.find_needle(needle):
            if place < last:
                continue
            begin = _KEY_BEGIN.search(looked.text, max(0, place - 40), place + 40)
            body = _KEY_BODY.match(looked.text, begin.end()) if begin else None
            last = body.end() if body else place
            if (
                body is not None
                and last - body.start() >= _KEY_SHORTEST
                and _KEY_LINE.search(looked.text, body.start(), min(last, body.start() + _LONGEST))
            ):
                yield Match(*body.span(), "key")


# The user may be missing (redis://:password@host). Passwords may contain @ and :.
_URL_PASSWORD = re.compile(r"://[^\s:/?#\[\]@\"'`<>{}\\|^]{0,100}:([^\s/\"'`<>{}\\|^]{1,256})@(?=[\w.\[-])")
_URL_TOKEN = re.compile(r"://((?=[^@/]*\d)[^\s:/?#\[\]@\"'`<>{}\\|^$]{16,256})@(?=[\w.\[-])")


def find_url_passwords(looked: SearchedText) -> Iterator[Match]:
    """Yield the password of each URL with credentials: `secret` in https://user:secret@host.

    If a URL has a long user name and no password, the user name is an access token:
    https://TOKEN@host/repository.git.
    """
    for place in looked.find_needle("://") if "@" in looked.text else ():
        match = _URL_PASSWORD.match(looked.text, place, place + _LONGEST)
        match = match or _URL_TOKEN.match(looked.text, place, place + _LONGEST)
        if match and not match[1].startswith("$"):
            yield Match(*match.span(1), "password")


def find_random_text(looked: SearchedText) -> Iterator[Match]:
    """Yield quoted text of high entropy.

    Hashes, ids and images also have high entropy, so this detector is off by default.
    """
    for pattern, limit in _RANDOM:
        for match in pattern.finditer(looked.text):
            # By chance, a short number has many different digits, so it needs a higher entropy.
            more = 1.2 / math.log2(len(match[2])) if match[2].isdigit() and len(match[2]) > 1 else 0
            if _entropy(match[2]) > limit + more:
                yield Match(*match.span(2), "secret")


def _entropy(text: str) -> float:
    shares = [count / len(text) for count in Counter(text).values()]
    return -sum(share * math.log2(share) for share in shares)


_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_PRIVATE = r"192\.168\.|127\.|10\.|172\.(?:1[6-9]|2[0-9]|3[01])\."
_IPV4 = re.compile(rf"(?<![\w.])(?!{_PRIVATE})(?:{_OCTET}\.){{3}}{_OCTET}(?::[0-9]{{1,5}})?(?![\w.])")
_IPV6 = re.compile(r"(?<![\w:.])(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4}(?![\w:])")


def find_public_addresses(looked: SearchedText) -> Iterator[Match]:
    """Yield IP addresses that are not in private networks."""
    for match in _IPV4.finditer(looked.text):
        yield Match(*match.span(), "ip")
    for match in _IPV6.finditer(looked.text):
        if _is_public(match[0]):
            yield Match(*match.span(), "ip")


def _is_public(text: str) -> bool:
    try:
        return IPv6Address(text).is_global
    except ValueError:
        return False


_AWS_SECRET = re.compile(
    r"(?i)aws.{0,20}?(?:key|pwd|pw|password|pass|token).{0,20}?"
    r"['\"]([0-9a-z/+]{40})['\"]"
)
_SOFTLAYER = re.compile(
    r"(?i)softlayer[_-]?(?:api)?[_-]?(?:key|pwd|pass(?:word)?|token)['\"]?\]? *(?:=>|:=|::|[=: ]) *['\"]?"
    r"([a-z0-9]{64})"
)

BESIDE = (
    LabelDetector("aws", "aws", _AWS_SECRET, longest=_NEAR),
    LabelDetector("azure", "accountkey=", re.compile(r"(?i)accountkey=[\w+/=]{88}"), 0),
    LabelDetector("azure", "sharedaccesskey=", re.compile(r"(?i)sharedaccesskey=([\w+/=]{32,})")),
    LabelDetector("bearer", "bearer ", re.compile(r"(?i)bearer {1,4}([\w.~+/-]{16,1024}=*)")),
    LabelDetector("npm", ":_authtoken=", re.compile(r"(?i):_authToken=\s{0,8}([\w-]{16,})")),
    LabelDetector("npm", ":_auth=", re.compile(r"(?i):_auth=\s{0,8}([\w+/=-]{8,})")),
    LabelDetector("signature", "sig", re.compile(r"(?i)sig(?:nature)?=([\w%+/=-]{32,})")),
    LabelDetector("slack", "hooks.slack.com", re.compile(r"hooks\.slack\.com/services/(T\w+/B\w+/\w+)")),
    LabelDetector("discord", "/api/webhooks/", re.compile(r"/api/webhooks/(\d{15,22}/[\w-]{40,})")),
    LabelDetector("hashicorp", ".atlasv1.", re.compile(r"\w{14}\.atlasv1\.[\w=-]{60,}"), 0, before=14),
    LabelDetector("softlayer", "softlayer", _SOFTLAYER, longest=_NEAR),
    LabelDetector("mailchimp", "-us", re.compile(r"[0-9a-z]{32}-us[0-9]{1,2}"), 0, before=32),
)

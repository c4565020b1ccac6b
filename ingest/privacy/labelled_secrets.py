"""Finds secrets next to a telling word or sign: private keys in PEM, passwords in URLs, IP addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
from detect_secrets.plugins.basic_auth import BasicAuthDetector
from detect_secrets.plugins.high_entropy_strings import Base64HighEntropyString, HexHighEntropyString
from detect_secrets.plugins.ip_public import IPPublicDetector
from detect_secrets.plugins.mailchimp import MailchimpDetector
from detect_secrets.plugins.private_key import PrivateKeyDetector
from detect_secrets.plugins.softlayer import SoftlayerDetector

from ingest.privacy.matches import Match, SearchedText

_LONGEST = 1_200  # characters of a value beside a word; looking at more would let hostile text cost too much
_NEAR = 160  # the same where a pattern may pass over any number of blanks
_KEY_BODY = re.compile(r"(?:(?!-----END)[\w+/=:,.\s-]|\\+[nrt])*+")
KEY_NEEDLES = ("private key", "putty-user-key-file-")
_KEY_SHORTEST = 40  # characters; less is a text about keys
_KEY_BEGIN = re.compile(
    "|".join(pattern.pattern for pattern in PrivateKeyDetector.denylist) + "|PuTTY-User-Key-File-3"
)
_ENTROPY = (Base64HighEntropyString(), HexHighEntropyString())


class _LabelDetector(NamedTuple):
    """Finds a secret by a fixed text beside it (the needle).

    `pattern` is matched at the needle, or `before` characters earlier; its group number `group` is the
    secret. `longest` is the number of characters that the pattern may look at after the needle.
    """

    kind: str
    needle: str
    pattern: re.Pattern[str]
    group: int = 1
    longest: int = _LONGEST
    before: int = 0  # characters of the value before the needle

    def find(self, looked: SearchedText) -> Iterator[Match]:
        for place in looked.find_needle(self.needle):
            found = self.pattern.match(looked.text, max(0, place - self.before), place + self.longest)
            if found:
                yield Match(*found.span(self.group), self.kind)


def find_private_keys(looked: SearchedText) -> Iterator[Match]:
    """Yield the body of each private key in PEM or PuTTY format, including truncated keys.

    The header line is not part of the match.
    """
    last = 0
    for needle in KEY_NEEDLES:
        for place in looked.find_needle(needle):
            if place < last:
                continue
            begin = _KEY_BEGIN.search(looked.text, max(0, place - 24), place + 24)
            body = _KEY_BODY.match(looked.text, begin.end()) if begin else None
            last = body.end() if body else place
            if body is not None and last - body.start() >= _KEY_SHORTEST:
                yield Match(*body.span(), "key")


_PASSWORD_SIGNS = re.compile(r"[\"'{}\\]")
_BASIC_AUTH = BasicAuthDetector.denylist[0]
_ESCAPED_BASIC_AUTH = re.compile(_BASIC_AUTH.pattern.replace("://", r":\\+/\\+/", 1))


def find_url_passwords(looked: SearchedText) -> Iterator[Match]:
    """Yield the password of each URL with credentials: `secret` in https://user:secret@host."""
    for needle, pattern in (("://", _BASIC_AUTH), (":\\/\\/", _ESCAPED_BASIC_AUTH)):
        for place in looked.find_needle(needle):
            found = pattern.match(looked.text, place, place + _LONGEST)
            if found and not _PASSWORD_SIGNS.search(found[1]):
                yield Match(*found.span(1), "password")


def find_random_text(looked: SearchedText) -> Iterator[Match]:
    """Yield quoted text of high entropy.

    Hashes, ids and images have high entropy, too, so this detector is off by default.
    """
    for plugin in _ENTROPY:
        for found in plugin.regex.finditer(looked.text):
            if plugin.calculate_shannon_entropy(found[2]) > plugin.entropy_limit:
                yield Match(*found.span(2), "secret")


def find_public_addresses(looked: SearchedText) -> Iterator[Match]:
    """Yield IPv4 addresses outside private networks."""
    for pattern in IPPublicDetector.denylist:
        for found in pattern.finditer(looked.text):
            yield Match(*found.span(1), "ip")


BESIDE = (
    _LabelDetector("aws", "aws", AWSKeyDetector.denylist[1], longest=_NEAR),
    _LabelDetector("azure", "accountkey=", AzureStorageKeyDetector.denylist[0], 0),
    _LabelDetector("bearer", "bearer ", re.compile(r"(?i)bearer {1,4}([\w.~+/-]{16,1024})")),
    _LabelDetector("npm", ":_authtoken=", re.compile(r"(?i):_authToken=\s{0,8}([\w-]{16,})")),
    _LabelDetector("slack", "hooks.slack.com", re.compile(r"hooks\.slack\.com/services/(T\w+/B\w+/\w+)")),
    _LabelDetector("softlayer", "softlayer", SoftlayerDetector.denylist[0], longest=_NEAR),
    _LabelDetector("mailchimp", "-us", MailchimpDetector.denylist[0], 0, before=32),
)

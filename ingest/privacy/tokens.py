"""A text in, the access keys and tokens in it out, by the patterns of detect-secrets and a few of our own.

detect-secrets (https://github.com/Yelp/detect-secrets) is made for files and lines; only its patterns are
used here, where a fast look finds that they could match: a token is a long run of letters, digits, `_` and
`-`. Its patterns leave out the end of some (a JWT's signature), so a token is taken to the end of its run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
from detect_secrets.plugins.jwt import JwtTokenDetector
from detect_secrets.plugins.openai import OpenAIDetector
from detect_secrets.plugins.pypi_token import PypiTokenDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.square_oauth import SquareOAuthDetector
from detect_secrets.plugins.stripe import StripeDetector
from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
from detect_secrets.plugins.twilio import TwilioKeyDetector

from ingest.privacy.spots import Looked, Spot

_SHORTEST = 20  # characters of a run that may be a token; the shortest are the key ids of AWS
_LONGEST = 1_200  # characters looked at from where a token may begin …
_TRIES = 16  # … and places in a run where one may: hostile text costs no more
_RUN = b"a" * _SHORTEST
_IN_RUN = bytes(97 if bytes([byte]).isalnum() or byte in b"_-" else 32 for byte in range(256))
_FRESH = r"(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt]))"  # not within a word; the letter of an escape is none
_TAIL = re.compile(r"[\w-]*")
_DOTTED_TAIL = re.compile(r"[\w.=-]*")


class _Token(NamedTuple):
    """`begin`: what it begins with; `patterns`: what it looks like from there on.

    Every alternative of `begin` opens with a plain letter, by which `re` passes over most of a text.
    """

    kind: str
    begin: str
    patterns: Sequence[str | re.Pattern[str]]


_TOKENS = (
    _Token("aws", "A3T|A[BKS]IA|ACCA", AWSKeyDetector.denylist[:1]),
    _Token("github", "gh[opusr]_|github_pat_", (*GitHubTokenDetector.denylist, r"github_pat_\w{22,}")),
    _Token("gitlab", "gl[a-z]{2,7}-|GR1348941", GitLabTokenDetector.denylist),
    _Token("jwt", "eyJ", JwtTokenDetector.denylist),
    _Token("pypi", "pypi-Ag", PypiTokenDetector.denylist),
    _Token("sendgrid", r"SG\.", SendGridDetector.denylist),
    _Token("slack", "xox|XOX", SlackDetector.denylist[:1]),
    _Token("square", "sq0csp-", SquareOAuthDetector.denylist),
    _Token("stripe", "rk_live_|sk_live_", StripeDetector.denylist),
    _Token("twilio", "AC(?=[a-z0-9]{32})|SK(?=[a-z0-9]{32})", TwilioKeyDetector.denylist),
    # Not in detect-secrets 1.5: keys that harnesses are configured with, in the forms that GitHub's list of
    # partner patterns and the makers' documentation name.
    _Token("anthropic", "sk-ant-", (r"sk-ant-[\w-]{20,}",)),
    _Token("openai", "sk-", (*OpenAIDetector.denylist, _FRESH + r"sk-(?=[\w-]*\d)[\w-]{20,}")),
    _Token("google", "AIza", (r"AIza[\w-]{35}",)),
    _Token("groq", "gsk_", (r"gsk_[A-Za-z0-9]{40,}",)),
    _Token("huggingface", "hf_", (_FRESH + r"hf_[A-Za-z0-9]{30,}",)),
    _Token("npm", "npm_", (r"npm_[A-Za-z0-9]{36}",)),
    _Token("xai", "xai-", (r"xai-[A-Za-z0-9]{40,}",)),
    # The parent's pattern takes any word in capitals that begins so; keys have 73 characters.
    _Token("artifactory", "AKC|AP[0-9A-F]", (_FRESH + r"(?:AKC|AP[0-9A-F])(?=\w*\d)[a-zA-Z0-9]{17,}",)),
)
_TELEGRAM = TelegramBotTokenDetector.denylist[0]
_DISCORD = DiscordBotTokenDetector.denylist[0]
TOKEN_TYPES = frozenset(token.kind for token in _TOKENS) | {"telegram", "discord"}


class Tokens:
    """Finds tokens of the given types (names of `TOKEN_TYPES`)."""

    def __init__(self, types: frozenset[str]) -> None:
        used = [token for token in _TOKENS if token.kind in types]
        self._begin = re.compile("|".join(token.begin for token in used) or "(?!)")
        self._patterns = [(token.kind, re.compile("|".join(map(_as_text, token.patterns)))) for token in used]
        self._types = types

    def find(self, looked: Looked) -> Iterator[Spot]:
        if len(looked.lower) < _SHORTEST:
            return
        flat = looked.lower.encode("ascii").translate(_IN_RUN)
        start = flat.find(_RUN)
        while start >= 0:
            end = flat.find(b" ", start)
            end = len(flat) if end < 0 else end
            yield from self._by_sign(looked.text, start, end)
            yield from self._by_begin(looked.text, start, end)
            start = flat.find(_RUN, end)

    def _by_begin(self, text: str, start: int, end: int) -> Iterator[Spot]:
        for _ in range(_TRIES):
            begin = self._begin.search(text, start, end + 1)
            if begin is None:
                return
            at = begin.start()
            start = at + 1
            for kind, pattern in self._patterns:
                if found := pattern.match(text, at, at + _LONGEST):
                    start = _end(_DOTTED_TAIL if kind == "jwt" else _TAIL, text, found.end())
                    yield Spot(at, start, kind)
                    break

    def _by_sign(self, text: str, start: int, end: int) -> Iterator[Spot]:
        """Tokens told by the sign before or after their first long run."""
        if text[start - 1 : start] == ":" and "telegram" in self._types:
            yield from _first(_TELEGRAM, text, range(max(0, start - 11), start - 8), "telegram")
        if text[end : end + 1] == "." and "discord" in self._types:
            yield from _first(_DISCORD, text, range(max(start, end - 26), end - 23), "discord")


def _as_text(pattern: str | re.Pattern[str]) -> str:
    if isinstance(pattern, str):
        return pattern
    return f"(?i:{pattern.pattern})" if pattern.flags & re.IGNORECASE else pattern.pattern


def _first(pattern: re.Pattern[str], text: str, places: range, kind: str) -> Iterator[Spot]:
    for place in places:
        if found := pattern.match(text, place):
            yield Spot(place, _end(_TAIL, text, found.end()), kind)
            return


def _end(tail: re.Pattern[str], text: str, start: int) -> int:
    found = tail.match(text, start)
    return found.end() if found else start

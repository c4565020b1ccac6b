"""Finds access keys and tokens in a text, by the patterns of detect-secrets and some additional ones.

detect-secrets (https://github.com/Yelp/detect-secrets) is made for files and lines; only its patterns are
used here, and only where a fast search shows that they could match: a token is a long run of letters, digits,
`_` and `-`. Some of its patterns omit the end of a token (a JWT's signature), so a match is extended to the
end of the run.
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

from ingest.privacy.matches import Match, SearchedText

_SHORTEST = 20  # characters of a run that may be a token; the shortest are the key ids of AWS
_LONGEST = 1_200  # characters looked at from where a token may begin …
_TRIES = 16  # … and places in a run where one may: hostile text costs no more
_RUN = b"a" * _SHORTEST
_IN_RUN = bytes(97 if bytes([byte]).isalnum() or byte in b"_-" else 32 for byte in range(256))
_FRESH = r"(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt]))"  # not within a word; the letter of an escape is none
_TAIL = re.compile(r"[\w-]*")
_DOTTED_TAIL = re.compile(r"[\w.=-]*")


class _TokenPattern(NamedTuple):
    """The patterns of one type of token.

    `begin` matches the first characters of a token, `patterns` the token from there on. Every alternative of
    `begin` starts with a literal letter, so that `re` skips most of a text fast.
    """

    kind: str
    begin: str
    patterns: Sequence[str | re.Pattern[str]]


_TOKENS = (
    _TokenPattern("aws", "A3T|A[BKS]IA|ACCA", AWSKeyDetector.denylist[:1]),
    _TokenPattern("github", "gh[opusr]_|github_pat_", (*GitHubTokenDetector.denylist, r"github_pat_\w{22,}")),
    _TokenPattern("gitlab", "gl[a-z]{2,7}-|GR1348941", GitLabTokenDetector.denylist),
    _TokenPattern("jwt", "eyJ", JwtTokenDetector.denylist),
    _TokenPattern("pypi", "pypi-Ag", PypiTokenDetector.denylist),
    _TokenPattern("sendgrid", r"SG\.", SendGridDetector.denylist),
    _TokenPattern("slack", "xox|XOX", SlackDetector.denylist[:1]),
    _TokenPattern("square", "sq0csp-", SquareOAuthDetector.denylist),
    _TokenPattern("stripe", "rk_live_|sk_live_", StripeDetector.denylist),
    _TokenPattern("twilio", "AC(?=[a-z0-9]{32})|SK(?=[a-z0-9]{32})", TwilioKeyDetector.denylist),
    # Not in detect-secrets 1.5: keys that harnesses are configured with, in the forms that GitHub's list of
    # partner patterns and the makers' documentation name.
    _TokenPattern("anthropic", "sk-ant-", (r"sk-ant-[\w-]{20,}",)),
    _TokenPattern("openai", "sk-", (*OpenAIDetector.denylist, _FRESH + r"sk-(?=[\w-]*\d)[\w-]{20,}")),
    _TokenPattern("google", "AIza", (r"AIza[\w-]{35}",)),
    _TokenPattern("groq", "gsk_", (r"gsk_[A-Za-z0-9]{40,}",)),
    _TokenPattern("huggingface", "hf_", (_FRESH + r"hf_[A-Za-z0-9]{30,}",)),
    _TokenPattern("npm", "npm_", (r"npm_[A-Za-z0-9]{36}",)),
    _TokenPattern("xai", "xai-", (r"xai-[A-Za-z0-9]{40,}",)),
    # The parent's pattern takes any word in capitals that begins so; keys have 73 characters.
    _TokenPattern(
        "artifactory", "AKC|AP[0-9A-F]", (_FRESH + r"(?:AKC|AP[0-9A-F])(?=\w*\d)[a-zA-Z0-9]{17,}",)
    ),
)
_TELEGRAM = TelegramBotTokenDetector.denylist[0]
_DISCORD = DiscordBotTokenDetector.denylist[0]
TOKEN_TYPES = frozenset(token.kind for token in _TOKENS) | {"telegram", "discord"}


class TokenDetector:
    """Finds access tokens of the given types (names in `TOKEN_TYPES`)."""

    def __init__(self, types: frozenset[str]) -> None:
        used = [token for token in _TOKENS if token.kind in types]
        self._begin = re.compile("|".join(token.begin for token in used) or "(?!)")
        self._patterns = [
            (token.kind, re.compile("|".join(map(_pattern_text, token.patterns)))) for token in used
        ]
        self._types = types

    def find(self, looked: SearchedText) -> Iterator[Match]:
        if len(looked.lower) < _SHORTEST:
            return
        flat = looked.lower.encode("ascii").translate(_IN_RUN)
        start = flat.find(_RUN)
        while start >= 0:
            end = flat.find(b" ", start)
            end = len(flat) if end < 0 else end
            yield from self._find_by_sign(looked.text, start, end)
            yield from self._find_by_prefix(looked.text, start, end)
            start = flat.find(_RUN, end)

    def _find_by_prefix(self, text: str, start: int, end: int) -> Iterator[Match]:
        for _ in range(_TRIES):
            begin = self._begin.search(text, start, end + 1)
            if begin is None:
                return
            at = begin.start()
            start = at + 1
            for kind, pattern in self._patterns:
                if found := pattern.match(text, at, at + _LONGEST):
                    start = _match_end(_DOTTED_TAIL if kind == "jwt" else _TAIL, text, found.end())
                    yield Match(at, start, kind)
                    break

    def _find_by_sign(self, text: str, start: int, end: int) -> Iterator[Match]:
        """Yield Telegram and Discord tokens, recognised by a sign next to a long run of characters.

        A Telegram token has a colon before the run, a Discord token a dot after it.
        """
        if text[start - 1 : start] == ":" and "telegram" in self._types:
            yield from _first_match(_TELEGRAM, text, range(max(0, start - 11), start - 8), "telegram")
        if text[end : end + 1] == "." and "discord" in self._types:
            yield from _first_match(_DISCORD, text, range(max(start, end - 26), end - 23), "discord")


def _pattern_text(pattern: str | re.Pattern[str]) -> str:
    if isinstance(pattern, str):
        return pattern
    return f"(?i:{pattern.pattern})" if pattern.flags & re.IGNORECASE else pattern.pattern


def _first_match(pattern: re.Pattern[str], text: str, places: range, kind: str) -> Iterator[Match]:
    for place in places:
        if found := pattern.match(text, place):
            yield Match(place, _match_end(_TAIL, text, found.end()), kind)
            return


def _match_end(tail: re.Pattern[str], text: str, start: int) -> int:
    found = tail.match(text, start)
    return found.end() if found else start

"""Finds access keys and access tokens in a text by the prefixes that their makers use.

The makers or secret scanners publish these prefixes. An access token contains a long sequence of letters,
digits, `_` and `-`, and begins at the start of a word. A fast search finds such sequences, and patterns are
tried only there. A match is extended to the end of the sequence, because some patterns omit the end of a
token (a JWT's signature).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ingest.privacy.matches import Detector, Match, SearchedText

_SHORTEST = 20  # characters of a run that may be an access token; the shortest are the key ids of AWS
_LONGEST = 1_200  # characters searched from a possible beginning of an access token
_TRIES = 16  # possible beginnings tried per run, so that hostile text cannot take long
_PREFIX = 20  # characters before a run that may belong to the access token: `SG.`, `dp.pt.`, `1//0`
_RUN = b"a" * _SHORTEST
_TAIL = re.compile(r"[\w-]*")
_DOTTED_TAIL = re.compile(r"[\w.=-]*")
_TORN_LONGEST = 200
_WORDS = frozenset({"key-"})
_PREFIX_SHORTEST = 4  # characters; shorter prefixes also occur in words


class _TokenForm(NamedTuple):
    """The forms of one type of access token: possible prefixes, and patterns of whole tokens."""

    kind: str
    begin: str  # prefixes separated by blanks, at least three characters each
    patterns: Sequence[str]


_TWILIO = " ".join(f"{kind}{digit}" for kind in ("AC", "SK") for digit in "0123456789abcdef")
# If two prefixes match at a position, the longer one is used.
_TOKENS = (
    _TokenForm("aws", "AKIA ASIA ABIA ACCA A3T", (r"(?:A3T[A-Z0-9]|ABIA|ACCA|AKIA|ASIA)[0-9A-Z]{16}",)),
    _TokenForm(
        "github",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        (r"github_pat_\w{22,}", r"gh[opusr]_\w{30,}"),
    ),
    _TokenForm(
        "gitlab",
        "glpat- gldt- glft- glsoat- glrt- glcbt- glimt- glptt- glagent- gloas- GR1348941",
        (r"gl(?:pat|dt|ft|soat|rt|cbt|imt|ptt|agent|oas)-[\w-]{20,}", r"GR1348941[\w-]{20,}"),
    ),
    _TokenForm("jwt", "eyJ", (r"eyJ[\w=-]+\.[\w=-]+\.?",)),
    _TokenForm("pypi", "pypi-Ag", (r"pypi-AgE[\w-]{80,}",)),
    _TokenForm("sendgrid", "SG.", (r"SG\.[\w-]{22}\.[\w-]{43}",)),
    _TokenForm(
        "slack",
        "xoxa- xoxb- xoxe xoxo- xoxp- xoxr- xoxs- xoxc- xoxd- XOXB- XOXP- XOXA- xapp-",
        (
            r"(?i:xox[abopsr]-(?:\d+-)+[a-z0-9]+)",
            r"xox[a-z](?:\.xox[a-z])?-[\w%-]{16,}",
            r"xapp-\d-[\w-]{16,}",
        ),
    ),
    _TokenForm("square", "sq0csp- sq0atp- sq0idp- EAAA", (r"sq0[a-z]{3}-[\w-]{22,}", r"EAAA[\w-]{60}")),
    _TokenForm(
        "stripe",
        "sk_live_ rk_live_ sk_test_ rk_test_ whsec_",
        (r"[rs]k_(?:live|test)_\w{16,}", r"whsec_[A-Za-z0-9+/=]{24,}"),
    ),
    _TokenForm("twilio", _TWILIO, (r"(?:AC|SK)[a-z0-9]{32}",)),
    _TokenForm("anthropic", "sk-ant-", (r"sk-ant-[\w-]{20,}",)),
    _TokenForm("langfuse", "sk-lf- pk-lf-", (r"[sp]k-lf-[0-9a-f-]{36}",)),
    _TokenForm("openai", "sk-", (r"sk-(?=[\w-]*\d)[\w-]{20,}",)),
    _TokenForm(
        "google",
        "AIza GOCSPX- ya29. 1//0",
        (r"AIza[\w-]{35}", r"GOCSPX-[\w-]{20,}", r"ya29\.[\w.-]{20,}", r"1//0[\w-]{30,}"),
    ),
    _TokenForm("groq", "gsk_", (r"gsk_[A-Za-z0-9]{40,}",)),
    _TokenForm("huggingface", "hf_ api_org_", (r"hf_[A-Za-z0-9]{30,}", r"api_org_[A-Za-z]{34}")),
    _TokenForm("npm", "npm_", (r"npm_[A-Za-z0-9]{36}",)),
    _TokenForm("xai", "xai-", (r"xai-[A-Za-z0-9]{40,}",)),
    # Keys of this type have 73 characters. If no digit were required, the pattern would accept any word in
    # capitals.
    _TokenForm(
        "artifactory",
        "AKC AP0 AP1 AP2 AP3 AP4 AP5 AP6 AP7 AP8 AP9 APA APB APC APD APE APF",
        (r"(?:AKC|AP[0-9A-F])(?=\w*\d)[a-zA-Z0-9]{17,}",),
    ),
    _TokenForm("age", "AGE-SECRET-KEY-1", (r"AGE-SECRET-KEY-1[0-9A-Z]{58}",)),
    _TokenForm("airtable", "pat", (r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}",)),
    _TokenForm("alibaba", "LTAI", (r"LTAI[A-Za-z0-9]{12,26}",)),
    _TokenForm("atlassian", "ATATT3 ATCTT3 ATSTT3 ATBB", (r"AT[A-Z]TT3[\w=-]{60,}", r"ATBB[A-Za-z0-9]{24,}")),
    _TokenForm("brevo", "xkeysib- xsmtpsib-", (r"x[a-z]{4,5}ib-[0-9a-f]{64}-\w{16}",)),
    _TokenForm("buildkite", "bkua_ bkat_", (r"bk[a-z]{2}_[0-9a-f]{40}",)),
    _TokenForm("cerebras", "csk-", (r"csk-[a-z0-9]{40,}",)),
    _TokenForm("circleci", "CCIPAT_ CCIPRJ_", (r"CCIP[A-Z]{2,3}_\w{20,}",)),
    _TokenForm(
        "cloudflare", "v1.0- cfut_ cfat_ cfk_", (r"v1\.0-[0-9a-f]{24}-[0-9a-f]{146}", r"cf[a-z]{1,2}_\w{40,}")
    ),
    _TokenForm("contentful", "CFPAT-", (r"CFPAT-[\w-]{40,}",)),
    _TokenForm("cratesio", "cio", (r"cio[A-Za-z0-9]{32}(?!\w)",)),
    _TokenForm("databricks", "dapi", (r"dapi[0-9a-f]{32}",)),
    _TokenForm("digitalocean", "dop_v1_ doo_v1_ dor_v1_", (r"do[opr]_v1_[0-9a-f]{64}",)),
    _TokenForm("docker", "dckr_pat_ dckr_oat_", (r"dckr_[a-z]{3}_[\w-]{24,}",)),
    _TokenForm(
        "doppler",
        "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.",
        (r"dp\.[a-z]{2,5}\.(?:[\w-]{1,40}\.)?\w{40,}",),
    ),
    _TokenForm("dropbox", "sl.", (r"sl\.(?:u\.)?[\w-]{60,}",)),
    _TokenForm(
        "dynatrace", "dt0c01. dt0s01. dt0s08. dt0s16.", (r"dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}",)
    ),
    _TokenForm("elevenlabs", "sk_", (r"sk_[0-9a-f]{48}",)),
    _TokenForm("facebook", "EAAC EAAM", (r"EAA[CM][A-Za-z0-9]{80,}",)),
    _TokenForm("figma", "figd_", (r"figd_[\w-]{36,}",)),
    _TokenForm("firecrawl", "fc-", (r"fc-[0-9a-f]{32}",)),
    _TokenForm("fireworks", "fw_", (r"fw_[A-Za-z0-9]{22,}",)),
    _TokenForm("flyio", "fm1_ fm2_ fm1r_ fm1a_ fo1_", (r"fm[12][ar]?_[\w+/=-]{40,}", r"fo1_[\w-]{40,}")),
    _TokenForm("grafana", "glsa_ glc_", (r"glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}", r"glc_[A-Za-z0-9+/=]{32,}")),
    _TokenForm("hashicorp", "hvs. hvb. hvr.", (r"hv[bsr]\.[\w-]{24,}",)),
    _TokenForm("heroku", "HRKU-", (r"HRKU-[\w-]{36,}",)),
    _TokenForm("hubspot", "pat-na1- pat-na2- pat-eu1-", (r"pat-[a-z]{2}\d-[0-9a-fA-F-]{36}",)),
    _TokenForm("jina", "jina_", (r"jina_\w{40,}",)),
    _TokenForm("langsmith", "lsv2_pt_ lsv2_sk_", (r"lsv2_[a-z]{2}_[0-9a-f]{32}_[0-9a-f]{10}",)),
    _TokenForm("linear", "lin_api_ lin_oauth_", (r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}",)),
    _TokenForm("mailgun", "key-", (r"key-[0-9a-f]{32}",)),
    _TokenForm("mongodb", "mdb_sa_id_ mdb_sa_sk_", (r"mdb_sa_[a-z]{2}_[\w-]{30,}",)),
    _TokenForm("netlify", "nfp_ nfc_ nfo_ nfu_ nfb_", (r"nf[a-z]_[A-Za-z0-9]{36,}",)),
    _TokenForm("newrelic", "NRAK- NRII- NRJS- NRBR- NRRA-", (r"NR[A-Z]{2}-[\w-]{19,}",)),
    _TokenForm("notion", "ntn_ secret_", (r"ntn_[A-Za-z0-9]{40,}", r"secret_[A-Za-z0-9]{43}")),
    _TokenForm("nvidia", "nvapi-", (r"nvapi-[\w-]{40,}",)),
    _TokenForm(
        "onepassword",
        "ops_eyJ A3-",
        (r"ops_eyJ[\w+/=-]{60,}", r"A3-[A-Z0-9]{6}-[A-Z0-9-]{11,13}(?:-[A-Z0-9]{5}){3}"),
    ),
    _TokenForm("perplexity", "pplx-", (r"pplx-[A-Za-z0-9]{40,}",)),
    _TokenForm("pinecone", "pcsk_", (r"pcsk_\w{40,}",)),
    _TokenForm(
        "plaid",
        "access-sandbox- access-development- access-production-",
        (r"access-[a-z]{7,11}-[0-9a-f-]{36}",),
    ),
    _TokenForm("planetscale", "pscale_tkn_ pscale_pw_ pscale_oauth_", (r"pscale_[a-z]{2,5}_[\w.=-]{32,}",)),
    _TokenForm("postman", "PMAK-", (r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}",)),
    _TokenForm("pulumi", "pul-", (r"pul-[0-9a-f]{40}",)),
    _TokenForm("razorpay", "rzp_live_ rzp_test_", (r"rzp_(?:live|test)_\w{14,}",)),
    _TokenForm("replicate", "r8_", (r"r8_[A-Za-z0-9]{37}",)),
    _TokenForm("resend", "re_", (r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}",)),
    _TokenForm("rubygems", "rubygems_", (r"rubygems_[0-9a-f]{48}",)),
    _TokenForm("sentry", "sntrys_ sntryu_", (r"sntry[su]_[\w+/=-]{40,}",)),
    _TokenForm("shopify", "shpat_ shpca_ shppa_ shpss_ shpua_", (r"shp[a-z]{2}_[0-9a-fA-F]{32}",)),
    _TokenForm("sonar", "squ_ sqp_ sqa_", (r"sq[apu]_[0-9a-f]{40}",)),
    _TokenForm("sourcegraph", "sgp_", (r"sgp_(?:\w{16}_|local_)?[0-9a-f]{40}",)),
    _TokenForm("supabase", "sbp_ sb_secret_", (r"sbp_[0-9a-f]{40}", r"sb_secret_[\w-]{20,}")),
    _TokenForm("tailscale", "tskey-", (r"tskey-[a-z]{2,8}-[\w-]{16,}",)),
    _TokenForm("tavily", "tvly-", (r"tvly-[\w-]{24,}",)),
    _TokenForm("together", "tgp_v1_", (r"tgp_v1_[\w-]{40,}",)),
    _TokenForm("voyage", "pa-", (r"pa-(?=[\w-]*\d)[\w-]{43}(?![\w-])",)),
    _TokenForm("wandb", "wandb_v1_", (r"wandb_v\d_[\w-]{40,}",)),
)
_TELEGRAM = re.compile(r"\d{8,10}:[\w-]{35}")
_DISCORD = re.compile(r"[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27}")
_AZURE = re.compile(r"[\w.~-]{3}\dQ~[\w.~-]{31,34}")  # a secret of an application in Entra ID
_AZURE_BEFORE = 4  # characters of the secret before the sign `Q~`
TOKEN_TYPES = frozenset(token.kind for token in _TOKENS) | {"telegram", "discord", "azure"}


class TokenDetector:
    """Finds access tokens of the given types (names in `TOKEN_TYPES`)."""

    def __init__(self, types: frozenset[str]) -> None:
        used = [token for token in _TOKENS if token.kind in types]
        begins = {begin: token.kind for token in reversed(used) for begin in token.begin.split()}
        # An access token may begin after a terminal colour or an escape such as `\n`, but not within a word.
        # The first three characters of the pattern already exclude nearly all positions.
        fresh = r"(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt])|(?<=[0-9;]m))"
        three = "".join(f"[{re.escape(''.join(sorted({begin[at] for begin in begins})))}]" for at in range(3))
        longest_first = sorted(begins, key=len, reverse=True)
        self._begin = re.compile(
            f"(?={three}){fresh}(?:{'|'.join(map(re.escape, longest_first))})" if begins else "(?!)"
        )
        self._begins = begins
        self._patterns = {token.kind: re.compile("|".join(token.patterns)) for token in used}
        self._types = types

    def detectors(self) -> Iterator[Detector]:
        yield Detector(self.find_torn, guard=_ends_in_run)
        if "azure" in self._types:
            yield Detector(_find_azure_secrets, ("q~",))
        yield Detector(self.find_whole, guard=_has_run)

    def find_whole(self, looked: SearchedText) -> Iterator[Match]:
        """Yield access tokens in sequences of characters that are long enough."""
        text, runs = looked.text, looked.runs
        start, behind = runs.find(_RUN), 0
        while start >= 0:
            end = runs.find(b" ", start + _SHORTEST)
            end = len(text) if end < 0 else end
            if text[start - 1 : start] == ":" or text[end : end + 1] == ".":
                yield from self._find_by_sign(text, start, end)
            begin = self._begin.search(text, max(behind, start - _PREFIX), end + 1)
            if begin is not None:
                yield from self._find_by_prefix(text, begin, end)
            behind = end
            start = runs.find(_RUN, end)

    def _find_by_prefix(self, text: str, begin: re.Match[str] | None, end: int) -> Iterator[Match]:
        for _ in range(_TRIES):
            if begin is None:
                return
            at, kind = begin.start(), self._begins[begin[0]]
            start = at + 1
            if match := self._patterns[kind].match(text, at, at + _LONGEST):
                start = _match_end(_DOTTED_TAIL if kind == "jwt" else _TAIL, text, match.end())
                yield Match(at, start, kind)
            begin = self._begin.search(text, start, end + 1)

    def find_torn(self, looked: SearchedText) -> Iterator[Match]:
        """Yield the beginning of an access token at the end of a truncated text."""
        text = looked.text
        start = len(text) - len(text[-_TORN_LONGEST:].rsplit(maxsplit=1)[-1])
        begin = self._begin.search(text, start)
        if (
            begin is not None
            and len(text) > begin.end()
            and begin[0] not in _WORDS
            and len(begin[0]) >= _PREFIX_SHORTEST
        ):
            yield Match(begin.start(), len(text), self._begins[begin[0]])

    def _find_by_sign(self, text: str, start: int, end: int) -> Iterator[Match]:
        """Yield access tokens of Telegram and Discord.

        Telegram's tokens have a colon before a long sequence of characters. Discord's tokens have a dot after
        the sequence.
        """
        if text[start - 1 : start] == ":" and "telegram" in self._types:
            yield from _first_match(_TELEGRAM, text, range(max(0, start - 11), start - 8), "telegram")
        if text[end : end + 1] == "." and "discord" in self._types:
            yield from _first_match(_DISCORD, text, range(max(start, end - 26), end - 23), "discord")


def _has_run(looked: SearchedText) -> bool:
    return _RUN in looked.runs


def _ends_in_run(looked: SearchedText) -> bool:
    return looked.text[-1:].isalnum() or looked.text[-1:] in ("-", "_")


def _find_azure_secrets(looked: SearchedText) -> Iterator[Match]:
    for place in looked.find_needle("q~"):
        if match := _AZURE.match(looked.text, max(0, place - _AZURE_BEFORE), place + 40):
            yield Match(*match.span(), "azure")


def _first_match(pattern: re.Pattern[str], text: str, places: range, kind: str) -> Iterator[Match]:
    for place in places:
        if match := pattern.match(text, place):
            yield Match(place, _match_end(_TAIL, text, match.end()), kind)
            return


def _match_end(tail: re.Pattern[str], text: str, start: int) -> int:
    match = tail.match(text, start)
    return match.end() if match else start

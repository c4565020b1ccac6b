"""The names of passwords, keys and access tokens in many languages, and values that are not secrets."""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache


class Family(Enum):
    """The kind of secret that a name denotes."""

    PASSWORD = "password"  # noqa: S105 - a word, not a secret
    KEY = "key"
    TOKEN = "token"  # noqa: S105


_SEPARATOR = "[_. -]?"
# Names with letters outside ASCII. In a sentence, other words may follow such a name without a blank. Each
# alternative begins with a fixed letter, so that `re` can skip most of a text fast.
_OTHER_PASSWORDS = (
    r"密[码碼]|口令|パス(?:ワード|フレーズ)|暗証番号|парол[а-я]{1,3}|Парол[а-я]{1,3}|ПАРОЛЬ|비밀번호|암호|패스워드"
    r"|סיסמ[הא]|पासवर्ड|รหัสผ่าน|كلمة (?:المرور|السر)|κωδικ(?:ός|ό|ού)(?: πρόσβασης)?|Κωδικός(?: πρόσβασης)?"
    r"|ł(?<=\b[hH]asł)(?:o|em|a)\b|ŁO(?<=\bHASŁO)\b|ö(?<=[lL]ö)senord|ó(?<=\b[jJ]elszó)\b"
    r"|şifre[a-zıüöçşğ]{0,6}|Şifre[a-zıüöçşğ]{0,6}|ật (?<=\b[mM]ật )khẩu"
)
_OTHER_KEYS = (
    r"密[钥鑰]|秘[钥鑰]|キー(?:(?<=APIキー)|(?<=API キー))|키(?:(?<=API키)|(?<=API 키))"
    r"|секретный ключ|Секретный ключ|ключ API|Ключ API"
    r"|é(?<=\b[cC]lé) (?:d['’])?(?:API|secrète)|ü(?<=API-Schlü)ssel"
)
OTHER_NAMES = re.compile(f"{_OTHER_PASSWORDS}|{_OTHER_KEYS}")
_PASSWORD_NAME = re.compile(
    r"passw(?:or)?d|passwrd|passphrase|pass_?code|(?<![a-z])pwd?(?![a-z])|[a-z]pwd\b|(?<=[_-])pass(?![a-z])"
    r"|^pass$|(?:require|store|key|user|db|root|admin|smtp|sudo)pass(?![a-z])"
    r"|contrase(?:ñ|n\u0303?|\?)a|passwort|kennwort|mot[_ -]?de[_ -]?passe|palavra[_ -]passe|passord\b"
    r"|(?<![^\W\d_])(?:senha|parola(?:nız|n)?|clave|heslo|wachtwoord|adgangskode|salasana)(?![^\W\d_])"
    rf"|{_OTHER_PASSWORDS}",
    re.IGNORECASE,
)
_KEY_NAME = re.compile(
    "|".join(
        [f"{word}{_SEPARATOR}key" for word in (
            "access", "account", "admin", "anon", "api", "auth", "client", "consumer", "database", "db",
            "deploy", "encryption", "fernet", "master", "priv", "private", "role", "service", "shared",
            "signing", "ssh", "subscription", "webhook", "write",
        )]
        + [f"key{_SEPARATOR}pass", "secret", "credential", _OTHER_KEYS]
    ),
    re.IGNORECASE,
)  # fmt: skip
_TOKEN_NAME = re.compile(r"(?:^|[^a-z]|[a-z])(?:token|jwt)\Z", re.IGNORECASE)
# Matches tokens that are not secrets: those of language models, of parsers and of result pages.
_OTHER_TOKENS = (
    r"eos|bos|pad|sep|cls|mask|unk|stop|next|prev|special|page|continu\w*|start|begin|end|"
    r"first|last|new|per|cur\w*|max|min|total|in|out|input|output|num|image|think\w*|tool|"
    r"chat|sync|resume|sampled?|text|curr|peek|the|a|design|style|color"
)
_NO_TOKEN_NAME = re.compile(
    rf"(?:^|[_. -])(?:{_OTHER_TOKENS})[_. -]?token\Z"
    r"|(?:eos|bos|pad|page|next|prev|start|stop|end|continuation)Token\Z",
    re.IGNORECASE,
)
# A name with one of these suffixes describes a secret but does not contain it.
_ABOUT_WORDS = (
    r"field|policy|name|length|len|type|format|hint|reset|file|path|url|uri|id|input|label|"
    r"placeholder|expir\w*|age|rule|min|max|status|required|strength|manager|env|var|variable|"
    r"prompt|error|message|pattern|count|s|usage|used|limit|ref|arn|version|size|index|column|"
    r"attribute|link|form|check|valid\w*|algorithm|scheme"
)
_ABOUT = re.compile(
    rf"(?:password|passwd|pwd|secret|token|key|pass)[_. -]?(?:{_ABOUT_WORDS})s?\Z", re.IGNORECASE
)
NAME_NEEDLES = (
    "key", "pass", "pw", "secret", "token", "contrase", "credential", "kennwort", "senha", "jwt", "parola",
    "clave", "heslo", "wachtwoord", "adgangskode", "salasana",
)  # fmt: skip

SHORTEST = 3  # smallest number of characters of a secret
# Values in definitions and programs that are not secrets.
_WORDS = frozenset({
    "string", "str", "text", "number", "integer", "int", "boolean", "bool", "object", "array", "list",
    "any", "null", "none", "undefined", "true", "false", "password", "passwd", "pass", "secret", "token",
    "key", "required", "optional", "nil", "empty", "hidden", "redacted", "masked", "invalid", "incorrect",
    "missing", "unknown", "varchar", "yes", "no", "bytes", "default", "value", "self", "enabled",
    "disabled", "basic", "bearer", "float", "dict", "input", "prompt", "wrong", "expired", "changed",
    "reset", "not", "the", "example", "blank", "for", "and", "with", "are",
})  # fmt: skip
_BARE_START = tuple("/~.$<%*@!?+=-")
_BARE_SECRET = re.compile(
    r"(?=.*[A-Za-z])(?=.*\d)(?![-+]?[\d.]+[eExX][-+]?[\dA-Fa-f]+\Z)(?!\d{4}-\d\d-\d\d)(?!\d+[A-Za-z]\Z)"
)
_IDENTIFIER_PATH = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\Z")
_NAME_IN_VALUE = re.compile(r"pass|pwd|secret|token|key|cred|auth", re.IGNORECASE)
_CODE_NAME = re.compile(r"[a-z]+(?:_[a-z]+)+\Z|[A-Z]+(?:_[A-Z]+)+\Z")
_SENTENCE = re.compile(r"\s\S+\s\S+\s\S+\s\S+\s|\s.*[.!?]\Z")
_WRAP = re.compile(r"\s*\n\s*")


@lru_cache(4_096)
def classify_name(name: str) -> Family | None:
    """Return the kind of secret that a name denotes. Return None when the name does not denote a secret."""
    if len(name) > 80 or _ABOUT.search(name):
        return None
    if _PASSWORD_NAME.search(name):
        return Family.PASSWORD
    if _KEY_NAME.search(name):
        return Family.KEY
    if _TOKEN_NAME.search(name) and not _NO_TOKEN_NAME.search(name):
        return Family.TOKEN
    return None


def is_secret(value: str) -> bool:
    """Return True when the value can be a secret.

    Return False for the name of a type, for a template, and for asterisks or dots that hide a secret.
    """
    return not (
        value.strip().lower() in _WORDS
        or value.startswith("$")
        or "..." in value
        or "…" in value
        or (value[:1], value[-1:]) in (("{", "}"), ("<", ">"))
        or not any(map(str.isalnum, value))
    )


def is_named_secret(value: str, family: Family, name: str) -> bool:
    """Return True when the value can be a secret. `family` is the kind of secret that `name` denotes."""
    value = _WRAP.sub("", value)
    if not is_secret(value) or _SENTENCE.search(value) or len(value) < SHORTEST:
        return False
    if family is Family.TOKEN and (len(value) < (6 if len(name) > len("tokens") else 8) or " " in value):
        return False
    return family is Family.PASSWORD or not _IDENTIFIER_PATH.match(value)


def is_plain_value(value: str) -> bool:
    """Return False if an unquoted value is a word, a template, or a program's name, else True."""
    return (
        not value.startswith(_BARE_START)
        and is_secret(value)
        and not _NAME_IN_VALUE.search(value)
        and not _IDENTIFIER_PATH.match(value)
        and not _CODE_NAME.match(value)
    )


def is_bare_secret(value: str) -> bool:
    """Return True when an unquoted value has both letters and digits, which is rare in words."""
    return (
        len(value) >= 8
        and not value.startswith(_BARE_START)
        and bool(_BARE_SECRET.match(value))
        and is_secret(value)
        and not _IDENTIFIER_PATH.match(value)
    )

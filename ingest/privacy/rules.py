r"""Defines which detectors are on, and reads users' own patterns from a TOML file.

    [detectors]           # true or false by name; a missing name keeps its default
    email = true
    ip = true             # off by default, like high_entropy
    jwt = false

    [patterns]            # a type's name and a Python regular expression; a group marks the value in a match
    ticket = 'TICKET-\\d+'
    staff = 'employee (\\w+)'

Users' patterns are trusted: a slow pattern can make a load slow.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

from ingest.errors import OptionError
from ingest.privacy.access_tokens import TOKEN_TYPES, TokenDetector
from ingest.privacy.labelled_secrets import (
    BESIDE,
    KEY_NEEDLES,
    find_private_keys,
    find_public_addresses,
    find_random_text,
    find_url_passwords,
)
from ingest.privacy.matches import Detector, Match, SearchedText, has_digits
from ingest.privacy.named_secrets import find_named_secrets, find_other_named_secrets, is_not_ascii
from ingest.privacy.personal_data import (
    HOME_NEEDLES,
    PHONE_NEEDLES,
    find_american_phones,
    find_cards,
    find_emails,
    find_home_names,
    find_ibans,
    find_international_phones,
    find_named_phones,
)
from ingest.privacy.request_credentials import (
    COMMAND_NEEDLES,
    COOKIE_NEEDLES,
    find_authorization,
    find_command_passwords,
    find_cookies,
)
from ingest.privacy.secret_names import NAME_NEEDLES
from ingest.privacy.stated_secrets import PASSWORD_FILE_NEEDLES, find_password_lines, find_sql_passwords

RULES_VERSION = 3  # increase this number when detectors find other matches; then loads read all files again

_DETECTORS: Mapping[str, Sequence[Detector]] = {
    "key": (Detector(find_private_keys, KEY_NEEDLES),),
    "url_password": (Detector(find_url_passwords, ("://",)),),
    "authorization": (Detector(find_authorization, ("authorization", "basic "), labelled=True),),
    "cookie": (Detector(find_cookies, COOKIE_NEEDLES, labelled=True),),
    "command": (Detector(find_command_passwords, COMMAND_NEEDLES, labelled=True),),
    "password": (
        Detector(find_named_secrets, NAME_NEEDLES, labelled=True),
        Detector(find_other_named_secrets, labelled=True, guard=is_not_ascii),
        Detector(find_sql_passwords, ("identified",), labelled=True),
        Detector(find_password_lines, PASSWORD_FILE_NEEDLES, labelled=True),
    ),
    "email": (Detector(find_emails, ("@",)),),
    "card": (Detector(find_cards, guard=has_digits),),
    "iban": (Detector(find_ibans, guard=has_digits),),
    "phone": (
        Detector(find_international_phones, ("+",)),
        Detector(find_american_phones, guard=has_digits),
        Detector(find_named_phones, PHONE_NEEDLES),
    ),
    "home": (Detector(find_home_names, HOME_NEEDLES),),
    "high_entropy": (Detector(find_random_text),),
    "ip": (Detector(find_public_addresses),),
}
_NAMES = frozenset(_DETECTORS) | TOKEN_TYPES | {detector.kind for detector in BESIDE}
_OFF = frozenset({"high_entropy", "ip"})
_TYPE = re.compile(r"[a-z][a-z_]{1,29}")


class CustomPattern(msgspec.Struct, frozen=True):
    """A pattern of the user's configuration file. `kind` is the type of the values that it matches."""

    kind: str
    pattern: re.Pattern[str]

    def find(self, looked: SearchedText) -> Iterator[Match]:
        group = 1 if self.pattern.groups else 0
        for match in self.pattern.finditer(looked.text):
            if match.end(group) > match.start(group):
                yield Match(*match.span(group), self.kind.replace("_", ""))


class RedactionRules(msgspec.Struct, frozen=True):
    """The rules of redaction. `on` are the names of the enabled detectors, `own` the user's patterns."""

    on: frozenset[str] = msgspec.field(default=_NAMES - _OFF)
    own: tuple[CustomPattern, ...] = ()

    def detectors(self) -> tuple[Detector, ...]:
        """Return the enabled detectors in order of precedence.

        If two matches are at the same position, the type of the first detector is shown.
        """
        own = (Detector(custom.find) for custom in self.own)
        beside = (
            Detector(detector.find, (detector.needle,), labelled=True)
            for detector in BESIDE
            if detector.kind in self.on
        )
        named = (
            detector for name, detectors in _DETECTORS.items() if name in self.on for detector in detectors
        )
        return (*own, *TokenDetector(self.on).detectors(), *beside, *named)

    @property
    def fingerprint(self) -> str:
        """A hash that changes when the rules change so that they find other matches."""
        own = [f"{custom.kind}={custom.pattern.pattern}" for custom in self.own]
        text = "\n".join((str(RULES_VERSION), *sorted(self.on), *own))
        return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def read_rules(path: Path | None) -> RedactionRules:
    """Return the rules of a configuration file. If the path is None, return the rules with the default
    detectors.

    Raises OptionError when the file cannot be read or is invalid.
    """
    if path is None:
        return RedactionRules()
    try:
        config = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        what = error.strerror if isinstance(error, OSError) else f"not TOML: {error}"
        raise OptionError(f"no redaction rules can be read from {path}: {what}") from error
    try:
        return _parse_rules(config)
    except ValueError as error:
        raise OptionError(f"no redaction rules can be read from {path}: {error}") from error


def _parse_rules(config: dict[str, Any]) -> RedactionRules:
    if unknown := set(config) - {"detectors", "patterns"}:
        raise ValueError(f"[{min(unknown)}] is unknown; use [detectors] and [patterns]")
    own = _config_table(config.get("patterns", {}), "patterns")
    return RedactionRules(
        _enabled_detectors(config.get("detectors", {})), tuple(map(_parse_pattern, own, own.values()))
    )


def _enabled_detectors(config: Any) -> frozenset[str]:
    on = set(_NAMES - _OFF)
    for name, switch in _config_table(config, "detectors").items():
        if name not in _NAMES:
            raise ValueError(f"unknown detector {name!r}; use one of {', '.join(sorted(_NAMES))}")
        if not isinstance(switch, bool):
            raise ValueError(f"detectors.{name} must be true or false")  # noqa: TRY004
        (on.add if switch else on.discard)(name)
    return frozenset(on)


def _parse_pattern(kind: str, expression: Any) -> CustomPattern:
    if not _TYPE.fullmatch(kind):
        raise ValueError(f"the name of a pattern must be 2 to 30 lower-case letters or _, not {kind!r}")
    if not isinstance(expression, str):
        raise ValueError(f"patterns.{kind} must be the text of a regular expression")  # noqa: TRY004
    try:
        pattern = re.compile(expression)
    except re.error as error:
        raise ValueError(f"patterns.{kind} is not a valid regular expression: {error}") from error
    if pattern.match(""):
        raise ValueError(f"patterns.{kind} matches an empty text; require at least one character")
    return CustomPattern(kind, pattern)


def _config_table(config: Any, name: str) -> dict[str, Any]:
    if not isinstance(config, dict):
        raise ValueError(f"{name} must be a table: [{name}]")  # noqa: TRY004
    return config

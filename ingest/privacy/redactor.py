"""Redacts a text, a name or a decoded value by the rules; every process gives the same result."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from ingest.privacy.matches import Detector, Match, SearchedText
from ingest.privacy.named_secrets import is_secret, is_secret_name
from ingest.privacy.placeholders import merge_matches, replace_matches
from ingest.privacy.rules import RedactionRules
from lenient import ToolCatalog, ToolDefinition

_SHORTEST = 4  # characters that may hold anything
_IS_PLACEHOLDER = re.compile(r"[a-z]+-[0-9a-f]{10}")  # as `path` makes them
_NAMES_KEPT = 8_192


@dataclass(slots=True)
class Redactor:
    """Redacts texts by rules and a key.

    Pickling keeps only the rules and the key; a worker process builds the rest again.
    """

    rules: RedactionRules
    key: bytes
    _detectors: tuple[Detector, ...] = field(init=False, repr=False)
    _needles: list[tuple[str, int]] = field(init=False, repr=False)  # and the place of their detector
    _name: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._detectors = self.rules.detectors()
        self._needles = [
            (needle, place) for place, detector in enumerate(self._detectors) for needle in detector.needles
        ]
        self._name = lru_cache(_NAMES_KEPT)(self.redact_text)

    def __reduce__(self) -> tuple[type[Redactor], tuple[RedactionRules, bytes]]:
        return Redactor, (self.rules, self.key)

    @property
    def fingerprint(self) -> str:
        """A hash that changes when texts would be redacted differently; does not reveal the key."""
        return blake2b(f"{self.rules.fingerprint}".encode(), key=self.key, digest_size=6).hexdigest()

    def redact_text(self, text: str, *, parsed: bool = False) -> str:
        """Return the text with secrets and personal data replaced; the length stays the same.

        `parsed`: `lenient` will parse the text, so every escape must stay valid.
        """
        if len(text) < _SHORTEST:
            return text
        spots = self._find_matches(text)
        return replace_matches(text, spots, self.key, parsed=parsed) if spots else text

    def _find_matches(self, text: str) -> list[Match]:
        looked = SearchedText.from_text(text)
        wanted = {place for needle, place in self._needles if needle in looked.lower}
        return [spot for place in sorted(wanted) for spot in self._detectors[place].find(looked)]

    def redact_name(self, text: str) -> str:
        """Redact a short text that occurs often (an id, a name, a model); results are cached."""
        return str(self._name(text)) if len(text) < 256 else self.redact_text(text)

    def redact_path(self, text: str) -> str:
        """Return a path with its matches replaced by longer placeholders.

        Different values get different placeholders. A path that was redacted before is returned unchanged.
        """
        spots = merge_matches(
            spot
            for spot in self._find_matches(text)
            if not _IS_PLACEHOLDER.fullmatch(text[spot.start : spot.end])
        )
        for start, end, kind in reversed(spots):
            digest = blake2b(text[start:end].encode("utf-8", "surrogatepass"), key=self.key, digest_size=5)
            text = f"{text[:start]}{kind}-{digest.hexdigest()}{text[end:]}"
        return text

    def redact_definitions(self, catalog: ToolCatalog) -> ToolCatalog:
        """Return the same tools with redacted texts, so that redacted arguments still fit their schemas."""
        return ToolCatalog.from_definitions(map(self._redact_definition, catalog))

    def _redact_definition(self, tool: ToolDefinition) -> ToolDefinition:
        told = {"name": tool.name, "description": tool.description, "parameters": tool.to_json_schema()}
        new = self.redact_value(told)
        return tool if new == told else next(iter(ToolCatalog.load(new)))

    def redact_value(self, value: Any) -> Any:
        """Return a decoded JSON value of any depth with all its texts redacted, including keys."""
        root = [value]
        waiting: list[tuple[Any, Any, bool]] = [
            (root, 0, False)
        ]  # a container, a place in it, is it secret by name
        while waiting:
            holder, place, secret = waiting.pop()
            item = holder[place]
            if isinstance(item, str):
                holder[place] = (
                    self._redact_secret(item) if secret and is_secret(item) else self.redact_text(item)
                )
            elif isinstance(item, Mapping):
                holder[place] = members = self._redact_members(item)
                secrets_on = "password" in self.rules.on
                waiting += [(members, name, secrets_on and is_secret_name(name)) for name in members]
            elif isinstance(item, list | tuple):
                holder[place] = items = list(item)
                waiting += [(items, index, secret) for index in range(len(items))]
        return root[0]

    def _redact_secret(self, text: str) -> str:
        return replace_matches(text, [Match(0, len(text), "password")], self.key, parsed=False)

    def _redact_members(self, members: Mapping[Any, Any]) -> dict[str, Any]:
        named: dict[str, Any] = {}
        for key, value in members.items():
            name = self.redact_name(str(key))
            while name in named:  # two values of one shape; neither is lost
                name += "_"
            named[name] = value
        return named

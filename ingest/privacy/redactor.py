"""A text, a name or a decoded value in, the same out without what the rules find; alike in every process."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from ingest.privacy.named import is_secret, names_a_secret
from ingest.privacy.placeholders import order, redacted
from ingest.privacy.rules import Rules
from ingest.privacy.spots import Detector, Looked, Spot
from lenient import ToolCatalog, ToolDefinition

_SHORTEST = 4  # characters that may hold anything
_IS_PLACEHOLDER = re.compile(r"[a-z]+-[0-9a-f]{10}")  # as `path` makes them
_NAMES_KEPT = 8_192


@dataclass(slots=True)
class Redactor:
    """Made anew where it is unpickled: worker processes get the rules and the key."""

    rules: Rules
    key: bytes
    _detectors: tuple[Detector, ...] = field(init=False, repr=False)
    _needles: list[tuple[str, int]] = field(init=False, repr=False)  # and the place of their detector
    _name: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._detectors = self.rules.detectors()
        self._needles = [
            (needle, place) for place, detector in enumerate(self._detectors) for needle in detector.needles
        ]
        self._name = lru_cache(_NAMES_KEPT)(self.text)

    def __reduce__(self) -> tuple[type[Redactor], tuple[Rules, bytes]]:
        return Redactor, (self.rules, self.key)

    @property
    def fingerprint(self) -> str:
        """Changes when a text would be redacted otherwise; tells nothing of the key."""
        return blake2b(f"{self.rules.fingerprint}".encode(), key=self.key, digest_size=6).hexdigest()

    def text(self, text: str, *, parsed: bool = False) -> str:
        """A text of the same length. `parsed`: lenient is going to read it, so every escape stays one."""
        if len(text) < _SHORTEST:
            return text
        spots = self._spots(text)
        return redacted(text, spots, self.key, parsed=parsed) if spots else text

    def _spots(self, text: str) -> list[Spot]:
        looked = Looked.at(text)
        wanted = {place for needle, place in self._needles if needle in looked.lower}
        return [spot for place in sorted(wanted) for spot in self._detectors[place].find(looked)]

    def name(self, text: str) -> str:
        """The same for short texts that come again and again: ids, names, models."""
        return str(self._name(text)) if len(text) < 256 else self.text(text)

    def path(self, text: str) -> str:
        """A path with what is found in it replaced by longer placeholders, of which no two are alike.

        A path that was redacted stays as it is.
        """
        spots = order(
            spot for spot in self._spots(text) if not _IS_PLACEHOLDER.fullmatch(text[spot.start : spot.end])
        )
        for start, end, kind in reversed(spots):
            digest = blake2b(text[start:end].encode("utf-8", "surrogatepass"), key=self.key, digest_size=5)
            text = f"{text[:start]}{kind}-{digest.hexdigest()}{text[end:]}"
        return text

    def definitions(self, catalog: ToolCatalog) -> ToolCatalog:
        """The same tools with their texts redacted, so that redacted arguments still fit them."""
        return ToolCatalog.of(map(self._definition, catalog))

    def _definition(self, tool: ToolDefinition) -> ToolDefinition:
        told = {"name": tool.name, "description": tool.description, "parameters": tool.to_json_schema()}
        new = self.value(told)
        return tool if new == told else next(iter(ToolCatalog.load(new)))

    def value(self, value: Any) -> Any:
        """A decoded JSON value with every text in it redacted, keys too; of any depth."""
        root = [value]
        waiting: list[tuple[Any, Any, bool]] = [
            (root, 0, False)
        ]  # a container, a place in it, is it secret by name
        while waiting:
            holder, place, secret = waiting.pop()
            item = holder[place]
            if isinstance(item, str):
                holder[place] = self._secret(item) if secret and is_secret(item) else self.text(item)
            elif isinstance(item, Mapping):
                holder[place] = members = self._named(item)
                secrets_on = "password" in self.rules.on
                waiting += [(members, name, secrets_on and names_a_secret(name)) for name in members]
            elif isinstance(item, list | tuple):
                holder[place] = items = list(item)
                waiting += [(items, index, secret) for index in range(len(items))]
        return root[0]

    def _secret(self, text: str) -> str:
        return redacted(text, [Spot(0, len(text), "password")], self.key, parsed=False)

    def _named(self, members: Mapping[Any, Any]) -> dict[str, Any]:
        named: dict[str, Any] = {}
        for key, value in members.items():
            name = self.name(str(key))
            while name in named:  # two values of one shape; neither is lost
                name += "_"
            named[name] = value
        return named

"""Redacts a text, a name or a decoded value by the rules. Every process gives the same result."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from operator import itemgetter
from typing import Any, NamedTuple

from ingest.privacy.broken_lines import WholeValues, join_lines
from ingest.privacy.decoded_views import (
    View,
    decode_layers,
    is_command,
    join_items,
    join_words,
    program_of,
)
from ingest.privacy.matches import Detector, Match, SearchedText
from ingest.privacy.placeholders import Spot, merge_spots, replace_spots
from ingest.privacy.rules import RedactionRules
from ingest.privacy.secret_names import Family, classify_name, is_named_secret
from lenient import ToolCatalog, ToolDefinition

_SHORTEST = 4  # characters; a shorter text contains no value
_IS_PLACEHOLDER = re.compile(r"[a-z]+-[0-9a-f]{10}")  # the form of names from `redact_path`
# The name of a folder or file without its suffixes: `a` in `a.jsonl.gz`.
_PATH_PART = re.compile(
    r"([^/\\!]+?)(?:(?:\.(?:jsonl?|ndjson|log|txt|ya?ml|csv|db|sqlite3?|eval|traj|gz|bz2|xz|zst|lz4|zip|tar|7z))+"
    r"|\.\w{1,10})?(?=[/\\!]|\Z)"
)
_NUMBER_SMALLEST = 10**12  # smaller numbers cannot be card numbers
_VALUES = frozenset({"value", "stringvalue", "default", "example", "examples", "const", "enum"})
_NAMES = frozenset({"name", "key", "header"})
_MAX_NAMES = 8_192
# The texts with cached results have at most this many characters; agents repeat prompts in every request.
_MAX_CHARACTERS = 2_000_000


class _Needle(NamedTuple):
    """A fixed string, the indexes of the detectors that search for it, and longer needles that contain it."""

    text: str
    places: list[int]
    longer: list[tuple[str, list[int]]]


def _order_needles(detectors: Sequence[Detector]) -> list[_Needle]:
    needles: dict[str, _Needle] = {}
    for place, detector in enumerate(detectors):
        for text in detector.needles:
            needles.setdefault(text, _Needle(text, [], [])).places.append(place)
    first: list[_Needle] = []
    for needle in sorted(needles.values(), key=lambda needle: len(needle.text)):
        within = next((other for other in first if other.text in needle.text), None)
        if within is None:
            first.append(needle)
        else:
            within.longer.append((needle.text, needle.places))
    return first


def _fold_key(key: Any) -> str:
    """Return a key in a form for comparisons: `ParameterValue` and `Value` both become `value`."""
    return str(key).replace("_", "").lower().removeprefix("parameter")


def _names_value(key: Any, name: Any) -> bool:
    return isinstance(name, str) and _fold_key(key) in _NAMES


class Redactor:
    """Redacts texts by rules and a key.

    Only the rules and the key are pickled. A worker process rebuilds everything else.
    """

    def __init__(self, rules: RedactionRules, key: bytes) -> None:
        self.rules = rules
        self.key = key
        self._detectors = rules.detectors()
        self._needles = _order_needles(self._detectors)
        self._guards = [
            (at, detector.guard) for at, detector in enumerate(self._detectors) if not detector.needles
        ]
        self._name = lru_cache(_MAX_NAMES)(self._redact)
        self._forget()

    def __reduce__(self) -> tuple[type[Redactor], tuple[RedactionRules, bytes]]:
        return Redactor, (self.rules, self.key)

    @property
    def fingerprint(self) -> str:
        """A hash that changes when redaction would give another result. It does not reveal the key."""
        return blake2b(f"{self.rules.fingerprint}".encode(), key=self.key, digest_size=6).hexdigest()

    def redact_text(self, text: str, *, parsed: bool = False) -> str:
        """Return the text after replacing secrets and personal data. The length stays the same.

        `parsed` means that `lenient` will parse the text, so every escape must stay valid.
        """
        cached = self._known[parsed]
        new = cached.get(text)
        if new is None:
            new = cached[text] = self._redact(text, parsed=parsed)
            if new == text:
                self._known[not parsed][text] = text
            self._cached_characters += len(text)
            if self._cached_characters > _MAX_CHARACTERS:
                self._forget()
        return new

    def _forget(self) -> None:
        # cached results, by the argument `parsed`, and their number of characters
        self._known: tuple[dict[str, str], dict[str, str]] = ({}, {})
        self._cached_characters = 0

    def _redact(self, text: str, *, parsed: bool = False) -> str:
        if len(text) < _SHORTEST:
            return text
        spots = self._find_spots(text)
        return replace_spots(text, spots, self.key, parsed=parsed) if spots else text

    def _find_spots(self, text: str) -> list[Spot]:
        """Return the matches in the plain text, in decoded views, and in joined lines and word lists.

        The matches are ordered by start, then by detector, then by the level of decoding (the most decoded
        view first).
        """
        ranked_spots = [(place, 0, Spot(*match)) for place, match in self._find_matches(text)]
        views = list(decode_layers(text))
        for depth, view in enumerate(views, 1):
            ranked_spots += [
                (place, -depth, Spot(*view.locate(*match[:2]), match.kind, view, *match[:2]))
                for place, match in self._find_matches(view.text)
            ]
        whole = [spot for *_, spot in ranked_spots]
        for shown in (None, *views):
            lines = shown.text if shown else text
            if "\n" in lines:
                ranked_spots += self._find_broken(lines, shown, whole, -1 - len(views))
            if words := join_words(lines, shown):
                ranked_spots += [
                    (place, -1 - len(views), Spot(*words.locate(*match[:2]), match.kind, words, *match[:2]))
                    for place, match in self._find_matches(words.text)
                    if self._detectors[place].labelled
                ]
        ranked_spots.sort(key=itemgetter(0, 1))
        return [spot for *_, spot in ranked_spots]

    def _find_matches(self, text: str) -> list[tuple[int, Match]]:
        looked = SearchedText(text)
        find, first = looked.lower.find, looked.first
        wanted = {place for place, guard in self._guards if guard is None or guard(looked)}
        for needle, places, longer in self._needles:
            at = find(needle)
            if at >= 0:
                first[needle] = at
                wanted.update(places)
                for other, its_places in longer:
                    at = find(other)
                    if at >= 0:
                        first[other] = at
                        wanted.update(its_places)
        return [(place, match) for place in sorted(wanted) for match in self._detectors[place].find(looked)]

    def _find_broken(
        self, text: str, view: View | None, whole: Sequence[Spot], rank: int
    ) -> Iterator[tuple[int, int, Spot]]:
        """Yield the values that a line end breaks. `whole` are the matches that were found without joining
        lines.
        """
        values = WholeValues(whole, text, view)
        joined = join_lines(text, view, values.line_ends)
        if joined is None:
            return
        for place, match in self._find_matches(joined.text):
            trimmed = values.trim(joined, match.start, match.end, labelled=self._detectors[place].labelled)
            if trimmed is not None:
                yield place, rank, Spot(*joined.locate(*trimmed), match.kind, joined, *trimmed)

    def redact_name(self, text: str) -> str:
        """Redact a short text that occurs often (an id, a name, a model). Results are cached."""
        return str(self._name(text)) if len(text) < 256 else self.redact_text(text)

    def redact_user(self, name: str) -> str:
        """Return the placeholder for a user in a log. The user's name in paths of home folders gets the same
        placeholder.
        """
        new = self.redact_name(name)
        if new != name or "home" not in self.rules.on:
            return new
        return replace_spots(name, [Spot(0, len(name), "user")], self.key, parsed=False)

    def redact_path(self, text: str) -> str:
        """Return a path in which placeholders replace the matches.

        A placeholder may be longer than the value, so that different values get different placeholders. An
        already redacted path is returned unchanged.
        """
        spots = merge_spots(
            spot
            for spot in self._find_path_spots(text)
            if not _IS_PLACEHOLDER.fullmatch(text[spot.start : spot.end])
        )
        for start, spot in reversed(list(spots)):
            value = text[start : spot.end].encode("utf-8", "surrogatepass")
            digest = blake2b(value, key=self.key, digest_size=5).hexdigest()
            text = f"{text[:start]}{spot.kind}-{digest}{text[spot.end :]}"
        return text

    def _find_path_spots(self, path: str) -> Iterator[Spot]:
        """Yield the matches in a path. A value such as `password=…` ends where the name of the folder or file
        ends.
        """
        within = [
            Spot(part.start() + spot.start, part.start() + spot.end, spot.kind)
            for part in _PATH_PART.finditer(path)
            for spot in self._find_spots(part[1])
        ]
        yield from within
        for spot in self._find_spots(path):
            if spot.kind != "password" or all(
                spot.end <= inner.start or inner.end <= spot.start for inner in within
            ):
                yield spot

    def redact_definitions(self, catalog: ToolCatalog) -> ToolCatalog:
        """Return the tools with redacted descriptions and schemas, so that redacted arguments fit."""
        return ToolCatalog.from_definitions(map(self._redact_definition, catalog))

    def _redact_definition(self, tool: ToolDefinition) -> ToolDefinition:
        definition = {"name": tool.name, "description": tool.description, "parameters": tool.to_json_schema()}
        new = self.redact_value(definition)
        return tool if new == definition else next(iter(ToolCatalog.load(new)))

    def redact_value(self, value: Any) -> Any:
        """Return a decoded JSON value after redacting all strings, including keys.

        Long numbers are searched like strings, because an account number may be logged as a number.
        """
        root = [value]
        # Each item has a container, a position in the container, and the name that describes the value there.
        waiting: list[tuple[Any, Any, str]] = [(root, 0, "")]
        while waiting:
            holder, place, name = waiting.pop()
            item = holder[place]
            if isinstance(item, str):
                holder[place] = self._redact_named(item, name)
            elif type(item) is int:
                holder[place] = self._redact_number(item, name)
            elif isinstance(item, Mapping):
                holder[place] = members = self._redact_members(item)
                waiting += [(members, key, self._telling_name(key, name, members)) for key in members]
            elif isinstance(item, list | tuple):
                holder[place] = items = list(item)
                program = program_of(holder) if isinstance(holder, Mapping) else ""
                done = self._redact_command(program, items) if is_command(items) else ()
                waiting += [(items, index, name) for index in range(len(items)) if index not in done]
        return root[0]

    def _telling_name(self, key: str, outer: str, members: Mapping[str, Any]) -> str:
        """Return the name that describes the value of a key.

        This is usually the key itself. For a key `value`, it is the value of the sibling `name`. For an
        example in a tool definition, it is the name of the parameter. It is '' when named secrets are not
        redacted.
        """
        if "password" not in self.rules.on:
            return ""
        folded = _fold_key(key)
        if folded in _VALUES:
            if folded != "value":
                return outer
            return next((name for at, name in members.items() if _names_value(at, name)), outer)
        return key

    def _redact_named(self, text: str, name: str) -> str:
        family = classify_name(name) if name else None
        if family is not None and is_named_secret(text, family, name):
            return self._redact_secret(text)
        # the result is cached, because requests repeat the texts of definitions
        return self.redact_name(text)

    def _redact_command(self, program: str, words: list[str]) -> set[int]:
        """Redact the words of a command that other words mark as secrets. Return their indexes."""
        line = join_items([program, *words])
        matches = [match for place, match in self._find_matches(line) if self._detectors[place].labelled]
        done: set[int] = set()
        end = len(program)
        for index, word in enumerate(words):
            start, end = end + 1, end + 1 + len(word)
            spots = [
                Spot(max(match.start - start, 0), min(match.end - start, len(word)), match.kind)
                for match in matches
                if match.start < end and match.end > start
            ]
            if spots:
                words[index] = replace_spots(word, [*spots, *self._find_spots(word)], self.key, parsed=False)
                done.add(index)
        return done

    def _redact_number(self, number: int, name: str) -> int:
        if abs(number) < _NUMBER_SMALLEST and not name:
            return number
        digits = str(number)
        named = name and classify_name(name) is Family.PASSWORD and len(digits) >= _SHORTEST
        return int(self._redact_secret(digits) if named else self.redact_text(digits))

    def _redact_secret(self, text: str) -> str:
        return replace_spots(text, [Spot(0, len(text), "password")], self.key, parsed=False)

    def _redact_members(self, members: Mapping[Any, Any]) -> dict[str, Any]:
        named: dict[str, Any] = {}
        for key, value in members.items():
            name = self.redact_name(str(key))
            while name in named:  # two keys got the same placeholder, so rename the second key
                name += "_"
            named[name] = value
        return named

"""The accuracy corpus of malformed arguments has the form its README promises; no reader is run here."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from tests.bench.parser.corpus import CORPUS, entries_in

GROUPS = sorted((CORPUS / "malformed").glob("*.json"))
FIELDS = {"id", "tool", "raw", "raw_hex", "intended", "note", "source"}

TOOLS = entries_in(CORPUS / "tools.json")
ENTRIES = {path.stem: entries_in(path) for path in GROUPS}
ALL = [entry for entries in ENTRIES.values() for entry in entries]


def text_of(entry: dict[str, Any]) -> str:
    raw = entry["raw"] if "raw" in entry else bytes.fromhex(entry["raw_hex"]).decode("utf-8", "replace")
    assert isinstance(raw, str)
    return raw


def test_the_corpus_is_large_and_every_id_is_unique() -> None:
    assert len(ALL) >= 640
    assert len(GROUPS) >= 28
    assert [key for key, times in Counter(entry["id"] for entry in ALL).items() if times > 1] == []


@pytest.mark.parametrize("group", ENTRIES)
def test_a_group_has_at_least_fifteen_entries_of_valid_fields(group: str) -> None:
    assert len(ENTRIES[group]) >= 15
    for entry in ENTRIES[group]:
        assert entry["id"].startswith(f"{group}/"), entry["id"]
        assert {"id", "intended"} <= entry.keys() <= FIELDS, entry["id"]
        assert ("raw" in entry) != ("raw_hex" in entry), entry["id"]
        assert all(isinstance(entry[key], str) for key in entry.keys() - {"intended"}), entry["id"]
        assert text_of(entry).strip(), entry["id"]


def test_what_is_intended_is_an_object_and_null_only_where_nothing_may_be_invented() -> None:
    for group, entries in ENTRIES.items():
        for entry in entries:
            expected = type(None) if group == "never_invent" else dict
            assert isinstance(entry["intended"], expected), entry["id"]


def test_every_named_tool_is_defined_and_declares_what_is_intended() -> None:
    parameters = {tool["name"]: tool["input_schema"]["properties"].keys() for tool in TOOLS}
    assert len(parameters) == len(TOOLS)
    for entry in ALL:
        if "tool" in entry:
            assert (entry["intended"] or {}).keys() <= parameters[entry["tool"]], entry["id"]


def test_no_text_says_in_valid_json_what_is_intended() -> None:
    # These groups hold valid JSON on purpose: the outermost layer is a string; repeated names are allowed.
    for entry in ALL:
        if entry["id"].startswith(("string_encoding/", "duplicate_keys/", "never_invent/")):
            continue
        try:
            value = json.loads(text_of(entry))
        except ValueError:
            continue
        assert value != entry["intended"] or "raw_hex" in entry, entry["id"]


def test_the_same_text_with_the_same_tool_occurs_once() -> None:
    times = Counter((text_of(entry), entry.get("tool")) for entry in ALL)
    assert [text for text, count in times.items() if count > 1] == []

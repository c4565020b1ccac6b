"""Tests that both accuracy corpora have the form that their README describes."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any

import pytest

CORPUS = Path(__file__).parents[2] / "bench" / "corpus"
HELD_OUT = CORPUS / "held_out"
FIELDS = {"id", "tool", "raw", "raw_hex", "intended", "note", "source"}
CALL_FIELDS = {"id", "dialect", "text", "tools", "calls", "native", "cut"}

Entry = dict[str, Any]


def read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def groups_of(folder: Path) -> dict[str, list[Entry]]:
    return {path.stem: read(path) for path in sorted((folder / "malformed").glob("*.json"))}


CORPORA = {"": groups_of(CORPUS), "h-": groups_of(HELD_OUT)}
"""Maps the prefix of a corpus's ids to the groups of the corpus."""
TOOLS: dict[str, list[Entry]] = {"": read(CORPUS / "tools.json"), "h-": read(HELD_OUT / "tools.json")}
GROUPS = [(mark, group) for mark, groups in CORPORA.items() for group in groups]
HELD_OUT_CALLS: list[Entry] = read(HELD_OUT / "calls.json")["entries"]


def entries_of(mark: str) -> list[Entry]:
    return [entry for entries in CORPORA[mark].values() for entry in entries]


def text_of(entry: Entry) -> str:
    raw = entry["raw"] if "raw" in entry else bytes.fromhex(entry["raw_hex"]).decode("utf-8", "replace")
    assert isinstance(raw, str)
    return raw


def repeated(values: Iterable[Hashable]) -> list[Hashable]:
    return [value for value, times in Counter(values).items() if times > 1]


def test_the_corpora_are_large_over_the_same_groups_and_every_id_is_unique() -> None:
    assert len(entries_of("")) >= 640
    assert len(entries_of("h-")) >= 220
    assert len(CORPORA[""]) >= 28
    assert CORPORA[""].keys() == CORPORA["h-"].keys()
    assert repeated(entry["id"] for mark in CORPORA for entry in entries_of(mark)) == []


@pytest.mark.parametrize(("mark", "group"), GROUPS)
def test_a_group_has_enough_entries_of_valid_fields(mark: str, group: str) -> None:
    entries = CORPORA[mark][group]
    assert len(entries) >= (5 if mark else 15)
    for entry in entries:
        assert entry["id"].startswith(f"{mark}{group}/"), entry["id"]
        assert {"id", "intended"} <= entry.keys() <= FIELDS, entry["id"]
        assert ("raw" in entry) != ("raw_hex" in entry), entry["id"]
        assert all(isinstance(entry[key], str) for key in entry.keys() - {"intended"}), entry["id"]
        assert text_of(entry).strip(), entry["id"]


@pytest.mark.parametrize(("mark", "group"), GROUPS)
def test_what_is_intended_is_an_object_and_null_only_where_nothing_may_be_invented(
    mark: str, group: str
) -> None:
    expected = type(None) if group == "never_invent" else dict
    for entry in CORPORA[mark][group]:
        assert isinstance(entry["intended"], expected), entry["id"]


@pytest.mark.parametrize("mark", CORPORA)
def test_every_named_tool_is_defined_and_declares_what_is_intended(mark: str) -> None:
    parameters = {tool["name"]: tool["input_schema"]["properties"].keys() for tool in TOOLS[mark]}
    assert len(parameters) == len(TOOLS[mark])
    for entry in entries_of(mark):
        if "tool" in entry:
            assert (entry["intended"] or {}).keys() <= parameters[entry["tool"]], entry["id"]


@pytest.mark.parametrize("mark", CORPORA)
def test_no_text_says_in_valid_json_what_is_intended(mark: str) -> None:
    # These groups contain valid JSON on purpose: a JSON string that contains the object, or repeated names.
    valid = tuple(f"{mark}{group}/" for group in ("string_encoding", "duplicate_keys", "never_invent"))
    for entry in entries_of(mark):
        if entry["id"].startswith(valid):
            continue
        try:
            value = json.loads(text_of(entry))
        except ValueError:
            continue
        assert value != entry["intended"] or "raw_hex" in entry, entry["id"]


def test_the_same_text_with_the_same_tool_occurs_once_in_both_corpora() -> None:
    everything = entries_of("") + entries_of("h-")
    assert repeated((text_of(entry), entry.get("tool")) for entry in everything) == []


def test_the_held_out_calls_are_many_and_each_calls_a_tool_it_was_offered() -> None:
    parameters = {tool["name"]: tool["input_schema"]["properties"].keys() for tool in TOOLS["h-"]}
    assert sum(bool(entry["calls"]) for entry in HELD_OUT_CALLS) >= 80
    assert sum(not entry["calls"] for entry in HELD_OUT_CALLS) >= 20
    assert len({entry["dialect"] for entry in HELD_OUT_CALLS}) == 16
    assert repeated(entry["id"] for entry in HELD_OUT_CALLS) == []
    for entry in HELD_OUT_CALLS:
        assert {"id", "dialect", "text", "tools", "calls"} <= entry.keys() <= CALL_FIELDS, entry["id"]
        assert entry["id"].startswith(f"h-{entry['dialect']}-"), entry["id"]
        assert bool(entry["calls"]) == (entry["dialect"] != "none"), entry["id"]
        for call in entry["calls"]:
            assert call["name"] in entry["tools"], entry["id"]
            assert call["arguments"].keys() <= parameters[call["name"]], entry["id"]


# --- files with their own definitions --------------------------------------------------------------------

OWN_TOOLS = {path.stem: read(path) for path in (CORPUS / "first_sight.json", CORPUS / "bug_reports.json")}
OWN_FIELDS = {"id", "kind", "raw", "tool", "intended", "others", "ask", "note", "source"}


@pytest.mark.parametrize("name", OWN_TOOLS)
def test_every_entry_has_an_object_or_may_be_refused_or_marked(name: str) -> None:
    entries = OWN_TOOLS[name]["entries"]
    assert repeated(entry["id"] for entry in entries) == []
    assert repeated((entry["raw"], entry.get("tool")) for entry in entries) == []
    for entry in entries:
        assert {"id", "kind", "raw", "intended"} <= entry.keys() <= OWN_FIELDS, entry["id"]
        assert isinstance(entry["intended"], dict) or entry.get("ask"), entry["id"]
        assert all(isinstance(other, dict) for other in entry.get("others", [])), entry["id"]


@pytest.mark.parametrize("name", OWN_TOOLS)
def test_every_definition_is_used_and_declares_what_is_intended(name: str) -> None:
    tools = {tool["name"]: tool["input_schema"]["properties"] for tool in OWN_TOOLS[name]["tools"]}
    used = {entry["tool"] for entry in OWN_TOOLS[name]["entries"] if "tool" in entry}
    assert used == tools.keys()
    for entry in OWN_TOOLS[name]["entries"]:
        if "tool" in entry and not entry.get("ask"):
            assert entry["intended"].keys() <= tools[entry["tool"]].keys(), entry["id"]


def test_the_texts_at_first_sight_are_half_with_a_definition_and_a_third_to_refuse_or_mark() -> None:
    entries = OWN_TOOLS["first_sight"]["entries"]
    assert len(entries) >= 150
    assert 0.4 <= sum("tool" in entry for entry in entries) / len(entries) <= 0.6
    assert 0.3 <= sum(entry["intended"] is None for entry in entries) / len(entries) <= 0.4


def test_every_bug_report_names_its_repository_and_number() -> None:
    entries = OWN_TOOLS["bug_reports"]["entries"]
    assert len(entries) >= 100
    assert all(re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", entry["source"]) for entry in entries)


def test_every_reported_call_names_its_source_and_calls_a_tool_it_was_offered() -> None:
    reported = read(CORPUS / "reported_calls.json")
    parameters = {tool["name"]: tool["input_schema"]["properties"].keys() for tool in reported["tools"]}
    assert repeated(entry["id"] for entry in reported["entries"]) == []
    for entry in reported["entries"]:
        assert re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", entry["source"]), entry["id"]
        assert entry["tools"], entry["id"]
        for call in entry["calls"]:
            assert call["name"] in entry["tools"], entry["id"]
            assert call["arguments"].keys() <= parameters[call["name"]], entry["id"]

"""Reads the files of `bench/corpus/`: the sent arguments, and what a careful person understands."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.parser.readings import Tool
from lenient import ToolCatalog

CORPUS = Path(__file__).parents[1] / "corpus"


@dataclass(frozen=True, slots=True)
class Entry:
    """One input and the arguments that a careful person understands.

    `intended` is None when a parser should refuse the input. `refused` are the positions of values that
    cannot be recovered. `place` is the span of a single defect, and `codes` are the codes that may report
    this defect. `others` are as right as `intended`. With `ask`, a refusal is also right, and so is any
    object that is reported as lossy or doubtful.
    """

    id: str
    group: str
    raw: str | bytes
    intended: dict[str, Any] | None
    tool: Tool | None = None
    refused: tuple[str, ...] = ()
    place: tuple[int, int] | None = None
    codes: tuple[str, ...] = ()
    spacing: bool = True  # if False, JSON inside a string is compared without its spacing
    others: tuple[dict[str, Any], ...] = ()
    ask: bool = False


@dataclass(frozen=True, slots=True)
class CallEntry:
    """A model's reply in one dialect, the offered tools, and the tool calls in the reply."""

    id: str
    dialect: str
    text: str
    tools: ToolCatalog
    calls: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Corpus:
    malformed: tuple[Entry, ...] = ()
    coercions: tuple[Entry, ...] = ()
    defects: tuple[Entry, ...] = ()
    first_sight: tuple[Entry, ...] = ()
    bug_reports: tuple[Entry, ...] = ()
    calls: tuple[CallEntry, ...] = ()

    @property
    def parts(self) -> dict[str, tuple[Entry, ...]]:
        """Return the corpus entries, grouped by purpose."""
        return {
            "malformed": self.malformed, "coercions": self.coercions, "defects": self.defects,
            "first sight": self.first_sight, "bug reports": self.bug_reports,
        }  # fmt: skip

    def __len__(self) -> int:
        return sum(map(len, self.parts.values())) + len(self.calls)


def read_corpus(folder: Path = CORPUS) -> Corpus:
    """Return the corpus in the folder. A missing file has no entries."""
    path = folder / "tools.json"
    offered = ToolCatalog.load(path) if path.exists() else ToolCatalog()
    groups = sorted((folder / "malformed").glob("*.json"))
    return Corpus(
        malformed=tuple(_entry(entry, path.stem, offered) for path in groups for entry in entries_in(path)),
        coercions=tuple(
            replace(_entry(entry, entry["group"], offered), spacing=False)
            for entry in entries_in(folder / "coercions.json")
        ),
        defects=tuple(
            _entry(entry, "single defects", offered) for entry in entries_in(folder / "defects.json")
        ),
        first_sight=_with_own_tools(folder / "first_sight.json"),
        bug_reports=_with_own_tools(folder / "bug_reports.json"),
        calls=tuple(_call(entry, offered) for entry in entries_in(folder / "calls.json"))
        + _calls_with_own_tools(folder / "reported_calls.json"),
    )


def _with_own_tools(path: Path) -> tuple[Entry, ...]:
    """Return the entries of a file that contains its own tool definitions, by the kind of the entries."""
    offered = _tools_in(path)
    return tuple(_entry(entry, entry["kind"], offered) for entry in entries_in(path))


def _calls_with_own_tools(path: Path) -> tuple[CallEntry, ...]:
    offered = _tools_in(path)
    return tuple(_call(entry, offered) for entry in entries_in(path))


def _tools_in(path: Path) -> ToolCatalog:
    return ToolCatalog.load(json.loads(path.read_bytes())["tools"]) if path.exists() else ToolCatalog()


def entries_in(path: Path) -> list[dict[str, Any]]:
    """Return the entries of one file, unchanged."""
    if not path.exists():
        return []
    content = json.loads(path.read_bytes())  # not orjson, which would round integers beyond 64 bits
    entries: list[dict[str, Any]] = content["entries"] if isinstance(content, dict) else content
    return entries


def _entry(written: dict[str, Any], group: str, offered: ToolCatalog) -> Entry:
    raw = bytes.fromhex(written["raw_hex"]) if "raw_hex" in written else written["raw"]
    place = written.get("place")
    return Entry(
        written["id"], group, raw, written["intended"], _tool(written.get("tool"), offered),
        tuple(written.get("refused", ())), (place[0], place[1]) if place else None,
        tuple(written.get("codes", ())),
        others=tuple(written.get("others", ())), ask=written.get("ask", False),
    )  # fmt: skip


def _tool(written: str | dict[str, Any] | None, offered: ToolCatalog) -> Tool | None:
    """Return the tool that a name in tools.json, a declaration, or a JSON Schema of arguments describes."""
    if written is None:
        return None
    if isinstance(written, str):
        definition = offered.tools[written]
    elif "input_schema" in written:
        definition = next(iter(ToolCatalog.load([written])))
    else:
        return Tool("tool", written)
    return Tool(definition.name, definition.to_json_schema())


def _call(written: dict[str, Any], offered: ToolCatalog) -> CallEntry:
    catalog = _catalog(written.get("tools") or [], offered)
    return CallEntry(written["id"], written["dialect"], written["text"], catalog, tuple(written["calls"]))


def _catalog(tools: Iterable[str | dict[str, Any]], offered: ToolCatalog) -> ToolCatalog:
    declared = [tool for tool in tools if not isinstance(tool, str)]
    named = [offered.tools[tool] for tool in tools if isinstance(tool, str)]
    catalog = ToolCatalog.load(declared) if declared else ToolCatalog()
    return catalog.overlay(ToolCatalog.from_definitions(named))

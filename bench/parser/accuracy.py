"""Reads the corpus with every parser.

Counts how many results are right, silently wrong, wrong but reported, or refused, and counts changes without
a report.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from bench.parser.corpus import CallEntry, Corpus, Entry
from bench.parser.readings import Finding, Reading
from bench.parser.scoring import (
    Tally,
    Verdict,
    changes_unsaid,
    comparable,
    located,
    mended_unsaid,
    same,
    verdict,
)
from bench.parser.worker import Worker
from bench.peers import OURS, PEERS, Peer, reading_of
from lenient import ToolCatalog, extract_tool_calls


@dataclass(frozen=True, slots=True)
class Judged:
    """One parser's result for one input, and the verdict.

    `unsaid` are changes without a report.
    """

    part: str
    reader: str
    entry: Entry
    reading: Reading
    verdict: Verdict
    unsaid: tuple[str, ...] = ()
    located: bool = False


@dataclass(frozen=True, slots=True)
class JudgedCalls:
    """The result for one model reply with tool calls. `with_dialect` says if the parser knew the dialect."""

    with_dialect: bool
    entry: CallEntry
    got: tuple[tuple[str, Any], ...]
    dialects: tuple[str, ...]
    verdict: Verdict


@dataclass(slots=True)
class Accuracy:
    judged: list[Judged] = field(default_factory=list)
    calls: list[JudgedCalls] = field(default_factory=list)

    def select(self, part: str, reader: str) -> Iterator[Judged]:
        return (
            judgement for judgement in self.judged if judgement.part == part and judgement.reader == reader
        )

    def readers(self, part: str) -> list[str]:
        return list(dict.fromkeys(judgement.reader for judgement in self.judged if judgement.part == part))


def tally(judged: Iterable[Judged | JudgedCalls]) -> Tally:
    counted = Tally()
    for judgement in judged:
        counted.add(judgement.verdict)
    return counted


def measure(
    corpus: Corpus, readers: Iterable[str], wanted: Callable[[str], bool] = lambda group: True
) -> Accuracy:
    """Measure the parsers. `wanted` selects groups by name."""
    accuracy = Accuracy()
    for peer in (PEERS[name] for name in readers):
        if peer.version is not None:
            accuracy.judged += _judged(peer, corpus, wanted)
    calls = [entry for entry in corpus.calls if wanted(entry.dialect) or wanted("calls")]
    accuracy.calls += [
        judge_calls(entry, with_dialect)
        for with_dialect in (True, False)
        for entry in calls
        if not (with_dialect and entry.dialect in NOT_TOLD)
    ]
    return accuracy


def _judged(peer: Peer, corpus: Corpus, wanted: Callable[[str], bool]) -> Iterator[Judged]:
    parts = corpus.parts
    if not peer.typed and peer.name != OURS:
        del parts["coercions"]
    worker = Worker(peer.name)
    try:
        for part, entries in parts.items():
            for entry in entries:
                if wanted(entry.group) or wanted(part):
                    yield judge(part, peer, entry, worker.read(entry.raw, entry.tool))
    except RuntimeError as failed:
        print(failed, file=sys.stderr)
    finally:
        worker.stop()


def judge(part: str, peer: Peer, entry: Entry, reading: Reading) -> Judged:
    ours = peer.name == OURS
    outcome = verdict(entry, reading, partial=ours, null_is_absent=peer.typed)
    if part == "coercions":
        unsaid = changes_unsaid(entry, reading)
    else:
        unsaid = ["text"] if mended_unsaid(entry, reading) else []
    is_located = entry.place is not None and located(entry, reading.findings, any_code=not ours)
    return Judged(part, peer.name, entry, reading, outcome, tuple(unsaid), is_located)


# --- calls written as text, which of these readers only ours looks for --------------------------------

NOT_TOLD = ("none", "reported")
"""Groups of replies without a dialect that a parser could be given: replies without a tool call, and replies
quoted in bug reports.
"""
_OUR_NAMES = {
    "anthropic": "anthropic_invoke",
    "json_bare": "bare_json",
    "json_fenced": "fenced_json",
    "llama_json": "llama3_json",
    "qwen_xml": "qwen3_coder",
}
"""Maps the corpus's names of dialects to the names in `lenient`, if these differ."""


def judge_calls(entry: CallEntry, with_dialect: bool) -> JudgedCalls:
    calls = _extract(entry.text, entry.tools, entry.dialect if with_dialect else None)
    got = tuple((call.name, call.request.arguments) for call in calls)
    readings = [reading_of(call.request) for call in calls]
    findings = [finding for reading in readings for finding in reading.findings]
    schemas = {tool.name: tool.to_json_schema() for tool in entry.tools}
    outcome = calls_verdict(entry.calls, got, findings, schemas)
    return JudgedCalls(with_dialect, entry, got, tuple(call.dialect for call in calls), outcome)


def calls_verdict(
    intended: tuple[dict[str, Any], ...],
    got: tuple[tuple[str, Any], ...],
    findings: Iterable[Finding],
    schemas: Mapping[str, Mapping[str, Any]],
) -> Verdict:
    """Return the verdict on the tool calls of a reply.

    The verdict is RIGHT for the same tool calls in the same order, and REFUSED when the reply contains tool
    calls but none was found.
    """
    pairs = [(call["name"], call["arguments"]) for call in intended]
    if len(pairs) == len(got) and all(map(partial(_same_call, schemas), pairs, got)):
        return Verdict.RIGHT
    if not any(arguments is not None for _, arguments in got):
        return Verdict.REFUSED if pairs else Verdict.RIGHT
    return Verdict.TOLD if any(finding.warns for finding in findings) else Verdict.SILENT


def _same_call(
    schemas: Mapping[str, Mapping[str, Any]], intended: tuple[str, Any], got: tuple[str, Any]
) -> bool:
    (name, arguments), (other, read) = intended, got
    if name != other or not isinstance(read, dict):
        return False
    schema = schemas.get(name, {})
    return same(comparable(arguments, schema), comparable(read, schema))


def _extract(text: str, catalog: ToolCatalog, dialect: str | None) -> tuple[Any, ...]:
    extract: Callable[..., tuple[Any, ...]] = extract_tool_calls
    if dialect is not None and can_be_told():
        return extract(text, catalog, dialect=_OUR_NAMES.get(dialect, dialect))
    return extract(text, catalog)


def can_be_told() -> bool:
    return "dialect" in inspect.signature(extract_tool_calls).parameters

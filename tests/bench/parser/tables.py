"""Measurements → Markdown tables, which are also what the terminal shows. Measures nothing."""

from __future__ import annotations

from collections.abc import Iterable

import orjson

from tests.bench.parser.accuracy import Accuracy, Judged, JudgedCalls, tally
from tests.bench.parser.scoring import Tally, Verdict
from tests.bench.peers import OURS, PEERS

_VERDICTS = ("right", "wrong, silent", "wrong, told", "refused")


def table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """A Markdown table whose columns line up in a terminal; the first column is text, the others numbers."""
    cells = [list(titles), *map(list, rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    lines = [
        "| " + " | ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ) + " |"
        for row in cells
    ]  # fmt: skip
    rule = (
        "|" + "|".join("-" * (w + 2) if c == 0 else "-" * (w + 1) + ":" for c, w in enumerate(widths)) + "|"
    )
    return [lines[0], rule, *lines[1:]]


def percent(share: float) -> str:
    return f"{share:.1%}"


def _verdicts(counted: Tally) -> list[str]:
    return [percent(counted.share(verdict)) for verdict in Verdict]


def _missing() -> list[list[str]]:
    return [[name, "not installed", *[""] * 5] for name, peer in PEERS.items() if peer.version is None]


def readers_table(accuracy: Accuracy, part: str) -> list[str]:
    """One row a reader: the verdicts, hangs and crashes, changes it made without saying so."""
    rows = []
    for reader in accuracy.readers(part):
        judged = list(accuracy.of(part, reader))
        stopped = sum((one.reading.refusal or "").startswith(("hung", "crashed")) for one in judged)
        changed = sum(1 for one in judged if one.unsaid)
        rows.append([reader, *_verdicts(tally(judged)), str(stopped), str(changed)])
    return table(("reader", *_VERDICTS, "hung", "unsaid"), rows + _missing())


def groups_table(accuracy: Accuracy, part: str) -> list[str]:
    """One row a group: ours in full, and how much of it the others get right."""
    readers = accuracy.readers(part)
    groups = dict.fromkeys(one.entry.group for one in accuracy.judged if one.part == part)
    others = [name for name in readers if name != OURS]
    rows = []
    for group in groups:
        inside = {name: [j for j in accuracy.of(part, name) if j.entry.group == group] for name in readers}
        ours = _verdicts(tally(inside.get(OURS, [])))
        shares = [percent(tally(inside[name]).share(Verdict.RIGHT)) for name in others]
        size = max(len(judged) for judged in inside.values())
        rows.append([group, str(size), *ours, *shares])
    return table(("group", "texts", *(f"{v}" for v in _VERDICTS), *others), rows)


def defects_table(accuracy: Accuracy) -> list[str]:
    rows = []
    for reader in accuracy.readers("defects"):
        judged = list(accuracy.of("defects", reader))
        right = sum(1 for one in judged if one.verdict is Verdict.RIGHT)
        found = sum(1 for one in judged if one.located)
        rows.append([reader, f"{found} / {len(judged)}", f"{right} / {len(judged)}"])
    return table(("reader", "reported at its place", "read right"), rows)


def calls_table(accuracy: Accuracy) -> list[str]:
    """Per dialect, told and untold; the last row is all of them."""
    dialects = [*dict.fromkeys(one.entry.dialect for one in accuracy.calls), "all"]
    rows = []
    for dialect in dialects:
        inside = [one for one in accuracy.calls if dialect in (one.entry.dialect, "all")]
        told, untold = ([one for one in inside if one.told is told] for told in (True, False))
        rows.append([dialect, str(len(told)), *_verdicts(tally(told)), *_verdicts(tally(untold))])
    untold_titles = [f"untold: {verdict}" for verdict in _VERDICTS]
    return table(("dialect", "texts", *(f"told: {verdict}" for verdict in _VERDICTS), *untold_titles), rows)


def accuracy_section(accuracy: Accuracy) -> list[str]:
    """All of it, under headings; a part without texts is left out."""
    parts: list[tuple[str, list[str]]] = []
    for part, title in (("malformed", "Malformed text"), ("coercions", "Schema coercions")):
        if any(one.part == part for one in accuracy.judged):
            parts.append((title, readers_table(accuracy, part)))
            parts.append((f"{title}, by group (of the peers: right)", groups_table(accuracy, part)))
    if any(one.part == "defects" for one in accuracy.judged):
        parts.append(("Single defects", defects_table(accuracy)))
    if accuracy.calls:
        parts.append(("Calls written as text", calls_table(accuracy)))
    return [line for title, lines in parts for line in (f"### {title}", "", *lines, "")]


# --- for whoever improves the parser ----------------------------------------------------------------------


def shown(accuracy: Accuracy, reader: str) -> list[str]:
    """Every text that a reader gets wrong or does not speak of, with what was intended and what came."""
    lines: list[str] = []
    for one in accuracy.judged:
        missed = one.part == "defects" and not one.located
        if one.reader == reader and (one.verdict is not Verdict.RIGHT or one.unsaid or missed):
            lines += _shown(one, missed)
    for calls in accuracy.calls:
        if calls.verdict is not Verdict.RIGHT:
            lines += _shown_calls(calls)
    return lines


def _shown(one: Judged, missed: bool) -> list[str]:
    entry, reading = one.entry, one.reading
    notes = [f"unsaid: {', '.join(one.unsaid)}"] * bool(one.unsaid)
    if missed:
        notes.append(f"not reported at {entry.place}: {' or '.join(entry.codes)}")
    found = "; ".join(
        f"{finding.code}@{finding.start}:{finding.end}{'!' if finding.warns else ''}"
        for finding in reading.findings
    )
    got = _json(reading.value) if reading.refusal is None else f"refused: {reading.refusal}"
    refused = f"   refused: {', '.join(entry.refused)}" if entry.refused else ""
    return [
        f"--- {one.part}/{entry.group}/{entry.id}: {one.verdict}  {'  '.join(notes)}",
        f"  raw      {entry.raw!r}",
        f"  intended {_json(entry.intended)}{refused}",
        f"  got      {got}",
        f"  said     {found or 'nothing'}",
    ]


def _shown_calls(one: JudgedCalls) -> list[str]:
    intended = [(call["name"], call["arguments"]) for call in one.entry.calls]
    return [
        f"--- calls/{one.entry.dialect}/{one.entry.id}: {one.verdict}, {'told' if one.told else 'untold'}",
        f"  text     {one.entry.text!r}",
        f"  intended {_json(intended)}",
        f"  got      {_json(one.got)}  as {', '.join(one.dialects) or 'no dialect'}",
    ]


def _json(value: object) -> str:
    try:
        return orjson.dumps(value, default=str).decode()
    except TypeError:  # a lone surrogate, a huge integer
        return repr(value)

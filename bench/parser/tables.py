"""Measurements → Markdown tables, which are also what the terminal shows. Measures nothing."""

from __future__ import annotations

from collections.abc import Iterable

from bench.parser.accuracy import Accuracy, tally
from bench.parser.scoring import Tally, Verdict
from bench.peers import OURS, PEERS

_PARTS = {
    "malformed": "Malformed text",
    "coercions": "Schema coercions",
    "first sight": "New texts at first sight",
    "bug reports": "Public bug reports",
}
_VERDICTS = ("right", "wrong, silent", "wrong, reported", "refused")


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
    return [percent(counted.share(verdict)) if counted.total else "" for verdict in Verdict]


def readers_table(accuracy: Accuracy, part: str) -> list[str]:
    """One row a reader: the verdicts, those on texts with a definition, hangs and crashes, changes unsaid."""
    titles = ("reader", *_VERDICTS, "right, defined", "hung", "unreported")
    rows = []
    for reader in accuracy.readers(part):
        judged = list(accuracy.of(part, reader))
        defined = tally(one for one in judged if one.entry.tool is not None)
        stopped = sum((one.reading.refusal or "").startswith(("hung", "crashed")) for one in judged)
        changed = sum(1 for one in judged if one.unsaid)
        right = percent(defined.share(Verdict.RIGHT)) if defined.total else ""
        rows.append([reader, *_verdicts(tally(judged)), right, str(stopped), str(changed)])
    if len(rows) > 1:
        rows.append(["any of the peers", percent(_union(accuracy, part)), *[""] * (len(titles) - 2)])
    missing = [name for name, peer in PEERS.items() if peer.version is None]
    return table(titles, rows + [[name, "not installed", *[""] * (len(titles) - 2)] for name in missing])


def _union(accuracy: Accuracy, part: str) -> float:
    """The share of texts that at least one peer gets right."""
    peers = [one for one in accuracy.judged if one.part == part and one.reader != OURS]
    right = {(one.entry.group, one.entry.id) for one in peers if one.verdict is Verdict.RIGHT}
    return len(right) / max(1, len({(one.entry.group, one.entry.id) for one in peers}))


def groups_table(accuracy: Accuracy, part: str) -> list[str]:
    """One row a group: ours in full, and how much of it the others get right that read more than JSON."""
    readers = accuracy.readers(part)
    strict = [name for name in readers if PEERS[name].strict and part != "coercions"]
    others = [name for name in readers if name != OURS and name not in strict]
    rows = []
    for group in dict.fromkeys(one.entry.group for one in accuracy.judged if one.part == part):
        inside = {name: [j for j in accuracy.of(part, name) if j.entry.group == group] for name in readers}
        ours = _verdicts(tally(inside.get(OURS, [])))
        shares = [percent(tally(inside[name]).share(Verdict.RIGHT)) for name in others]
        rows.append([group, str(max(map(len, inside.values()))), *ours, *shares])
    return table(("group", "texts", *_VERDICTS, *others), rows)


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
        rows.append(
            [dialect, str(max(len(told), len(untold))), *_verdicts(tally(told)), *_verdicts(tally(untold))]
        )
    untold_titles = [f"not given: {verdict}" for verdict in _VERDICTS]
    return table(("dialect", "texts", *(f"given: {verdict}" for verdict in _VERDICTS), *untold_titles), rows)


def accuracy_section(accuracy: Accuracy) -> list[str]:
    """All of it, under headings; a part without texts is left out."""
    parts: list[tuple[str, list[str]]] = []
    for part, title in _PARTS.items():
        if any(one.part == part for one in accuracy.judged):
            parts.append((title, readers_table(accuracy, part)))
            parts.append((f"{title}, by group (of the peers: right)", groups_table(accuracy, part)))
    if any(one.part == "defects" for one in accuracy.judged):
        parts.append(("Single defects", defects_table(accuracy)))
    if accuracy.calls:
        parts.append(("Calls written as text", calls_table(accuracy)))
    return [line for title, lines in parts for line in (f"### {title}", "", *lines, "")]

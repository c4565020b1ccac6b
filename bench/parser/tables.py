"""Formats measurements as Markdown tables, for the documentation page and for the terminal."""

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
    """Return a Markdown table with aligned columns.

    The first column contains words, and all other columns contain numbers.
    """
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
    """Return one row per parser, with the percentage of each verdict.

    The row also has the percentage of right results with a definition, the number of inputs that hang or
    crash the parser, and the number of unreported changes.
    """
    titles = ("reader", *_VERDICTS, "right, defined", "hung", "unreported")
    rows = []
    for reader in accuracy.readers(part):
        judged = list(accuracy.select(part, reader))
        defined = tally(judgement for judgement in judged if judgement.entry.tool is not None)
        stopped = sum(
            (judgement.reading.refusal or "").startswith(("hung", "crashed")) for judgement in judged
        )
        changed = sum(1 for judgement in judged if judgement.unsaid)
        right = percent(defined.share(Verdict.RIGHT)) if defined.total else ""
        rows.append([reader, *_verdicts(tally(judged)), right, str(stopped), str(changed)])
    if len(rows) > 1:
        rows.append(["any of the peers", percent(_union(accuracy, part)), *[""] * (len(titles) - 2)])
    missing = [name for name, peer in PEERS.items() if peer.version is None]
    return table(titles, rows + [[name, "not installed", *[""] * (len(titles) - 2)] for name in missing])


def _union(accuracy: Accuracy, part: str) -> float:
    peers = [
        judgement for judgement in accuracy.judged if judgement.part == part and judgement.reader != OURS
    ]
    right = {
        (judgement.entry.group, judgement.entry.id)
        for judgement in peers
        if judgement.verdict is Verdict.RIGHT
    }
    return len(right) / max(1, len({(judgement.entry.group, judgement.entry.id) for judgement in peers}))


def groups_table(accuracy: Accuracy, part: str) -> list[str]:
    """Return one row per group: the percentage of each verdict for our parser, and of right results for the
    other parsers.
    """
    readers = accuracy.readers(part)
    strict = [name for name in readers if PEERS[name].strict and part != "coercions"]
    others = [name for name in readers if name != OURS and name not in strict]
    rows = []
    for group in dict.fromkeys(
        judgement.entry.group for judgement in accuracy.judged if judgement.part == part
    ):
        inside = {
            name: [j for j in accuracy.select(part, name) if j.entry.group == group] for name in readers
        }
        ours = _verdicts(tally(inside.get(OURS, [])))
        shares = [percent(tally(inside[name]).share(Verdict.RIGHT)) for name in others]
        rows.append([group, str(max(map(len, inside.values()))), *ours, *shares])
    return table(("group", "texts", *_VERDICTS, *others), rows)


def defects_table(accuracy: Accuracy) -> list[str]:
    rows = []
    for reader in accuracy.readers("defects"):
        judged = list(accuracy.select("defects", reader))
        right = sum(1 for judgement in judged if judgement.verdict is Verdict.RIGHT)
        located = sum(1 for judgement in judged if judgement.located)
        rows.append([reader, f"{located} / {len(judged)}", f"{right} / {len(judged)}"])
    return table(("reader", "reported at its place", "read right"), rows)


def calls_table(accuracy: Accuracy) -> list[str]:
    """Return one row per dialect, and a last row with the total.

    A row contains the results for replies read with the name of the dialect, and for replies read without
    this name.
    """
    dialects = [*dict.fromkeys(judgement.entry.dialect for judgement in accuracy.calls), "all"]
    rows = []
    for dialect in dialects:
        inside = [judgement for judgement in accuracy.calls if dialect in (judgement.entry.dialect, "all")]
        with_dialect, untold = (
            [judgement for judgement in inside if judgement.with_dialect is is_given]
            for is_given in (True, False)
        )
        rows.append(
            [
                dialect,
                str(max(len(with_dialect), len(untold))),
                *_verdicts(tally(with_dialect)),
                *_verdicts(tally(untold)),
            ]
        )
    untold_titles = [f"not given: {verdict}" for verdict in _VERDICTS]
    return table(("dialect", "texts", *(f"given: {verdict}" for verdict in _VERDICTS), *untold_titles), rows)


def accuracy_section(accuracy: Accuracy) -> list[str]:
    """Return all tables under headings. Sections of the corpus without inputs have no table."""
    parts: list[tuple[str, list[str]]] = []
    for part, title in _PARTS.items():
        if any(judgement.part == part for judgement in accuracy.judged):
            parts.append((title, readers_table(accuracy, part)))
            parts.append((f"{title}, by group (of the peers: right)", groups_table(accuracy, part)))
    if any(judgement.part == "defects" for judgement in accuracy.judged):
        parts.append(("Single defects", defects_table(accuracy)))
    if accuracy.calls:
        parts.append(("Calls written as text", calls_table(accuracy)))
    return [line for title, lines in parts for line in (f"### {title}", "", *lines, "")]

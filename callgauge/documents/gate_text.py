"""Writes the verdicts of gates as plain text, as Markdown, and as workflow commands of GitHub Actions.

The gate of a store and the gate of a trial run use the same sentences.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from callgauge.analysis import wording
from callgauge.documents.document import DocumentCell, DocumentColumn, DocumentTable
from callgauge.documents.markdown import escape_text, write_link, write_table
from callgauge.stats.gate_syntax import Verdict, choose_worst

_TITLE = "Callgauge gate"
_WORDS: Mapping[Verdict, str] = {
    "not worse": "Not worse",
    "worse": "Worse",
    "cannot be told": "Not enough data",
}
_COMMANDS: Mapping[Verdict, str] = {"not worse": "notice", "worse": "error", "cannot be told": "warning"}
_COLUMNS = ("rate", "verdict", "tested", "baseline", "difference", "margin")
_MOST_PARTS = 4  # A sentence names at most this many tools, prompts or parameters.
_LONGEST = 2_000  # maximum length of a verdict on one line, in characters


@dataclass(frozen=True, slots=True)
class GateSideText:
    """The tested side or the baseline of a gate. `counts` is k / n, and `interval` the 95 % interval."""

    name: str
    rate: str
    counts: str
    interval: str = ""


@dataclass(frozen=True, slots=True)
class GateText:
    """The verdict of a gate in words. Any string may contain names from logs.

    `rate` names the rate in a sentence. `difference` is tested minus baseline with its interval, or empty if
    it is unknown. `is_judged` is False if the difference could not be judged. `explanation` holds sentences:
    the verdict of the dashboard, and for a gate without enough data what is missing. `where` says which
    tools, prompts, models, parameters or tasks carry the change. `link` is the path of a page.
    """

    verdict: Verdict
    rate: str
    margin: str
    tested: GateSideText
    baseline: GateSideText
    difference: str
    is_judged: bool
    explanation: str
    where: Sequence[str]
    link: str


def write_sentence(gate: GateText) -> str:
    """Return the verdict as one line of plain text."""
    if not gate.is_judged:
        return f"{_WORDS[gate.verdict]} about {gate.rate}. {gate.explanation}"
    tested, baseline = (
        f"{side.rate} ({wording.one_line(side.name, 80)}, {side.counts})"
        for side in (gate.tested, gate.baseline)
    )
    figures = f"{_WORDS[gate.verdict]}: {gate.rate} {tested} against {baseline}."
    difference = f"Difference {gate.difference}; your margin is {gate.margin}."
    return f"{figures} {difference} {gate.explanation}".rstrip()


def write_where(gate: GateText) -> str:
    """Return a sentence that names what carries the change, or "" if no part of the data stands out."""
    if not gate.where:
        return ""
    more = len(gate.where) - _MOST_PARTS
    return f"Where: {'; '.join([*gate.where[:_MOST_PARTS], *([f'{more} more'] if more > 0 else [])])}."


def list_lines(gates: Sequence[GateText], address: str | None = None) -> Iterator[str]:
    """Yield the lines of plain text for each gate: the verdict, where the change is, and the link.

    `address` is the URL of the dashboard. Without `address`, a link is the path of the page, and the last
    line says how to get full links.
    """
    for gate in gates:
        yield write_sentence(gate)
        if where := write_where(gate):
            yield f"  {where}"
        yield f"  {_find_address(gate, address)}"
    if gates and not address:
        yield "  For full links, add --dashboard URL."


def write_gates(gates: Sequence[GateText], address: str | None = None) -> str:
    """Return the gates as Markdown: a heading, a table, and a paragraph for each gate."""
    worst = _WORDS[choose_worst(gate.verdict for gate in gates)]
    rows = [_list_cells(gate) for gate in gates]
    table = DocumentTable(_TITLE, [DocumentColumn(title) for title in _COLUMNS], rows)
    parts = [f"### {_TITLE}: {worst.lower()}", write_table(table)]
    return "\n\n".join([*parts, *(_write_paragraph(gate, address) for gate in gates)]) + "\n"


def _list_cells(gate: GateText) -> list[DocumentCell]:
    sides = [
        DocumentCell(
            f"{wording.one_line(side.name, 60)}: {side.rate}",
            ", ".join(filter(None, (side.counts, side.interval))),
        )
        for side in (gate.tested, gate.baseline)
    ]
    texts = (DocumentCell(gate.rate), DocumentCell(_WORDS[gate.verdict]), *sides)
    return [*texts, DocumentCell(gate.difference or "–"), DocumentCell(gate.margin)]


def _write_paragraph(gate: GateText, address: str | None) -> str:
    words = f"**{_WORDS[gate.verdict]}: {escape_text(gate.rate)}.** {escape_text(gate.explanation, _LONGEST)}"
    lines = [words.rstrip()]
    if where := write_where(gate):
        lines.append(escape_text(where, _LONGEST))
    place = _find_address(gate, address)
    lines.append(write_link("Open in Callgauge", place) if address else f"Page: `{place}`")
    return "\n\n".join(lines)


def _find_address(gate: GateText, address: str | None) -> str:
    return f"{address.rstrip('/')}{gate.link}" if address else gate.link


def list_workflow_commands(gates: Sequence[GateText]) -> Iterator[str]:
    """Yield a workflow command of GitHub Actions for each gate, so that the run shows it as an annotation.

    The runner decodes `%25`, `%0D` and `%0A` in the message, and also `%3A` and `%2C` in the title.
    """
    for gate in gates:
        title = _escape_data(f"{_TITLE}: {_WORDS[gate.verdict].lower()}, {gate.rate}")
        title = title.replace(":", "%3A").replace(",", "%2C")
        message = wording.one_line(f"{write_sentence(gate)} {write_where(gate)}", _LONGEST)
        yield f"::{_COMMANDS[gate.verdict]} title={title}::{_escape_data(message)}"


def _escape_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")

"""Reads the broken tool calls with every parser, and makes the tables of the results."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bench.parser.mutations import mutants
from bench.parser.mutations.answers import Mutant, answers, verdict
from bench.parser.mutations.boundaries import boundary_losses
from bench.parser.readings import Reading
from bench.parser.scoring import Tally, Verdict, same
from bench.parser.tables import percent, table
from bench.parser.worker import Worker
from bench.peers import OURS, PEERS

EACH, QUICK = 20, 4
"""The number of inputs for each kind of defect."""
READERS: dict[str, str] = {
    OURS: OURS,
    "json-repair": "json-repair + schema",
    "jsonmend": "jsonmend",
    "fast-json-repair": "fast-json-repair",
    "baml": "baml",
}
"""Maps each parser without a definition to the parser that is used with a definition."""
_VERDICTS = (Verdict.RIGHT, Verdict.REFUSED, Verdict.TOLD, Verdict.SILENT)
_TITLES = ("right", "refused", "lossy", "silent")


@dataclass(frozen=True, slots=True)
class JudgedMutant:
    """One parser's result for one input, with or without the definition, and the verdict."""

    kind: str
    reader: str
    defined: bool
    mutant: Mutant
    reading: Reading
    verdict: Verdict

    @property
    def unplaced(self) -> bool:
        """True when a report about the input has no position."""
        return any(finding.of_text and finding.start is None for finding in self.reading.findings)

    @property
    def restored(self) -> bool:
        """True when the result is a right object, with or without a report."""
        got = self.reading.arguments
        right = answers(self.mutant, defined=self.defined).right
        return got is not None and any(same(answer, got) for answer in right)


def measure(readers: Iterable[str], each: int = EACH) -> list[JudgedMutant]:
    """Measure how the parsers read `each` inputs of every kind of defect."""
    return _measure(readers, list(mutants(each)))


def measure_boundaries(readers: Iterable[str], each: int = EACH) -> list[JudgedMutant]:
    """Measure how the parsers read tool calls that lost characters at a boundary.

    The number of these tool calls is 50 times `each`.
    """
    return _measure(readers, list(boundary_losses(50 * each)))


def _measure(readers: Iterable[str], texts: list[tuple[str, Mutant]]) -> list[JudgedMutant]:
    return [
        judgement
        for reader, with_definition in READERS.items()
        if reader in readers and PEERS[reader].version is not None
        for defined, name in ((False, reader), (True, with_definition))
        for judgement in _judged(texts, reader, name, defined)
    ]


def _judged(texts: list[tuple[str, Mutant]], reader: str, name: str, defined: bool) -> Iterator[JudgedMutant]:
    worker = Worker(name)
    try:
        for kind, mutant in texts:
            yield judge(
                kind, reader, mutant, worker.read(mutant.text, mutant.tool if defined else None), defined
            )
    except RuntimeError as failed:
        print(failed, file=sys.stderr)
    finally:
        worker.stop()


def judge(kind: str, reader: str, mutant: Mutant, reading: Reading, defined: bool) -> JudgedMutant:
    outcome = verdict(mutant, reading, defined=defined, null_is_absent=PEERS[reader].typed)
    return JudgedMutant(kind, reader, defined, mutant, reading, outcome)


def tally(judged: Iterable[JudgedMutant]) -> Tally:
    counted = Tally()
    for judgement in judged:
        counted.add(judgement.verdict)
    return counted


def readers_table(judged: list[JudgedMutant]) -> list[str]:
    """Return one row per parser, with the percentage of each verdict.

    The row has percentages for all inputs, for inputs read with a definition, and for inputs read without a
    definition.
    """
    rows = []
    for reader in dict.fromkeys(judgement.reader for judgement in judged):
        ours = [judgement for judgement in judged if judgement.reader == reader]
        parts = [
            ours,
            *([judgement for judgement in ours if judgement.defined is defined] for defined in (False, True)),
        ]
        shares = [percent(tally(part).share(verdict)) for part in parts for verdict in _VERDICTS]
        rows.append([reader, str(len(ours)), *shares])
    titles = [f"{prefix}{title}" for prefix in ("", "undefined: ", "defined: ") for title in _TITLES]
    return table(("reader", "readings", *titles), rows)


def kinds_table(judged: list[JudgedMutant]) -> list[str]:
    """Return one row per kind of defect, with percentages.

    The row has all verdicts of our parser. For other parsers it has only right and silently wrong results.
    """
    readers = list(dict.fromkeys(judgement.reader for judgement in judged))
    others = [reader for reader in readers if reader != OURS]
    rows = []
    for kind in dict.fromkeys(judgement.kind for judgement in judged):
        inside = [judgement for judgement in judged if judgement.kind == kind]
        counted = {
            reader: tally(judgement for judgement in inside if judgement.reader == reader)
            for reader in readers
        }
        ours = counted.get(OURS, Tally())
        shares = [percent(ours.share(verdict)) if ours.total else "" for verdict in _VERDICTS]
        rows.append([kind, str(max(counts.total for counts in counted.values())), *shares])
        rows[-1] += [_right_and_silent(counted[reader]) for reader in others]
    titles = (*_TITLES, *(f"{reader}: right / silent" for reader in others))
    return table(("defect", "readings", *titles), rows)


def restored_table(judged: list[JudgedMutant]) -> list[str]:
    """Return a table with the percentage of results that are the intended object.

    Refusals and other objects do not count, even with a report.
    """
    readers = list(dict.fromkeys(judgement.reader for judgement in judged))
    rows = []
    for kind in [*dict.fromkeys(judgement.kind for judgement in judged), "all"]:
        shares = []
        for reader in readers:
            for defined in (False, True):
                inside = [
                    judgement.restored
                    for judgement in judged
                    if kind in (judgement.kind, "all")
                    and (judgement.reader, judgement.defined) == (reader, defined)
                ]
                shares.append(percent(sum(inside) / max(1, len(inside))))
        rows.append([kind, *shares])
    titles = [f"{reader}{defined}" for reader in readers for defined in ("", ", defined")]
    return table(("defect", *titles), rows)


def _right_and_silent(counted: Tally) -> str:
    return f"{counted.share(Verdict.RIGHT):.0%} / {counted.share(Verdict.SILENT):.0%}"


def shown(judged: Iterable[JudgedMutant], kind: str) -> list[str]:
    """Return the incorrect results for one kind of defect, or for all kinds.

    Silently wrong results come first, and short inputs come before long inputs.
    """
    wrong = [
        judgement
        for judgement in judged
        if kind in (judgement.kind, "all") and judgement.verdict is not Verdict.RIGHT
    ]
    wrong.sort(
        key=lambda judgement: (
            judgement.kind,
            judgement.verdict is not Verdict.SILENT,
            len(judgement.mutant.text),
        )
    )
    return [line for judgement in wrong for line in _lines(judgement)]


def _lines(judgement: JudgedMutant) -> list[str]:
    accepted = answers(judgement.mutant, defined=judgement.defined)
    findings = "; ".join(f"{f.code}@{f.start}:{f.end}{'!' * f.warns}" for f in judgement.reading.findings)
    certain = "" if accepted.certain else " (or a refusal, or a marked part of it)"
    tool = f"{'with' if judgement.defined else 'without'} the definition of {judgement.mutant.tool.name}"
    refused = judgement.reading.refusal
    return [
        f"--- {judgement.kind}: {judgement.verdict}, {tool}; made: {', '.join(judgement.mutant.kinds)}",
        f"  text     {judgement.mutant.text!r}",
        f"  intended {judgement.mutant.intended!r}{certain}",
        f"  got      {judgement.reading.value!r}" if refused is None else f"  refused  {refused}",
        f"  said     {findings or 'nothing'}",
    ]

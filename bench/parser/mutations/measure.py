"""The mutants through the readers, and the tables of what became of them."""

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
"""Texts of every kind of defect."""
READERS: dict[str, str] = {
    OURS: OURS,
    "json-repair": "json-repair + schema",
    "jsonmend": "jsonmend",
    "fast-json-repair": "fast-json-repair",
    "baml": "baml",
}
"""The reader that is asked without a definition → the one that is asked with it."""
_VERDICTS = (Verdict.RIGHT, Verdict.REFUSED, Verdict.TOLD, Verdict.SILENT)
_TITLES = ("right", "refused", "lossy", "silent")


@dataclass(frozen=True, slots=True)
class JudgedMutant:
    """One text, one reader, with the definition or without: what it made of it, and the verdict."""

    kind: str
    reader: str
    defined: bool
    mutant: Mutant
    reading: Reading
    verdict: Verdict

    @property
    def unplaced(self) -> bool:
        """Has a finding about the text no place in it?"""
        return any(finding.of_text and finding.start is None for finding in self.reading.findings)

    @property
    def restored(self) -> bool:
        """Is the reading an object that is right, marked or not?"""
        got = self.reading.arguments
        right = answers(self.mutant, defined=self.defined).right
        return got is not None and any(same(one, got) for one in right)


def measure(readers: Iterable[str], each: int = EACH) -> list[JudgedMutant]:
    """`each` mutants of every kind through the readers."""
    return _measure(readers, list(mutants(each)))


def measure_boundaries(readers: Iterable[str], each: int = EACH) -> list[JudgedMutant]:
    """Calls that lost something at a boundary through the readers: 50 texts for each mutant of a kind."""
    return _measure(readers, list(boundary_losses(50 * each)))


def _measure(readers: Iterable[str], texts: list[tuple[str, Mutant]]) -> list[JudgedMutant]:
    """Every text through every reader that is installed, without its definition and with it."""
    return [
        one
        for reader, with_definition in READERS.items()
        if reader in readers and PEERS[reader].version is not None
        for defined, name in ((False, reader), (True, with_definition))
        for one in _judged(texts, reader, name, defined)
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
    given = verdict(mutant, reading, defined=defined, null_is_absent=PEERS[reader].typed)
    return JudgedMutant(kind, reader, defined, mutant, reading, given)


def tally(judged: Iterable[JudgedMutant]) -> Tally:
    counted = Tally()
    for one in judged:
        counted.add(one.verdict)
    return counted


def readers_table(judged: list[JudgedMutant]) -> list[str]:
    """One row a reader: all texts, then those without and with the definition."""
    rows = []
    for reader in dict.fromkeys(one.reader for one in judged):
        ours = [one for one in judged if one.reader == reader]
        parts = [ours, *([one for one in ours if one.defined is defined] for defined in (False, True))]
        shares = [percent(tally(part).share(verdict)) for part in parts for verdict in _VERDICTS]
        rows.append([reader, str(len(ours)), *shares])
    titles = [f"{of}{title}" for of in ("", "undefined: ", "defined: ") for title in _TITLES]
    return table(("reader", "readings", *titles), rows)


def kinds_table(judged: list[JudgedMutant]) -> list[str]:
    """One row a kind of defect: ours in full, of the others how much is right and how much silently wrong."""
    readers = list(dict.fromkeys(one.reader for one in judged))
    others = [reader for reader in readers if reader != OURS]
    rows = []
    for kind in dict.fromkeys(one.kind for one in judged):
        inside = [one for one in judged if one.kind == kind]
        counted = {reader: tally(one for one in inside if one.reader == reader) for reader in readers}
        ours = counted.get(OURS, Tally())
        shares = [percent(ours.share(verdict)) if ours.total else "" for verdict in _VERDICTS]
        rows.append([kind, str(max(one.total for one in counted.values())), *shares])
        rows[-1] += [_right_and_silent(counted[reader]) for reader in others]
    titles = (*_TITLES, *(f"{reader}: right / silent" for reader in others))
    return table(("defect", "readings", *titles), rows)


def restored_table(judged: list[JudgedMutant]) -> list[str]:
    """How many readings of each reader are the right object itself, not a refusal or a marked other one."""
    readers = list(dict.fromkeys(one.reader for one in judged))
    rows = []
    for kind in [*dict.fromkeys(one.kind for one in judged), "all"]:
        shares = []
        for reader in readers:
            for defined in (False, True):
                inside = [
                    one.restored
                    for one in judged
                    if kind in (one.kind, "all") and (one.reader, one.defined) == (reader, defined)
                ]
                shares.append(percent(sum(inside) / max(1, len(inside))))
        rows.append([kind, *shares])
    titles = [f"{reader}{defined}" for reader in readers for defined in ("", ", defined")]
    return table(("defect", *titles), rows)


def _right_and_silent(counted: Tally) -> str:
    return f"{counted.share(Verdict.RIGHT):.0%} / {counted.share(Verdict.SILENT):.0%}"


def shown(judged: Iterable[JudgedMutant], kind: str) -> list[str]:
    """What is not right of a kind of defect, or of all, the silent first and the short before the long."""
    wrong = [one for one in judged if kind in (one.kind, "all") and one.verdict is not Verdict.RIGHT]
    wrong.sort(key=lambda one: (one.kind, one.verdict is not Verdict.SILENT, len(one.mutant.text)))
    return [line for one in wrong for line in _lines(one)]


def _lines(one: JudgedMutant) -> list[str]:
    known = answers(one.mutant, defined=one.defined)
    said = "; ".join(f"{f.code}@{f.start}:{f.end}{'!' * f.warns}" for f in one.reading.findings)
    certain = "" if known.certain else " (or a refusal, or a marked part of it)"
    tool = f"{'with' if one.defined else 'without'} the definition of {one.mutant.tool.name}"
    refused = one.reading.refusal
    return [
        f"--- {one.kind}: {one.verdict}, {tool}; made: {', '.join(one.mutant.kinds)}",
        f"  text     {one.mutant.text!r}",
        f"  intended {one.mutant.intended!r}{certain}",
        f"  got      {one.reading.value!r}" if refused is None else f"  refused  {refused}",
        f"  said     {said or 'nothing'}",
    ]

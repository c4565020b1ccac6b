"""The performance goals of the parser and their measured values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bench import written_calls
from bench.parser.accuracy import Accuracy, tally
from bench.parser.hostile import Endured
from bench.parser.mutations.measure import JudgedMutant
from bench.parser.mutations.measure import tally as tally_mutants
from bench.parser.scoring import Tally, Verdict
from bench.parser.speed import Timed
from bench.parser.texts import EXACT, FAULTS, GENERAL
from bench.peers import OURS


@dataclass(frozen=True, slots=True)
class Promise:
    """One goal and its measured value.

    If the value belongs to a single group or input, `worst` is this group or input.
    """

    what: str
    wanted: str
    measured: str
    kept: bool
    worst: str = ""


_ACCURACY = (
    ("malformed", 0.97, 0.01),
    ("coercions", 0.98, 0.0),
    ("first sight", 0.97, 0.01),
    ("bug reports", 0.92, 0.02),
)


def of_accuracy(accuracy: Accuracy) -> Iterator[Promise]:
    """Yield the accuracy goals. Sections of the corpus without inputs have no goals."""
    for part, right, silent in _ACCURACY:
        counted = tally(accuracy.select(part, OURS))
        if counted.total:
            yield _at_least(f"{part}: right", right, counted.share(Verdict.RIGHT))
            yield _at_most(f"{part}: wrong and silent", silent, counted.share(Verdict.SILENT))
    yield from _of_groups(accuracy)
    for with_dialect, right, silent in ((True, 0.96, 0.01), (False, 0.93, 0.02)):
        counted = tally(judgement for judgement in accuracy.calls if judgement.with_dialect is with_dialect)
        name = f"calls as text, dialect {'given' if with_dialect else 'not given'}"
        if counted.total:
            yield _at_least(f"{name}: right", right, counted.share(Verdict.RIGHT))
            yield _at_most(f"{name}: wrong and silent", silent, counted.share(Verdict.SILENT))
    defects = list(accuracy.select("defects", OURS))
    if defects:
        located = sum(judgement.located for judgement in defects)
        is_kept = located == len(defects)
        yield Promise("single defects reported at their place", "all", f"{located} / {len(defects)}", is_kept)
    ours = [judgement for judgement in accuracy.judged if judgement.reader == OURS]
    if ours:
        unsaid = sum(1 for judgement in ours if judgement.unsaid)
        yield Promise("changes without a diagnostic", "0", str(unsaid), unsaid == 0)


def _of_groups(accuracy: Accuracy) -> Iterator[Promise]:
    groups = {judgement.entry.group for judgement in accuracy.select("malformed", OURS)}
    shares = {
        group: tally(o for o in accuracy.select("malformed", OURS) if o.entry.group == group)
        for group in groups
    }
    if shares:
        worst = min(shares, key=lambda group: shares[group].share(Verdict.RIGHT))
        right = shares[worst].share(Verdict.RIGHT)
        yield _at_least("malformed: right in every group", 0.85, right, worst)


def of_mutations(judged: Iterable[JudgedMutant]) -> Iterator[Promise]:
    ours = [judgement for judgement in judged if judgement.reader == OURS]
    counted = tally_mutants(ours)
    if counted.total:
        yield _at_least("mutations: right", 0.98, counted.share(Verdict.RIGHT))
        yield _at_most("mutations: wrong and silent", 0.005, counted.share(Verdict.SILENT))
        unplaced = sum(judgement.unplaced for judgement in ours)
        yield Promise("mutations: diagnostics of the text without a place", "0", str(unplaced), not unplaced)


def of_boundaries(judged: Iterable[JudgedMutant]) -> Iterator[Promise]:
    counted = tally_mutants(judgement for judgement in judged if judgement.reader == OURS)
    if counted.total:
        yield _at_least("lost at a boundary: right", 0.85, counted.share(Verdict.RIGHT))
        yield _at_most("lost at a boundary: wrong and silent", 0.01, counted.share(Verdict.SILENT))


def of_written(judged: Iterable[written_calls.JudgedText]) -> Iterator[Promise]:
    judgements = list(judged)
    for with_dialect in (True, False):
        counted = Tally()
        for judgement in judgements:
            if judgement.with_dialect is with_dialect:
                counted.add(judgement.verdict)
        if counted.total:
            name = f"calls written as text, dialect {'given' if with_dialect else 'not given'}"
            yield _at_least(f"{name}: right", 0.98, counted.share(Verdict.RIGHT))
            yield _at_most(f"{name}: wrong and silent", 0.01, counted.share(Verdict.SILENT))
    if judgements:
        unsaid = sum(judgement.unsaid for judgement in judgements)
        yield Promise(
            "calls written as text: a missing token or end unreported", "0", str(unsaid), not unsaid
        )


def _at_least(what: str, wanted: float, measured: float, worst: str = "") -> Promise:
    return Promise(what, f"≥ {wanted:.0%}", f"{measured:.1%}", measured >= wanted, worst)


def _at_most(what: str, wanted: float, measured: float) -> Promise:
    return Promise(what, f"≤ {wanted * 100:g}%", f"{measured:.1%}", measured <= wanted)


_COMMAS = ("missing commas", "trailing commas")
_SPEED = (
    ("valid, 300 B", "300 B", ("valid",), 3.0),
    ("valid, 20 KB", "20 KB", ("valid",), 2.0),
    ("one value to convert or report, 300 B", "300 B", tuple(FAULTS), 15.0),
    ("fence, prose, newlines, closers, encoding, 300 B", "300 B", EXACT, 20.0),
    ("fence, prose, newlines, closers, encoding, 20 KB", "20 KB", EXACT, 7.0),
    ("raw newlines and a comma, 20 KB", "20 KB", ("raw newlines and a comma",), 20.0),
    ("unescaped quotes, 20 KB", "20 KB", ("unescaped quotes",), 120.0),
    ("single quotes and literals, 300 B", "300 B", ("single quotes and literals",), 80.0),
    ("single quotes and literals, 20 KB", "20 KB", ("single quotes and literals",), 26.0),
    ("commas, 300 B", "300 B", _COMMAS, 60.0),
    ("quotes, literals, commas, keys, comments, 300 B", "300 B", GENERAL, 120.0),
    ("quotes, literals, commas, keys, comments, 20 KB", "20 KB", GENERAL, 120.0),
)


def of_speed(timed: Iterable[Timed]) -> Iterator[Promise]:
    ours = [timing for timing in timed if timing.reader == OURS]
    for what, size, defects, wanted in _SPEED:
        inside = [timing for timing in ours if timing.call.startswith(size) and timing.defect in defects]
        if not inside:
            continue
        worst = max(inside, key=_slowness)
        is_kept = _slowness(worst) <= wanted
        measured = f"{worst.multiple:.1f} ×" if worst.verdict is Verdict.RIGHT else "not read"
        yield Promise(what, f"≤ {wanted:g} ×", measured, is_kept, f"{worst.defect}, {worst.call}")


def _slowness(timing: Timed) -> float:
    """Return the time of an input as a multiple of the baseline, or infinity if the input is not read
    correctly.
    """
    return (
        timing.multiple if timing.multiple is not None and timing.verdict is Verdict.RIGHT else float("inf")
    )


def of_hostile(endured: Iterable[Endured]) -> Iterator[Promise]:
    results = list(endured)
    slowest = max(results, key=lambda result: result.seconds if result.seconds is not None else float("inf"))
    largest = max(results, key=lambda result: result.megabytes)
    seconds = f"{slowest.seconds:.2f} s" if slowest.seconds is not None else slowest.outcome
    is_kept = slowest.seconds is not None and slowest.seconds < 1
    yield Promise("hostile 1 MB: time", "< 1 s", seconds, is_kept, f"{slowest.text}, {slowest.mode}")
    memory = f"{largest.megabytes:.0f} MB"
    place = f"{largest.text}, {largest.mode}"
    yield Promise("hostile 1 MB: memory", "< 200 MB", memory, largest.megabytes < 200, place)

"""Writes docs/internal/benchmarks.md: measurements, machine, date and an explanation of each table."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from bench import written_calls
from bench.parser.accuracy import Accuracy
from bench.parser.hostile import MODES, Endured, PeerEndured
from bench.parser.mutations import KINDS, SEED
from bench.parser.mutations.measure import JudgedMutant, kinds_table, readers_table, restored_table
from bench.parser.promises import (
    Promise,
    of_accuracy,
    of_boundaries,
    of_hostile,
    of_mutations,
    of_speed,
    of_written,
)
from bench.parser.scoring import Verdict
from bench.parser.speed import Timed
from bench.parser.tables import accuracy_section, table
from bench.peers import PEERS

PAGE = Path(__file__).parents[2] / "docs" / "internal" / "benchmarks.md"

_HEAD = """# Benchmarks of the parser

Written by `./dev bench parser`; run it for your own figures. `lenient` is this project's parser. The
others are installed from `requirements-bench.lock`, which no other command needs."""

_ACCURACY = """The corpus in `bench/corpus/` is our own: broken argument texts, coercions and calls as
text. Each has the result that a careful person would expect. Its authors had not seen the parser but knew
its purpose, and the parser was improved while the corpus was there. Other texts will give other figures,
probably worse ones for `lenient`. What counts as expected (a file's last newline stays, `*.py` is not
`py`, prose is not arguments) is our judgement.

*Right*: the expected object, by JSON equality (1 is 1.0, true is not 1), or a refusal if the text has no
arguments. *Wrong, silent*: another object, without a report on which a caller could stop. For `lenient`
such a report is an error or a `lossy` diagnostic; for the others it is an exception or a message that the
text was cut. *Wrong, reported*: another object, reported as such. *Refused*: no object; other values than
objects count as refused. Texts *at first sight* and *public bug reports* can have several right objects;
if a person could not decide, a report of the doubt is right, too. *Right, defined*: of the texts with a
definition, for which `json-repair + schema`, `baml`, `pydantic` and `msgspec` are made. *Hung*: more than
2 s, or the process died. *Unreported*: texts that were changed without any report. The other parsers get
the benefit of the doubt: a null that they add for an absent parameter is ignored, and refusing everything
is right if one value must be refused."""

_MUTATIONS = f"""Realistic calls of 20 tools (code edits, shell, SQL, nested objects and lists, text in
other scripts, paths, regular expressions, JSON in strings). Each has one defect of {len(KINDS)} kinds, or
two or three of different kinds, made by `bench/parser/mutations/` from the seed {SEED}. Each is read
without the tool's definition (*undefined*) and with it (*defined*). `json-repair` gets the definition as
its schema, `baml` as its classes; `jsonmend` and `fast-json-repair` accept none.

*Right*: the arguments before the defects. If no person could know them (a truncated text, two different
objects, a long value without its last quote), two results are right: a refusal, and an object that
contains only what survived and is reported as a loss or a doubt. With a bracket too many or too few,
every repair of one bracket is tried. If several give JSON, the definition decides; if it cannot, any
answer is right. *Refused*: no object, although the text has one. *Lossy*: another object, reported as
such. *Silent*: another object without a report."""

_BOUNDARIES = """Calls of the mutations and of the corpus. Each lacks one to four consecutive characters
at a boundary of a member, removed by `bench/parser/mutations/boundaries.py` with a seed. Characters that
a text or a number lost are also missing in the right answer. If a name or a bracket lost characters, or
nothing separates the two sides any more, three results are right: the restored object, a refusal, or any
reported object. The misspelt name is right only for a reader without a definition. *Lossy* and *silent*
as above."""

_WRITTEN = """Replies of models without native tool use, made by `bench/written_calls/` with a seed:
every notation with every mistake that it can have, one mistake each. Values contain code, tags, fences,
other scripts, JSON, or the tokens of the notation itself. Each reply is read twice: with its dialect
given, and without.

*Right*: the expected calls, with names and arguments, in order. *Wrong, silent*: other calls without a
report. *Unreported*: a token or the end is missing, and no call reports it."""

_SPEED = """Each figure is a multiple of the time that `orjson.loads` takes for the valid text of the
same value, measured in the same process, in turns. The least processor time of many turns counts. The
fast readers return plain values. `lenient`, `pydantic`, `msgspec`, `baml` and `json-repair + schema`
check against the definition, and `lenient` also builds its diagnostics. `!` marks a reader that returns a
wrong object, `–` one that refuses the text or hangs. Of the two texts of 20 KB, one is a long string with
code and shows how fast strings are read. The other has 150 rows of six short values and shows the cost of
a value."""

_HOSTILE = """Texts of 1 MB that are designed to hang a parser, each read in its own process: processor
seconds, and the megabytes by which the process grew beyond the text. They are read without a definition,
with one, and as a model's text that is searched for calls."""


def accuracy_part(accuracy: Accuracy) -> list[str]:
    return ["## Accuracy", "", _ACCURACY, "", *accuracy_section(accuracy)]


def mutations_part(judged: list[JudgedMutant]) -> list[str]:
    lines = ["## Mutations", "", _MUTATIONS, "", "### Mutations, by reader", "", *readers_table(judged), ""]
    return [*lines, "### Mutations, by kind of defect", "", *kinds_table(judged), ""]


def boundaries_part(judged: list[JudgedMutant]) -> list[str]:
    lines = [
        "## Boundaries",
        "",
        _BOUNDARIES,
        "",
        "### Boundaries, by reader",
        "",
        *readers_table(judged),
        "",
    ]
    lines += ["### Boundaries, by what was lost", "", *kinds_table(judged), ""]
    return [*lines, "### Boundaries, exactly the right object", "", *restored_table(judged), ""]


def written_part(judged: list[written_calls.JudgedText]) -> list[str]:
    return ["## Calls written as text", "", _WRITTEN, "", *written_calls.share_tables(judged)]


def speed_part(timed: list[Timed]) -> list[str]:
    lines = ["## Speed", "", _SPEED, ""]
    for call in dict.fromkeys(timing.call for timing in timed):
        lines += [f"### {call}", "", *_speed_table([timing for timing in timed if timing.call == call]), ""]
    return lines


def _speed_table(timed: list[Timed]) -> list[str]:
    readers = list(dict.fromkeys(timing.reader for timing in timed))
    cells = {(timing.defect, timing.reader): _multiple(timing) for timing in timed}
    rows = [
        [defect, *(cells[defect, reader] for reader in readers)]
        for defect in dict.fromkeys(timing.defect for timing in timed)
    ]
    return table(("text", *readers), rows)


def _multiple(timing: Timed) -> str:
    if timing.multiple is None:
        return "–"
    figure = f"{timing.multiple:.2f}" if timing.multiple < 10 else f"{timing.multiple:,.0f}"
    return figure if timing.verdict is Verdict.RIGHT else f"{figure} !"


def hostile_part(endured: list[Endured], peers: list[PeerEndured]) -> list[str]:
    cells = {(result.text, result.mode): result for result in endured}
    titles = ("text", *(title for mode in MODES for title in (f"{mode}: s", "MB")))
    rows = [
        [f"`{text}`", *(cell for mode in MODES for cell in _endured(cells[text, mode]))]
        for text in dict.fromkeys(result.text for result in endured)
    ]
    lines = ["## Hostile texts", "", _HOSTILE, "", *table(titles, rows), ""]
    if peers:
        counts = [
            (peer_result, len(peer_result.hung), len(peer_result.crashed), len(peer_result.too_deep))
            for peer_result in peers
        ]
        peer_rows = [
            [peer_result.peer, str(peer_result.texts), *map(str, numbers)] for peer_result, *numbers in counts
        ]
        intro = "The other parsers on the same texts, without a definition, with 2 s each:"
        lines += [intro, "", *table(("reader", "texts", "hung", "died", "recursion error"), peer_rows), ""]
    return lines


def _endured(result: Endured) -> tuple[str, str]:
    return (
        (f"{result.seconds:.2f}", f"{result.megabytes:.0f}")
        if result.seconds is not None
        else (result.outcome, "")
    )


_PROMISE_TITLES = ("target", "wanted", "measured", "met", "worst")


def promises_table(promises: Iterable[Promise]) -> list[str]:
    return table(_PROMISE_TITLES, map(_promise_row, promises))


def _promise_row(promise: Promise) -> list[str]:
    yes_or_no = "yes" if promise.kept else "**no**"
    return [promise.what, promise.wanted, promise.measured, yes_or_no, promise.worst]


@dataclass(slots=True)
class Results:
    """The measurements of all parts; a part that did not run has none."""

    accuracy: Accuracy = field(default_factory=Accuracy)
    mutants: list[JudgedMutant] = field(default_factory=list)
    boundaries: list[JudgedMutant] = field(default_factory=list)
    written: list[written_calls.JudgedText] = field(default_factory=list)
    timed: list[Timed] = field(default_factory=list)
    endured: list[Endured] = field(default_factory=list)
    peers: list[PeerEndured] = field(default_factory=list)


def page(results: Results) -> str:
    promises = [
        *of_accuracy(results.accuracy), *of_mutations(results.mutants),
        *of_boundaries(results.boundaries), *of_written(results.written),
        *of_speed(results.timed), *of_hostile(results.endured),
    ]  # fmt: skip
    lines = [
        _HEAD, "", *_circumstances(), "",
        "## Targets", "", *promises_table(promises), "",
        *accuracy_part(results.accuracy), *mutations_part(results.mutants),
        *boundaries_part(results.boundaries), *written_part(results.written),
        *speed_part(results.timed), *hostile_part(results.endured, results.peers),
    ]  # fmt: skip
    return "\n".join(lines).rstrip() + "\n"


def renew(results: Results, part: str) -> None:
    """Replace the section and the promises of one part with the new measurements and their date."""
    parts: dict[str, tuple[Callable[[], list[str]], Iterable[Promise]]] = {
        "accuracy": (lambda: accuracy_part(results.accuracy), of_accuracy(results.accuracy)),
        "mutations": (lambda: mutations_part(results.mutants), of_mutations(results.mutants)),
        "boundaries": (lambda: boundaries_part(results.boundaries), of_boundaries(results.boundaries)),
        "written": (lambda: written_part(results.written), of_written(results.written)),
        "speed": (lambda: speed_part(results.timed), of_speed(results.timed)),
        "hostile": (lambda: hostile_part(results.endured, results.peers), of_hostile(results.endured)),
    }
    written, promised = parts[part]
    title, *rest = written()
    section = [title, "", "Measured separately.", "", *_circumstances(), *rest]
    text = with_promises(with_section(PAGE.read_text(encoding="utf-8"), section), promised)
    PAGE.write_text(text, encoding="utf-8")


def with_promises(page: str, promises: Iterable[Promise]) -> str:
    """Return the page with these promises.

    A promise replaces the promise with the same name; new promises are added at the end.
    """
    before, title, after = page.partition("## Targets\n\n")
    old, end, rest = after.partition("\n\n")
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in old.splitlines()[2:]]
    rows = {row[0]: row for row in [*cells, *map(_promise_row, promises)]}
    return "".join([before, title, "\n".join(table(_PROMISE_TITLES, rows.values())), end, rest])


def with_section(page: str, section: list[str]) -> str:
    """Return the page with this section.

    It replaces the section with the same title, or is inserted before `## Speed`.
    """
    title = section[0]
    text = "\n".join(section).rstrip() + "\n\n"
    before, separator, after = page.partition(f"{title}\n")
    if not separator:
        before, separator, after = page.partition("## Speed\n")
        return f"{before}{text}{separator}{after}"
    _, heading, rest = after.partition("\n## ")
    return f"{before}{text}{heading.lstrip()}{rest}".rstrip() + "\n"


def _circumstances() -> list[str]:
    packages = {peer.package: peer.version or "not installed" for peer in PEERS.values()}
    versions = ", ".join(f"{package} {version}" for package, version in packages.items())
    python = f"{platform.python_implementation()} {platform.python_version()}"
    machine = f"{_processor()}, {os.cpu_count()} cores, {platform.system()}, {python}"
    return [f"{datetime.now(UTC):%Y-%m-%d}. {machine}.", "", f"Versions: {versions}."]


def _processor() -> str:
    """Return the model name of the processor, never the name of the machine."""
    about = Path("/proc/cpuinfo")
    if about.exists():
        for line in about.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()

"""Writes docs/internal/benchmarks.md: results, machine, date and an explanation of each table."""

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

`./dev bench parser` measures the figures and writes this page. `lenient` is the parser of this project.
A *reader* is one of the compared parsers. `requirements-bench.lock` contains the versions of all
readers except `lenient`."""

_ACCURACY = """We wrote the corpus in `bench/corpus/`. The corpus contains broken argument texts, type
coercions and calls written as text, each with the result that a careful person would expect. The
authors of the corpus had not seen the parser `lenient`. We later improved `lenient` with this corpus,
so the accuracy of `lenient` on other texts is probably lower.

A text is *right* if the reader returns the expected object, compared as JSON (1 equals 1.0, true does
not equal 1). If the text contains no arguments, a refusal is right. The reader *warns* if a program can
see that the object is perhaps wrong. `lenient` warns by an error or a `lossy` diagnostic. All other
readers warn by an exception or a message that the text was cut. A text is *wrong, silent* if the reader
returns a wrong object and does not warn. A text is *wrong, reported* if the reader returns a wrong
object and warns. A text is *refused* if the reader returns no object. The groups *first sight* and
*public bug reports* contain texts with several right objects. If a person cannot decide which object is
right, a reader that reports the ambiguity is right. *Right, defined* is the share of right results
among texts with a tool definition, because `json-repair + schema`, `baml`, `pydantic` and `msgspec`
need a definition. *Hung* is the number of texts that made the reader take more than 2 s or ended the
reader's process. *Unreported* is the number of texts that the reader changed without any message. We
made two rules that favour the other readers. If a reader adds a null for an absent parameter, the null
is ignored. If one value must be refused, a reader that refuses the whole text is right."""

_MUTATIONS = f"""The texts of this section are realistic calls of 20 tools (code edits, shell, SQL,
nested objects and lists, text in other scripts, paths, regular expressions, JSON in strings).
`bench/parser/mutations/` adds one to three of {len(KINDS)} kinds of defects to each call, with the
random seed {SEED}. Each reader reads each text twice: without the tool's definition (*undefined*) and
with this definition (*defined*). `json-repair` receives the definition as a schema, and `baml` receives
the definition as classes. `jsonmend` and `fast-json-repair` accept no definition.

A result is *right* if the result equals the original arguments, before the defects were added.
Sometimes no person could know the original arguments, for example if the text is truncated or contains
two different objects. If the original arguments are unknown, a refusal is right. An object with only
undamaged values is right, too, if the reader reports the object as lossy or ambiguous. If several
repairs of one bracket give JSON, the definition decides which repair is right. If the definition cannot
decide, any result is right. A result is *refused* if the reader returns no object although the text
contains an object. A result is *lossy* if the reader returns a wrong object and reports this, and
*silent* if the reader returns a wrong object and reports nothing."""

_BOUNDARIES = """The texts of this section are made from the calls of the sections Mutations and
Accuracy. From each call, `bench/parser/mutations/boundaries.py` removes one to four consecutive
characters at a boundary of an object's member, at random positions (with a fixed seed). If a string or
a number lost characters, these characters are missing in the right result, too. If a name, a bracket or
the separator of two members lost characters, three results are right: the restored object, a refusal,
or any object that is reported as perhaps wrong. An object with a misspelt name is right only if the
reader had no definition. The section Mutations defines *lossy* and *silent*."""

_WRITTEN = """The texts of this section imitate replies of models that have no native tool calls.
`bench/written_calls/` generates the replies with a fixed seed. Each reply contains one mistake, and the
replies cover every possible mistake of every notation. Each reader reads each reply twice: with the
name of the notation (*dialect given*), and without this name.

A reply is *right* if the reader returns the expected calls, with names and arguments, in the right
order. A reply is *wrong, silent* if the reader returns calls that differ from the expected calls, and
reports no problem. A reply is *unreported* if a token or the end of the reply is missing, and no
returned call has a diagnostic about this."""

_SPEED = """Each figure is a ratio: the reader's time, divided by the time that `orjson.loads` takes for
valid JSON of the same value. All readers run many times in the same process, alternately, and each
figure is the shortest processor time. `lenient`, `pydantic`, `msgspec`, `baml` and `json-repair +
schema` check the values against the definition, and `lenient` builds diagnostics, too. All other
readers do not check the values. The sign `!` stands for a wrong object. The sign `–` stands for a
reader that refuses the text or hangs. One text of 20 KB is a long string with code, and a second text
of 20 KB has 150 rows of six short values."""

_HOSTILE = """A hostile text has 1 MB and is designed to hang a parser. Each text is read in a separate
process. The table shows the processor time in seconds, and how much memory (in MB) the process needs in
addition to the text. Each text is read in three ways: without a definition, with a definition, and as a
model's reply that is searched for calls."""


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
        intro = "The other readers get no definition. They have 2 s for each hostile text."
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
    """The results of all measurements, or none for a measurement that was not done."""

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
    """Replace the section and the promises of one measurement with the new results and their date."""
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
    section = [title, "", *_circumstances(), *rest]
    text = with_promises(with_section(PAGE.read_text(encoding="utf-8"), section), promised)
    PAGE.write_text(text, encoding="utf-8")


def with_promises(page: str, promises: Iterable[Promise]) -> str:
    """Return the page with these promises.

    A promise replaces the promise with the same name. New promises are added at the end.
    """
    before, title, after = page.partition("## Targets\n\n")
    old, end, rest = after.partition("\n\n")
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in old.splitlines()[2:]]
    rows = {row[0]: row for row in [*cells, *map(_promise_row, promises)]}
    return "".join([before, title, "\n".join(table(_PROMISE_TITLES, rows.values())), end, rest])


def with_section(page: str, section: list[str]) -> str:
    """Return the page with this section.

    The section replaces a section with the same title. A new section is inserted before `## Speed`.
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
    return [
        f"These figures were measured on {datetime.now(UTC):%Y-%m-%d} on {machine}.",
        "",
        f"The installed versions are {versions}.",
    ]


def _processor() -> str:
    about = Path("/proc/cpuinfo")
    if about.exists():
        for line in about.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()

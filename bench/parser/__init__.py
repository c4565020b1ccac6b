"""Measures how well, how fast and how safely `lenient` and other parsers read broken arguments.

`./dev bench parser` does all measurements and writes docs/internal/benchmarks.md. With the name of a
measurement, only this measurement is done and nothing is written. The names are `accuracy`, `mutations`,
`boundaries` (characters lost between members), `written` (tool calls written as plain text), `speed` and
`hostile`. `--write` also updates the section of this measurement.

`accuracy --show GROUP` lists the inputs of a group that are not read correctly. A group is a defect,
`malformed`, `coercions`, `defects`, `calls`, a dialect, or `all`. `mutations --show KIND` and `boundaries
--show KIND` list these inputs for one kind of defect. `--show` without a value means `all`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from pathlib import Path

from bench import written_calls
from bench.parser import accuracy, corpus, hostile, page, promises, shown, speed
from bench.parser.mutations import measure as mutations
from bench.peers import OURS, PEERS


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    if options.show:
        return _show(options)
    readers = [OURS] if options.only else list(PEERS)
    results = page.Results()
    for part in [options.part] if options.part else list(_PARTS):
        _PARTS[part](options, readers, results)
    if options.json:
        options.json.write_text(json.dumps(results, default=_plain, indent=1), encoding="utf-8")
    if not (options.part or options.only or options.quick):
        page.PAGE.write_text(page.page(results), encoding="utf-8")
        print("written: docs/internal/benchmarks.md")
    elif options.part and options.write:
        page.renew(results, options.part)
        print(f"written: the section on {options.part} of docs/internal/benchmarks.md")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./dev bench parser", description=__doc__)
    parser.add_argument("part", nargs="?", choices=tuple(_PARTS), help="run only this")
    parser.add_argument(
        "--show", metavar="GROUP", nargs="?", const="all", help="list what is not right in a group, or in all"
    )
    parser.add_argument("--write", action="store_true", help="put a part that is run alone on the page")
    parser.add_argument("--reader", default=OURS, choices=PEERS, help="whose, with --show (lenient)")
    parser.add_argument("--only", action="store_true", help="leave the peers out")
    parser.add_argument("--corpus", type=Path, default=corpus.CORPUS, help="another folder of texts")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the raw results too")
    parser.add_argument(
        "--quick", action="store_true", help="less of everything, and no hostile text for the peers"
    )
    return parser


def _show(options: argparse.Namespace) -> int:
    if options.part in _MUTANTS:
        judged = _MUTANTS[options.part]([options.reader], _each(options))
        print("\n".join(mutations.shown(judged, options.show)))
        return 0
    entries = corpus.read_corpus(options.corpus)
    measured = accuracy.measure(entries, [options.reader], _group(options.show))
    print("\n".join(shown.shown(measured, options.reader)))
    return 0


def _group(name: str) -> Callable[[str], bool]:
    return lambda group: name in (group, "all")


def _accuracy(options: argparse.Namespace, readers: list[str], results: page.Results) -> None:
    results.accuracy = accuracy.measure(corpus.read_corpus(options.corpus), readers)
    _print(page.accuracy_part(results.accuracy), promises.of_accuracy(results.accuracy))


def _each(options: argparse.Namespace) -> int:
    return mutations.QUICK if options.quick else mutations.EACH


def _mutations(options: argparse.Namespace, readers: list[str], results: page.Results) -> None:
    results.mutants = mutations.measure(readers, _each(options))
    _print(page.mutations_part(results.mutants), promises.of_mutations(results.mutants))


def _boundaries(options: argparse.Namespace, readers: list[str], results: page.Results) -> None:
    results.boundaries = mutations.measure_boundaries(readers, _each(options))
    _print(page.boundaries_part(results.boundaries), promises.of_boundaries(results.boundaries))


def _written(options: argparse.Namespace, readers: list[str], results: page.Results) -> None:
    results.written = written_calls.judge_texts(rounds=1 if options.quick else written_calls.ROUNDS)
    _print(page.written_part(results.written), promises.of_written(results.written))


def _speed(options: argparse.Namespace, readers: list[str], results: page.Results) -> None:
    results.timed = speed.measure([name for name in readers if name != "orjson"], quick=options.quick)
    _print(page.speed_part(results.timed), promises.of_speed(results.timed))


def _hostile(options: argparse.Namespace, readers: list[str], results: page.Results) -> None:
    results.endured = list(hostile.measure())
    if len(readers) > 1 and not options.quick:
        results.peers = list(hostile.measure_peers())
    _print(page.hostile_part(results.endured, results.peers), promises.of_hostile(results.endured))


_MUTANTS = {"mutations": mutations.measure, "boundaries": mutations.measure_boundaries}
_PARTS = {
    "accuracy": _accuracy,
    "mutations": _mutations,
    "boundaries": _boundaries,
    "written": _written,
    "speed": _speed,
    "hostile": _hostile,
}


def _print(part: list[str], promised: Iterable[promises.Promise]) -> None:
    tables = [line for line in part if line.startswith(("#", "|"))]
    print("\n".join([*tables, *page.promises_table(promised), ""]), flush=True)


def _plain(value: object) -> object:
    """Return a replacement for a value that JSON lacks.

    A record of this benchmark becomes a dict, and any other value becomes its `repr`.
    """
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value) if field.repr}
    return repr(value)

"""How well, how fast and how safely broken arguments are read, by `lenient` and by its peers.

`./dev bench parser` runs all three and writes docs/benchmarks.md; with `accuracy`, `speed` or `hostile` only
that part is run and nothing is written. `accuracy --show GROUP` lists what is not right in a group (a defect,
`malformed`, `coercions`, `defects`, `calls`, a dialect, or `all`).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from pathlib import Path

from tests.bench.parser import accuracy, corpus, hostile, page, promises, shown, speed
from tests.bench.peers import OURS, PEERS


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
        print("written: docs/benchmarks.md")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./dev bench parser", description=__doc__)
    parser.add_argument("part", nargs="?", choices=("accuracy", "speed", "hostile"), help="run only this")
    parser.add_argument("--show", metavar="GROUP", help="list what is not right in a group, or in all")
    parser.add_argument("--reader", default=OURS, choices=PEERS, help="whose, with --show (lenient)")
    parser.add_argument("--only", action="store_true", help="leave the peers out")
    parser.add_argument("--corpus", type=Path, default=corpus.CORPUS, help="another folder of texts")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the raw results too")
    parser.add_argument("--quick", action="store_true", help="fewer turns, and peers meet no hostile text")
    return parser


def _show(options: argparse.Namespace) -> int:
    held = corpus.read_corpus(options.corpus)
    measured = accuracy.measure(held, [options.reader], _group(options.show))
    print("\n".join(shown.shown(measured, options.reader)))
    return 0


def _group(name: str) -> Callable[[str], bool]:
    return lambda group: name in (group, "all")


def _accuracy(options: argparse.Namespace, readers: list[str], results: page.Results) -> None:
    results.accuracy = accuracy.measure(corpus.read_corpus(options.corpus), readers)
    _print(page.accuracy_part(results.accuracy), promises.of_accuracy(results.accuracy))


def _speed(options: argparse.Namespace, readers: list[str], results: page.Results) -> None:
    results.timed = speed.measure([name for name in readers if name != "orjson"], quick=options.quick)
    _print(page.speed_part(results.timed), promises.of_speed(results.timed))


def _hostile(options: argparse.Namespace, readers: list[str], results: page.Results) -> None:
    results.endured = list(hostile.measure())
    if len(readers) > 1 and not options.quick:
        results.peers = list(hostile.measure_peers())
    _print(page.hostile_part(results.endured, results.peers), promises.of_hostile(results.endured))


_PARTS = {"accuracy": _accuracy, "speed": _speed, "hostile": _hostile}


def _print(part: list[str], promised: Iterable[promises.Promise]) -> None:
    """The tables alone: how to read them is on the page."""
    tables = [line for line in part if line.startswith(("#", "|"))]
    print("\n".join([*tables, *page.promises_table(promised), ""]), flush=True)


def _plain(value: object) -> object:
    """What JSON has no word for: our own records by their fields, anything else as Python shows it."""
    if is_dataclass(value):
        return {one.name: getattr(value, one.name) for one in fields(value) if one.repr}
    return repr(value)

"""How well, how fast and how safely broken arguments are read, by `lenient` and by its peers.

`./dev bench parser` runs all three and writes docs/benchmarks.md; with `accuracy`, `speed` or `hostile` only
that part is run and nothing is written. `accuracy --show GROUP` lists what is not right in a group (a defect,
`coercions`, `defects`, `calls`, a dialect, or `all`).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from tests.bench.parser import accuracy, corpus, tables
from tests.bench.peers import OURS, PEERS


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    return _accuracy(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./dev bench parser", description=__doc__)
    parser.add_argument("part", nargs="?", choices=("accuracy", "speed", "hostile"), help="run only this")
    parser.add_argument("--show", metavar="GROUP", help="list what is not right in a group, or in all")
    parser.add_argument("--reader", default=OURS, choices=PEERS, help="whose, with --show (lenient)")
    parser.add_argument("--only", action="store_true", help="leave the peers out")
    parser.add_argument("--corpus", type=Path, default=corpus.CORPUS, help="another folder of texts")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the raw results too")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, a smaller sample")
    return parser


def _accuracy(options: argparse.Namespace) -> int:
    held = corpus.read_corpus(options.corpus)
    if not len(held):
        print(f"there is no corpus in {options.corpus}")
        return 1
    if options.show:
        measured = accuracy.measure(held, [options.reader], _group(options.show))
        print("\n".join(tables.shown(measured, options.reader)))
        return 0
    measured = accuracy.measure(held, [OURS] if options.only else PEERS)
    print("\n".join(tables.accuracy_section(measured)))
    return 0


def _group(name: str) -> Callable[[str], bool]:
    return lambda group: name in (group, "all")

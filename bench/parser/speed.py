"""Times each parser on each input, as a multiple of `orjson.loads` on valid JSON of the same value.

All parsers are measured in turn in one process. The lowest processor time of many measurements counts,
because noise can only add time. Each measurement has new inputs. The time of a parser that reads an input
incorrectly is marked.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from time import process_time
from typing import Any

import orjson

from bench.parser.corpus import Entry
from bench.parser.scoring import Verdict, verdict
from bench.parser.texts import Call, samples
from bench.parser.worker import Worker
from bench.peers import PEERS, Peer

# seconds of one measurement; so short that other processes leave some measurements undisturbed
_SLICE = 0.002
_FRESH = 20  # number of texts of each kind; each measurement takes the next texts
_TURNS, _QUICK_TURNS = 40, 7
_LONGEST = 1.0  # maximum seconds for all measurements of one parser on one text
_FEWEST = 3


@dataclass(frozen=True, slots=True)
class Timed:
    """The time of one parser on one input, as a multiple of the baseline.

    `multiple` is None if the parser was not timed (see `verdict`). `microseconds` is the lowest time for one
    input.
    """

    call: str
    defect: str
    reader: str
    verdict: Verdict | None  # None if the parser hung or crashed
    multiple: float | None = None
    microseconds: float | None = None


def measure(
    readers: Iterable[str], *, quick: bool = False, wanted: Callable[[str], bool] = lambda _: True
) -> list[Timed]:
    """Time the parsers on the inputs with a `wanted` defect."""
    installed = [PEERS[name] for name in readers if PEERS[name].version is not None]
    workers = {peer.name: Worker(peer.name) for peer in installed}
    turns = _QUICK_TURNS if quick else _TURNS
    try:
        return [
            timed
            for kind in zip(*map(samples, range(_FRESH)), strict=True)
            if wanted(kind[0][0])
            for timed in _measure_texts(kind, installed, workers, turns)
        ]
    finally:
        for worker in workers.values():
            worker.stop()


def _measure_texts(
    kind: Sequence[tuple[str, Call, str]], peers: list[Peer], workers: dict[str, Worker], turns: int
) -> Iterator[Timed]:
    defect, call, raw = kind[0]
    entry = Entry(defect, call.name, raw, call.arguments, call.tool)
    verdicts = {peer.name: _tried(peer, workers[peer.name], entry) for peer in peers}
    raws = [text for _, _, text in kind]
    runs: dict[str, Callable[[], object]] = {}
    for peer in peers:
        if verdicts[peer.name] not in (None, Verdict.REFUSED):
            runs[peer.name] = _run(peer.prepare(call.tool).read, raws)
    runs[""] = _run(orjson.loads, [sample.valid for _, sample, _ in kind])
    least = _least_times(runs, turns)
    for name, outcome in verdicts.items():
        seconds = least.get(name)
        multiple = seconds / least[""] if seconds is not None else None
        yield Timed(
            call.name, defect, name, outcome, multiple, seconds * 1e6 if seconds is not None else None
        )


def _tried(peer: Peer, worker: Worker, entry: Entry) -> Verdict | None:
    """Return the verdict on the input, which a separate process reads because the parser may hang."""
    reading = worker.read(entry.raw, entry.tool)
    if (reading.refusal or "").startswith(("hung", "crashed")):
        return None
    return verdict(entry, reading, null_is_absent=peer.typed)


def _run(read: Callable[[Any], object], raws: list[str]) -> Callable[[], object]:
    """Return a function for one measurement. The function parses `raws` and returns the seconds per input."""
    read(raws[0])  # the first call may initialise the parser
    started = process_time()
    for raw in raws:
        read(raw)
    often = max(1, int(_SLICE * len(raws) / (process_time() - started)))
    endless = cycle(raws)

    def turn() -> float:
        fresh = list(islice(endless, often))
        begun = process_time()
        for raw in fresh:
            read(raw)
        return (process_time() - begun) / often

    return turn


def _least_times(runs: dict[str, Callable[[], object]], turns: int) -> dict[str, float]:
    least: dict[str, float] = {}
    spent = dict.fromkeys(runs, 0.0)
    with _without_collector():
        for turn in range(turns):
            for name, run in runs.items():
                if turn >= _FEWEST and spent[name] > _LONGEST:
                    continue
                begun = process_time()
                seconds = run()
                spent[name] += process_time() - begun
                assert isinstance(seconds, float)
                least[name] = min(seconds, least.get(name, seconds))
            gc.collect(0)
    return least


@contextmanager
def _without_collector() -> Iterator[None]:
    """Switch off the garbage collector, as timeit does."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()

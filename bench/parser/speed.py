"""Each text through each reader, as a multiple of `orjson.loads` on the valid text of the same value.

All in one process, in turns, so that a noisy minute is everybody's; the least processor time of many turns
counts, as noise only ever adds. Each turn has texts of its own, as no reader meets one text twice in life. A
reader that gets a text wrong is timed too, and marked.
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

_SLICE = 0.002  # seconds of one turn; short, so that some turns meet no other work
_FRESH = 20  # texts of each kind, of which a turn takes the next ones
_TURNS, _QUICK_TURNS = 40, 7
_LONGEST = 1.0  # seconds for all turns of one reader on one text
_FEWEST = 3


@dataclass(frozen=True, slots=True)
class Timed:
    """One text, one reader: the multiple of the baseline, None when it was not timed (`verdict` says why).

    `microseconds` is the least time of one reading.
    """

    call: str
    defect: str
    reader: str
    verdict: Verdict | None  # None = hung or crashed
    multiple: float | None = None
    microseconds: float | None = None


def measure(
    readers: Iterable[str], *, quick: bool = False, wanted: Callable[[str], bool] = lambda _: True
) -> list[Timed]:
    """Time the readers on the texts whose defects are `wanted`."""
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
    """Time the readers on the texts of one defect and one call."""
    defect, call, raw = kind[0]
    entry = Entry(defect, call.name, raw, call.arguments, call.tool)
    verdicts = {peer.name: _tried(peer, workers[peer.name], entry) for peer in peers}
    raws = [text for _, _, text in kind]
    runs: dict[str, Callable[[], object]] = {}
    for peer in peers:
        if verdicts[peer.name] not in (None, Verdict.REFUSED):
            runs[peer.name] = _run(peer.prepare(call.tool).read, raws)
    runs[""] = _run(orjson.loads, [one.valid for _, one, _ in kind])
    least = _least_times(runs, turns)
    for name, given in verdicts.items():
        taken = least.get(name)
        multiple = taken / least[""] if taken is not None else None
        yield Timed(call.name, defect, name, given, multiple, taken * 1e6 if taken is not None else None)


def _tried(peer: Peer, worker: Worker, entry: Entry) -> Verdict | None:
    """The verdict on the text, found in a process of its own, in case that the reader hangs."""
    reading = worker.read(entry.raw, entry.tool)
    if (reading.refusal or "").startswith(("hung", "crashed")):
        return None
    return verdict(entry, reading, null_is_absent=peer.typed)


def _run(read: Callable[[Any], object], raws: list[str]) -> Callable[[], object]:
    """As many of `raws`, over and over, as fill one turn; calling it returns the seconds of one reading."""
    read(raws[0])  # whatever is made once
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
                taken = run()
                spent[name] += process_time() - begun
                assert isinstance(taken, float)
                least[name] = min(taken, least.get(name, taken))
            gc.collect(0)
    return least


@contextmanager
def _without_collector() -> Iterator[None]:
    """As timeit does: a collection that falls into one reader's turn is not its cost."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()

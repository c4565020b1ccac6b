"""Files in, what each stage of a load takes of them in one process, as a multiple of `orjson.loads`."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from ingest.collect import look_at
from ingest.containers import read_batches
from ingest.events import Event, Rejected
from ingest.formats import decoder_of, skim_of, translated
from ingest.lines import MAX_LINE
from ingest.reading import Recognised, recognised
from ingest.records import Record
from ingest.work import FileWork
from lenient import ToolCatalog

Records = Iterator[Record | Rejected]


def main(files: Sequence[Path]) -> None:
    baseline = _seconds(lambda: deque(map(_loads, files), maxlen=0))
    known = {path: recognised(look_at(path), MAX_LINE) for path in files}
    stages: dict[str, Callable[[Recognised, Records], Any]] = {
        "records": lambda _, records: deque(records, maxlen=0),
        "records, translate": lambda one, records: deque(translated(one.form, records, one.about), maxlen=0),
        "records, translate, work": _work_through,
    }
    print(f"{'orjson.loads':28}{baseline:8.2f} s")
    for name, stage in stages.items():
        taken = _seconds(lambda stage=stage: _each(known, stage))  # type: ignore[misc]
        print(f"{name:28}{taken:8.2f} s{baseline / taken:8.2f} x loads")


def _seconds(work: Callable[[], Any]) -> float:
    before = time.process_time()
    work()
    return time.process_time() - before


def _loads(path: Path) -> None:
    with path.open("rb") as stream:
        for line in stream:
            with suppress(ValueError):
                orjson.loads(line)


def _each(known: dict[Path, Recognised], stage: Callable[[Recognised, Records], Any]) -> None:
    for path, one in known.items():
        with path.open("rb") as stream:
            batches = read_batches(stream, one.container, MAX_LINE, decoder_of(one.form), skim_of(one.form))
            stage(one, (record for batch in batches for record in batch.records))


def _work_through(known: Recognised, records: Records) -> None:
    work = FileWork(file_id=1, source=known.form.SOURCE.name, catalog=ToolCatalog.of(()))
    for event in translated(known.form, records, known.about):
        if isinstance(event, Event):
            work.take(event)
    work.finish()

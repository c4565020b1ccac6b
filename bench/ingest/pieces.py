"""Files in, what each stage of a load takes of them in one process, as a multiple of `orjson.loads`."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from ingest.decoding.containers import read_batches
from ingest.decoding.lines import MAX_LINE
from ingest.events import Event, Rejected
from ingest.formats import line_decoder, line_skimmer, translate_file
from ingest.pipeline.reading.format_recognition import RecognisedLog, recognise_log
from ingest.privacy.event_redaction import Privacy
from ingest.privacy.redactor import Redactor
from ingest.privacy.rules import RedactionRules
from ingest.record import Record
from ingest.sessions.session_builder import SessionBuilder
from ingest.sources.discovery import look_at_file
from lenient import ToolCatalog

Records = Iterator[Record | Rejected]
_PRIVACY = Privacy(Redactor(RedactionRules(), b"a key for these measurements"))


def main(files: Sequence[Path]) -> None:
    baseline = _seconds(lambda: deque(map(_loads, files), maxlen=0))
    known = {path: recognise_log(look_at_file(path), MAX_LINE) for path in files}
    stages: dict[str, Callable[[RecognisedLog, Records], Any]] = {
        "records": lambda _, records: deque(records, maxlen=0),
        "records, translate": lambda one, records: deque(
            translate_file(one.form, records, one.about), maxlen=0
        ),
        "records, translate, redact": _redact_events,
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


def _each(known: dict[Path, RecognisedLog], stage: Callable[[RecognisedLog, Records], Any]) -> None:
    for path, one in known.items():
        with path.open("rb") as stream:
            batches = read_batches(
                stream, one.container, MAX_LINE, line_decoder(one.form), line_skimmer(one.form)
            )
            stage(one, (record for batch in batches for record in batch.records))


def _redact_events(known: RecognisedLog, records: Records) -> None:
    events = translate_file(known.form, records, known.about)
    deque(_PRIVACY.redact_events(events), maxlen=0)


def _work_through(known: RecognisedLog, records: Records) -> None:
    work = SessionBuilder(file_id=1, source=known.form.SOURCE.name, catalog=ToolCatalog.from_definitions(()))
    for event in translate_file(known.form, records, known.about):
        if isinstance(event, Event):
            work.take(event)
    work.finish()

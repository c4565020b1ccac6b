"""Measures the stages of loading logs in one process, as multiples of the time of `orjson.loads`."""

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
from ingest.log_format import Record
from ingest.pipeline.reading.format_recognition import RecognisedLog, recognise_log
from ingest.privacy.event_redaction import Privacy
from ingest.privacy.redactor import Redactor
from ingest.privacy.rules import RedactionRules
from ingest.sessions.session_builder import SessionBuilder
from ingest.sources.discovery import look_at_file
from lenient import ToolCatalog

Records = Iterator[Record | Rejected]
_PRIVACY = Privacy(Redactor(RedactionRules(), b"a key for these measurements"))


def main(files: Sequence[Path]) -> None:
    baseline = _seconds(lambda: deque(map(_loads, files), maxlen=0))
    logs = {path: recognise_log(look_at_file(path), MAX_LINE) for path in files}
    stages: dict[str, Callable[[RecognisedLog, Records], Any]] = {
        "records": lambda _, records: deque(records, maxlen=0),
        "records, translate": lambda log, records: deque(
            translate_file(log.form, records, log.about), maxlen=0
        ),
        "records, translate, redact": _redact_events,
        "records, translate, work": _work_through,
    }
    print(f"{'orjson.loads':28}{baseline:8.2f} s")
    for name, stage in stages.items():
        seconds = _seconds(lambda stage=stage: _each(logs, stage))  # type: ignore[misc]
        print(f"{name:28}{seconds:8.2f} s{baseline / seconds:8.2f} x loads")


def _seconds(work: Callable[[], Any]) -> float:
    before = time.process_time()
    work()
    return time.process_time() - before


def _loads(path: Path) -> None:
    with path.open("rb") as stream:
        for line in stream:
            with suppress(ValueError):
                orjson.loads(line)


def _each(logs: dict[Path, RecognisedLog], stage: Callable[[RecognisedLog, Records], Any]) -> None:
    for path, log in logs.items():
        with path.open("rb") as stream:
            batches = read_batches(
                stream, log.container, MAX_LINE, line_decoder(log.form), line_skimmer(log.form)
            )
            stage(log, (record for batch in batches for record in batch.records))


def _redact_events(log: RecognisedLog, records: Records) -> None:
    events = translate_file(log.form, records, log.about)
    deque(_PRIVACY.redact_events(events), maxlen=0)


def _work_through(log: RecognisedLog, records: Records) -> None:
    work = SessionBuilder(file_id=1, source=log.form.SOURCE.name, catalog=ToolCatalog.from_definitions(()))
    for event in translate_file(log.form, records, log.about):
        if isinstance(event, Event):
            work.take(event)
    work.finish()

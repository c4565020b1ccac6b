"""Runs `callgauge ingest` in its own process. When the third file starts, the process prints `now` and waits.

Run it as a module with the arguments of the command. The environment variable LAST_STEP names a step of
writing the store. Before this step, the process prints `again` and waits.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

from callgauge.cli import main as cli
from ingest.load_report import Progress
from ingest.pipeline import load as pipeline
from ingest.pipeline.reading import file_reader
from ingest.store import writer

file_reader.DRAIN_ROWS = 2
writer.BATCH_ROWS = 4
WAIT = 0.4  # seconds; a signal does not shorten this sleep
load = pipeline.load


def say(word: str) -> None:
    print(word, file=sys.stderr, flush=True)
    time.sleep(WAIT)


def waiting(*paths: Any, on_progress: Callable[[Progress], None], **options: Any) -> Any:
    messages: list[str] = []

    def tell(now: Progress) -> None:
        on_progress(now)
        if now.files_done == 2 and not messages:
            messages.append("now")
            say("now")

    def on_write(step: str) -> None:
        if step == os.environ.get("LAST_STEP"):
            say("again")

    return load(*paths, on_progress=tell, on_write=on_write, **options)


if __name__ == "__main__":
    pipeline.load = waiting  # type: ignore[assignment]
    cli.main()

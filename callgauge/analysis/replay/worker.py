"""The worker process of a replay. It receives a request on standard input and writes files into a folder.

The request is a scenario, or a search for edits that fix a tool's definition. `progress.json` holds the
number of calls parsed so far, and `changed.jsonl` holds the changed calls, the most serious first.
`summary.json` is written last. The process exits early when the time limit is over, or when
its standard input is closed because the server has ended.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from datetime import date
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from callgauge.analysis.metrics import MetricError, read_batches, read_rows
from callgauge.analysis.metrics.published_store import UnshownStoreError, open_generation
from callgauge.analysis.replay.definition_fixes import FixSearch, ask_store
from callgauge.analysis.replay.fix_results import ToolFixes
from callgauge.analysis.replay.replay_calls import (
    CallReplay,
    ChangeKind,
    ReplayedCall,
    StoredCall,
    restore_definition,
)
from callgauge.analysis.replay.scenarios import STORED, Scenario, ScenarioError
from callgauge.analysis.replay.tally import ReplayTally, changed_row

PROGRESS, CHANGED, SUMMARY = "progress.json", "changed.jsonl", "summary.json"
LISTED = 20_000  # maximum number of changed calls in the list; all changed calls are counted
LISTED_BYTES = 64 * 1024 * 1024
TIME_LIMIT = 15 * 60  # seconds
LATE, ORPHANED = 71, 72  # exit codes: the time limit is over; the server has ended
_BATCH = 1_000
_TELL = 0.25  # minimum number of seconds between two progress reports


def main() -> None:
    request: dict[str, Any] = json.loads(sys.stdin.readline())
    with suppress(ImportError):  # Windows has no limit of CPU time
        import resource

        resource.setrlimit(
            resource.RLIMIT_CPU, (TIME_LIMIT, TIME_LIMIT + 5)
        )  # the kernel ends the process if the thread that watches the time cannot run
    threading.Thread(target=_watch_time, daemon=True).start()
    threading.Thread(target=_watch_server, daemon=True).start()
    folder = Path(request["folder"])
    try:
        answer: dict[str, Any]
        if request.get("fixes"):
            answer = {"fixes": _find_fixes(request, folder).to_json()}
        else:
            answer = {"summary": _replay(request, folder).summary().to_json()}
    except (MetricError, ScenarioError, UnshownStoreError) as refused:
        answer = {"refused": str(refused)}
    _write(folder / SUMMARY, answer)
    os._exit(0)  # a thread still waits for standard input, so a normal exit would hang


def _watch_time() -> None:
    time.sleep(TIME_LIMIT)
    os._exit(LATE)


def _watch_server() -> None:
    while sys.stdin.readline():
        pass
    os._exit(ORPHANED)


def _replay(request: Mapping[str, Any], folder: Path) -> ReplayTally:
    with open_generation(Path(request["generation"]), texts=request["texts"]) as connection:
        scenario = Scenario(**request["scenario"])
        replay = CallReplay(
            scenario,
            lambda definition_id: restore_definition(
                read_rows(connection, "replayed_definition", {"definition": definition_id})
            ),
        )
        filters = _read_filters(request)
        filters |= {"every": request["every"], "stored": scenario.before == STORED}
        tally, report = ReplayTally(), _make_report(folder)
        with TemporaryDirectory(dir=folder) as aside:
            listing = _ChangedCalls(Path(aside))
            for rows in read_batches(connection, "replayed_calls", filters, _BATCH):
                for row in rows:
                    replayed = replay.replay_call(StoredCall(*row))
                    tally.take(replayed)
                    listing.add(replayed)
                report(tally.calls)
            listing.write_sorted(folder / CHANGED)
    return tally


def _find_fixes(request: Mapping[str, Any], folder: Path) -> ToolFixes:
    with open_generation(Path(request["generation"]), texts=request["texts"]) as connection:
        search = FixSearch(ask_store(connection), _read_filters(request), _make_report(folder))
        return search.find_fixes(request["fixes"]["tool"], request["fixes"]["keep"])


def _make_report(folder: Path) -> Callable[[int], None]:
    """Return a function that writes the number of calls parsed so far, a few times per second."""
    written_at = 0.0

    def report(calls: int) -> None:
        nonlocal written_at
        if time.monotonic() - written_at >= _TELL:
            written_at = time.monotonic()
            _write(folder / PROGRESS, {"calls": calls})

    return report


def _read_filters(request: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: date.fromisoformat(value) if name.endswith("_day") and value else value
        for name, value in request["filters"].items()
    }


class _ChangedCalls:
    """Lists changed calls as JSON Lines, the most serious changes first, up to LISTED calls and LISTED_BYTES.

    Each kind of change is written to a separate file until all calls are parsed. So a serious change that
    comes late is listed even after many small changes.
    """

    def __init__(self, folder: Path) -> None:
        self._files = {kind: (folder / kind).open("w+b") for kind in ChangeKind}
        self._calls = Counter[ChangeKind]()

    def add(self, replayed: ReplayedCall) -> None:
        kind = replayed.change
        if kind is not None and self._calls[kind] < LISTED and self._files[kind].tell() < LISTED_BYTES:
            self._calls[kind] += 1
            line = json.dumps(changed_row(replayed), ensure_ascii=False).encode("utf-8", "backslashreplace")
            self._files[kind].write(line + b"\n")

    def write_sorted(self, path: Path) -> None:
        """Write the lines of all kinds of change into one file at `path`, and close the separate files."""
        with ExitStack() as kinds, path.open("wb") as changed:
            files = [kinds.enter_context(file) for file in self._files.values()]
            for file in files:
                file.seek(0)
            for line in islice(chain.from_iterable(files), LISTED):
                if changed.tell() >= LISTED_BYTES:
                    break
                changed.write(line)


def _write(path: Path, document: Mapping[str, Any]) -> None:
    aside = path.with_suffix(".new")
    aside.write_text(json.dumps(document), encoding="utf-8")
    aside.replace(path)


if __name__ == "__main__":
    main()

"""Runs the worker processes of replays one at a time, and reports their progress and results.

An unfinished job ends with the browser session that started it. Then `ReplayJob.end` kills the process and
removes the files of the job. The files of a finished job are removed with the last reference to the job.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any

from callgauge.analysis.replay.fix_results import FixQuestion, ToolFixes
from callgauge.analysis.replay.scenarios import Scenario
from callgauge.analysis.replay.tally import ReplaySummary
from callgauge.analysis.replay.worker import CHANGED, LATE, PROGRESS, SUMMARY, TIME_LIMIT
from ingest.processes import describe_exit

_KILLED, _TOO_LONG = 9, 24  # SIGKILL and SIGXCPU, which Windows does not define
COMMAND: Sequence[str] = (sys.executable, "-P", "-m", "callgauge.analysis.replay.worker")
WAITING = 8  # maximum number of waiting jobs
AT_ONCE = 200_000  # a link starts its replay automatically if at most this many calls match
FINISHED = 8  # number of finished jobs whose results are kept, to answer equal requests
FIXES = 200  # number of finished searches for edits whose results are kept
_ROOT = Path(__file__).parents[3]


class JobState(StrEnum):
    """The state of a replay job."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class ReplayQueueFullError(Exception):
    """Raised when too many replays are waiting. The message is one sentence for the user."""


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """The settings of one replay job.

    `generation` is the database file. `filters` selects the calls. `calls` is the number of calls that match
    the filters. `every` is n if only every n-th session is replayed. `scenario` describes the
    changes. If `texts` is False, the worker cannot read content. If `fixes` is set, the job searches for
    edits of a tool's definition, and ignores the scenario.
    """

    generation: str
    filters: Mapping[str, Any]
    calls: int
    every: int
    scenario: Scenario
    texts: bool
    fixes: FixQuestion | None = None


class ReplayJob:
    """One replay, its worker process and its files. Call `poll` to update `state`."""

    def __init__(self, request: ReplayRequest, command: Sequence[str] = ()) -> None:
        self.request = request
        self.state: JobState = JobState.WAITING
        self.problem: str | None = None
        self.summary: ReplaySummary | None = None
        self.fixes: ToolFixes | None = None
        self._command = command or COMMAND
        self._process: subprocess.Popen[bytes] | None = None
        self.folder = Path(tempfile.mkdtemp(prefix="callgauge-replay-"))
        self._remove = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    def start(self) -> bool:
        """Start the worker process. If no process can be started, set the state FAILED and return False."""
        path = os.pathsep.join([str(_ROOT), *filter(None, sys.path)])
        with (self.folder / "stderr").open("wb") as errors:
            try:
                self._process = subprocess.Popen(
                    self._command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    env={**os.environ, "PYTHONPATH": path},
                    process_group=0,  # only the server handles Ctrl-C in a terminal
                )
            except OSError as refused:
                self.state, self.problem = (
                    JobState.FAILED,
                    f"No process could be started: {refused.strerror}.",
                )
                return False
        self.state = JobState.RUNNING
        with suppress(OSError):  # the process has already ended; `poll` reports it
            pipe = self._process.stdin
            if pipe:
                request = {**asdict(self.request), "folder": self.folder}
                pipe.write(json.dumps(request, default=str).encode() + b"\n")
                pipe.flush()
        return True

    def poll(self) -> None:
        """Update `state` and `summary`, `fixes` or `problem` when the worker process has ended."""
        if self.state != JobState.RUNNING or self._process is None:
            return
        code = self._process.poll()
        if code is None:
            return
        self._close()
        answer = self._read(SUMMARY)
        if code == 0 and "summary" in answer:
            self.summary = ReplaySummary.from_json(answer["summary"])
            self.state = JobState.DONE
        elif code == 0 and "fixes" in answer:
            self.fixes = ToolFixes.from_json(answer["fixes"])
            self.state = JobState.DONE
        else:
            self.state, self.problem = (
                JobState.FAILED,
                answer.get("refused") or _describe_end(code, self._read_errors()),
            )

    def progress(self) -> int | None:
        """Return the number of calls that the worker has parsed so far.

        Return None before the worker's first report.
        """
        return self._read(PROGRESS).get("calls")

    def _read(self, name: str) -> dict[str, Any]:
        try:
            document: dict[str, Any] = json.loads((self.folder / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return document

    def _read_errors(self) -> str:
        try:
            lines = (
                (self.folder / "stderr").read_bytes()[-2_000:].decode("utf-8", "replace").strip().splitlines()
            )
        except OSError:
            return ""
        return lines[-1] if lines else ""

    def read_changed_calls(
        self, first: int = 0, count: int | None = None, flow: tuple[str, str] | None = None
    ) -> Iterator[dict[str, Any]]:
        """Yield at most `count` of the listed changed calls, beginning with the 0-based number `first`.

        `flow` limits the calls to one pair (outcome before, outcome after).
        """
        last = None if count is None else first + count
        yield from islice(self._changed_calls(flow), first, last)

    def _changed_calls(self, flow: tuple[str, str] | None) -> Iterator[dict[str, Any]]:
        path = self.folder / CHANGED
        if not path.exists():
            return
        with path.open("rb") as lines:
            for line in lines:
                row = json.loads(line)
                if flow is None or (row["outcome_before"], row["outcome_after"]) == flow:
                    yield row

    def cancel(self) -> None:
        if self.state in (JobState.WAITING, JobState.RUNNING):
            self.state = JobState.CANCELLED
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._close()

    def _close(self) -> None:
        if self._process is not None and self._process.stdin:
            with suppress(OSError):
                self._process.stdin.close()

    def end(self) -> None:
        """Cancel the job and remove its files."""
        self.cancel()
        self._remove()


class ReplayQueue:
    """All replays of this server. One replay is in progress, and up to eight replays wait in order.

    Thread-safe. The results of the last eight jobs and of the last two hundred searches for edits are kept.
    An equal request on the same store gets the kept result.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: list[ReplayJob] = []
        self._finished: list[ReplayJob] = []  # the newest last
        self._fixes: list[tuple[ReplayRequest, ToolFixes]] = []  # the newest last

    def find_finished(self, wanted: ReplayRequest) -> ReplayJob | None:
        """Return a finished replay of the same request, or None."""
        with self._lock:
            self._advance()
            return next((job for job in self._finished if job.request == wanted), None)

    def find_fixes(self, wanted: ReplayRequest) -> ToolFixes | None:
        """Return the result of a finished search for edits, or None."""
        with self._lock:
            self._advance()
            return next((fixes for request, fixes in self._fixes if request == wanted), None)

    def submit(self, job: ReplayJob) -> None:
        """Add a job, and start it when no other job is in progress. Raises ReplayQueueFullError."""
        with self._lock:
            self._advance()
            if len(self._jobs) > WAITING:
                raise ReplayQueueFullError(
                    f"{len(self._jobs)} replays wait already on this server; ask again in a while."
                )
            self._jobs.append(job)
            self._advance()

    def poll(self, job: ReplayJob) -> int:
        """Update the state of all jobs. Return how many jobs are ahead of `job`."""
        with self._lock:
            self._advance()
            return self._jobs.index(job) if job in self._jobs else 0

    def drop(self, job: ReplayJob) -> None:
        """Cancel `job`, and start the next job in the queue."""
        with self._lock:
            job.cancel()
            self._advance()

    def _advance(self) -> None:
        for job in self._jobs:
            job.poll()
            if job.state == JobState.DONE:
                self._finished = [*self._finished, job][-FINISHED:]
                if job.fixes is not None:
                    self._fixes = [*self._fixes, (job.request, job.fixes)][-FIXES:]
        self._jobs = [job for job in self._jobs if job.state in (JobState.WAITING, JobState.RUNNING)]
        while self._jobs and self._jobs[0].state == JobState.WAITING:
            if not self._jobs[0].start():
                self._jobs.pop(0)


class SessionReplay:
    """The single replay job of a browser session. A new job replaces the previous job."""

    def __init__(self, desk: ReplayQueue) -> None:
        self._desk = desk
        self.job: ReplayJob | None = None

    def begin(self, job: ReplayJob) -> None:
        """Replace the session's job by a new job, or by a finished job for the same request.

        Raises ReplayQueueFullError.
        """
        self.release()
        if finished := self._desk.find_finished(job.request):
            job.end()
            self.job = finished
            return
        try:
            self._desk.submit(job)
        except ReplayQueueFullError:
            job.end()
            raise
        self.job = job

    def poll(self) -> int:
        """Return how many replays are ahead of the session's job, or 0 if the session has no job."""
        if self.job is None:
            return 0
        before = self._desk.poll(self.job)
        if self.job.state == JobState.WAITING and self._desk.find_finished(self.job.request):
            self.begin(ReplayJob(self.job.request))
            return 0
        return before

    def cancel(self) -> None:
        if self.job:
            self._desk.drop(self.job)

    def release(self) -> None:
        """Release the session's job, and end it unless it is finished.

        Other sessions may use finished jobs.
        """
        self.cancel()
        if self.job and self.job.state != JobState.DONE:
            self.job.end()
        self.job = None


def _describe_end(code: int, words: str) -> str:
    if code == LATE or code == -_TOO_LONG:
        return f"The replay took more than {TIME_LIMIT // 60} minutes and was ended. Narrow the slice."
    rest = ". Narrow the slice." if code == -_KILLED else f": {words}" if words else "."
    return f"The replay's process ended ({describe_exit(code)}){rest}"

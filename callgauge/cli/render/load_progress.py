"""Shows the progress of a load, and formats its report and the forecast of a dry run.

On a terminal the progress is a bar, elsewhere a line every `_EVERY` seconds.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from callgauge.cli.render.foreign_lines import FEW_FOREIGN, ForeignFile, foreign_lines
from callgauge.cli.render.printable import escape_for_terminal

if TYPE_CHECKING:
    from ingest.load_report import LoadReport, Progress, RejectedFile
    from ingest.pipeline.dry_run import LoadForecast

Tell = Callable[["Progress"], None]
_EVERY = 10.0  # seconds between two lines where there is no terminal
_REDRAWN = 0.1  # seconds between two looks of the bar
_WINDOW = 20.0  # seconds over which the rate is taken: a load passes over what is in at another speed
_REJECTED_SHOWN = 10
_NAME = 80  # characters of a file's name where there is no terminal


class Pace:
    """Measures how many bytes per second a load has read during the last `_WINDOW` seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._marks: deque[tuple[float, int]] = deque()

    def rate_at(self, done: int) -> float | None:
        """Return the bytes per second, `done` bytes being read so far; None when it is too early to tell."""
        now = self._clock()
        self._marks.append((now, done))
        while len(self._marks) > 2 and now - self._marks[0][0] > _WINDOW:
            self._marks.popleft()
        began, before = self._marks[0]
        return (done - before) / (now - began) if now - began > 0.5 else None


def progress_figures(now: Progress, rate: float | None) -> str:
    """Return the progress as text: share, speed, time left, files done, lines rejected.

    `rate` is in bytes per second; None leaves out speed and time left.
    """
    share = 100 * now.bytes_done // now.bytes_total if now.bytes_total else 100
    parts = [f"{share:3d} % of {format_size(now.bytes_total)}"]
    if rate:
        parts += [
            f"{format_size(rate)}/s",
            f"{format_duration((now.bytes_total - now.bytes_done) / rate)} left",
        ]
    parts += [f"{now.files_done:,} of {now.files_total:,} files", f"{now.rejects:,} rejects"]
    return "  ".join(parts)


def current_file(now: Progress, width: int) -> str:
    """Return the name of the file being read, cut at its beginning to `width` characters."""
    shown = escape_for_terminal(now.name) if now.files_done < now.files_total else "writing the store"
    return shown if len(shown) <= width else f"…{shown[1 - width :]}"


def format_size(count: float) -> str:
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:,.1f} {unit}"
    return f"{count:.0f} B"


def format_duration(seconds: float) -> str:
    """Return a length of time as text: 45 s, 3 min 20 s, 2 h 5 min."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600:,} h {whole % 3600 // 60} min"


@contextmanager
def show_progress(*, quiet: bool = False, stream: TextIO | None = None) -> Iterator[Tell]:
    """Yield a function that shows the progress of a load on `stream` (default: stderr).

    A progress bar is removed at the end of the `with` block. `quiet` shows nothing.
    """
    stream = stream or sys.stderr
    if quiet:
        yield lambda _now: None
    elif stream.isatty():
        with _show_bar(stream) as tell:
            yield tell
    else:
        yield _print_lines(stream)


@contextmanager
def _show_bar(stream: TextIO) -> Iterator[Tell]:
    from rich.console import Console, Group
    from rich.live import Live
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    console, pace = Console(file=stream), Pace()
    bar = Bar(BarColumn(bar_width=20), TextColumn("{task.description}", markup=False), console=console)
    drawn = [0.0]
    task, name = bar.add_task("looking at the files", total=None), Text(no_wrap=True)

    def tell(now: Progress) -> None:
        description = progress_figures(now, pace.rate_at(now.bytes_done))
        bar.update(task, description=description, completed=now.bytes_done, total=max(1, now.bytes_total))
        name.plain = current_file(now, console.width - 1)
        if time.monotonic() - drawn[-1] >= _REDRAWN:
            drawn[:] = [time.monotonic()]
            live.refresh()

    # Not refreshed by a thread: a load with one thread can fork its workers.
    with Live(Group(bar, name), console=console, transient=True, auto_refresh=False) as live:
        yield tell


def _print_lines(stream: TextIO) -> Tell:
    said, pace = time.monotonic(), Pace()

    def tell(now: Progress) -> None:
        nonlocal said
        rate, moment = pace.rate_at(now.bytes_done), time.monotonic()
        if moment - said >= _EVERY and now.files_done < now.files_total:
            said = moment
            print(f"{progress_figures(now, rate)}  {current_file(now, _NAME)}", file=stream, flush=True)

    return tell


# --- the closing table -----------------------------------------------------------------------------


def load_report(report: LoadReport, store: Path, rates: Sequence[tuple[str, str]] = ()) -> str:
    """Return the closing lines of a load as text.

    A table of the files read comes first, then the files rejected and what the user can do, then `rates`:
    titles and figures of the whole store.
    """
    rows = list(_report_figures(report)) if report.loaded else []
    width = max((len(name) for name, _ in rows), default=0)
    lines = [
        _count_files(report),
        *(f"  {name:{width}}  {value}" for name, value in rows),
        *load_trouble(report),
    ]
    published = f"published {report.generation} in" if report.generation else "nothing new for"
    lines.append(f"{published} {store}")
    if rates:
        width = max(len(title) for title, _ in rates)
        lines.append("all that the store holds, as the Overview shows it for all days:")
        lines += [f"  {title:{width}}  {figures}" for title, figures in rates]
    return "\n".join(lines)


def load_trouble(report: LoadReport) -> Iterator[str]:
    """Yield a line for each file that was rejected and for other problems; nothing when there are none."""
    if report.rejects:
        known = report.rejects - report.new_rejects
        before = f", {known:,} of them by an earlier load" if known > 0 else ""
        yield f"{report.rejects:,} lines rejected{before}: the Data page lists them with place and reason"
    yield from _list_refused(report.rejected, "rejected", "files rejected")
    for note in report.notes[:_REJECTED_SHOWN]:
        yield f"note: {escape_for_terminal(note)}"
    if report.unread:
        yield f"stopped: {report.unread:,} files wait; the same command reads them"
    if report.left:
        yield f"left out: {report.left:,} files (--since, --limit)"


def _list_refused(files: Sequence[RejectedFile], word: str, more: str) -> Iterator[str]:
    """Yield a line for each refused file, and one for each kind and folder of files that are no logs."""
    foreign = [ForeignFile(file.path, file.foreign, file.reason) for file in files if file.foreign]
    if len(foreign) <= FEW_FOREIGN:
        foreign = []
    listed = [file for file in files if not (foreign and file.foreign)]
    for file in listed[:_REJECTED_SHOWN]:
        yield f"{word}: {escape_for_terminal(f'{file.path} {file.reason}')}"
    if len(listed) > _REJECTED_SHOWN:
        yield f"… and {len(listed) - _REJECTED_SHOWN:,} more {more}"
    yield from foreign_lines(foreign)


def outlook_text(outlook: LoadForecast) -> str:
    """Return the forecast of a dry run as text.

    One line for each action and format, then the files that a load would reject.
    """
    kinds = [(share.would, share.form or "", share) for share in outlook.shares]
    width = max((len(form) for _, form, _ in kinds), default=0)
    lines = [
        f"{would:9}  {form:{width}}  {share.files:>9,} files  {format_size(share.bytes):>10}"
        for would, form, share in kinds
    ]
    lines += _list_refused(outlook.rejected, "would reject", "files")
    lines += [f"note: {escape_for_terminal(note)}" for note in outlook.notes]
    if outlook.left:
        lines.append(f"left out: {outlook.left:,} files (--since, --limit)")
    reading = [share for share in outlook.shares if share.would not in ("unchanged", "companion", "rejected")]
    files, stored = sum(share.files for share in reading), sum(share.bytes for share in reading)
    return "\n".join(
        [*lines, f"a load would read {files:,} files, {format_size(stored)}; nothing was changed"]
    )


def _count_files(report: LoadReport) -> str:
    read = report.loaded + report.unchanged + report.moved
    how = f"{report.loaded:,} read, {report.unchanged:,} unchanged, {report.moved:,} moved"
    beside = f"; {len(report.companions):,} read together with another" if report.companions else ""
    return f"{read:,} files in: {how}{beside}"


def _describe_replaced(report: LoadReport) -> str:
    counts = ((report.sessions_replaced, "replaced"), (report.sessions_removed, "removed"))
    told = [f"{count:,} sessions {how}" for count, how in counts if count]
    return ", ".join([*told, f"{report.calls_fewer:,} calls fewer"])


def _report_figures(report: LoadReport) -> Iterator[tuple[str, str]]:
    """Yield the names and values of the report's table."""
    yield "sessions", f"{report.sessions:,}"
    yield "turns", f"{report.turns:,}"
    copies = f", {report.duplicates:,} of them copies that count once" if report.duplicates else ""
    yield "tool calls", f"{report.calls:,}{copies}"
    if report.sessions_replaced or report.sessions_removed:
        yield "other content", _describe_replaced(report)
    yield "lines", f"{report.lines:,}"
    rate = report.bytes / max(report.seconds, 1e-3)
    yield "read", f"{format_size(report.bytes)} in {report.seconds:,.1f} s ({rate / 1e6:,.1f} MB/s)"

"""Format the progress and report of a load, unreadable lines, the forecast of a dry run, and found agents."""

from __future__ import annotations

import posixpath
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import msgspec

from callgauge.cli.render.terminal import escape_for_terminal
from ingest.load_report import ForeignKind

if TYPE_CHECKING:
    from ingest.load_report import LoadReport, Progress, Reject, RejectedFile
    from ingest.pipeline.dry_run import LoadForecast
    from ingest.pipeline.survey import AgentSurvey

Tell = Callable[["Progress"], None]
_EVERY = 10.0  # Without a terminal, this many seconds pass between two lines.
_REDRAWN = 0.1  # The bar is redrawn at this interval in seconds.
_WINDOW = 20.0  # The speed is averaged over this many seconds, because it jumps when files are skipped.
_REJECTED_SHOWN = 10
_NAME = 80  # Without a terminal, a file name is cut to this many characters.
_FEW_FOREIGN = 3  # Up to this many files are listed individually.
_FOLDERS = 4  # Up to this many folders are listed for each kind of file.
_KINDS = {
    ForeignKind.JSON: "JSON files of other kinds",
    ForeignKind.BROKEN: "files of broken JSON",
    ForeignKind.TEXT: "texts without JSON",
    ForeignKind.BINARY: "binary files",
    ForeignKind.EMPTY: "empty files",
}
_SNIPPET = 100  # The maximum number of characters of a snippet.
_WEEK = 7  # Up to this many days, "5 days ago" is clearer than a date.


class Pace:
    """Measures how many bytes per second a load has read during the last `_WINDOW` seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._marks: deque[tuple[float, int]] = deque()

    def rate_at(self, done: int) -> float | None:
        """Return the bytes per second after `done` bytes were read. Return None in the first half second."""
        now = self._clock()
        self._marks.append((now, done))
        while len(self._marks) > 2 and now - self._marks[0][0] > _WINDOW:
            self._marks.popleft()
        began, before = self._marks[0]
        return (done - before) / (now - began) if now - began > 0.5 else None


def progress_figures(now: Progress, rate: float | None) -> str:
    """Return the progress as text: share of bytes, speed, time left, finished files, unreadable lines.

    `rate` is in bytes per second. If `rate` is None, speed and time left are omitted.
    """
    share = 100 * now.bytes_done // now.bytes_total if now.bytes_total else 100
    parts = [f"{share:3d} % of {format_size(now.bytes_total)}"]
    if rate:
        parts += [
            f"{format_size(rate)}/s",
            f"{format_duration((now.bytes_total - now.bytes_done) / rate)} left",
        ]
    parts += [f"{now.files_done:,} of {now.files_total:,} files", f"{now.rejects:,} unreadable lines"]
    return "  ".join(parts)


def current_file(now: Progress, width: int) -> str:
    """Return the name of the current file. A name longer than `width` characters is cut at the start."""
    shown = escape_for_terminal(now.name) if now.files_done < now.files_total else "writing the store"
    return shown if len(shown) <= width else f"…{shown[1 - width :]}"


def format_size(count: float) -> str:
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:,.1f} {unit}"
    return f"{count:.0f} B"


def format_duration(seconds: float) -> str:
    """Return a duration as text: 45 s, 3 min 20 s, 2 h 5 min."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600:,} h {whole % 3600 // 60} min"


@contextmanager
def show_progress(*, quiet: bool = False, stream: TextIO | None = None) -> Iterator[Tell]:
    """Yield a function that shows the progress of a load on `stream` (default: stderr).

    A terminal shows a bar, which disappears at the end of the `with` block. If `quiet` is True, nothing is
    shown.
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

    # A refresh thread would keep the load from forking its workers.
    with Live(Group(bar, name), console=console, transient=True, auto_refresh=False) as live:
        yield tell


def _print_lines(stream: TextIO) -> Tell:
    printed_at, pace = time.monotonic(), Pace()

    def tell(now: Progress) -> None:
        nonlocal printed_at
        rate, moment = pace.rate_at(now.bytes_done), time.monotonic()
        if moment - printed_at >= _EVERY and now.files_done < now.files_total:
            printed_at = moment
            print(f"{progress_figures(now, rate)}  {current_file(now, _NAME)}", file=stream, flush=True)

    return tell


# --- the closing table -----------------------------------------------------------------------------


def load_report(report: LoadReport, store: Path, rates: Sequence[tuple[str, str]] = ()) -> str:
    """Return the final lines of a load as text.

    The text begins with a table of the files that were read. Then come the unreadable files with advice.
    `rates` are titles and figures of the whole store, and come last.
    """
    rows = list(_report_figures(report)) if report.loaded else []
    width = max((len(name) for name, _ in rows), default=0)
    lines = [
        _count_files(report),
        *(f"  {name:{width}}  {value}" for name, value in rows),
        *load_trouble(report),
    ]
    is_read = report.loaded or report.unchanged or report.moved
    unpublished = "nothing new for" if is_read else "nothing was read, and nothing was published in"
    published = f"published {report.generation} in" if report.generation else unpublished
    lines.append(f"{published} {store}")
    if rates:
        width = max(len(title) for title, _ in rates)
        lines.append("the whole store, all days (see the Overview):")
        lines += [f"  {title:{width}}  {figures}" for title, figures in rates]
    return "\n".join(lines)


def load_trouble(report: LoadReport) -> Iterator[str]:
    """Yield a line for each unreadable file, and for each other problem of the load."""
    if report.rejects:
        known_before = report.rejects - report.new_rejects
        before = f" ({known_before:,} known from an earlier load)" if known_before > 0 else ""
        lines = "1 unreadable line" if report.rejects == 1 else f"{report.rejects:,} unreadable lines"
        yield f"{lines}{before}; the Data page lists them with place and reason"
    yield from _list_unreadable(report.rejected, "unreadable", "unreadable files")
    for note in report.notes[:_REJECTED_SHOWN]:
        yield f"note: {escape_for_terminal(note)}"
    if report.unread:
        yield f"stopped: {report.unread:,} files are left; run the same command to read them"
    if report.left:
        yield f"skipped: {report.left:,} files (--since, --limit)"


def _list_unreadable(files: Sequence[RejectedFile], word: str, more: str) -> Iterator[str]:
    """Yield a line for each unreadable file. Files that are not logs are grouped by kind and folder."""
    foreign = [file for file in files if file.foreign]
    if len(foreign) <= _FEW_FOREIGN:  # A file with data may still be a log, but a text file never is.
        foreign = [file for file in foreign if file.foreign is ForeignKind.TEXT]
    listed = [file for file in files if file not in foreign]
    for file in listed[:_REJECTED_SHOWN]:
        yield f"{word}: {escape_for_terminal(f'{file.path} {file.reason}')}"
    if len(listed) > _REJECTED_SHOWN:
        yield f"… and {len(listed) - _REJECTED_SHOWN:,} more {more}"
    yield from foreign_lines(
        ForeignFile(file.path, file.foreign, file.reason) for file in foreign if file.foreign
    )


def outlook_text(outlook: LoadForecast) -> str:
    """Return the forecast of a dry run: a line for each action and format, then the unreadable files."""
    kinds = [(share.would, share.form or "", share) for share in outlook.shares]
    width = max((len(form) for _, form, _ in kinds), default=0)
    lines = [
        f"{would:9}  {form:{width}}  {share.files:>9,} files  {format_size(share.bytes):>10}"
        for would, form, share in kinds
    ]
    lines += _list_unreadable(outlook.rejected, "unreadable", "unreadable files")
    for record in outlook.mapped:
        lines.append(f"record {record.number:,} of {escape_for_terminal(record.file)}:")
        texts = {**record.fields, "missing": ", ".join(record.missing)}
        lines += [f"  {name:11} {escape_for_terminal(text)}" for name, text in texts.items() if text]
    lines += [f"note: {escape_for_terminal(note)}" for note in outlook.notes]
    if outlook.left:
        lines.append(f"skipped: {outlook.left:,} files (--since, --limit)")
    reading = [share for share in outlook.shares if share.would not in ("unchanged", "companion", "rejected")]
    files, stored = sum(share.files for share in reading), sum(share.bytes for share in reading)
    return "\n".join(
        [*lines, f"a load would read {files:,} files, {format_size(stored)}; nothing was changed"]
    )


def _count_files(report: LoadReport) -> str:
    read = report.loaded + report.unchanged + report.moved
    how = f"{report.loaded:,} read, {report.unchanged:,} unchanged, {report.moved:,} moved"
    count = len(report.companions)
    side_files = f"; {count:,} side file{'' if count == 1 else 's'}" if count else ""
    return f"{read:,} file{'' if read == 1 else 's'} loaded: {how}{side_files}"


def _describe_replaced(report: LoadReport) -> str:
    counts = ((report.sessions_replaced, "replaced"), (report.sessions_removed, "removed"))
    changes = [f"{count:,} sessions {how}" for count, how in counts if count]
    return ", ".join([*changes, f"{report.calls_fewer:,} calls fewer"])


def _report_figures(report: LoadReport) -> Iterator[tuple[str, str]]:
    yield "sessions", f"{report.sessions:,}"
    yield "turns", f"{report.turns:,}"
    copies = f" ({report.duplicates:,} copies counted once)" if report.duplicates else ""
    yield "tool calls", f"{report.calls:,}{copies}"
    if report.sessions_replaced or report.sessions_removed:
        yield "changed files", _describe_replaced(report)
    yield "lines", f"{report.lines:,}"
    rate = report.bytes / max(report.seconds, 1e-3)
    yield "read", f"{format_size(report.bytes)} in {report.seconds:,.1f} s ({rate / 1e6:,.1f} MB/s)"


class ForeignFile(msgspec.Struct, frozen=True):
    """A file that is not a log. `reason` is a clause about the file."""

    path: str
    kind: ForeignKind
    reason: str


class ForeignGroup(msgspec.Struct, frozen=True):
    """The files of one kind in a folder that are not logs. If `below` is True, files in subfolders are
    included.

    `example` is the first file, sorted by path.
    """

    folder: str
    below: bool
    files: int
    example: ForeignFile


def foreign_lines(files: Iterable[ForeignFile]) -> Iterator[str]:
    """Yield a line for each kind and folder of files that are not logs."""
    for group in group_foreign_files(files, _FOLDERS):
        what = "not a log" if group.files == 1 else "not logs"
        yield escape_for_terminal(f"{what} (skipped): {_describe_group(group)}")


def _describe_group(group: ForeignGroup) -> str:
    example = group.example
    if group.files == 1:
        return f"{example.path}, which {_shorten(example.reason)}"
    place = f"{group.folder or 'the archive'}{' and below' if group.below else ''}"
    why = f", which {_shorten(example.reason)}" if example.kind is ForeignKind.JSON else ""
    name = example.path.removeprefix(f"{group.folder}/")
    return f"{group.files:,} {_KINDS[example.kind]} in {place}, such as {name}{why}"


def _shorten(reason: str) -> str:
    """Return a reason without the advice after the semicolon."""
    return reason.split(";", maxsplit=1)[0]


def rejects_lines(rejects: Iterable[Reject], *, each: bool = False) -> Iterator[str]:
    """Yield lines that list unreadable lines and files.

    Each entry has a line with position, code and message, and a line with the unreadable content. The last
    line counts the entries by code. Files that are not logs are grouped by kind and folder, unless `each` is
    True.
    """
    counts: Counter[str] = Counter()
    foreign: list[ForeignFile] = []
    for reject in rejects:
        counts[reject.code] += 1
        if reject.foreign is not None and not each:
            foreign.append(ForeignFile(reject.file, reject.foreign, reject.message.removeprefix("the file ")))
            continue
        place = "" if reject.line is None else f":{reject.line}"
        where = "" if reject.byte_offset is None else f" (byte {reject.byte_offset:,})"
        yield escape_for_terminal(f"{reject.file}{place}{where} {reject.code}: {reject.message}")
        if reject.snippet:
            yield f"    {escape_for_terminal(reject.snippet[:_SNIPPET])}"
    yield from foreign_lines(foreign)
    yield ", ".join(f"{count:,} {code}" for code, count in counts.most_common()) or "no unreadable lines"


def survey_lines(surveys: Sequence[AgentSurvey], now: datetime) -> Iterator[str]:
    """Yield a line for each agent, readable agents first, and a line for each unreadable folder.

    `now` is a time in the user's time zone.
    """
    agents = [survey for survey in surveys if survey.files]
    width = max((len(survey.agent) for survey in agents), default=0) + 1
    for survey in sorted(agents, key=lambda survey: not survey.is_read):
        line = f"{survey.agent + ':':{width}} {describe_survey(survey, now)}"
        why = f"not read: {survey.why}" if survey.why else "not read yet"
        yield line if survey.is_read else f"{line}; {why}"
    for survey in surveys:
        yield from map(escape_for_terminal, survey.unreadable)


def describe_survey(survey: AgentSurvey, now: datetime) -> str:
    """Return the size of an agent's logs as text: 214 sessions, 480 MB, newest today."""
    files = f"{survey.files:,} {survey.unit}{'' if survey.files == 1 else 's'}"
    newest = f", newest {_describe_day(survey.newest, now)}" if survey.newest else ""
    return f"{files}, {format_size(survey.bytes)}{newest}"


def _describe_day(moment: datetime, now: datetime) -> str:
    day = moment.astimezone(now.tzinfo).date()
    days = (now.date() - day).days
    if days <= 0:
        return "today"
    if days == 1:
        return "yesterday"
    return f"{days} days ago" if days <= _WEEK else f"{day}"


def describe_store_rates(store: Path) -> list[tuple[str, str]]:
    """Return the title and the figures of each headline rate over all days of a store.

    Omits rates that were not measured. Without tool definitions, the rate of repaired JSON replaces the rate
    *Needed repair*. Raises UnshownStoreError or MetricError.
    """
    # These modules import DuckDB, which `callgauge --help` does not need.
    from callgauge.analysis import wording
    from callgauge.analysis.measures.rates import HEADLINES, RATES
    from callgauge.analysis.metrics import read_batches
    from callgauge.analysis.metrics.published_store import open_generation, published_generation

    rate_names = (*HEADLINES, "repaired", "defined")
    with open_generation(published_generation(str(store)), texts=True) as connection:
        batches = read_batches(connection, "slices", {"rates": rate_names}, len(rate_names))
        counts = {name: numbers for rows in batches for name, _, _, *numbers in rows}
    figures = []
    for headline in HEADLINES:
        is_repaired = headline == "mended" and not counts.get(headline, (0, 0))[1]
        name = "repaired" if is_repaired else headline
        k, n, total = counts.get(name, (0, 0, 0))[:3]
        if not n:
            continue
        nouns = wording.plural_of(RATES[name].noun)
        notes = [f"measured on {wording.rate(n, total)} of {nouns}"] if total > n else []
        if name == "parse_error" and not counts.get("defined", (0,))[0]:
            notes.append("JSON syntax only: no tool definitions")
        figure = f"{k:,} of {n:,} {nouns} ({wording.rate(k, n)})"
        figures.append((RATES[name].title.lower(), ", ".join([figure, *notes])))
    return figures


def group_foreign_files(files: Iterable[ForeignFile], most: int) -> list[ForeignGroup]:
    """Group files that are not logs by kind and folder. The kinds are in the order of `ForeignKind`.

    If more than `most` folders have such files, the deepest folders are grouped under their parent folder.
    """
    by_kind: dict[ForeignKind, dict[str, list[ForeignFile]]] = {kind: {} for kind in ForeignKind}
    for file in files:
        by_kind[file.kind].setdefault(posixpath.dirname(file.path), []).append(file)
    return [group for folders in by_kind.values() for group in _group_by_folder(folders, most)]


def _group_by_folder(folders: dict[str, list[ForeignFile]], most: int) -> list[ForeignGroup]:
    groups: dict[str, list[ForeignFile]] = {}
    shown = _choose_shown_folders(folders, most)
    for folder, files in folders.items():
        groups.setdefault(shown[folder], []).extend(files)
    below = {shown[folder] for folder in folders if shown[folder] != folder}
    return [
        ForeignGroup(folder, folder in below, len(files), min(files, key=lambda file: file.path))
        for folder, files in sorted(groups.items())
    ]


def _choose_shown_folders(folders: Collection[str], most: int) -> dict[str, str]:
    """Return for each folder the folder under which its files are counted: the folder itself or a parent."""
    shown = {folder: folder for folder in folders}
    while len(names := set(shown.values())) > most and (deepest := max(map(_count_parts, names))) > 1:
        above = {name: posixpath.dirname(name) for name in names if _count_parts(name) == deepest}
        shown = {folder: above.get(name, name) for folder, name in shown.items()}
    return shown


def _count_parts(folder: str) -> int:
    return folder.rstrip("/").count("/")

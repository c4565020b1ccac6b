"""Applies the options `--since` and `--format`."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from datetime import datetime

from ingest.errors import OptionError
from ingest.formats import format_problems, formats
from ingest.sources.log_file import LogFile
from ingest.time_ranges import read_moment


def select_since(files: Sequence[LogFile], since: str | None) -> tuple[list[LogFile], int]:
    """Return the files that changed at `since` or later, and the number of older files.

    `since` is a time that `parse_moment` can parse, or None to keep all files. Raises OptionError for an
    invalid time.
    """
    if since is None:
        return list(files), 0
    start = parse_moment(since, datetime.now().astimezone())
    selected = [log_file for log_file in files if is_since(log_file, start)]
    return selected, len(files) - len(selected)


def check_format_name(name: str | None) -> str | None:
    """Return the name if a format has this name. Return None for None. Raises OptionError for other names."""
    if name is None or name in formats():
        return name
    near = difflib.get_close_matches(name, formats(), n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else "`callgauge formats` lists all formats"
    raise OptionError("; ".join([f"unknown format {name!r}", hint, *format_problems()]))


def parse_moment(since: str, now: datetime) -> int:
    """Return the time that a `--since` option describes, in nanoseconds since 1970. Raises OptionError."""
    try:
        return int(read_moment(since, now).timestamp() * 1e9)
    except (ValueError, OverflowError, OSError) as problem:
        raise OptionError(f"--since {problem}") from None


def is_since(log_file: LogFile, moment_ns: int) -> bool:
    """Return True when the file changed at `moment_ns` or later, or when the time of the file is unknown.

    For a member of an archive, the time of the archive counts.
    """
    return log_file.seen.mtime_ns == 0 or log_file.seen.mtime_ns >= moment_ns

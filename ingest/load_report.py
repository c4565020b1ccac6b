"""What a load tells people: its progress, and what it did in the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RejectedFile:
    """A file that could not be used. `reason` ends a sentence that begins with the path."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadReport:
    """The closing figures of one load. Counts are of the files read in this load, not of the store.

    `loaded` files were read; `unchanged` ones are in already, under this name or as a copy; `moved` ones are
    in and have a new name. `rejects` counts lines (and values) that could not be used. `duplicates` counts
    calls that another row counts already; `faults` (by layer, in the order in which a call passes them) and
    `judged` (calls of which we can tell whether their arguments failed) are of the others. `unread` files
    were left for another load because somebody asked to stop, `left` ones by `--since` and `--limit`. `notes`
    are sentences on what was left out that is no log. `generation` is None when there was nothing new to
    publish.
    """

    loaded: int
    unchanged: int
    moved: int
    rejected: tuple[RejectedFile, ...]
    lines: int
    bytes: int
    sessions: int
    turns: int
    calls: int
    duplicates: int
    rejects: int
    faults: Mapping[str, int]
    judged: int
    unread: int
    left: int
    notes: tuple[str, ...]
    generation: str | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Reject:
    """A line or a value that could not be used; `line` None = the whole file.

    `tools`: the definitions that the file was read with, see
    `ingest.pipeline.planning.change_detection.ReadWith`.
    """

    file: str
    line: int | None
    byte_offset: int | None
    code: str
    message: str
    snippet: str
    tools: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReparseReport:
    """What judging anew did: of `calls` that were judged, `changed` came out otherwise than before.

    `generation` is None when there was nothing to judge.
    """

    calls: int
    changed: int
    generation: str | None
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetReport:
    """What was removed, of how many `files`. `generation` is None when nothing was.

    `elsewhere`: calls of theirs of which another session, that stays, holds a copy. `undated`: sessions that
    stay because no time is known of them.
    """

    sessions: int
    turns: int
    calls: int
    files: int
    elsewhere: int
    undated: int
    generation: str | None
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a load is. `name` is the file it works on; `bytes_done` counts skipped files, too."""

    name: str
    files_done: int
    files_total: int
    bytes_done: int
    bytes_total: int
    rejects: int

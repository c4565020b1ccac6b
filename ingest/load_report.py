"""The reports of a load and of maintenance commands: the progress, and the closing figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum


class ForeignKind(StrEnum):
    """The kind of a file in no known log format, by its first bytes.

    The values of `files.foreign_kind`.
    """

    JSON = "json"  # JSON objects, but in no known format
    BROKEN = "broken"  # begins like JSON, but contains no readable object
    TEXT = "text"  # no JSON object
    BINARY = "binary"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class RejectedFile:
    """A file that could not be used, or not on its own.

    `reason` is the part of a sentence that follows the file's path. `foreign` is the kind of a file that is
    not a log; None = it may be a log. `is_new`: no earlier load rejected it for the same reason.
    """

    path: str
    reason: str
    foreign: ForeignKind | None = None
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class DamagedFile:
    """A file that was read, with the number of its unreadable lines, and the reason for the first of them."""

    path: str
    lines: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadReport:
    """The closing figures of one load. Counts are of the files read in this load, not of the whole store.

    `loaded` files were read. `unchanged` files were in the store already, under this name or as a copy.
    `moved` files were in the store under another name. `unread` files wait for another load because the user
    stopped this one; `--since` and `--limit` left out `left` files. `companions` are files that were read
    together with another one, or other files of a known agent; `reason` tells which, and they are not
    failures.

    For files with new content, `sessions_replaced` were read again, `sessions_removed` were removed by
    --replace, and `calls_fewer` calls were lost by both.

    `rejects` counts lines and values that could not be used, `new_rejects` those new in this load; `damaged`
    names the files of these, at most 100. `new_rejected` counts the files that no earlier load rejected for
    the same reason. `duplicates` counts calls that another row counts already. `faults` (by layer, in the
    order in which a call passes the layers) and `judged` (calls whose arguments could be judged) exclude
    duplicates. `notes` are sentences on inputs that were skipped because they are not logs, and on facts that
    files lack. `newest` is the time (UTC) of the newest session in this load's files, new or already loaded;
    None without any time. A time more than a day in the future counts as a mistake. `generation` is None when
    there was nothing new to publish.
    """

    loaded: int
    unchanged: int
    moved: int
    rejected: tuple[RejectedFile, ...]
    companions: tuple[RejectedFile, ...]
    lines: int
    bytes: int
    sessions: int
    turns: int
    calls: int
    duplicates: int
    rejects: int
    new_rejects: int
    new_rejected: int
    damaged: tuple[DamagedFile, ...] = ()
    sessions_replaced: int
    sessions_removed: int
    calls_fewer: int
    faults: Mapping[str, int]
    judged: int
    unread: int
    left: int
    notes: tuple[str, ...]
    newest: datetime | None
    generation: str | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Reject:
    """A line or a value of a file that could not be used; `line` None = the whole file.

    `tools` is the hash of the tool definitions with which the file was read, see
    `ingest.store.ledger.ReadWith`. `foreign` is as in `RejectedFile`. `part_of` is the log of which the file
    is a part; None = it is a log itself.
    """

    file: str
    line: int | None
    byte_offset: int | None
    code: str
    message: str
    snippet: str
    tools: str | None = None
    foreign: ForeignKind | None = None
    part_of: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReparseReport:
    """The figures of a reparse: `calls` were judged again, and `changed` of them got another verdict.

    `generation` is None when there was nothing to judge.
    """

    calls: int
    changed: int
    generation: str | None
    seconds: float


@dataclass(frozen=True, slots=True)
class ModelName:
    """A name of a model in logs.

    `model` is the model that it counts as, `rule` the reason for another name (None = same name). `source` is
    the origin of the name (log, path, given), `calls` counts model calls of turns.
    """

    model: str
    model_name: str
    source: str
    rule: str | None
    calls: int


@dataclass(frozen=True, slots=True)
class ModelNamesReport:
    """The models of a store; `generation` is the new one when they were recounted, else None."""

    names: tuple[ModelName, ...]
    aliases_enabled: bool
    generation: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetReport:
    """The figures of a removal of sessions. `generation` is None when nothing was removed.

    `runs` counts runs of trials without remaining sessions. `files` counts the files that contained the
    removed sessions. `elsewhere` counts removed calls with a copy in another session. `undated` counts
    sessions that stay because they have no time.
    """

    sessions: int
    turns: int
    calls: int
    runs: int
    files: int
    elsewhere: int
    undated: int
    generation: str | None
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionReport:
    """The figures of a retention run. `generation` is None when nothing was removed.

    Sessions whose last event was before `text_before` have no texts any more, those before `facts_before` are
    removed; None = no such limit. `quotes_removed` counts unreadable lines whose quote was removed. `undated`
    counts sessions that stay because a part of them has no time.
    """

    sessions_removed: int
    turns_removed: int
    calls_removed: int
    sessions_without_text: int
    calls_without_text: int
    quotes_removed: int
    undated: int
    text_before: date | None
    facts_before: date | None
    generation: str | None
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupReport:
    """The figures of a backup.

    `name` is the backup with the present state of the store; `unchanged`: it existed already. `bytes` is the
    size of its files, `bytes_sent` of the pieces that the place lacked. `backups` counts those in the place
    now, `removed` names the removed older ones. `notes` are sentences on skipped work.
    """

    place: str
    name: str
    generation: str
    unchanged: bool
    files: int
    bytes: int
    bytes_sent: int
    backups: int
    removed: tuple[str, ...]
    notes: tuple[str, ...]
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreReport:
    """The figures of a restored backup from the time `made_at` (UTC); `generation` is published."""

    place: str
    name: str
    made_at: str
    generation: str
    files: int
    bytes: int
    calls: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyReport:
    """The result of a successful check: `of` is a store or a backup, `rows` are by table."""

    of: str
    generation: str
    files: int
    bytes: int
    rows: Mapping[str, int]
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The progress of a load.

    `name` is the file being read; `bytes_done` includes skipped files.
    """

    name: str
    files_done: int
    files_total: int
    bytes_done: int
    bytes_total: int
    rejects: int

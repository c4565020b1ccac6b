"""The reports of a load and of maintenance commands: progress and final figures."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from enum import StrEnum

import msgspec


class ForeignKind(StrEnum):
    """The kind of a file whose log format is unknown. The first bytes of the file show the kind.

    These are the values of `files.foreign_kind`.
    """

    JSON = "json"  # JSON objects in an unknown format
    BROKEN = "broken"  # begins like JSON, but contains no object that can be decoded
    TEXT = "text"  # contains no JSON object
    BINARY = "binary"
    EMPTY = "empty"


class RejectedFile(msgspec.Struct, frozen=True):
    """A file that could not be used, or that needs another file to be used.

    `reason` continues a sentence that begins with the file's path. `foreign` is the kind of a file that is
    not a log. It is None if the file may be a log. `is_new` is True when no earlier load rejected the file
    for the same reason.
    """

    path: str
    reason: str
    foreign: ForeignKind | None = None
    is_new: bool = False


class DamagedFile(msgspec.Struct, frozen=True):
    """A file that was read although some of its lines are unreadable.

    `lines` counts the unreadable lines. `reason` says why the first of them is unreadable.
    """

    path: str
    lines: int
    reason: str


class LoadReport(msgspec.Struct, frozen=True, kw_only=True):
    """The final figures of one load. They count only files of this load, not the whole store.

    `loaded` files were read. `unchanged` files were already in the store, under this name or as a copy.
    `moved` files were in the store under another name. `unread` files were not read because the user stopped
    the load. `left` files were excluded by `--since` and `--limit`. `companions` are not failures. They were
    read together with another file, or they are files of a known agent that are not logs; `reason` says which
    of the two.

    `sessions_replaced`, `sessions_removed` and `calls_fewer` are about files with new content. Replaced
    sessions were read again. Removed sessions were deleted because of --replace. `calls_fewer` is the number
    of calls that were lost with replaced and removed sessions.

    `rejects` counts unusable lines and values. `new_rejects` counts the unusable lines and values that no
    earlier load saw. `damaged` lists at most 100 files that contain rejects. `new_rejected` counts files that
    no earlier load rejected for the same reason. `duplicates` counts calls that are copies of a call in
    another row. `faults` counts failed calls by failure stage, in the order of the stages. `judged` counts
    calls whose arguments could be judged. `faults` and `judged` do not include duplicates. `notes` are
    sentences about skipped files that are not logs, and about facts that files do not contain.

    `newest` is the time (UTC) of the newest session in the files of this load, including files that were
    already loaded. It is None when no session has a time. Times more than a day in the future are ignored.
    `generation` is the name of the new store file. It is None when there was nothing new to publish.
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


class Reject(msgspec.Struct, frozen=True):
    """A line or a value of a file that could not be used. `line` is None if the whole file could not be used.

    `tools` is the hash of the tool definitions used to read the file. `foreign` is as in `RejectedFile`.
    `part_of` is the log to which the file belongs. It is None if the file itself is a log.
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


class ReparseReport(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of a reparse. `calls` counts the calls that were judged again. `changed` counts the calls
    whose verdict changed.

    `generation` is the name of the new store file. It is None when no call was judged again.
    """

    calls: int
    changed: int
    generation: str | None
    seconds: float


class ModelName(msgspec.Struct, frozen=True):
    """The name of a model in logs.

    `model` is the name under which the calls of this model are counted. If `model` differs from the name in
    the log, `rule` says why. Otherwise `rule` is None. `source` is where the name comes from (log, path,
    given). `calls` counts the calls to the model in all turns.
    """

    model: str
    model_name: str
    source: str
    rule: str | None
    calls: int


class ModelNamesReport(msgspec.Struct, frozen=True):
    """The models of a store.

    `generation` is the name of the new store file if the models were recounted. Otherwise it is None.
    """

    names: tuple[ModelName, ...]
    aliases_enabled: bool
    generation: str | None


class ForgetReport(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of a deletion of sessions.

    `generation` is the name of the new store file. It is None when nothing was deleted. `runs` counts the
    trial runs that have no session left. `files` counts the files that contained deleted sessions.
    `elsewhere` counts the deleted calls that have a copy in another session. `undated` counts the sessions
    that were not deleted because they have no time.
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


class RetentionReport(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of removing old data.

    `generation` is the name of the new store file. It is None when nothing was removed. Sessions that ended
    before `text_before` lose their message content. Sessions that ended before `facts_before` are removed. If
    a limit is None, nothing is removed for it. `quotes_removed` counts unreadable lines whose quoted content
    was removed. `undated` counts sessions that were not removed because some of their rows have no time.
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


class BackupReport(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of a backup.

    `name` is the backup of the present state of the store. `unchanged` is True if this backup existed before.
    `bytes` is the total size of the backup's files. `bytes_sent` is the total size of the pieces that had to
    be sent. `backups` counts all backups that exist now. `removed` names the older backups that were removed.
    `notes` are sentences about skipped steps.
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


class RestoreReport(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of a restored backup. The backup was made at `made_at` (UTC).

    `generation` is the name of the store file that the restore published.
    """

    place: str
    name: str
    made_at: str
    generation: str
    files: int
    bytes: int
    calls: int
    seconds: float


class VerifyReport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a successful check.

    `of` names the store or the backup that was checked. `rows` has the number of rows by table.
    """

    of: str
    generation: str
    files: int
    bytes: int
    rows: Mapping[str, int]
    seconds: float


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """The progress of a load.

    `name` is the file that is being read. `bytes_done` includes the bytes of skipped files.
    """

    name: str
    files_done: int
    files_total: int
    bytes_done: int
    bytes_total: int
    rejects: int

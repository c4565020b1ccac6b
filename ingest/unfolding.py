"""Files that were found and the ledger in, the logs in them out: an archive becomes its members.

An archive that has not changed since all its members were read is not opened.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import blake2b

from ingest.changes import Options, mark_of
from ingest.formats import formats
from ingest.ledger import Copy, Known, Ledger, Status
from ingest.privacy.names import veiled
from ingest.privacy.seam import PUBLIC, Privacy
from ingest.sources.archives import Archive, look_inside, members_of
from ingest.sources.found import Found
from ingest.version import CALLGAUGE_VERSION


@dataclass(slots=True)
class Unfolded:
    """`turned` are rows of names that were no archives when they were read, `veiled` rows under new names."""

    logs: list[Found] = field(default_factory=list)
    turned: list[Known] = field(default_factory=list)
    veiled: list[Known] = field(default_factory=list)


def unfold(
    files: Iterable[Found],
    ledger: Ledger,
    options: Options,
    privacy: Privacy = PUBLIC,
    again: Collection[str] = (),
) -> Unfolded:
    """Every log in the files, named as the store may; what cannot be looked into comes with its problem.

    `again` names logs that are to be opened though they are in.
    """
    result = Unfolded()
    named, result.veiled = veiled(files, privacy, ledger)
    for found in named:
        if found.problem is not None or not found.place.again or _looks_as_when_read(found, ledger):
            result.logs.append(found)
        elif settled := _settled(found, ledger, options, again):
            result.logs += settled
        else:
            _look_inside(found, ledger, result)
    if privacy:
        result.logs = [replace(log, name=privacy.path(log.name)) for log in result.logs]
    return result


def _looks_as_when_read(found: Found, ledger: Ledger) -> bool:
    row = ledger.at(found.name) or ledger.copy_at(found.name)
    if isinstance(row, Known) and row.status is Status.REJECTED:
        return False
    return row is not None and found.seen.tells and row.outside.seen == found.seen


def _settled(archive: Found, ledger: Ledger, options: Options, again: Collection[str]) -> list[Found]:
    """The members of an archive as the ledger has them; none when it is to be looked into."""
    if not archive.seen.tells:
        return []
    by_mark: dict[str | None, list[Known | Copy]] = {}
    for row in ledger.members_of(archive.name):  # among them members that are no longer in it
        by_mark.setdefault(row.outside.archive_seen, []).append(row)
    for mark, rows in by_mark.items():
        if mark == mark_of(archive.seen, len(rows), _reader()):
            anew = any(row.name in again or _would_differ(row, options) for row in rows)
            return [] if anew else [_repeated(archive, row) for row in rows]
    return []


def _would_differ(row: Known | Copy, options: Options) -> bool:
    return isinstance(row, Known) and options.read_otherwise_than(row)


def _repeated(archive: Found, row: Known | Copy) -> Found:
    outside = row.outside
    return Found(
        row.name,
        archive.place,
        outside.seen,
        archive=outside.archive,
        archive_seen=outside.archive_seen,
        settled=True,
    )


def _look_inside(found: Found, ledger: Ledger, result: Unfolded) -> None:
    try:
        found, archive = look_inside(found)
    except OSError as error:
        result.logs.append(_unreadable(found, error))
        return
    if archive is None:
        result.logs.append(found)
        return
    members, broken = _members(found, archive, fingerprints=len(ledger) > 0)
    if broken is not None:
        result.logs += [*members, _unreadable(found, broken)]
        return
    mark = mark_of(found.seen, len(members), _reader())
    result.logs += [replace(member, archive_seen=mark) for member in members]
    if not members:
        problem = "is an archive that holds no files (hidden ones are left out)"
        result.logs.append(replace(found, problem=problem))
    elif known := ledger.at(found.name):
        result.turned.append(known)


def _members(found: Found, archive: Archive, *, fingerprints: bool) -> tuple[list[Found], OSError | None]:
    members: list[Found] = []
    try:
        for member in members_of(found, archive, fingerprints=fingerprints):
            members.append(member)  # noqa: PERF402 - those before a broken place count
    except OSError as error:
        return members, error
    return members, None


def _unreadable(found: Found, error: OSError) -> Found:
    return replace(found, problem=f"cannot be read: {error.strerror or error}")


@cache
def _reader() -> str:
    """What could read the members: of another version, or with another format, they are tried again."""
    return blake2b(" ".join([CALLGAUGE_VERSION, *formats()]).encode(), digest_size=8).hexdigest()

"""Decides whether a log must be read, is already loaded, or was only renamed.

A log is identified by a hash of its uncompressed content (fingerprint). Name, size and time often allow a
decision without reading the content.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum
from functools import cache, lru_cache
from hashlib import blake2b

import msgspec
from msgspec.structs import replace

from ingest.formats import distribution_of, formats, is_last_resort
from ingest.load_report import ForeignKind
from ingest.pipeline.planning.naming import NO_RULES, Naming
from ingest.sessions.path_facts import PathFacts
from ingest.sources.discovery import still_exists
from ingest.sources.log_content import HEAD, compute_fingerprint, compute_prefixes, open_log
from ingest.sources.log_file import FileStamp, LogFile, can_open
from ingest.store.ledger import FileStatus, Ledger, LedgerCopy, LedgerRow, ReadWith
from ingest.version import CALLGAUGE_VERSION


class Change(StrEnum):
    UNCHANGED = "unchanged"  # the file's content is loaded
    COPIED = "copied"  # the file's content is loaded under another name that still exists
    MOVED = "moved"  # the file's content is loaded under a name that no longer exists
    # rejected before, and neither the file nor its archive has changed since then
    REFUSED = "refused"
    READ = "read"  # new, grown, changed, or rejected last time


# cached, because most files of a load are read with the same options
_read_with = lru_cache(maxsize=8)(ReadWith)


class ReadOptions(msgspec.Struct, frozen=True):
    """The options of a load that affect how a log is read.

    `tools` is a hash of the tool definitions of --tools, or None when none were given. `max_line` is the
    longest line to read, in bytes. `form` is the name of the format for all files. If `form` is None, the
    format of each file is recognised. `privacy` describes which data is removed. If `privacy` is None,
    nothing is removed. `naming` finds facts in paths.
    """

    tools: str | None = None
    max_line: int = 0
    form: str | None = None
    privacy: str | None = None
    naming: Naming = NO_RULES

    def read_with(self, *, cut: bool, facts: PathFacts) -> ReadWith:
        """Return the options that affected how a file was read.

        `cut` is True when a line was longer than `max_line`. `facts` are the facts about the file.
        """
        return _read_with(self.tools, self.max_line if cut else None, self.privacy, facts.to_json())

    def facts_of(self, name: str, row: LedgerRow | None) -> PathFacts:
        """Return the facts about a file that are not in its content.

        `row` is the file's row in the ledger.
        """
        return self.naming.facts_of(name, PathFacts.from_json(row.read_with.facts if row else None))

    def facts_for_format(self, name: str, row: LedgerRow) -> PathFacts:
        """Return the facts that affect how a file is read.

        A field mapping is included only for chat transcripts.
        """
        return select_facts(self.facts_of(name, row), self.form or row.source)

    def map_of(self, name: str, row: LedgerRow | None) -> str | None:
        return PathFacts(mapping=self.facts_of(name, row).mapping).to_json()

    def has_other_map(self, row: LedgerRow) -> bool:
        """Return True if a rejected file was last checked with another field mapping, or without one."""
        past = PathFacts.from_json(row.read_with.facts)
        return self.facts_of(row.name, row).mapping != past.mapping

    def sees_more_than(self, past: ReadWith) -> bool:
        """Return True when these options could add data to a file that was read with `past`, or must remove
        data.

        If only `past` had tool definitions, reading the file again adds no data.
        """
        other_tools = self.tools is not None and self.tools != past.tools
        longer_lines = past.cut_at is not None and past.cut_at < self.max_line
        return other_tools or longer_lines or self.leaves_out_more_than(past)

    def leaves_out_more_than(self, past: ReadWith) -> bool:
        """Return True when this load has privacy rules, but `past` had other privacy rules or none."""
        return self.privacy is not None and self.privacy != past.privacy

    def reads_otherwise_than(self, row: LedgerRow) -> bool:
        """Return True when a loaded file should be read again with these options.

        Reasons: another format is set, other facts are found in the path, or `sees_more_than` is True.
        """
        other_form = self.form is not None and self.form != row.source
        other_facts = self.facts_for_format(row.name, row).to_json() != row.read_with.facts
        return other_form or other_facts or self.sees_more_than(row.read_with)


class ChangeDecision(msgspec.Struct, frozen=True):
    """The decision of a load about a file: `change`, and the affected ledger rows.

    `known` is the row for the content that the file continues, replaces or repeats. For content under a new
    name, it is the row with the old name. For a new file, it is None. `left` is the row for the file's
    previous content, if this is another row.
    """

    change: Change
    known: LedgerRow | None = None
    left: LedgerRow | None = None


def sort_safely(files: Iterable[LogFile], ledger: Ledger) -> list[LogFile]:
    """Return the files in the order of reading. Files with known names come first.

    Members of an archive stay in the archive's order, because a compressed archive can only be read forward.
    """

    def key(log_file: LogFile) -> tuple[bool, str, int]:
        return ledger.find_by_name(log_file.name) is None, log_file.archive or log_file.name, log_file.order

    return sorted(files, key=key)


def decide_change(log_file: LogFile, ledger: Ledger, options: ReadOptions) -> ChangeDecision:
    """Return what to do with a file that can be opened.

    If name, size and time are not enough to decide, the content is read. Raises OSError when the reading
    fails.
    """
    known_row = ledger.find_by_name(log_file.name)
    refused = known_row is not None and known_row.status is not FileStatus.LOADED
    if log_file.settled or (known_row is not None and is_still_foreign(log_file, known_row, options)):
        return ChangeDecision(Change.REFUSED if refused else Change.UNCHANGED, known_row)
    if known_row is not None and (refused or options.reads_otherwise_than(known_row)):
        # The cause may be gone (permissions, disk, old version). A new check reads only the first lines.
        return ChangeDecision(Change.READ, known_row)
    if known_row is not None and has_what_it_lacked(log_file, known_row):
        return ChangeDecision(Change.READ, known_row)
    row = known_row or ledger.find_copy(log_file.name)
    if row is not None and looks_the_same(log_file, row):
        return ChangeDecision(Change.UNCHANGED, known_row)
    same = _find_same_content(log_file, ledger)
    if known_row is not None and known_row in same:
        return ChangeDecision(Change.UNCHANGED, known_row)
    if public := next((row for row in same if options.leaves_out_more_than(row.read_with)), None):
        return ChangeDecision(Change.READ, public, left=known_row)
    if same:
        return replace(decide_copy(same), left=known_row)
    if continued := _find_continued_row(log_file, known_row, ledger):
        return ChangeDecision(Change.READ, continued, left=known_row)
    return ChangeDecision(Change.READ, known_row)


def select_facts(facts: PathFacts, form: str | None) -> PathFacts:
    """Return the facts that affect reading in the format `form`. A mapping is left out if the format ignores
    it.

    `form` is None when the format is unknown.
    """
    if facts.mapping is None or form is None or (form in formats() and is_last_resort(formats()[form])):
        return facts
    return replace(facts, mapping=None)


@cache
def reader_version() -> str:
    """Return a hash of the versions of Callgauge and third-party formats, and of the names of all formats.

    When the hash changes, rejected files are checked again.
    """
    known = [f"{name} {distribution_of(form) or ''}".strip() for name, form in formats().items()]
    return blake2b(" ".join([CALLGAUGE_VERSION, *known]).encode(), digest_size=8).hexdigest()


def is_still_foreign(log_file: LogFile, row: LedgerRow, options: ReadOptions) -> bool:
    """Return True if a file was not a log, and if the file and the known formats are unchanged.

    The formats may change with the program's version. A text file is always checked again, because the text
    may now be the beginning of a log.
    """
    return (
        row.foreign not in (None, ForeignKind.TEXT)
        and row.refused_by == reader_version()
        and not options.has_other_map(row)
        and options.form is None
        and log_file.seen.is_telling
        and row.outside.seen == log_file.seen
    )


def looks_the_same(log_file: LogFile, row: LedgerRow | LedgerCopy) -> bool:
    """Return True when size and time show that a file has the content of the row.

    Return False for a member that was cut off with its archive, because the complete member has the same size
    and time.
    """
    was_cut_member = log_file.archive is not None and isinstance(row, LedgerRow) and row.is_cut_off
    return log_file.seen.is_telling and row.outside.seen == log_file.seen and not was_cut_member


def decide_copy(same: Sequence[LedgerRow]) -> ChangeDecision:
    """Return whether loaded content under a new name was moved or copied.

    `same` are the rows with this content. The content was moved when the file of one of these rows no longer
    exists.
    """
    gone = next((row for row in same if not _row_still_exists(row)), None)
    return ChangeDecision(Change.MOVED, gone) if gone else ChangeDecision(Change.COPIED, same[0])


def has_what_it_lacked(log_file: LogFile, row: LedgerRow) -> bool:
    """Return True when a file next to the log exists now but was missing when the log was read."""
    return any(can_open(log_file.place.sibling(name)) for name in row.lacks)


def begins_like(log_file: LogFile, row: LedgerRow) -> bool:
    """Return True when a file begins with the first bytes of a row's content. Raises OSError.

    Such a file has probably grown, but only reading the file can confirm this.
    """
    looked_at = min(HEAD, row.size)
    return compute_prefixes(log_file, [looked_at]).get(looked_at) == row.head


def _find_continued_row(log_file: LogFile, known_row: LedgerRow | None, ledger: Ledger) -> LedgerRow | None:
    """Return the ledger row whose content is the beginning of the file. Return None when there is no such
    row.

    This finds a log that grew and was then renamed.
    """
    rows = [row for row in ledger.earlier_rows() if row.fingerprint is not None and row.size]
    if not rows or not log_file.place.can_reopen or log_file.archive is not None:
        return None
    if known_row is not None and known_row.fingerprint is not None and begins_like(log_file, known_row):
        return None
    heads = compute_prefixes(log_file, sorted({min(HEAD, row.size) for row in rows}))
    alike = [row for row in rows if heads.get(min(HEAD, row.size)) == row.head]
    prefixes = compute_prefixes(log_file, sorted({row.size for row in alike})) if alike else {}
    longest_first = sorted(alike, key=lambda row: -row.size)
    return next((row for row in longest_first if prefixes.get(row.size) == row.content_hash), None)


def _find_same_content(log_file: LogFile, ledger: Ledger) -> Sequence[LedgerRow]:
    """Return the rows whose content equals the file's content.

    The file is read only when a row has the same size, or the same first bytes.
    """
    if log_file.fingerprint is not None:
        return ledger.find_by_content(log_file.fingerprint)
    if not log_file.place.can_reopen or not len(ledger):
        return []  # the size of a stream is unknown, so the content is compared after the stream was read
    alike = (
        ledger.find_by_size(log_file.content_size)
        if log_file.content_size is not None
        else _find_alike(log_file, ledger)
    )
    if not alike:
        return []
    return ledger.find_by_content(compute_fingerprint(log_file))


def _find_alike(log_file: LogFile, ledger: Ledger) -> Sequence[LedgerRow]:
    with open_log(log_file) as content:
        content.readinto(bytearray(HEAD))
        return ledger.find_by_head(content.head)


def _row_still_exists(row: LedgerRow) -> bool:
    if row.status is FileStatus.EARLIER:
        return False
    if row.read_with.privacy is not None:
        return True  # the recorded name may be redacted, so assume that the file exists
    outside = row.outside
    if outside.archive is None:
        return still_exists(row.name, outside.seen)
    return outside.archive_seen is not None and still_exists(
        outside.archive, parse_archive_mark(outside.archive_seen)
    )


def is_likely_read(
    log_file: LogFile, ledger: Ledger, options: ReadOptions, again: Collection[str] = ()
) -> bool:
    """Return True when a load will probably read the file.

    Return False when only reading could decide, for example for a file that may be a copy. `again` are names
    of files that are always read.
    """
    if log_file.problem is not None or log_file.settled or not log_file.place.can_reopen:
        return False
    known_row = ledger.find_by_name(log_file.name)
    if known_row is not None and (log_file.name in again or known_row.status is not FileStatus.LOADED):
        return log_file.name in again or not is_still_foreign(log_file, known_row, options)
    if known_row is not None and options.reads_otherwise_than(known_row):
        return True
    if known_row is not None and has_what_it_lacked(log_file, known_row):
        return True
    row = known_row or ledger.find_copy(log_file.name)
    if row is not None and looks_the_same(log_file, row):
        return False
    if log_file.fingerprint is not None:
        return not ledger.find_by_content(log_file.fingerprint)
    if log_file.content_size is None:
        return known_row is not None or not len(ledger)
    return (
        log_file.content_size != known_row.size
        if known_row
        else not ledger.find_by_size(log_file.content_size)
    )


def make_archive_mark(archive: FileStamp, members: int, reader: str) -> str:
    """Return a string that identifies the state of an archive whose members have all been read or refused.

    `members` is the number of members. `reader` is the version that read the members. While the string stays
    the same, the archive need not be opened.
    """
    return json.dumps([archive.size, archive.mtime_ns, archive.version, members, reader])


def parse_archive_mark(mark: str) -> FileStamp:
    """Return the archive's size, time and version from a string of `make_archive_mark`.

    If the string cannot be parsed, return an empty stamp, which no existing file has.
    """
    try:
        size, mtime_ns, version, *_ = json.loads(mark)
    except ValueError:
        return FileStamp()
    return FileStamp(size, mtime_ns, version)

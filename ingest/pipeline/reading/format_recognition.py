"""Recognises the format of a log from its first records, or explains why no format fits.

A log that is still being written is read only up to its size at the start.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from hashlib import blake2b
from itertools import islice
from typing import Any

import msgspec
from msgspec.structs import replace

from ingest.decoding.call_marks import CallMark, find_marks
from ingest.decoding.containers import Container, detect_container, read_records
from ingest.errors import DamagedFileError
from ingest.events import Rejected
from ingest.formats import (
    claiming_formats,
    describe_side_file,
    explain_unread,
    find_companion,
    formats,
    is_asked_first,
)
from ingest.load_report import ForeignKind
from ingest.log_format import About, Format, Record
from ingest.record_mapping import RecordMapping, find_message_lists, find_model_and_time
from ingest.sources.archives.file_type import DATABASE
from ingest.sources.databases.snapshot import ALL_SIDE_FILES, DATABASE_NAMES
from ingest.sources.log_content import LogContent, open_log
from ingest.sources.log_file import LogFile, LogPlace
from ingest.sources.stored_names import stored_path

HEAD_OBJECTS = 50
HEAD_BYTES = 1024 * 1024  # bytes; if the first line is longer, the whole line is still read
_FIRST_LOOK = (4, 64 * 1024)  # number of objects and number of bytes, enough to recognise most files
_UNDER_WAY = ".jsonl.part"  # suffix of a session in an unfinished trial run
# Known kinds of files with tool calls that no format reads: the keys of their objects, and a description.
_UNREAD_KINDS = (
    (frozenset({"eval_set_id", "eval_cases"}), "an evaluation set of ADK (expected calls)"),
    (frozenset({"hookName", "iteration"}), "hooks of Cline"),
    (frozenset({"op_name", "trace_id", "inputs"}), "Weights & Biases Weave"),
    (frozenset({"run_id", "thread_id", "step_details"}), "run steps of OpenAI's Assistants"),
    (frozenset({"event_id", "type", "response"}), "OpenAI's Realtime API"),
    (frozenset({"jsonrpc", "result"}), "a JSON-RPC log (A2A and the like)"),
    (frozenset({"trace_id", "span_id", "meta"}), "Datadog's LLM Observability"),
    (frozenset({"workspaceDirectory", "history"}), "a session of Continue"),
)
_KEY_SHOWN = 60  # characters; a longer key is not shown, because it could contain part of a secret
# Matches a call in markup, JSON, YAML or code. Prose such as a README also names tool calls.
_WRITTEN_CALL = re.compile(
    rb"""(?:<[^<>\s]{0,20}|["'\[|])(?:tool_?(?:call|use)|function_?call)|<function|<invoke"""
    rb"""|(?:tool_?(?:call|use)|function_?call)s?\s{0,8}[:=({\[]|["'](?:arguments|parameters)["']""",
    re.IGNORECASE,
)
_PACKED = re.compile(r"\.(gz|bz2|xz|zstd?)$", re.IGNORECASE)


class UnusableFileError(Exception):
    """The whole file is unusable. The message continues a sentence that begins with the file's name.

    If `may_pass` is True, the disk or the network is the cause, so a later load may succeed. `is_companion`
    is True if this is no failure: the file is not a log, or it is read together with another file, which the
    message names. `foreign` is the kind of a file that is not a log; it is None if the file may be a log. If
    `is_noted` is False, an option of this load is the cause, so the store does not record the error.
    """

    may_pass = False
    is_companion = False
    foreign: ForeignKind | None = None
    is_noted = True


def describe_read_error(error: OSError, beyond: str = "") -> UnusableFileError:
    """Return an UnusableFileError for a file that could not be read.

    `beyond` says how far the file was read, such as " beyond line 12".
    """
    unusable = UnusableFileError(f"cannot be read{beyond}: {error.strerror or error}")
    unusable.may_pass = not isinstance(error, DamagedFileError)
    return unusable


class RecognisedLog(msgspec.Struct, frozen=True):
    """A log's format and container, and the facts about the file for the translator.

    `is_claimed` is False when an option names a format that does not recognise the file. `head` are the first
    objects of the log.
    """

    form: Format
    container: Container
    about: About
    siblings: SiblingFiles
    is_claimed: bool
    head: tuple[dict[str, Any], ...]


def recognise_log(log_file: LogFile, max_line: int) -> RecognisedLog:
    """Return the format and container that the beginning of a log shows.

    Raises UnusableFileError or OSError.
    """
    with open_log(log_file, rewinds=True) as content:
        return recognise_content(content, log_file, max_line)


def recognise_content(
    content: LogContent,
    log_file: LogFile,
    max_line: int,
    form: str | None = None,
    mapping: RecordMapping | None = None,
) -> RecognisedLog:
    """Return the format and container of a log, and rewind the log to its beginning.

    If `form` is given, the format with this name is returned. Otherwise the only format that recognises the
    log is returned. `mapping` has the paths of fields in chat transcripts. `content` must not have been
    rewound before. Raises OSError, or UnusableFileError with the reason.
    """
    head = read_head(content, max_line, mapping)
    check_side_file(log_file.place, head)
    about = replace(describe_log(log_file, content, head, max_line), mapping=mapping)
    if form is None and (described := describe_side_file(about)) is not None:
        side_file = UnusableFileError(f"is {described}, not a log")
        side_file.is_companion = True
        raise side_file
    chosen = choose_format(head, about, form)
    siblings = SiblingFiles(log_file.place, max_line)
    return RecognisedLog(
        chosen, head.container, about, siblings, chosen in head.claiming, tuple(head.objects)
    )


def check_side_file(place: LogPlace, head: LogHead) -> None:
    """Raise UnusableFileError for an incomplete file, or for a file that belongs to a database."""
    if place.own_name.endswith(_UNDER_WAY) and any(_is_of_trial(value) for value in head.objects[:1]):
        under_way = UnusableFileError("is a trial that is still running; load it after it has ended")
        under_way.is_companion = True
        raise under_way
    suffix = next((end for end in ALL_SIDE_FILES if place.own_name.endswith(end)), None)
    if suffix is None or head.objects:
        return
    database = place.sibling(place.own_name.removesuffix(suffix))
    if database is None or not _is_database(database):
        return
    beside = UnusableFileError(f"is read with {_one_line(database.own_name)}")
    beside.is_companion = True
    raise beside


def _is_of_trial(value: dict[str, Any]) -> bool:
    meta = value.get("meta")
    return isinstance(meta, dict) and "trial" in meta


def _is_database(place: LogPlace) -> bool:
    try:
        with closing(io.BufferedReader(place.open())) as stream:
            return stream.read(len(DATABASE)) == DATABASE
    except OSError:
        return False


def describe_log(log_file: LogFile, content: LogContent, head: LogHead, max_line: int) -> About:
    name = log_file.place.own_name
    if content.packed:
        name = _PACKED.sub("", name)
    return About(
        name,
        _head_identity(head),
        SiblingFiles(log_file.place, max_line),
        log_file.place.folder_name,
        log_file.name,
    )


class LogHead(msgspec.Struct, frozen=True):
    """The beginning of a log: its first bytes, its first objects, and the formats that recognise these
    objects.

    `cut_off` is the reason when compressed data ends too early, or None. `too_long` is the reason when a line
    or the document is longer than `--max-line`, or None.
    """

    first: bytes
    container: Container
    objects: list[dict[str, Any]]
    claiming: list[Format]
    cut_off: str | None
    too_long: str | None


def read_head(content: LogContent, max_line: int, mapping: RecordMapping | None = None) -> LogHead:
    """Return the beginning of a log, and rewind the log for the final reading. Raises OSError."""
    head = _read_objects_up_to(content, max_line, *_FIRST_LOOK, mapping)
    objects, size = _FIRST_LOOK
    was_whole = len(head.first) < size and len(head.objects) < objects  # the whole file was already read
    is_certain = len(head.claiming) == 1 and is_asked_first(head.claiming[0])
    if not is_certain and head.first and not was_whole:
        content.go_back()
        head = _read_objects_up_to(content, max_line, HEAD_OBJECTS, HEAD_BYTES, mapping)
    content.rewind()
    return head


def _read_objects_up_to(
    content: LogContent, max_line: int, objects: int, at_most: int, mapping: RecordMapping | None
) -> LogHead:
    stream = content.open_buffered(at_most)
    first = stream.peek(at_most)[:at_most]
    container = detect_container(first)
    records = read_records(stream, container, max_line, size=at_most)
    values, too_long = _collect_objects(records, objects, at_most)
    stream.detach()
    claiming = claiming_formats(values, mapping)
    return LogHead(first, container, values, claiming, content.cut_off, too_long)


def _collect_objects(
    records: Iterable[Record | Rejected], objects: int, at_most: int
) -> tuple[list[dict[str, Any]], str | None]:
    values: list[dict[str, Any]] = []
    too_long: str | None = None
    for record in records:
        if isinstance(record, Record):
            values.append(record.value)
        elif record.code == "line_too_long":
            too_long = record.reason
        if len(values) == objects or record.where.offset >= at_most:
            break
    return values, too_long


def choose_format(head: LogHead, about: About, form: str | None = None) -> Format:
    """Return the format named `form`, or the only format that recognises the log.

    Raises UnusableFileError when the log contains no object, when no format or more than one format
    recognises it, or when it is read together with another file.
    """
    named = form is not None and bool(head.objects)
    if not named and not head.claiming and (companion := find_companion(about)) is not None:
        beside = UnusableFileError(f"is read with {_one_line(companion)}")
        beside.is_companion = True
        raise beside
    if not head.objects and head.cut_off is not None:
        raise describe_read_error(DamagedFileError(head.cut_off))
    if not head.objects and head.too_long is not None:
        raise UnusableFileError(f"cannot be read: {head.too_long}")
    if not head.objects:
        kind, why = _describe_no_records(head.first, about.name)
        refusal = _refuse_foreign(kind, why, _collect_explanations(about, head))
        if kind is ForeignKind.TEXT and not _WRITTEN_CALL.search(head.first):
            refusal.foreign = kind  # the content is prose, even if the file's name suggests a log
        raise refusal
    if form is not None:
        return formats()[form]
    if not head.claiming:
        calls = [_describe_calls(mark, head.objects) for mark in islice(find_marks(head.objects), 1)]
        explanations = _collect_explanations(about, head)
        kind, why = _describe_head(head)
        if about.mapping is not None:
            why += f"; {_describe_failed_mapping(about.mapping, head.objects)}"
        advice = (
            "" if explanations else _suggest_map(head.objects) or "`callgauge formats` lists those that are"
        )
        raise _refuse_foreign(kind, why, [*calls, *explanations], advice)
    if len(head.claiming) > 1:
        names = " and ".join(claimant.SOURCE.name for claimant in head.claiming)
        raise UnusableFileError(
            f"matches several formats ({names}); choose one with --format, and please report this"
        )
    return head.claiming[0]


def _suggest_map(records: Sequence[dict[str, Any]]) -> str | None:
    first = records[: _FIRST_LOOK[0]]
    for path in find_message_lists(first[0]):
        if claiming_formats(first, RecordMapping.parse({"messages": path})):
            other_paths = find_model_and_time(first[0])
            more = "".join(
                f"; its {field} may be at {at}: --map '{field}={at}'" for field, at in other_paths.items()
            )
            return f"its messages are at {path}: --map 'messages={path}' reads them{more}"
    return None


def _describe_failed_mapping(mapping: RecordMapping, records: Sequence[dict[str, Any]]) -> str:
    gaps = list(mapping.list_gaps(records))
    if not gaps:
        return "what --map finds in it cannot be read as messages"
    return f"--map finds no {' and no '.join(gaps)}"


def _describe_head(head: LogHead) -> tuple[ForeignKind, str]:
    first = head.objects[0]
    if "database" in first and isinstance(first.get("tables"), dict):
        tables = ", ".join(_shorten_names(first["tables"])) or "none"
        return ForeignKind.BINARY, f"is an SQLite database in no format known here (its tables: {tables})"
    keys = ", ".join(_shorten_names(first))
    return ForeignKind.JSON, f"is in no format known here (its first object has the keys {keys})"


def _shorten_names(names: Iterable[str]) -> list[str]:
    return [name if len(name) <= _KEY_SHOWN else "…" for name in list(names)[:8]]


def _refuse_foreign(
    kind: ForeignKind | None, why: str, explanations: list[str], advice: str = ""
) -> UnusableFileError:
    """Return the error for a file that no format reads.

    The file counts as a log if it contains tool calls, or if a format explains why it cannot read the file.
    """
    unusable = UnusableFileError("; ".join(filter(None, (why, *explanations, advice))))
    unusable.foreign = None if explanations else kind
    return unusable


def _describe_calls(mark: CallMark, objects: Iterable[Mapping[str, Any]]) -> str:
    reason = f"it contains tool calls (`{mark.word[:60]}`)"
    kind = next((name for keys, name in _UNREAD_KINDS for value in objects if keys <= value.keys()), None)
    return (
        f"{reason} of {kind}, which no format reads" if kind else f"{reason}, in a form that no format reads"
    )


def _collect_explanations(about: About, head: LogHead) -> list[str]:
    return [_one_line(explanation) for explanation in explain_unread(about, head.objects)]


def _one_line(text: str) -> str:
    return " ".join(stored_path(text).split())


def _head_identity(head: LogHead) -> str:
    """Return a hash of bytes that stay the same when the file grows.

    For lines and event streams, these are the first line, at most 1 KB of it. For a JSON document, which does
    not grow, all bytes read so far are hashed.
    """
    grows = head.container.is_lines or head.container is Container.STREAM
    start = head.first[:1024].split(b"\n")[0] if grows else head.first
    return blake2b(start, digest_size=8).hexdigest()


class SiblingFiles(msgspec.Struct, frozen=True):
    """Returns the content of a file in the log's folder by name, or None if the file cannot be read.

    A file over `max_size` bytes counts as unreadable.
    """

    place: LogPlace
    max_size: int

    def __call__(self, name: str) -> bytes | None:
        try:
            place = self.place.sibling(name)
            if place is None:
                return None
            with closing(io.BufferedReader(place.open())) as stream:
                data = stream.read(self.max_size + 1)
        except (OSError, ValueError):
            return None
        return data if len(data) <= self.max_size else None


def _describe_no_records(first: bytes, name: str) -> tuple[ForeignKind | None, str]:
    start = first[:8192]
    if not start:
        return ForeignKind.EMPTY, "is empty"
    if b"\0" in start:
        named = name.lower().endswith(DATABASE_NAMES)
        encrypted = "; if it is an SQLite database, it is encrypted" if named else ""
        return None if named else ForeignKind.BINARY, f"is a binary file{encrypted}"
    if start.lstrip().startswith((b"{", b"[")):
        return ForeignKind.BROKEN, "is not a JSON document, and none of its lines is a JSON object"
    return ForeignKind.TEXT, f"has no JSON object on any of its first lines ({len(first):,} bytes checked)"

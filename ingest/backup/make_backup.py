"""Makes a backup of a store, even while it is in use. Sends only pieces that the backup location lacks."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

import msgspec

from ingest.backup.manifest import (
    BACKUPS,
    DUCKDB_HEADERS,
    PIECE_BYTES,
    PIECES,
    BackupFile,
    Manifest,
    list_backups,
    read_manifest,
    write_manifest,
)
from ingest.backup.places import BackupPlace, FolderPlace, open_place
from ingest.backup.store_files import RECORD, copy_database, count_rows, files_beside, is_database
from ingest.errors import BackupError, InputError, OptionError, StoreError, explain_os_errors
from ingest.load_report import BackupReport
from ingest.safe_files import replace_text
from ingest.store.generations import OnWrite, ignore_write, published_generation
from ingest.store.migrations import SCHEMA_VERSION
from ingest.store.reader import find_segments
from ingest.store.shared.segment_places import find_segment_places
from ingest.version import CALLGAUGE_VERSION

_TRIES = 5  # number of attempts; a load may remove the store file just before it is opened


def make_backup(
    store_dir: Path,
    to: str | Path,
    *,
    keep: int = 7,
    with_keys: bool = False,
    on_write: OnWrite = ignore_write,
) -> BackupReport:
    """Back up a store to a folder or to an address like s3://bucket/callgauge. Remove older backups.

    `keep` is the number of backups to keep. If the store equals the newest backup, no backup is added. With
    `with_keys`, the backup contains the keys for placeholders and for sign-ins. Raises InputError,
    StoreError, OptionError or BackupError. After an error, the existing backups are unchanged.
    """
    started = time.monotonic()
    store_dir = store_dir.absolute()
    place = _check_place(store_dir, to, keep)
    with place.hold():
        sender = PieceSender(place, on_write)
        manifest = _send_store(store_dir, sender, with_keys=with_keys)
        before = list_backups(place)
        earlier = _read_newest(place, before)
        if earlier is not None:
            _check_segments(earlier, manifest, place)
        unchanged = earlier is not None and _holds_the_same(earlier, manifest, sender.pieces_there)
        if unchanged:
            newest = before[-1]
        else:
            on_write("manifest")
            newest = write_manifest(place, manifest)
            on_write("manifest written")
        removed, notes = _remove_old(place, newest, keep, sender.pieces_there, on_write)
        backups = list_backups(place)
    with suppress(StoreError):  # the store may be read-only for this process; the backup itself succeeded
        _record(store_dir, place.name, backups)
    return BackupReport(
        place=place.name,
        name=newest,
        generation=manifest.generation,
        unchanged=unchanged,
        files=len(manifest.files),
        bytes=sum(file.size for file in manifest.files),
        bytes_sent=sender.bytes_sent,
        backups=len(backups),
        removed=tuple(removed),
        notes=tuple(notes),
        seconds=time.monotonic() - started,
    )


def _check_place(store_dir: Path, to: str | Path, keep: int) -> BackupPlace:
    if keep < 1:
        raise OptionError("--keep must be at least 1")
    if published_generation(store_dir) is None:
        raise InputError(f"nothing has been loaded into {store_dir} yet; check the spelling of --store")
    place = open_place(to)
    if isinstance(place, FolderPlace):
        resolved, store = place.path.resolve(), store_dir.resolve()
        if resolved.is_relative_to(store) or store.is_relative_to(resolved):
            raise OptionError(
                f"{place.name} is the store, is inside it or contains it: name a place on another disk"
            )
    return place


class PieceSender(msgspec.Struct):
    """Sends the pieces that the backup location lacks, and reads back each sent piece."""

    place: BackupPlace
    on_write: OnWrite
    bytes_sent: int = 0
    _there: dict[str, int] = {}

    def __post_init__(self) -> None:
        self._there = dict(self.place.list_sizes(PIECES))

    @property
    def pieces_there(self) -> Collection[str]:
        return self._there.keys()

    def send(self, name: str, stream: BinaryIO) -> BackupFile:
        """Send a file and return the manifest's entry for the file."""
        whole, size, pieces = sha256(), 0, []
        # Cut first after DuckDB's headers, so that unchanged blocks give unchanged pieces.
        head = DUCKDB_HEADERS if name.endswith(".duckdb") else PIECE_BYTES
        while data := _read_full(stream, PIECE_BYTES if size else head):
            whole.update(data)
            size += len(data)
            pieces.append(self._send_piece(data))
        return BackupFile(name, size, whole.hexdigest(), tuple(pieces))

    def _send_piece(self, data: bytes) -> str:
        piece = sha256(data).hexdigest()
        if self._there.get(piece) != len(data):
            name = f"{PIECES}/{piece}"
            self.on_write("piece")
            self.place.write(name, data)
            if self.place.read(name) != data:
                raise BackupError(f"{self.place.name} returned other data than was written; check its disk")
            self._there[piece] = len(data)
            self.bytes_sent += len(data)
        return piece


def _read_full(stream: BinaryIO, size: int) -> bytes:
    data = b""
    while len(data) < size and (more := stream.read(size - len(data))):
        data += more
    return data


def _send_store(store_dir: Path, sender: PieceSender, *, with_keys: bool) -> Manifest:
    made_at = datetime.now(UTC)
    with explain_os_errors(store_dir):
        with ExitStack() as opened:
            rows, streams = _open_published(store_dir, opened)
            files = [sender.send(name, stream) for name, stream in streams.items()]
            generation = next(iter(streams))
        for path in files_beside(store_dir, with_keys=with_keys):
            with suppress(FileNotFoundError):
                files.append(_send_beside(path, str(path.relative_to(store_dir)), sender))
    return Manifest(
        made_at=made_at.isoformat(timespec="microseconds"),
        callgauge_version=CALLGAUGE_VERSION,
        schema_version=SCHEMA_VERSION,
        generation=generation,
        files=tuple(files),
        rows=dict(rows),
    )


def _open_published(store_dir: Path, opened: ExitStack) -> tuple[Mapping[str, int], Mapping[str, BinaryIO]]:
    """Open the files of the published store. Return the row counts by table, and the open files.

    The first open file is the store file; the segments follow.
    """
    for _ in range(_TRIES):
        generation = published_generation(store_dir)
        if generation is None:
            break
        with ExitStack() as files:
            try:
                streams: dict[str, BinaryIO] = {generation.name: files.enter_context(generation.open("rb"))}
                for name in find_segments(generation):
                    streams[name] = files.enter_context(find_segment_places(store_dir).open(name))
                rows = count_rows(generation)
            except (FileNotFoundError, StoreError):
                if generation == published_generation(store_dir):
                    raise
                continue
            opened.push(files.pop_all())
            return rows, streams
    raise StoreError(f"{store_dir} changed during the backup; run this again when no load is running")


def _send_beside(path: Path, name: str, sender: PieceSender) -> BackupFile:
    is_private = not path.stat().st_mode & 0o077
    return msgspec.structs.replace(_send_content(path, name, sender), is_private=is_private)


def _send_content(path: Path, name: str, sender: PieceSender) -> BackupFile:
    if not is_database(path):
        with path.open("rb") as stream:
            is_private = not os.fstat(stream.fileno()).st_mode & 0o077
            return msgspec.structs.replace(sender.send(name, stream), is_private=is_private)
    with tempfile.TemporaryDirectory(prefix="callgauge-backup-") as folder:
        copy = Path(folder) / "copy"
        copy_database(path, copy)
        with copy.open("rb") as stream:
            return sender.send(name, stream)


def _read_newest(place: BackupPlace, names: Sequence[str]) -> Manifest | None:
    try:
        return read_manifest(place, names[-1]) if names else None
    except BackupError:
        return None


def _check_segments(earlier: Manifest, manifest: Manifest, place: BackupPlace) -> None:
    """Raise StoreError if a segment differs from the same segment in the newest backup.

    Loads never change a segment, so a segment that differs is damaged.
    """
    known = {file.name: file.sha256 for file in earlier.files if file.name.startswith("seg-")}
    for file in manifest.files:
        if known.get(file.name, file.sha256) != file.sha256:
            raise StoreError(
                f"{file.name} in the store is damaged: it differs from the one in the newest backup; "
                f"restore that backup: callgauge restore {place.name} --replace --store DIR"
            )


def _holds_the_same(earlier: Manifest, manifest: Manifest, present: Collection[str]) -> bool:
    return set(earlier.files) == set(manifest.files) and earlier.pieces() <= set(present)


def _remove_old(
    place: BackupPlace, newest: str, keep: int, present: Collection[str], on_write: OnWrite
) -> tuple[list[str], list[str]]:
    """Remove all backups except the newest ones. Remove the pieces that no remaining backup needs.

    Return the names of the removed backups, and sentences on files that could not be removed.
    """
    named = list_backups(place)
    remaining = {newest, *named[-keep:]}
    removed = [name for name in named if name not in remaining]
    needed: set[str] = set()
    for name in sorted(remaining):
        try:
            needed |= read_manifest(place, name).pieces()
        except BackupError as error:
            return [], [f"no old backup was removed: {error}"]
    for name in removed:
        on_write("remove backup")
        place.remove(f"{BACKUPS}/{name}.json")
    for piece in sorted(set(present) - needed):
        on_write("remove piece")
        place.remove(f"{PIECES}/{piece}")
    return removed, []


def _record(store_dir: Path, place: str, backups: Sequence[str]) -> None:
    """Record in the store's folder which backups exist. Users who delete data need this list to delete the
    backups too.
    """
    records = {**read_record(store_dir), place: list(backups)}
    with explain_os_errors(store_dir):
        replace_text(store_dir / RECORD, json.dumps(records, indent=1) + "\n")


def read_record(store_dir: Path) -> Mapping[str, Sequence[str]]:
    """Return the names of the backups that existed after the latest backup of a store, by location."""
    try:
        records = json.loads((store_dir / RECORD).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return {
        str(place): [name for name in names if isinstance(name, str)]
        for place, names in (records.items() if isinstance(records, dict) else ())
        if isinstance(names, list)
    }

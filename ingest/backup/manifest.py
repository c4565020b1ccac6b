"""The manifest of a backup: its files, the pieces of each file, and the numbers of rows.

A backup folder contains `pieces/<SHA-256 of the piece>` and `backups/<time>-<hash of the manifest>.json`. The
backups in a folder share pieces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import msgspec

from ingest.backup.places import BackupPlace
from ingest.errors import BackupError

PIECES, BACKUPS = "pieces", "backups"
PIECE_BYTES = 1024 * 1024
"""The size of a piece: four blocks of DuckDB. Most blocks of a store file are also in the next store file, so
most pieces need not be sent again.
"""
DUCKDB_HEADERS = 3 * 4096
"""The bytes of a DuckDB file before its first block."""
_PIECE = re.compile(r"[0-9a-f]{64}")
_TIME = "%Y%m%dT%H%M%S.%fZ"
_FORMAT = 1
_HASH = 16


class BackupFile(msgspec.Struct, frozen=True):
    """A file of the store's folder.

    `pieces` has the SHA-256 of each piece in order. `sha256` is the hash of the whole file. `is_private`
    means that only the owner could read the file.
    """

    name: str
    size: int
    sha256: str
    pieces: tuple[str, ...]
    is_private: bool = False


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a backup. `made_at` is a time in ISO 8601 (UTC). `rows` has the row counts by table."""

    layout: int = _FORMAT
    made_at: str
    callgauge_version: str
    schema_version: int
    generation: str
    files: tuple[BackupFile, ...]
    rows: dict[str, int]

    def pieces(self) -> set[str]:
        """Return the names of all pieces that the backup needs."""
        return {piece for file in self.files for piece in file.pieces}

    def find_file(self, name: str) -> BackupFile | None:
        return next((file for file in self.files if file.name == name), None)


def write_manifest(place: BackupPlace, manifest: Manifest) -> str:
    """Write a manifest and return the name of its backup. The backup exists as soon as the manifest exists.

    In sorted order, the name comes after the names of all earlier backups.
    """
    data = msgspec.json.format(msgspec.json.encode(manifest), indent=1)
    times = [datetime.fromisoformat(manifest.made_at)]
    for earlier in list_backups(place)[-1:]:
        # the name has another form, so it is not the name of a backup
        with suppress(ValueError, OverflowError):
            made_at = datetime.strptime(earlier.rpartition("-")[0], _TIME).replace(tzinfo=UTC)
            times.append(made_at + timedelta(microseconds=1))
    name = f"{max(times).strftime(_TIME)}-{sha256(data).hexdigest()[:_HASH]}"
    place.write(f"{BACKUPS}/{name}.json", data)
    return name


def list_backups(place: BackupPlace) -> Sequence[str]:
    """Return the names of the backups in a location. The oldest comes first."""
    return sorted(name.removesuffix(".json") for name in place.list_sizes(BACKUPS) if name.endswith(".json"))


def read_manifest(place: BackupPlace, name: str) -> Manifest:
    """Return the manifest of a backup.

    Raises BackupError when the manifest is damaged or was written by a newer Callgauge.
    """
    data = place.read(f"{BACKUPS}/{name}.json")
    if sha256(data).hexdigest()[:_HASH] != name.rpartition("-")[2]:
        raise BackupError(f"the backup {name} in {place.name} is damaged: its list of files was changed")
    try:
        manifest = msgspec.json.decode(data, type=Manifest)
    except msgspec.MsgspecError:
        manifest = None
    if manifest is None or manifest.layout != _FORMAT:
        raise BackupError(f"the backup {name} in {place.name} was made by a newer Callgauge; upgrade it")
    return manifest


def choose_backup(place: BackupPlace, wanted: str | None) -> str:
    """Return `wanted`, or the name of the newest backup if `wanted` is None.

    Raises BackupError when the location does not contain that backup.
    """
    backups = list_backups(place)
    if not backups:
        raise BackupError(f"no backup in {place.name}; check the spelling")
    if wanted is None:
        return backups[-1]
    if wanted not in backups:
        raise BackupError(f"no backup {wanted} in {place.name}, only {', '.join(backups[-10:])}")
    return wanted


def read_pieces(place: BackupPlace, file: BackupFile) -> Iterator[bytes]:
    """Yield the content of a file piece by piece. Raises BackupError when a piece is missing or damaged."""
    whole, size = sha256(), 0
    for piece in file.pieces:
        if not _PIECE.fullmatch(piece):  # a forged manifest could name any file on this machine
            raise BackupError(f"{file.name} refers to a piece outside of the backup: {piece[:80]!r}")
        try:
            data = place.read(f"{PIECES}/{piece}")
        except BackupError as error:
            raise BackupError(f"{file.name} cannot be read from the backup: {error}") from error
        if sha256(data).hexdigest() != piece:
            raise BackupError(
                f"a piece of {file.name} is damaged in {place.name}/{PIECES}/{piece}; restore an older "
                "backup (--backup), or remove this piece and back up again"
            )
        whole.update(data)
        size += len(data)
        yield data
    if (whole.hexdigest(), size) != (file.sha256, file.size):
        raise BackupError(f"{file.name} is damaged in the backup: its pieces do not form the original file")

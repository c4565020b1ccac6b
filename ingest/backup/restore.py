"""Restores a backup into a store's folder. Everything is checked in a separate folder first."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import file_digest
from pathlib import Path, PurePosixPath

from ingest.backup.manifest import Manifest, choose_backup, read_manifest, read_pieces
from ingest.backup.places import BackupPlace, open_place
from ingest.backup.store_files import check_database, is_database, read_everything
from ingest.errors import BackupError, StoreError, explain_os_errors
from ingest.load_report import RestoreReport
from ingest.store.generations import (
    BUILDING,
    LOCK,
    OnWrite,
    Patience,
    StoreFolder,
    do_not_wait,
    generation_number,
    ignore_write,
    lock_store,
    published_generation,
)
from ingest.store.shared.link import FETCH_LOCK, LINK
from ingest.store.shared.pointer import CURRENT

_MARK = "restoring.part"  # this file exists while files are moved into the store's folder
# suffixes of the files that belong to an old database; such a file would damage the new database
_COMPANIONS = ("-wal", "-shm", "-journal")


def restore(
    source: str | Path,
    store_dir: Path,
    *,
    backup: str | None = None,
    replace: bool = False,
    on_write: OnWrite = ignore_write,
    patience: Patience = do_not_wait,
) -> RestoreReport:
    """Restore a backup into a store's folder.

    `backup` names the backup; by default, the newest backup in the location is restored. The folder must be
    empty unless `replace` is set. With `replace`, the published store file in the folder is replaced. Raises
    BackupError, StoreError, StoreBusy or StoreVersionError. After an error, the folder is unchanged.
    """
    started = time.monotonic()
    store_dir = store_dir.absolute()
    place = open_place(source)
    name = choose_backup(place, backup)
    manifest = read_manifest(place, name)
    if _find_complete(store_dir, name, manifest) is None:
        _check_target(store_dir, replace=replace)
    with lock_store(store_dir, on_write, patience) as folder:
        generation = _find_complete(store_dir, name, manifest)
        if generation is None:
            _check_target(store_dir, replace=replace)
            generation = _restore_into(folder, place, name, manifest)
        else:
            (store_dir / _MARK).unlink(missing_ok=True)
    return RestoreReport(
        place=place.name,
        name=name,
        made_at=manifest.made_at,
        generation=generation,
        files=len(manifest.files),
        bytes=sum(file.size for file in manifest.files),
        calls=manifest.rows.get("tool_calls", 0),
        seconds=time.monotonic() - started,
    )


def _find_complete(store_dir: Path, name: str, manifest: Manifest) -> str | None:
    """Return the published store file if an earlier restore published this backup and was then killed.

    Otherwise return None.
    """
    mark, generation = store_dir / _MARK, published_generation(store_dir)
    file = manifest.find_file(manifest.generation)
    if generation is None or file is None or not mark.is_file():
        return None
    with explain_os_errors(store_dir), generation.open("rb") as stream:
        if mark.read_text("utf-8") != name or file_digest(stream, "sha256").hexdigest() != file.sha256:
            return None
    return generation.name


def _restore_into(folder: StoreFolder, place: BackupPlace, name: str, manifest: Manifest) -> str:
    """Fetch and check a backup, and move its files into the store's folder. Return the store file's name."""
    staged = folder.make_rows_folder()
    try:
        fetch_files(place, manifest, staged, folder.on_write)
        with _marked(folder, name):
            return _move_into_place(folder, manifest, staged)
    except BaseException:
        folder.discard()
        raise


def _check_target(store_dir: Path, *, replace: bool) -> None:
    if replace or not store_dir.exists():
        return
    with explain_os_errors(store_dir):
        names = {path.name for path in store_dir.iterdir()} if store_dir.is_dir() else {store_dir.name}
    if CURRENT in names:
        raise StoreError(f"{store_dir} already contains a store; add --replace to replace it with the backup")
    others = {name for name in names - {LOCK, LINK, FETCH_LOCK} if not name.startswith(BUILDING)}
    if others and _MARK not in others:
        raise StoreError(
            f"{store_dir} is not empty ({', '.join(sorted(others)[:3])}); name an empty folder, or add "
            "--replace"
        )


def fetch_files(place: BackupPlace, manifest: Manifest, folder: Path, on_write: OnWrite) -> None:
    """Write the files of a backup into a folder, and check each file. Raises BackupError or StoreError."""
    _check_names(manifest)
    for file in manifest.files:
        path = folder / file.name
        on_write("fetch")
        with explain_os_errors(folder):
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(path, "wb", opener=_open_private if file.is_private else None) as stream:
                stream.writelines(read_pieces(place, file))
                stream.flush()
                os.fsync(stream.fileno())
        if is_database(path):
            check_database(path)
    if dict(read_everything(folder / manifest.generation)) != manifest.rows:
        raise BackupError(
            f"the backup of {manifest.made_at} in {place.name} has other row counts than its manifest"
        )


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _check_names(manifest: Manifest) -> None:
    """Raise BackupError when a backup contains file names that do not belong to a store. Such a backup may be
    forged.
    """
    names = [file.name for file in manifest.files]
    if not generation_number(manifest.generation) or manifest.generation not in names:
        raise BackupError(f"the backup of {manifest.made_at} contains no published file")
    for name in names:
        parts = PurePosixPath(name).parts
        is_own = (
            name != manifest.generation
            and parts[:1]
            and parts[0].startswith((CURRENT, LOCK, LINK, FETCH_LOCK, BUILDING, "gen-"))
        )
        if not parts or name.startswith("/") or ".." in parts or "\0" in name or is_own:
            raise BackupError(f"the backup refers to a file outside of the store: {name[:80]!r}")


def _move_into_place(folder: StoreFolder, manifest: Manifest, staged: Path) -> str:
    with explain_os_errors(folder.path):
        for file in manifest.files:
            if file.name == manifest.generation:
                continue
            target = folder.path / file.name
            folder.on_write("place")
            target.parent.mkdir(parents=True, exist_ok=True)
            for end in _COMPANIONS if is_database(target) else ():
                target.with_name(f"{target.name}{end}").unlink(missing_ok=True)
            (staged / file.name).replace(target)
        (staged / manifest.generation).replace(folder.building_path)
        return folder.publish(at_least=generation_number(manifest.generation))


@contextmanager
def _marked(folder: StoreFolder, name: str) -> Iterator[None]:
    """Mark the folder while files are moved into it, so that after a kill the next restore can continue."""
    mark = folder.path / _MARK
    folder.on_write("mark")
    with explain_os_errors(folder.path):
        mark.write_text(name, "utf-8")
        yield
        mark.unlink()

"""Checks a store or a backup: all bytes are unchanged, the tables open, and the sums agree with the rows."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from ingest.backup.manifest import choose_backup, read_manifest
from ingest.backup.places import open_place
from ingest.backup.restore import fetch_files
from ingest.backup.store_files import check_database, files_beside, is_database, read_everything
from ingest.errors import InputError
from ingest.load_report import VerifyReport
from ingest.store.generations import ignore_write, published_generation
from ingest.store.reader import find_segments
from ingest.store.shared.segment_places import find_segment_places


def verify_store(store_dir: Path) -> VerifyReport:
    """Check the published store file and the other databases of a store.

    Raises InputError when nothing was loaded yet, and StoreError when anything is damaged.
    """
    started = time.monotonic()
    store_dir = store_dir.absolute()
    generation = published_generation(store_dir)
    if generation is None:
        raise InputError(f"nothing has been loaded into {store_dir} yet; check the spelling of --store")
    places, segments = find_segment_places(store_dir), find_segments(generation)
    rows = read_everything(generation)
    beside = list(files_beside(store_dir, with_keys=True))
    for path in filter(is_database, beside):
        check_database(path)
    return VerifyReport(
        of=str(store_dir),
        generation=generation.name,
        files=len(beside) + 1 + len(segments),
        bytes=sum(path.stat().st_size for path in (generation, *beside))
        + sum(map(places.find_size, segments)),
        rows=rows,
        seconds=time.monotonic() - started,
    )


def verify_backup(source: str | Path, *, backup: str | None = None) -> VerifyReport:
    """Check a backup by fetching all of its files.

    `backup` names the backup; by default, the newest backup in the location is checked. The temporary files
    take as much space as the store. Raises BackupError or StoreError.
    """
    started = time.monotonic()
    place = open_place(source)
    name = choose_backup(place, backup)
    manifest = read_manifest(place, name)
    with tempfile.TemporaryDirectory(prefix="callgauge-verify-") as folder:
        fetch_files(place, manifest, Path(folder), ignore_write)
    return VerifyReport(
        of=f"{name} in {place.name}",
        generation=manifest.generation,
        files=len(manifest.files),
        bytes=sum(file.size for file in manifest.files),
        rows=manifest.rows,
        seconds=time.monotonic() - started,
    )

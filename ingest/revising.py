"""A store without logs in, its next generation out, built from the published one by a few changes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ingest.errors import InputError
from ingest.generations import Folder, OnWrite, Patience, hold, published
from ingest.store import Building


@contextmanager
def held(store_dir: Path, on_write: OnWrite, patience: Patience) -> Iterator[tuple[Folder, Path]]:
    """The store's folder with its lock held, and its published generation.

    Raises InputError when nothing was loaded into it yet, StoreBusy, StoreError.
    """
    store_dir = store_dir.absolute()
    if published(store_dir) is None:
        raise InputError(f"nothing has been loaded into {store_dir} yet; check the spelling of --store")
    with hold(store_dir, on_write, patience) as folder:
        current = published(store_dir)
        if current is None:
            raise InputError(f"nothing is published in {store_dir} any more")
        yield folder, current


@contextmanager
def building_on(folder: Folder) -> Iterator[Building]:
    """A copy of the published generation to change; it is given up when anything fails."""
    building = Building(folder.copy_aside(), folder.on_write)
    try:
        yield building
    except BaseException:
        building.abandon()
        folder.discard()
        raise

"""Builds the next store file by changing a copy of the published store file. No logs are read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ingest.errors import InputError
from ingest.store.generation_file import GenerationBuilder
from ingest.store.generations import OnWrite, Patience, StoreFolder, lock_store, published_generation


@contextmanager
def lock_published(
    store_dir: Path, on_write: OnWrite, patience: Patience
) -> Iterator[tuple[StoreFolder, Path]]:
    """Lock the store folder. Yield the folder and the path of its published store file.

    Raises StoreBusy or StoreError. Raises InputError when nothing was loaded yet.
    """
    store_dir = store_dir.absolute()
    if published_generation(store_dir) is None:
        raise InputError(f"nothing has been loaded into {store_dir} yet; check the spelling of --store")
    with lock_store(store_dir, on_write, patience) as folder:
        current = published_generation(store_dir)
        if current is None:
            raise InputError(f"nothing is published in {store_dir} any more")
        yield folder, current


@contextmanager
def change_copy(folder: StoreFolder) -> Iterator[GenerationBuilder]:
    """Yield a copy of the published store file. The block can change the copy.

    The copy is discarded when the block raises an error.
    """
    building = GenerationBuilder(folder.start_from_published(), folder.on_write)
    try:
        building.use_all_cores()
        yield building
    except BaseException:
        building.abandon()
        folder.discard()
        raise

"""A store in an object store, and the folder for this store on this machine.

Commands, pages and programs use the folder like any store folder. It contains the published store file and
the files of users and the server. The segments stay in the object store. One file in the folder has the
address of the shared store, so every load into the folder goes to the shared store.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from datetime import timedelta
from hashlib import file_digest, sha256
from pathlib import Path

import msgspec

from ingest.errors import StoreBusy, StoreError, explain_os_errors
from ingest.safe_files import flush_to_disk, lock_file, new_files_like, replace_text
from ingest.store.shared.lease import Lease, hold_lease
from ingest.store.shared.link import FETCH_LOCK, SharedLink
from ingest.store.shared.place import ChangedError, SharedPlace
from ingest.store.shared.pointer import CURRENT, GENERATION, Pointer, find_unnamed, read_pointer

GRACE = timedelta(hours=1)  # how long readers may use a replaced store file
UNFINISHED = timedelta(days=1)  # the longest time that a load may take
_FETCHED = "fetched.part"


class SharedFolder(msgspec.Struct, frozen=True):
    """A shared store and its folder on this machine. `folder_id` identifies the folder."""

    folder: Path
    place: SharedPlace
    folder_id: str

    def fetch(self) -> Published:
        """Fetch the published store file of the shared store into the folder. Return the pointer to this
        file.

        Raises UnreachableError. Raises StoreError when the store is damaged or missing. After an error, the
        folder is unchanged.
        """
        with self.hold_folder():
            stored = self.place.read(CURRENT)
            shown = self._read_current()
            if stored is None:
                if shown:
                    raise StoreError(
                        f"{self.place.address} has no store any more, but {self.folder} still has {shown}: "
                        f"check the bucket, or remove {self.folder / CURRENT} to start with an empty store"
                    )
                return Published(None, None)
            pointer = read_pointer(stored[0], self.place.address)
            with explain_os_errors(self.folder):
                self._bring(pointer, shown)
            return Published(pointer, stored[1].etag)

    def _bring(self, pointer: Pointer, shown: str) -> None:
        file = self.folder / pointer.generation
        if not (file.is_file() and file.stat().st_size == pointer.size):
            self._download(pointer, file)
        if shown == pointer.generation:
            return
        replace_text(self.folder / CURRENT, f"{pointer.generation}\n")
        for other in self.folder.glob("gen-*.duckdb"):
            # The previous store file stays, because a reader may be about to open it. Later files stay,
            # because they belong to a running load.
            if _number(other.name) < _number(pointer.generation) - 1:
                other.unlink(missing_ok=True)

    def _download(self, pointer: Pointer, file: Path) -> None:
        part, whole = self.folder / _FETCHED, sha256()
        try:
            with new_files_like(self.folder), part.open("wb") as stream:
                for piece in self.place.read_pieces(pointer.generation, pointer.size):
                    stream.write(piece)
                    whole.update(piece)
            if part.stat().st_size != pointer.size or whole.hexdigest() != pointer.sha256:
                raise StoreError(
                    f"{pointer.generation} in {self.place.address} differs from the published file; put "
                    "that file back from an earlier version or a backup"
                )
            flush_to_disk(part)
            part.replace(file)
        finally:
            part.unlink(missing_ok=True)

    def _read_current(self) -> str:
        try:
            return (self.folder / CURRENT).read_text("utf-8", "replace").strip()
        except FileNotFoundError:
            return ""

    @contextmanager
    def hold_folder(self) -> Iterator[None]:
        """Keep other processes from replacing the folder's store file."""
        with lock_file(self.folder / FETCH_LOCK, lambda _who: time.sleep(0.05)):
            yield

    @contextmanager
    def hold(self, wait: Callable[[str], None], on_write: Callable[[str], None]) -> Iterator[SharedLoad]:
        """Hold the lease of the store, and fetch the published store file into the folder.

        Raises StoreError.
        """
        on_write("lease")
        with hold_lease(self.place, self.folder_id, wait) as lease:
            load = SharedLoad(self, lease, self.fetch(), on_write)
            with suppress(StoreError):  # the next load tries to remove the files again
                load.sweep(load.base.pointer)
            yield load


class Published(msgspec.Struct, frozen=True):
    """The pointer of a shared store and the ETag of the pointer. Both are None before the first load."""

    pointer: Pointer | None
    etag: str | None


class SharedLoad(msgspec.Struct, frozen=True):
    """A load into a shared store. This process has the lease of the store.

    `base` is what was published when the load began.
    """

    store: SharedFolder
    lease: Lease
    base: Published
    on_write: Callable[[str], None]

    @contextmanager
    def publish(self, generation: str, segments: Collection[str], *, alone: bool) -> Iterator[None]:
        """Upload a finished store file and its new segments, and publish the files in the shared store.

        Inside the block, the caller publishes the same files in the local folder. With `alone`, all earlier
        files are removed immediately. Raises StoreError. Raises StoreBusy when another load published first.
        After an error, nothing is published.
        """
        place, before = self.store.place, self.base.pointer
        known_sizes = before.segments if before else {}
        news = [*sorted(set(segments) - known_sizes.keys()), generation]
        self._upload(news)
        pointer = self._make_pointer(generation, segments, known_sizes).follow(before, alone=alone)
        with self.store.hold_folder():
            self.lease.check()
            self.on_write("commit")
            try:
                place.write_if(CURRENT, pointer.to_json(), self.base.etag)
            except ChangedError:
                self._take_back(news)
                raise StoreBusy(
                    f"another load has published into {place.address} meanwhile, so this one published "
                    "nothing; no log is lost: run the same command again"
                ) from None
            self.on_write("committed")
            yield
        with nullcontext() if alone else suppress(StoreError):
            self.sweep(pointer)

    def _upload(self, names: Sequence[str]) -> None:
        try:
            for name in names:
                self.lease.check()
                self.on_write("upload")
                with explain_os_errors(self.store.folder):
                    self.store.place.upload(self.store.folder / name, name)
        except BaseException:
            self._take_back(names)
            raise

    def _take_back(self, names: Sequence[str]) -> None:
        with suppress(StoreError):  # the next load tries to remove the files again
            for name in names:
                self.store.place.remove(name)

    def _make_pointer(
        self, generation: str, segments: Collection[str], known_sizes: Mapping[str, int]
    ) -> Pointer:
        folder = self.store.folder
        with explain_os_errors(folder), (folder / generation).open("rb") as stream:
            digest, size = file_digest(stream, "sha256").hexdigest(), (folder / generation).stat().st_size
            sizes = {
                name: known_sizes[name] if name in known_sizes else (folder / name).stat().st_size
                for name in segments
            }
        return Pointer(generation, size, digest, sizes, self.lease.find_time())

    def sweep(self, pointer: Pointer | None) -> None:
        """Remove files that are no longer used or that killed loads left. Raises UnreachableError."""
        place, now = self.store.place, self.lease.find_time()
        for name in find_unnamed(pointer, place.list_files(), now, GRACE, UNFINISHED):
            self.on_write("remove")
            place.remove(name)
        place.drop_unfinished(now - UNFINISHED)


def _number(name: str) -> int:
    match = GENERATION.fullmatch(name)
    return int(match[1]) if match else 0


def open_shared_folder(folder: Path, link: SharedLink) -> SharedFolder:
    """Return the shared store of a folder. Raises OptionError when the driver is missing."""
    return SharedFolder(folder, SharedPlace(link.address), link.folder_id)

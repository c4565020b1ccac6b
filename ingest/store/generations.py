"""The files of a store folder: the lock, the published store file, and the store file being built.

`CURRENT` names the published store file. `CURRENT` is replaced atomically as the last step. A store file gets
its final name when it is complete and on disk, and never changes after that.
"""

from __future__ import annotations

import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ingest.errors import StoreBusy, StoreError, explain_os_errors
from ingest.safe_files import flush_to_disk, lock_file, new_files_like
from ingest.store.segments import named_segments
from ingest.store.shared.link import read_link
from ingest.store.shared.pointer import CURRENT, SEGMENT

if TYPE_CHECKING:
    from ingest.store.shared.shared_folder import SharedLoad

LOCK = "lock"
BUILDING = "building.duckdb"
_GENERATION = re.compile(r"gen-(\d{6,12})(-[0-9a-f]{12})?\.duckdb")
# Files that people, the server or a failed first load make. Each new disk has `lost+found`.
_BESIDE = re.compile(
    r"naming\.toml|aliases\.json|users\.json|(access|users|signed_out|up|night)\.lock|sign_in\.key|redaction\.key"
    r"|signed_out\.json|reports|lost\+found|shared\.json|fetch\.lock|fetched\.part|unreachable\.json"
    r"|access(\.\d+)?\.jsonl|memory\.sqlite(-journal|-wal|-shm)?|\..+\.new"
)

OnWrite = Callable[[str], None]
"""Function that is called with the step's name before each write. Tests kill the process at these points.
"""


Patience = Callable[[str], bool]
"""Called with a sentence about the holder of the lock; returns True to try again. The function may sleep."""


def ignore_write(_step: str) -> None:
    """Do nothing. Loads outside tests use this function as `OnWrite`."""


def do_not_wait(_who: str) -> bool:
    """Return False. A caller that does not wait for the lock uses this function as `Patience`."""
    return False


def published_generation(store_dir: Path) -> Path | None:
    """Return the path of the published store file. Return None when the folder has no such file yet.

    Raises StoreError when CURRENT is unreadable or names a file that does not exist.
    """
    try:
        name = (store_dir / CURRENT).read_text("utf-8", "replace").strip()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StoreError(
            f"cannot read {store_dir / CURRENT}: {error.strerror}; change its permissions"
        ) from error
    path = store_dir / name
    if not _GENERATION.fullmatch(name) or not path.is_file():
        what = "which is not there" if _GENERATION.fullmatch(name) else "which is not a valid name"
        raise StoreError(
            f"{store_dir / CURRENT} names {name[:80]!r}, {what}; write the name of one of the "
            "gen-*.duckdb files next to it into CURRENT, or load into a new folder"
        )
    return path


def generation_number(name: str) -> int:
    """Return the number in the name of a store file. Return 0 for any other name."""
    match = _GENERATION.fullmatch(name)
    return int(match[1]) if match else 0


class StoreFolder(msgspec.Struct, frozen=True):
    """A store folder that this process has locked, and its shared store, if it has one."""

    path: Path
    on_write: OnWrite
    shared: SharedLoad | None = None

    @property
    def building_path(self) -> Path:
        """The path at which the next store file is built."""
        return self.path / BUILDING

    def start_from_published(self) -> Path:
        """Copy the published store file to the building path, and return that path.

        When nothing is published, no file is made.
        """
        source = published_generation(self.path)
        if source is not None:
            self.on_write("copy")
            with explain_os_errors(self.path):
                shutil.copyfile(source, self.building_path)  # the system copies, which takes half the time
        return self.building_path

    def make_rows_folder(self) -> Path:
        """Make a folder for rows that wait for the next store file. Return its path."""
        with explain_os_errors(self.path):
            return Path(tempfile.mkdtemp(prefix=f"{BUILDING}.rows-", dir=self.path))

    @property
    def shared_rows_path(self) -> Path:
        """The default folder for rows that the workers of a cluster share."""
        return self.path / "shared"

    def remove_shared_rows(self) -> None:
        """Remove the shared rows from the store's folder."""
        shutil.rmtree(self.shared_rows_path, ignore_errors=True)

    def publish(self, *, alone: bool = False, at_least: int = 0) -> str:
        """Publish the finished store file and return its name.

        `at_least` is the smallest number that the file may get. With `alone`, all earlier store files are
        removed, even if the process is killed.
        """
        if self._wal_path(self.building_path).exists():
            raise StoreError(
                f"{self.building_path} still has a write-ahead log and was not published; this is a bug"
            )
        with explain_os_errors(self.path):
            number = max(self._published_number() + (2 if alone else 1), at_least)
            # a random mark, so that no other load makes the same name
            mark = f"-{secrets.token_hex(6)}" if self.shared else ""
            name = f"gen-{number:06d}{mark}.duckdb"
            for segment in sorted(self.path.glob(f"{BUILDING}.seg-*.duckdb")):
                self.on_write("segment sync")
                flush_to_disk(segment)
                segment.rename(self.path / segment.name.removeprefix(f"{BUILDING}."))
            self.on_write("sync")
            flush_to_disk(self.building_path)
            self.on_write("name")
            self.building_path.rename(self.path / name)
            flush_to_disk(self.path)
            with self._share(name, alone=alone):
                self._replace_current(name)
            self.sweep()
        return name

    @contextmanager
    def _share(self, name: str, *, alone: bool) -> Iterator[None]:
        """Publish a store file in the shared store of this folder, if there is a shared store.

        After that, the segment files are read from the shared store.
        """
        if self.shared is None:
            yield
            return
        segments = named_segments([self.path / name])
        if segments is None:
            raise StoreError(f"{self.path / name} cannot be read, and was not published; run this again")
        with self.shared.publish(name, segments, alone=alone):
            yield
        for path in self.path.glob("seg-*.duckdb"):
            self.on_write("remove")
            path.unlink()

    def sweep(self) -> None:
        """Remove files of killed loads and unused store files. Restore a missing CURRENT.

        The store file before the published file stays, because a reader may be about to open the earlier
        file.
        """
        with explain_os_errors(self.path):
            # With a shared store, a complete file may be unpublished, so CURRENT is not restored from it.
            if not self.shared and not (self.path / CURRENT).exists() and (whole := self._list_generations()):
                self._replace_current(whole[-1])
            current = published_generation(self.path)
            current_name = current.name if current else ""
            before = generation_number(current_name) - 1
            for name in self._list_generations():
                if name != current_name and generation_number(name) != before:
                    self._remove_generation(name)
            for path in [*sorted(self.path.glob(f"{BUILDING}*")), self.path / f"{CURRENT}.new"]:
                self._remove_generation(path.name)
            self._remove_segments()

    def _remove_segments(self) -> None:
        """Remove the segment files that no store file names.

        If a store file is unreadable, remove nothing.
        """
        present = {path.name for path in self.path.iterdir() if SEGMENT.fullmatch(path.name)}
        if not present:
            return
        named = named_segments(self.path / name for name in self._list_generations())
        for name in sorted(present - named) if named is not None else ():
            self.on_write("remove")
            (self.path / name).unlink()

    def discard(self) -> None:
        """Remove the store file that was being built. If this fails, the next load removes the file."""
        with suppress(OSError):  # the next load removes the files that are left
            for path in self.path.glob(f"{BUILDING}*"):
                self._remove_generation(path.name)

    def _list_generations(self) -> list[str]:
        names = [path.name for path in self.path.iterdir() if path.is_file()]
        return sorted(filter(_GENERATION.fullmatch, names), key=generation_number)

    def _published_number(self) -> int:
        current = published_generation(self.path)
        return generation_number(current.name) if current else 0

    def _replace_current(self, name: str) -> None:
        new = self.path / f"{CURRENT}.new"
        self.on_write("point")
        new.write_text(f"{name}\n", "utf-8")
        flush_to_disk(new)
        self.on_write("switch")
        new.replace(self.path / CURRENT)
        self.on_write("switched")
        flush_to_disk(self.path)

    def _remove_generation(self, name: str) -> None:
        path = self.path / name
        if path.is_dir():  # DuckDB's folder for data that does not fit into memory
            shutil.rmtree(path)
        elif path.exists():
            self.on_write("remove")
            path.unlink()

    def _wal_path(self, path: Path) -> Path:
        return path.with_name(f"{path.name}.wal")


@contextmanager
def lock_store(
    store_dir: Path, on_write: OnWrite = ignore_write, patience: Patience = do_not_wait
) -> Iterator[StoreFolder]:
    """Lock and yield the store folder. Make the folder if it is missing. Remove files that earlier loads
    left.

    Until the lock is released, new files of this process are as private as the folder. Raises StoreBusy when
    another load holds the lock and `patience` returns False. Raises StoreError when the folder cannot be used
    as a store.
    """
    prepare_store(store_dir)

    def wait(who: str) -> None:
        if not patience(f"{who} is loading into the store {store_dir}"):
            raise StoreBusy(
                f"{who} is loading into the store {store_dir}; wait until it is done and run this again, "
                "or add --wait"
            )

    with (
        new_files_like(store_dir),
        lock_file(store_dir / LOCK, wait),
        _hold_shared(store_dir, wait, on_write) as shared,
    ):
        folder = StoreFolder(store_dir, on_write, shared)
        folder.sweep()
        yield folder


def _hold_shared(
    store_dir: Path, wait: Callable[[str], None], on_write: OnWrite
) -> AbstractContextManager[SharedLoad | None]:
    link = read_link(store_dir)
    if link is None:
        return nullcontext()
    # the import of the driver takes 0.1 s
    from ingest.store.shared.shared_folder import open_shared_folder

    return open_shared_folder(store_dir, link).hold(wait, on_write)


def check_store_place(store_dir: Path) -> None:
    """Raise StoreError for a folder that is not a store and cannot become a store. Nothing is changed."""
    if not store_dir.parent.is_dir():
        raise StoreError(
            f"cannot make the store {store_dir}: no folder {store_dir.parent}; create it, or name "
            "another place with --store"
        )
    if store_dir.exists() and not store_dir.is_dir():
        raise StoreError(f"the store {store_dir} is a file, not a folder; name another place with --store")
    with explain_os_errors(store_dir):
        names = {path.name for path in store_dir.iterdir()} if store_dir.exists() else set()
    if not names & {CURRENT, LOCK} and not all(map(_BESIDE.fullmatch, names)):
        raise StoreError(
            f"{store_dir} contains other files and no store; name a new or empty folder with --store"
        )


def prepare_store(store_dir: Path) -> None:
    """Turn a folder into an empty store unless the folder is a store already. Raises StoreError.

    Only the owner may enter a new folder. The mode of an existing folder stays.
    """
    check_store_place(store_dir)
    with explain_os_errors(store_dir):
        store_dir.mkdir(mode=0o700, exist_ok=True)
        with new_files_like(store_dir):
            (store_dir / LOCK).touch()

"""Reads and writes backups in a folder or an object store. A file is written completely or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, Protocol

from ingest.errors import BackupError, OptionError
from ingest.safe_files import flush_to_disk, lock_file, new_files_like
from ingest.sources.stored_names import is_address, strip_credentials

_WRITABLE = ("s3", "gs", "az", "abfs")
_LOCK = "lock"
_PART = ".part"


class BackupPlace(Protocol):
    """A folder or an object store with backups.

    All methods raise BackupError. The names of files have the form `folder/file`.
    """

    @property
    def name(self) -> str:
        """The path or address to show to users, without credentials."""

    def list_sizes(self, folder: str) -> Mapping[str, int]:
        """Return the sizes in bytes of the files in a folder, by file name. A missing folder gives an empty
        result.
        """

    def read(self, name: str) -> bytes: ...

    def write(self, name: str, data: bytes) -> None:
        """Write a file completely or not at all, even if the power fails."""

    def remove(self, name: str) -> None:
        """Remove a file. It is not an error if the file is missing."""

    def hold(self) -> AbstractContextManager[None]:
        """Keep other processes from writing backups to this location, if that is possible."""


def open_place(place: str | Path) -> BackupPlace:
    """Return the backup location at a path or an address.

    Raises OptionError if the address is read-only.
    """
    if not is_address(place):
        return FolderPlace(Path(place).absolute())
    address = str(place).rstrip("/")
    if address.partition("://")[0].lower() not in _WRITABLE:
        known = ", ".join(f"{scheme}://" for scheme in _WRITABLE)
        raise OptionError(f"{strip_credentials(address)} cannot be written: name a folder, or one of {known}")
    return ObjectPlace(address)


class FolderPlace:
    """A folder on a disk of this machine, or on a network disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)

    def list_sizes(self, folder: str) -> Mapping[str, int]:
        with self._explain_errors():
            try:
                with os.scandir(self.path / folder) as entries:
                    return {
                        entry.name: entry.stat().st_size
                        for entry in entries
                        if entry.is_file() and not entry.name.endswith(_PART)
                    }
            except (FileNotFoundError, NotADirectoryError):
                return {}

    def read(self, name: str) -> bytes:
        with self._explain_errors():
            return (self.path / name).read_bytes()

    def write(self, name: str, data: bytes) -> None:
        path = self.path / name
        part = path.with_name(f"{path.name}{_PART}")
        with self._explain_errors():
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                with part.open("wb") as stream:
                    stream.write(data)
                    stream.flush()
                    os.fsync(stream.fileno())
                part.replace(path)
            except OSError:
                with suppress(OSError):
                    part.unlink()
                raise
            flush_to_disk(path.parent)

    def remove(self, name: str) -> None:
        with self._explain_errors(), suppress(FileNotFoundError):
            (self.path / name).unlink()

    @contextmanager
    def hold(self) -> Iterator[None]:
        def refuse(owner: str) -> None:
            raise BackupError(
                f"{owner} is writing another backup to {self.name}; run this again when it is done"
            )

        with self._explain_errors():
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (
            new_files_like(self.path),
            lock_file(self.path / _LOCK, refuse, lambda _folder: self._explain_errors()),
        ):
            self._remove_parts()
            yield

    def _remove_parts(self) -> None:
        with self._explain_errors():
            for part in self.path.glob(f"*/*{_PART}"):
                part.unlink()

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            next_step = (
                "free some space, or keep fewer with --keep, and run this again"
                if full
                else "fix the problem and run the command again"
            )
            raise BackupError(
                f"the backups in {self.name} cannot be used: {error.strerror or error}; {next_step}. "
                "Earlier backups are unchanged."
            ) from error


class ObjectPlace:
    """A location in an object store, given by its address."""

    def __init__(self, address: str) -> None:
        from ingest.sources.object_store import locate_driver

        self.name = strip_credentials(address)
        self._files, self._path = locate_driver(address)

    def list_sizes(self, folder: str) -> Mapping[str, int]:
        with self._explain_errors():
            self._files.invalidate_cache()
            try:
                found: list[dict[str, Any]] = self._files.ls(self._at(folder), detail=True)
            except FileNotFoundError:
                return {}
        return {
            str(entry["name"]).rpartition("/")[2]: int(entry.get("size") or 0)
            for entry in found
            if entry.get("type") != "directory"
        }

    def read(self, name: str) -> bytes:
        with self._explain_errors():
            return bytes(self._files.cat_file(self._at(name)))

    def write(self, name: str, data: bytes) -> None:
        with self._explain_errors():
            self._files.pipe_file(self._at(name), data)

    def remove(self, name: str) -> None:
        with self._explain_errors(), suppress(FileNotFoundError):
            self._files.rm_file(self._at(name))

    def hold(self) -> AbstractContextManager[None]:
        return nullcontext()

    def _at(self, name: str) -> str:
        return f"{self._path}/{name}"

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            reason = strip_credentials(" ".join(str(error).split())[:200])
            raise BackupError(
                f"the backups in {self.name} cannot be used ({type(error).__name__}: {reason}); check the "
                "address, the credentials and the bucket, and run this again. What was backed up before is "
                "untouched."
            ) from error

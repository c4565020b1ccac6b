"""Sets file modes, locks files until the process ends, and writes files safely in spite of power cuts."""

from __future__ import annotations

import json
import os
import socket
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import asdict, replace

from ingest.errors import explain_os_errors

_BEYOND = 2**30
"""Offset of the byte that is locked on Windows. It is after the description of the owner, because other
processes cannot read a locked byte.
"""
_LONGEST_OWNER = 4096  # maximum number of bytes that are read of a lock file


def _import_locks() -> Any:
    try:
        return import_module("fcntl")
    except ImportError:
        return import_module("msvcrt")


_LOCKS = _import_locks()


_GROUP, _OTHERS, _NO_WRITING_BY_OTHERS = 0o070, 0o007, 0o002


def limit_new_files(folder: Path) -> int:
    """Set the umask of this process so that its new files are as private as a folder. Return the old umask.

    The umask only gets stricter, with one exception. If the folder has the set-group-ID bit, new files get
    the group of the folder. This group then gets the same rights to the files as to the folder. Windows has
    no modes.
    """
    before = os.umask(0o077)
    try:
        mode = folder.stat().st_mode
    except OSError:  # the next write into the folder reports the cause of this error
        mode = stat.S_IRWXU
    if os.name != "posix":
        limit = before
    elif mode & stat.S_ISGID:
        limit = before & ~_GROUP | ~mode & (_GROUP | _OTHERS) | _NO_WRITING_BY_OTHERS
    else:
        limit = before | ~mode & (_GROUP | _OTHERS)
    os.umask(limit)
    return before


@contextmanager
def new_files_like(folder: Path) -> Iterator[None]:
    """Inside the block, make the new files of this process as private as a folder (`limit_new_files`).

    All threads of a process share the umask. So do not write to two folders with different modes in parallel.
    """
    before = limit_new_files(folder)
    try:
        yield
    finally:
        os.umask(before)


def is_open_to_everybody(folder: Path) -> bool:
    """Return True if every user of this machine may read a folder."""
    if os.name != "posix":
        return False
    try:
        folder = folder.resolve(strict=True)
        return bool(folder.stat().st_mode & stat.S_IROTH) and all(
            place.stat().st_mode & stat.S_IXOTH for place in (folder, *folder.parents)
        )
    except OSError:
        return False


class LockOwner(msgspec.Struct, frozen=True):
    """The process that has a lock. `url` is "" if the process serves no page, or not yet."""

    pid: int
    host: str
    since: str
    url: str = ""

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host} since {self.since}"


@contextmanager
def lock_file(
    path: Path,
    wait: Callable[[str], None],
    explain: Callable[[Path], AbstractContextManager[None]] = explain_os_errors,
) -> Iterator[Callable[[str], None]]:
    """Lock a file during the `with` block. Create the file if it does not exist.

    The operating system releases the lock if the process is killed. While another process has the lock,
    `wait` is called repeatedly. The argument of `wait` is the description of the other process, read from the
    file. `wait` sleeps or raises an error. If the file cannot be opened or written, `explain` replaces the
    OSError by an error about the folder, by default a StoreError.

    Yield a function that writes the URL of this process into the file. Other processes read the URL with
    `read_owner`. If the disk is full, the URL is not written.
    """
    with explain(path.parent), new_files_like(path.parent):
        # Not "w", which would delete the owner's description even if this process fails to get the lock.
        lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        while not _try_lock(lock):
            wait(str(read_owner(path) or "another process"))
        owner = LockOwner(os.getpid(), socket.gethostname(), datetime.now(UTC).isoformat(timespec="seconds"))
        with explain(path.parent):
            _write_owner(lock, owner)

        def write_url(url: str) -> None:
            with suppress(OSError):
                _write_owner(lock, replace(owner, url=url))

        yield write_url
    finally:
        os.close(lock)


def is_locked(path: Path) -> bool:
    """Return True while another process holds the lock of a file."""
    try:
        lock = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        return not _try_lock(lock, shared=True)
    finally:
        os.close(lock)


def _try_lock(lock: int, *, shared: bool = False) -> bool:
    """Try to lock an open file without waiting. Return False if another process has the lock.

    With `shared`, several processes may hold the lock at the same time. Windows has no shared lock.
    """
    try:
        if hasattr(_LOCKS, "flock"):
            _LOCKS.flock(lock, (_LOCKS.LOCK_SH if shared else _LOCKS.LOCK_EX) | _LOCKS.LOCK_NB)
        else:
            os.lseek(lock, _BEYOND, os.SEEK_SET)
            _LOCKS.locking(lock, _LOCKS.LK_NBLCK, 1)
    except (BlockingIOError, PermissionError):
        return False
    return True


def _write_owner(lock: int, owner: LockOwner) -> None:
    os.ftruncate(lock, 0)
    os.lseek(lock, 0, os.SEEK_SET)
    os.write(lock, json.dumps(asdict(owner)).encode())


def read_owner(path: Path) -> LockOwner | None:
    """Return the process that a lock file names. Return None if the file is unreadable or invalid.

    The process may have ended without the lock. `is_locked` says whether a process still has the lock.
    """
    try:
        with path.open("rb") as file:
            fields = json.loads(file.read(_LONGEST_OWNER))
        pid, since, url = int(fields["pid"]), str(fields["since"]), str(fields.get("url", ""))
        return LockOwner(pid, str(fields["host"])[:80], since[:40], url)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def flush_to_disk(path: Path) -> None:
    """Flush a file, or the entries of a folder, from the cache of the operating system to the disk.

    On Windows, folders are not flushed, and a file is flushed only if it is open for writing.
    """
    if sys.platform == "win32" and path.is_dir():
        return
    handle = os.open(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def replace_private(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Replace the content of a file that only its owner may read. Create the file if it does not exist.

    After a power cut, the file has either the old or the new content completely. The same is true if several
    threads or processes replace the file at the same time. The old file's mode is not kept. If `path` is a
    symbolic link, the file at the end of the link is replaced, and the link stays. Raises OSError, and then
    removes the incomplete new file.
    """
    target = Path(os.path.realpath(path))
    # The umask must not change, because all threads share it. mkstemp gives no rights to other users.
    descriptor, name = tempfile.mkstemp(".new", f".{target.name}-", target.parent)
    new = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        new.chmod(mode)
        new.replace(target)
    except BaseException:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        raise
    flush_to_disk(target.parent)


def replace_text(path: Path, text: str) -> None:
    """Replace the content of a small file. After a power cut, the file has either the old or the new content
    completely.
    """
    new = path.with_name(f"{path.name}.new")
    with new_files_like(path.parent):
        new.write_text(text, "utf-8")
    flush_to_disk(new)
    new.replace(path)
    flush_to_disk(path.parent)


def replace_in_place(path: Path, data: bytes) -> None:
    """Replace the content of a user's own file, and keep its mode. If `path` is a link, replace its target.

    After a power cut, the file has either the old or the new content completely. Raises OSError.
    """
    target = path.resolve(strict=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:60]}.")
    new = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        new.chmod(stat.S_IMODE(target.stat().st_mode))
        new.replace(target)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
    flush_to_disk(target.parent)

"""Finds and reads logs in object stores and on the web.

Uses fsspec (https://filesystem-spec.readthedocs.io). The drivers of fsspec take credentials from their own
files and environment variables (`AWS_PROFILE`, `AWS_ENDPOINT_URL`, …). Each driver is an optional extra of
the package callgauge. A pattern denotes all matching objects. The address of a folder denotes all objects in
the folder. Web addresses have no folders.

An object of up to `PIECE` bytes is fetched in one request, a larger object in pieces. Failed requests are
repeated. If the object changes meanwhile, the reading fails, so that two versions are never mixed.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, ClassVar

import fsspec
import msgspec

from ingest.errors import OptionError
from ingest.sources.log_file import FileStamp, LogFile
from ingest.sources.stored_names import strip_credentials
from ingest.version import install_command

DRIVERS = {
    "s3": ("s3", "s3fs"),
    "gs": ("gs", "gcsfs"),
    "az": ("az", "adlfs"),
    "abfs": ("az", "adlfs"),
    "https": ("https", "aiohttp"),
    "http": ("https", "aiohttp"),
}
"""The scheme of an address → Callgauge's extra for it, and the package that the extra installs."""
_WEB = ("http", "https")
_VERSIONS = ("ETag", "etag", "generation", "md5Hash", "content_md5", "Content-MD5", "Digest")
_TIMES = ("LastModified", "last_modified", "mtime", "updated", "Last-Modified")
PIECE = 4 * 1024 * 1024  # bytes fetched in one request
_TRIES = 3


class RemoteObject(msgspec.Struct, frozen=True):
    """An object at an address, with the size, time and version that were listed."""

    url: str
    seen: FileStamp
    sized: bool = True  # True when the server sends the size; such a server can also send parts of the object

    can_reopen: ClassVar[bool] = True

    @property
    def random_access(self) -> bool:
        return self.sized

    @property
    def own_name(self) -> str:
        return _without_query(self.url).rpartition("/")[2]

    @property
    def folder_name(self) -> str:
        return _without_query(self.url).rpartition("/")[0].rpartition("/")[2]

    def open(self) -> io.RawIOBase:
        files, path = locate_driver(self.url)
        size = self.seen.size if self.sized else None
        return ObjectStream(files, path, size, lambda: _object_stamp(files.info(path)) == self.seen)

    def sibling(self, name: str) -> RemoteObject | None:
        folder = self.url.rpartition("/")[0]
        if "/" in name or "?" in self.url or name in ("", ".", ".."):
            return None
        url = f"{folder}/{name}"
        try:
            files, path = locate_driver(url)
            info = files.info(path)
        except Exception:
            return None
        return RemoteObject(url, _object_stamp(info), info.get("size") is not None)


def find_objects(url: str) -> Iterator[LogFile]:
    """Yield each object that the address denotes.

    When the address cannot be listed, one LogFile with a `problem` is yielded. Raises OptionError when the
    driver for the address is not installed, or when no driver supports such addresses.
    """
    scheme = url.partition("://")[0].lower()
    try:
        files, path = locate_driver(url)
        listed = _list_objects(files, path, scheme)
    except OptionError:
        raise
    except Exception as error:
        yield LogFile(strip_credentials(url), RemoteObject(url, FileStamp()), problem=describe_failure(error))
        return
    for key, info in sorted(listed.items()):
        at = url if scheme in _WEB else f"{scheme}://{key}"
        stamp = _object_stamp(info)
        yield LogFile(strip_credentials(at), RemoteObject(at, stamp, info.get("size") is not None), stamp)


def locate_driver(url: str, **options: Any) -> tuple[Any, str]:
    """Return the fsspec driver for an address, and the address in the form that the driver uses as a path.

    `options` are passed to the driver.
    """
    scheme = url.partition("://")[0].lower()
    if scheme not in DRIVERS:
        schemes = ", ".join(f"{name}://" for name in DRIVERS)
        raise OptionError(f"{strip_credentials(url)} cannot be read: addresses begin with one of {schemes}")
    extra, _ = DRIVERS[scheme]
    try:
        files, path = fsspec.core.url_to_fs(url, **options)
    except ImportError as error:
        raise OptionError(
            f"{strip_credentials(url)} cannot be used: its driver is not installed; install it with "
            f"`{install_command(extra)}`"
        ) from error
    return files, str(path)


def _list_objects(files: Any, path: str, scheme: str) -> dict[str, Mapping[str, Any]]:
    """Return the objects at a path by key, each with the driver's information on the object.

    Hidden objects are left out unless the path names them. Raises FileNotFoundError when a pattern matches
    nothing.
    """
    files.invalidate_cache()
    if scheme not in _WEB and any(character in path for character in "*?["):
        listed: dict[str, Mapping[str, Any]] = {}
        for key, info in files.glob(path, detail=True).items():
            listed |= files.find(key, detail=True) if info.get("type") == "directory" else {key: info}
        if not listed:
            raise FileNotFoundError(path)
        return _drop_hidden(listed, path.rpartition("/")[0])
    info = files.info(path)
    if info.get("type") != "directory":
        return {path: info}
    return _drop_hidden(files.find(path, detail=True), path)


def _drop_hidden(listed: Mapping[str, Mapping[str, Any]], folder: str) -> dict[str, Mapping[str, Any]]:
    def is_hidden(key: str) -> bool:
        return any(part.startswith(".") for part in key.removeprefix(folder).split("/"))

    return {key: info for key, info in listed.items() if not key.endswith("/") and not is_hidden(key)}


def _object_stamp(info: Mapping[str, Any]) -> FileStamp:
    version = next((str(info[name]) for name in _VERSIONS if info.get(name)), "")
    when = next((info[name] for name in _TIMES if info.get(name)), None)
    return FileStamp(int(info.get("size") or 0), _nanoseconds(when), version)


def _nanoseconds(when: Any) -> int:
    try:
        if isinstance(when, str):
            when = parsedate_to_datetime(when) if "," in when else datetime.fromisoformat(when)
        if isinstance(when, datetime):
            when = when.replace(tzinfo=when.tzinfo or UTC).timestamp()
        return int(float(when) * 1e9) if when is not None else 0
    except (ValueError, TypeError, OverflowError):
        return 0


def describe_failure(error: Exception) -> str:
    """Return why an address cannot be listed, as the end of a sentence that begins with the address."""
    cause = error.__cause__ if isinstance(error, FileNotFoundError) and error.__cause__ else error
    status = getattr(cause, "status", None)
    if isinstance(cause, FileNotFoundError) or status in (404, 410):
        return "does not exist"
    reason = " ".join(str(cause).split())[:200]
    return f"cannot be accessed: {type(cause).__name__}{f': {strip_credentials(reason)}' if reason else ''}"


def _without_query(url: str) -> str:
    return url.partition("?")[0] if url.partition("://")[0].lower() in _WEB else url


class ObjectChangedError(OSError):
    """The object on the server has changed since it was found."""

    def __init__(self) -> None:
        super().__init__("it changed after it was found; load it again")


class ObjectStream(io.RawIOBase):
    """The content of an object on a server as a stream.

    `files` is the fsspec driver. `path` is the object's path in this driver. `size` is in bytes, or None when
    the server does not send the size. `is_same` asks the server and returns True when the object has not
    changed.
    """

    def __init__(self, files: Any, path: str, size: int | None, is_same: Callable[[], bool]) -> None:
        self._files, self._path = files, path
        self._size = size
        self._is_same = is_same
        self._handle: Any = None
        self._whole = size is None  # a server that does not send the size can send only the whole object
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._size is not None

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size or 0}[whence]
        self._at = max(0, base + offset)
        return self._at

    def tell(self) -> int:
        return self._at

    def close(self) -> None:
        self._drop_connection()
        super().close()

    def _drop_connection(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            with suppress(Exception):  # errors are ignored here, because the connection may be broken
                handle.close()

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        if self._size is not None:
            view = view[: max(0, self._size - self._at)]
        if not len(view):
            return 0
        data = self._read(len(view))
        if not data and self._size is not None:
            raise OSError(f"the server closed the connection at byte {self._at:,} of {self._size:,}")
        view[: len(data)] = data
        self._at += len(data)
        if self._at == self._size and self._size > PIECE:
            self._check_same()
        return len(data)

    def _check_same(self) -> None:
        try:
            same = self._is_same()
        except Exception as error:
            raise _failure_at(error, self._at) from error
        if not same:
            raise ObjectChangedError

    def _read(self, size: int) -> bytes:
        tries = _TRIES
        while True:
            try:
                return self.request_bytes(size)
            except ObjectChangedError:
                raise
            except Exception as error:
                self._drop_connection()
                if isinstance(error, ValueError) and not self._whole:
                    self._whole = True  # fsspec raises this error when a server cannot send parts of a file
                    continue
                tries -= 1
                if not tries:
                    raise _failure_at(error, self._at) from error
                self._check_same()

    def request_bytes(self, size: int) -> bytes:
        if self._handle is None or (self._whole and self._handle.tell() > self._at):
            self._drop_connection()
            self._handle = self._open_remote()
        if not self._whole:
            self._handle.seek(self._at)
        while (gap := self._at - self._handle.tell()) > 0:
            if not self._handle.read(min(PIECE, gap)):
                return b""
        data: bytes = self._handle.read(min(size, PIECE))
        return data

    def _open_remote(self) -> Any:
        if self._whole or self._size is None:
            return self._files.open(self._path, "rb", block_size=0)
        if self._size > PIECE:
            return self._files.open(self._path, "rb", block_size=PIECE, cache_type="readahead")
        data = self._files.cat_file(self._path)
        if len(data) != self._size:
            raise ObjectChangedError
        return io.BytesIO(data)


def _failure_at(error: Exception, at: int) -> OSError:
    reason = " ".join(str(error).split())[:200]
    return OSError(f"the server failed at byte {at:,} ({type(error).__name__}: {reason})")

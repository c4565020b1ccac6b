"""Finds logs in object stores and on the web.

Uses fsspec (https://filesystem-spec.readthedocs.io). The fsspec drivers take credentials from their own files
and environment variables (`AWS_PROFILE`, `AWS_ENDPOINT_URL`, …); each driver is an extra of this project. A
pattern, or an address of a folder, stands for all objects in it; web addresses have no folders.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, ClassVar

import fsspec

from ingest.errors import OptionError
from ingest.sources.log_file import FileStamp, LogFile
from ingest.sources.object_stream import ObjectStream
from ingest.sources.stored_names import strip_credentials

DRIVERS = {
    "s3": ("s3", "s3fs"),
    "gs": ("gs", "gcsfs"),
    "az": ("az", "adlfs"),
    "abfs": ("az", "adlfs"),
    "https": ("https", "aiohttp"),
    "http": ("https", "aiohttp"),
}
"""The extra of Callgauge and the package that it brings, by the scheme of an address."""
_WEB = ("http", "https")
_VERSIONS = ("ETag", "etag", "generation", "md5Hash", "content_md5", "Content-MD5", "Digest")
_TIMES = ("LastModified", "last_modified", "mtime", "updated", "Last-Modified")


@dataclass(frozen=True, slots=True)
class RemoteObject:
    """An object at an address, with the size, time and version it had when it was listed."""

    url: str
    seen: FileStamp
    sized: bool = True  # the server says how large it is, and so gives parts of it

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
    """Yield each object that the address stands for.

    When the address cannot be listed, one LogFile with a `problem` is yielded. Raises OptionError when the
    driver for the address is not installed, or there is no driver for such addresses.
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
        seen = _object_stamp(info)
        yield LogFile(strip_credentials(at), RemoteObject(at, seen, info.get("size") is not None), seen)


def locate_driver(url: str, **options: Any) -> tuple[Any, str]:
    """Return the fsspec driver for an address, and the address as a path of that driver.

    `options` are the driver's own.
    """
    scheme = url.partition("://")[0].lower()
    if scheme not in DRIVERS:
        known = ", ".join(f"{name}://" for name in DRIVERS)
        raise OptionError(f"{strip_credentials(url)} cannot be read: addresses begin with one of {known}")
    extra, package = DRIVERS[scheme]
    try:
        files, path = fsspec.core.url_to_fs(url, **options)
    except ImportError as error:
        raise OptionError(
            f"{strip_credentials(url)} cannot be used: the extra callgauge[{extra}] is not installed; "
            f"`{sys.executable} -m pip install {package}` installs it"
        ) from error
    return files, str(path)


def _list_objects(files: Any, path: str, scheme: str) -> dict[str, Mapping[str, Any]]:
    """Return the objects at a path by key, each with the driver's information on it.

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
    said = " ".join(str(cause).split())[:200]
    return f"cannot be looked at: {type(cause).__name__}{f': {strip_credentials(said)}' if said else ''}"


def _without_query(url: str) -> str:
    return url.partition("?")[0] if url.partition("://")[0].lower() in _WEB else url

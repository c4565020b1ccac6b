"""Addresses of logs in object stores and on the web in, what is there out, each object with its place.

Through fsspec (https://filesystem-spec.readthedocs.io). Who may read what is for its drivers to know, from
their own files and environment variables (`AWS_PROFILE`, `AWS_ENDPOINT_URL`, …); each is an extra of this
project. A pattern, or an address that is a folder, stands for all objects there; the web has no folders.
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
from ingest.sources.download import Download
from ingest.sources.found import Found, Seen
from ingest.sources.naming import address

_DRIVERS = {
    "s3": ("s3", "s3fs"),
    "gs": ("gs", "gcsfs"),
    "az": ("az", "adlfs"),
    "abfs": ("az", "adlfs"),
    "https": ("https", "aiohttp"),
    "http": ("https", "aiohttp"),
}
_WEB = ("http", "https")
_VERSIONS = ("ETag", "etag", "generation", "md5Hash", "content_md5", "Content-MD5", "Digest")
_TIMES = ("LastModified", "last_modified", "mtime", "updated", "Last-Modified")


@dataclass(frozen=True, slots=True)
class RemoteObject:
    """What stood at an address and looked so."""

    url: str
    seen: Seen
    sized: bool = True  # the server says how large it is, and so gives parts of it

    again: ClassVar[bool] = True

    @property
    def random_access(self) -> bool:
        return self.sized

    @property
    def own_name(self) -> str:
        return _without_query(self.url).rpartition("/")[2]

    def open(self) -> io.RawIOBase:
        files, path = _located(self.url)
        size = self.seen.size if self.sized else None
        return Download(files, path, size, lambda: _seen(files.info(path)) == self.seen)

    def beside(self, name: str) -> RemoteObject | None:
        folder = self.url.rpartition("/")[0]
        if "/" in name or "?" in self.url or name in ("", ".", ".."):
            return None
        url = f"{folder}/{name}"
        try:
            files, path = _located(url)
            info = files.info(path)
        except Exception:
            return None
        return RemoteObject(url, _seen(info), info.get("size") is not None)


def find(url: str) -> Iterator[Found]:
    """Every object that the address stands for. Raises OptionError when no driver for it is installed."""
    scheme = url.partition("://")[0].lower()
    try:
        files, path = _located(url)
        listed = _listed(files, path, scheme)
    except OptionError:
        raise
    except Exception as error:
        yield Found(address(url), RemoteObject(url, Seen()), problem=_why_not(error))
        return
    for key, info in sorted(listed.items()):
        at = url if scheme in _WEB else f"{scheme}://{key}"
        seen = _seen(info)
        yield Found(address(at), RemoteObject(at, seen, info.get("size") is not None), seen)


def _located(url: str) -> tuple[Any, str]:
    """The driver and the path it knows the address by."""
    scheme = url.partition("://")[0].lower()
    if scheme not in _DRIVERS:
        known = ", ".join(f"{name}://" for name in _DRIVERS)
        raise OptionError(f"{address(url)} cannot be read: addresses begin with one of {known}")
    extra, package = _DRIVERS[scheme]
    try:
        files, path = fsspec.core.url_to_fs(url)
    except ImportError as error:
        raise OptionError(
            f"{address(url)} cannot be read: the extra callgauge[{extra}] is not installed; "
            f"`{sys.executable} -m pip install {package}` installs it"
        ) from error
    return files, str(path)


def _listed(files: Any, path: str, scheme: str) -> dict[str, Mapping[str, Any]]:
    """Objects by key, with what the server says of each; hidden ones are left out unless they are named."""
    files.invalidate_cache()
    if scheme not in _WEB and any(character in path for character in "*?["):
        listed: dict[str, Mapping[str, Any]] = {}
        for key, info in files.glob(path, detail=True).items():
            listed |= files.find(key, detail=True) if info.get("type") == "directory" else {key: info}
        if not listed:
            raise FileNotFoundError(path)
        return _visible(listed, path.rpartition("/")[0])
    info = files.info(path)
    if info.get("type") != "directory":
        return {path: info}
    return _visible(files.find(path, detail=True), path)


def _visible(listed: Mapping[str, Mapping[str, Any]], folder: str) -> dict[str, Mapping[str, Any]]:
    def is_hidden(key: str) -> bool:
        return any(part.startswith(".") for part in key.removeprefix(folder).split("/"))

    return {key: info for key, info in listed.items() if not key.endswith("/") and not is_hidden(key)}


def _seen(info: Mapping[str, Any]) -> Seen:
    version = next((str(info[name]) for name in _VERSIONS if info.get(name)), "")
    when = next((info[name] for name in _TIMES if info.get(name)), None)
    return Seen(int(info.get("size") or 0), _nanoseconds(when), version)


def _nanoseconds(when: Any) -> int:
    try:
        if isinstance(when, str):
            when = parsedate_to_datetime(when) if "," in when else datetime.fromisoformat(when)
        if isinstance(when, datetime):
            when = when.replace(tzinfo=when.tzinfo or UTC).timestamp()
        return int(float(when) * 1e9) if when is not None else 0
    except (ValueError, TypeError, OverflowError):
        return 0


def _why_not(error: Exception) -> str:
    """The end of a sentence that begins with the address."""
    cause = error.__cause__ if isinstance(error, FileNotFoundError) and error.__cause__ else error
    status = getattr(cause, "status", None)
    if isinstance(cause, FileNotFoundError) or status in (404, 410):
        return "does not exist"
    said = " ".join(str(cause).split())[:200]
    return f"cannot be looked at: {type(cause).__name__}{f': {address(said)}' if said else ''}"


def _without_query(url: str) -> str:
    return url.partition("?")[0] if url.partition("://")[0].lower() in _WEB else url

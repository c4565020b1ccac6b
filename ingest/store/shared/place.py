"""The files of a shared store in an object store. Reads, lists and removes files, and writes them
conditionally.

The conditions are those of S3. A file is written only if it does not exist (`If-None-Match: *`), or only if
it still has the ETag that was read (`If-Match`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import msgspec
from fsspec.asyn import sync

from ingest.errors import StoreError
from ingest.sources.object_store import locate_driver

_PIECE = 8 * 1024 * 1024  # bytes read in one request
_PART = 16 * 1024 * 1024  # bytes of one part of an upload, which has at most 10,000 parts
_UPLOADS_AT_ONCE = 2
_LARGEST_TEXT = 4 * 1024 * 1024  # bytes; a larger file is not read as a whole
_DRIVER = {
    "config_kwargs": {"connect_timeout": 5, "read_timeout": 10, "retries": {"total_max_attempts": 1}},
}
_CREDENTIALS = re.compile(r"://[^/\s@]*@")  # user name and password in a server's address
_TRIES = 2  # number of attempts; it is small because a user may be waiting
_REFUSED = ("PreconditionFailed", "ConditionalRequestConflict", "412", "409")
_GONE = ("NoSuchKey", "404", "NotFound")


class UnreachableError(StoreError):
    """The object store did not answer, or denied access."""


class ChangedError(StoreError):
    """A file in the object store has changed since it was read. Nothing was written."""


class FileState(msgspec.Struct, frozen=True):
    """The object store's information on a file: its ETag, when it was written, and the server's time.

    `size` is in bytes. It is None in the answer to a write.
    """

    etag: str
    size: int | None
    modified: datetime
    now: datetime


class SharedPlace:
    """The files of one shared store.

    Methods take the names of files. All methods may raise UnreachableError.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._files, self._path = locate_driver(self.address, **_DRIVER)
        self._files.retries = _TRIES
        self._bucket, self._folder, _ = self._files.split_path(self._path)

    def find(self, name: str) -> FileState | None:
        """Return the state of a file. Return None when the file does not exist."""
        with self._explain_errors():
            try:
                return _read_answer(self._request("head_object", name))
            except FileNotFoundError:
                return None

    def read(self, name: str) -> tuple[bytes, FileState] | None:
        """Return the content and the state of a small file. Return None when the file does not exist.

        Raises StoreError when the file is too large.
        """

        async def fetch() -> tuple[bytes, Mapping[str, Any]]:
            answer = await self._files._call_s3("get_object", Bucket=self._bucket, Key=self._key(name))
            async with answer["Body"] as body:
                return await body.read() if answer["ContentLength"] <= _LARGEST_TEXT else b"", answer

        with self._explain_errors():
            try:
                data, answer = sync(self._files.loop, fetch)
            except FileNotFoundError as gone:
                if _error_code(gone) == "NoSuchBucket":
                    raise
                return None
        if answer["ContentLength"] > _LARGEST_TEXT:
            raise StoreError(f"{self.address}/{name} is not a file of Callgauge: it is too large")
        return data, _read_answer(answer)

    def write_if(self, name: str, data: bytes, etag: str | None) -> FileState:
        """Write a small file if it still has this ETag. If the ETag is None, write the file if it does not
        exist.

        Otherwise raise ChangedError and write nothing.
        """
        condition = {"IfMatch": etag} if etag is not None else {"IfNoneMatch": "*"}
        with self._explain_errors():
            try:
                return _read_answer(self._request("put_object", name, Body=data, **condition))
            except Exception as error:
                code = _error_code(error)
                if code not in _REFUSED and not (etag is not None and code in _GONE):
                    raise
        # The first attempt may have succeeded although its answer was lost. Then the file has this data.
        current = self.read(name)
        if current is not None and current[0] == data:
            return current[1]
        raise ChangedError(f"{self.address}/{name} was changed by another process")

    def upload(self, file: Path, name: str) -> None:
        """Write a file of any size, and check that the whole file has arrived. Raises StoreError, OSError."""
        size = file.stat().st_size
        with self._explain_errors():
            self._files.put_file(str(file), self._at(name), chunksize=_PART, max_concurrency=_UPLOADS_AT_ONCE)
        arrived = self.find(name)
        if arrived is None or arrived.size != size:
            raise StoreError(f"{name} was not completely written to {self.address}; run the command again")

    def read_range(self, name: str, start: int, end: int) -> bytes:
        """Return the bytes of a file from `start` to before `end`, or fewer if the file ends earlier."""
        with self._explain_errors():
            return bytes(self._files.cat_file(self._at(name), start=start, end=end))

    def read_pieces(self, name: str, size: int) -> Iterator[bytes]:
        """Yield the content of a file of this size in pieces."""
        for start in range(0, size, _PIECE):
            yield self.read_range(name, start, min(start + _PIECE, size))

    def list_files(self) -> Mapping[str, datetime]:
        """Return the names of all files of the store, with the times at which they were written."""
        with self._explain_errors():
            try:
                entries = self._files.ls(self._path, detail=True, refresh=True)
            except FileNotFoundError:
                return {}
        return {
            str(entry["name"]).removeprefix(f"{self._path}/"): entry["LastModified"]
            for entry in entries
            if entry.get("type") == "file" and entry.get("LastModified")
        }

    def remove(self, name: str) -> None:
        """Remove a file. It is not an error if the file is missing."""
        with self._explain_errors(), suppress(FileNotFoundError):
            self._files.rm_file(self._at(name))

    def drop_unfinished(self, before: datetime) -> None:
        """Remove the parts of unfinished uploads that began before a time."""
        with self._explain_errors():
            uploads = self._files.call_s3("list_multipart_uploads", Bucket=self._bucket, Prefix=self._key(""))
            for upload in uploads.get("Uploads", ()):
                if upload["Initiated"] < before:
                    self._files.call_s3(
                        "abort_multipart_upload",
                        Bucket=self._bucket,
                        Key=upload["Key"],
                        UploadId=upload["UploadId"],
                    )

    def _request(self, what: str, name: str, **more: Any) -> Mapping[str, Any]:
        answer: Mapping[str, Any] = self._files.call_s3(
            what, Bucket=self._bucket, Key=self._key(name), **more
        )
        return answer

    def _key(self, name: str) -> str:
        return f"{self._folder}/{name}" if self._folder else name

    def _at(self, name: str) -> str:
        return f"{self._path}/{name}"

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        try:
            yield
        except StoreError:
            raise
        except Exception as error:
            kind = type(error).__name__
            reason = _CREDENTIALS.sub("://", " ".join(str(error).split()))[:200]
            raise UnreachableError(
                f"the shared store {self.address} cannot be reached ({kind}: {reason}); "
                f"{_advise(kind, error)}"
            ) from error


def _advise(kind: str, error: Exception) -> str:
    if "Credential" in kind:
        return "give credentials: AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
    if isinstance(error, PermissionError):
        return "check what these credentials may do in the bucket: get, put, list and delete objects"
    if isinstance(error, FileNotFoundError):
        return "check the name of the bucket"
    return "check the network, AWS_ENDPOINT_URL and the name of the bucket, and run the same command again"


def _error_code(error: Exception) -> str:
    response = getattr(error.__cause__, "response", None) or {}
    return str(response.get("Error", {}).get("Code", ""))


def _read_answer(answer: Mapping[str, Any]) -> FileState:
    """Return the state of a file from a response. It has the server's times if the response has them."""
    now = datetime.now(UTC)
    with suppress(TypeError, ValueError):
        now = parsedate_to_datetime(answer["ResponseMetadata"]["HTTPHeaders"].get("date"))
    return FileState(str(answer["ETag"]), answer.get("ContentLength"), answer.get("LastModified") or now, now)

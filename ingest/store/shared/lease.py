"""The lease of a load on a shared store. The lease names the process that loads. That process renews the
lease.

The lease only prevents wasted loads. The conditional write of `CURRENT` prevents one load from overwriting
another. A lease expires when it was not renewed for `LASTS`.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from threading import Event, Thread

from ingest.errors import StoreBusy, StoreError
from ingest.store.shared.place import ChangedError, FileState, SharedPlace, UnreachableError

LEASE = "lease"
LASTS = timedelta(minutes=2)
_RENEWED_EVERY = 20.0  # seconds between two renewals
_NO_ETAG = '"00000000000000000000000000000000"'


class Lease:
    """A lease that this process holds. `owner` is the id of the folder into which this process loads."""

    def __init__(self, place: SharedPlace, owner: str) -> None:
        self._place = place
        self._content = {
            "owner": f"{socket.gethostname()}:{owner}",
            "holder": f"process {os.getpid()} on {socket.gethostname()}",
            "since": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        self._etag: str | None = None
        self._renewed = 0.0  # time.monotonic() before the last renewal
        self._time = datetime.now(UTC)  # the server's time when `_renewed` was measured
        self._lost = False

    def take(self, wait: Callable[[str], None]) -> None:
        """Take the lease. While another process has it, call `wait`, which sleeps or raises an error."""
        while True:
            current = self._place.read(LEASE)
            who = self._describe_holder(*current) if current else None
            if who is None:
                with suppress(ChangedError):
                    self._write(current[1].etag if current else None)
                    self._check_conditions()
                    return
            else:
                wait(who)

    def _describe_holder(self, content: bytes, state: FileState) -> str | None:
        try:
            fields = json.loads(content)
            holder, owner, since = (str(fields[name])[:80] for name in ("holder", "owner", "since"))
        except (ValueError, TypeError, KeyError, RecursionError):
            holder, owner, since = "another process", "unknown", "an unknown time"
        left = LASTS - (state.now - state.modified)
        # This process has the folder's lock. So if the lease belongs to this folder, its process has ended.
        if not holder or owner == self._content["owner"] or left <= timedelta(0):
            return None
        return f"{holder} since {since} (if it was killed, its lease ends in {left.seconds} s)"

    def _check_conditions(self) -> None:
        """Raise StoreError when the object store ignores write conditions.

        Without write conditions, one load could overwrite the files of another load.
        """
        for etag in (None, _NO_ETAG):
            try:
                self._etag = self._place.write_if(LEASE, self._make_content(), etag).etag
            except ChangedError:
                continue
            self.release()
            raise StoreError(
                f"{self._place.address} ignores the headers If-Match and If-None-Match, so two "
                "loads could overwrite each other; use an object store that supports conditional writes"
            )

    def renew(self) -> None:
        """Renew the lease. The lease is lost if another process has taken it."""
        try:
            self._write(self._etag)
        except ChangedError:
            self._lost = True
        except UnreachableError:
            pass  # the next attempt may still be in time

    def check(self) -> None:
        """Raise StoreBusy when the lease is lost."""
        if self._lost or time.monotonic() - self._renewed >= LASTS.total_seconds():
            raise StoreBusy(
                f"this load has lost its lease of {self._place.address}: it could not renew it for "
                f"{LASTS.seconds} s, or another load has taken it. Nothing was published; run it again"
            )

    def find_time(self) -> datetime:
        """Return the time by the clock of the object store."""
        return self._time + timedelta(seconds=time.monotonic() - self._renewed)

    def release(self) -> None:
        """Release the lease. If this fails, the lease expires by itself."""
        with suppress(StoreError):
            released = json.dumps({**self._content, "holder": ""})
            self._place.write_if(LEASE, released.encode(), self._etag)

    def _write(self, etag: str | None) -> None:
        began = time.monotonic()
        written = self._place.write_if(LEASE, self._make_content(), etag)
        self._etag, self._renewed, self._time = written.etag, began, written.now

    def _make_content(self) -> bytes:
        # Each content is unique, so that each ETag is also unique.
        return json.dumps({**self._content, "mark": secrets.token_hex(8)}).encode()


@contextmanager
def hold_lease(place: SharedPlace, owner: str, wait: Callable[[str], None]) -> Iterator[Lease]:
    """Hold the lease of a shared store, and renew it in a thread. Raises StoreError."""
    lease = Lease(place, owner)
    lease.take(wait)
    done = Event()

    def keep() -> None:
        while not done.wait(_RENEWED_EVERY):
            lease.renew()

    thread = Thread(target=keep, name="lease", daemon=True)
    thread.start()
    try:
        yield lease
    finally:
        done.set()
        thread.join()
        lease.release()

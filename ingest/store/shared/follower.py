"""Keeps a folder up to date with its shared store. Newly published files arrive within seconds."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.errors import IngestError
from ingest.store.shared.link import read_link
from ingest.store.shared.outage import note_outage
from ingest.store.shared.pointer import CURRENT

if TYPE_CHECKING:
    from ingest.store.shared.shared_folder import SharedFolder

EVERY = 3.0  # seconds between two requests for the state of CURRENT


class Follower:
    """Polls the shared store and fetches newly published store files."""

    def __init__(self, store: SharedFolder) -> None:
        self._store = store
        self._seen: str | None = None

    def start(self) -> None:
        """Follow the store in a thread, until the process ends."""
        threading.Thread(target=self._follow, name="shared store", daemon=True).start()

    def _follow(self) -> None:
        pause = threading.Event()
        while True:
            self.look()
            pause.wait(EVERY)

    def look(self) -> None:
        """Fetch a newly published store file.

        After a failure, record the failure in the folder and keep the old store file.
        """
        try:
            current = self._store.place.find(CURRENT)
            if current is None or current.etag != self._seen:
                self._seen = self._store.fetch().etag
        except (IngestError, OSError) as problem:
            note_outage(self._store.folder, str(problem))
        else:
            note_outage(self._store.folder, None)


def follow(folder: Path) -> None:
    """Follow the shared store of a folder, if it has one."""
    link = read_link(folder)
    if link is None:
        return
    # the import of the driver takes 0.1 s
    from ingest.store.shared.shared_folder import open_shared_folder

    Follower(open_shared_folder(folder, link)).start()

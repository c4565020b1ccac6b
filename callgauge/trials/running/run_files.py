"""Finds the folder of a trial run, and writes its files without secrets. A kill or a full disk damages no
file.
"""

from __future__ import annotations

import base64
import errno
import json
import os
import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from callgauge.trials.planning.plan import EndpointPlan, Plan
from callgauge.trials.results.run_folder import FolderError, RunFolder, read_lock

HIDDEN = "[key]"
_SHORTEST = 8  # Shorter values may be placeholders, such as `none`, so they are not hidden.
_DEPTH = 4  # A text may be nested as JSON within JSON this many times.
OnWrite = Callable[[str], None]
PART = ".part"
_LONGEST = 40  # A folder name keeps this many characters of the plan's name.


class KnownSecrets:
    """Replaces known secrets by `[key]`, even if a secret is escaped as in JSON or a URL."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        spelled = {spelling for value in values if len(value) >= _SHORTEST for spelling in _spellings(value)}
        self._texts = sorted(spelled, key=len, reverse=True)
        self._bytes = [text.encode("utf-8", "surrogatepass") for text in self._texts]

    def hide(self, text: str) -> str:
        """Return a string with the secrets replaced."""
        for secret in self._texts:
            text = text.replace(secret, HIDDEN)
        return text

    def hide_bytes(self, content: bytes) -> bytes:
        """Return the content of a file with the secrets replaced. Valid JSON stays valid."""
        for secret in self._bytes:
            content = content.replace(secret, HIDDEN.encode())
        return content


def secrets_of(endpoints: Iterable[EndpointPlan]) -> KnownSecrets:
    """Return the secrets of endpoints: API keys from the environment, and credentials in URLs."""
    values: list[str] = []
    for endpoint in endpoints:
        if endpoint.key_variable is not None:
            values.append(os.environ.get(endpoint.key_variable, ""))
        values += _url_secrets(endpoint.url)
    return KnownSecrets(values)


def hide_credentials(url: str) -> str:
    """Return a URL without user, password and query."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def _url_secrets(url: str) -> Iterable[str]:
    user_info = urlsplit(url).netloc.rpartition("@")[0]
    if not user_info:
        return ()
    user, _, password = user_info.partition(":")
    secret = unquote(password or user)
    basic = base64.b64encode(unquote(user_info).encode()).decode()
    return (user_info, secret, basic)


def _spellings(value: str) -> Iterable[str]:
    yield quote(value, safe="")
    for is_ascii in (True, False):
        spelled = value
        for _ in range(_DEPTH):
            yield spelled
            spelled = json.dumps(spelled, ensure_ascii=is_ascii)[1:-1]


class RunError(Exception):
    """Raised when a trial run cannot begin. The message gives the reason and the next step."""


def ignore_write(_step: str) -> None:
    """Do nothing. Only tests replace this default of `on_write`."""


class RunFiles:
    """Writes lines and files, with known secrets replaced.

    `on_write` is called with the name of each write before the write happens. Tests kill the process in this
    callback.
    """

    def __init__(self, secrets: KnownSecrets, on_write: OnWrite = ignore_write) -> None:
        self.secrets = secrets
        self.on_write = on_write

    def append(self, path: Path, line: bytes) -> None:
        """Append complete lines to a file in one write. Raises FolderError."""
        with explain_full_disk(path):
            self.on_write(f"append to {path.name}")
            with path.open("ab") as file:
                file.write(self.secrets.hide_bytes(line))

    def replace(self, path: Path, content: bytes) -> None:
        """Replace a file atomically: write a temporary file, then rename it. Raises FolderError."""
        aside = path.with_name(path.name + PART)
        with explain_full_disk(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self.on_write(f"write {path.name}")
            with aside.open("wb") as file:
                file.write(self.secrets.hide_bytes(content))
                file.flush()
                os.fsync(file.fileno())
            self.on_write(f"rename {path.name}")
            aside.replace(path)


def drop_half_line(path: Path) -> None:
    """Remove the last line of a file if a killed process wrote it only in part. Raises FolderError."""
    with explain_full_disk(path):
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.truncate(path, whole)


@contextmanager
def explain_full_disk(path: Path) -> Iterator[None]:
    """Raise FolderError, with advice, because the file system reported an error."""
    try:
        yield
    except OSError as error:
        step = "make room" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "correct that"
        raise FolderError(
            f"{path} cannot be written: {error.strerror or error}. All trials that ended before are kept; "
            f"{step} and run again to continue"
        ) from None


def make_place(out: Path) -> None:
    """Create the folder that contains the folders of trial runs. Raises RunError."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(
            f"{out} cannot be the folder of runs: {error.strerror or error}; name another place with --out"
        ) from None


def find_folder(plan: Plan, out: Path, *, is_new: bool = False) -> Path:
    """Return the folder of a plan's trial run: `out` if it contains a run, else the plan's newest run folder
    in `out`.

    If there is no such folder, or `is_new` is True, return a new path in `out`. Raises FolderError.
    """
    if not is_new and RunFolder(out).lock.exists():
        return out
    if not is_new and (folder := _find_known(plan, out)):
        return folder
    slug = re.sub(r"[^a-z0-9]+", "-", plan.name.lower())[:_LONGEST].strip("-") or "trial"
    return out / f"{slug}.{secrets.token_hex(4)}"


def _find_known(plan: Plan, out: Path) -> Path | None:
    folders: list[tuple[str, Path]] = []
    for lock_file in out.glob("*/lock.json"):
        try:
            lock = read_lock(RunFolder(lock_file.parent))
        except FolderError:
            continue
        if lock is not None and lock.get("name") == plan.name:
            folders.append((str(lock.get("created_at")), lock_file.parent))
    return max(folders)[1] if folders else None

"""The errors that stop a load, and the errors for damaged files.

The message of an error that stops a load says what the user can do next.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class IngestError(Exception):
    """An error that stopped a load before anything was published. Its `str()` is the sentence to print."""


class InputError(IngestError):
    """A path that the user named, or a named file of tool definitions, cannot be used."""


class NothingFoundError(InputError):
    """The path that the user named exists but contains no files."""


class OptionError(InputError):
    """An option, or the file that an option names, cannot be used."""


class StoreError(IngestError):
    """The store cannot be used or written."""


class StoreBusy(StoreError):  # noqa: N818 - it says a state of the store; nothing is broken
    """Another load has locked the store."""


class StoreVersionError(StoreError):
    """The store has tables of a version that this version of Callgauge cannot use."""


class BackupError(IngestError):
    """A backup cannot be written, or an existing backup cannot be used."""


_NEXT_STEP = {
    errno.ENOSPC: "free some space and run the same command again",
    errno.EDQUOT: "free some space and run the same command again",
    errno.EFBIG: "a limit forbids files of this size; raise it and run the same command again",
    errno.EACCES: "change its permissions, or name another folder with --store",
    errno.EPERM: "change its permissions, or name another folder with --store",
    errno.EROFS: "name a folder that can be written with --store",
}


@contextmanager
def explain_os_errors(store_dir: Path) -> Iterator[None]:
    """Convert an OSError raised in the block to a `StoreError` that names the store's folder."""
    try:
        yield
    except OSError as error:
        raise store_error(store_dir, error) from error


def store_error(store_dir: Path, error: OSError) -> StoreError:
    """Return a `StoreError` for an OSError on the store's files. The message says what to do next."""
    what = error.strerror or str(error)
    next_step = _NEXT_STEP.get(error.errno or 0, "fix the problem and run the command again")
    return StoreError(
        f"cannot write the store {store_dir}: {what}; {next_step}. The published store is unchanged."
    )


class DamagedFileError(OSError):
    """The file can be read, but its content is damaged.

    In messages, `str()` of the error follows "cannot be read: ".
    """


class CutOffError(DamagedFileError):
    """The file ends too early. The bytes before its end are valid."""

"""Where things lie within a container: what lies beside callgauge.toml in one folder, all else as it is here.

So one callgauge.toml serves on the machine and in the container, with relative and with absolute paths.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from callgauge.deployment.installation import DeploymentError, Installation

HOME = PurePosixPath("/callgauge")
USER_ID = 10001
"""The user and group of the image; no user of a machine has it by chance."""
_OF_THE_IMAGE = {"/", "/opt", "/opt/callgauge", "/var"}
_FIRST_FOLDERS = {"bin", "dev", "etc", "lib", "lib64", "proc", "sbin", "sys", "tmp", "usr"}


@dataclass(frozen=True, slots=True)
class Mount:
    """A file or folder that a container gets. `here`: on this machine; `there`: in the container."""

    here: Path
    there: PurePosixPath
    is_writable: bool


def find_place(known: Installation, path: Path) -> PurePosixPath:
    """Return where a path of this machine lies in the container. Raises DeploymentError."""
    folder = known.config.parent
    there = HOME / path.relative_to(folder) if path.is_relative_to(folder) else PurePosixPath(path)
    if str(there) in _OF_THE_IMAGE or (len(there.parts) == 2 and there.name in _FIRST_FOLDERS):
        raise DeploymentError(f"{path} cannot be mounted: the image has files of its own there; move it")
    return there


def list_mounts(known: Installation) -> Iterator[Mount]:
    """Yield what a container needs, folders before what lies in them."""
    writable = (known.store, *known.writable)
    mounts = [
        Mount(path, find_place(known, path), path in writable)
        for path in dict.fromkeys((known.config, *known.files, *known.secret_files, *known.logs, *writable))
    ]
    yield from sorted(mounts, key=lambda mount: (len(mount.there.parts), mount.there))


def container_commands(known: Installation) -> tuple[list[str], list[str]]:
    """Return the arguments of `callgauge` for the server and for the night."""
    server, night = known.commands(str(find_place(known, known.config)))
    begins = len(known.command)
    return server[begins:], night[begins:]


def list_warnings(known: Installation) -> list[str]:
    """Return what would keep people from reaching the server in its container."""
    if known.address in ("127.0.0.1", "localhost", "::1"):
        what = f"note: [serve] address is {known.address}, which only the container itself reaches: write "
        return [what + 'address = "0.0.0.0" with a [sign_in], and hosts = ["the name in the browser"]']
    return []

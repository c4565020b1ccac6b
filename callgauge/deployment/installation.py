"""Describes what a service needs: commands, folders to read and write, and names of secret variables."""

from __future__ import annotations

import glob
import os.path
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from callgauge.configuration.places import is_address
from callgauge.configuration.settings import Configuration, SignInSettings
from ingest.sources.object_store import DRIVERS

_TIME = re.compile(r"([01]\d|2[0-3]):([0-5]\d)")
_USER = re.compile(r"[a-z_][a-z0-9_-]{0,31}")


class DeploymentError(Exception):
    """Raised when a configuration gives no service files. The message has the reason and the next step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """One Callgauge service. All paths are absolute.

    `command` starts `callgauge`. The nightly job starts at `hour` and `minute`. `user` is the system user of
    the service, or None for the default user. `files` are other files that the configuration names. Only the
    service's user may read `secret_files`. `writable` has the folders for reports and backups. `logs` has the
    local folders of the sources. `secrets` has the names of environment variables with secrets. `packages`
    are additional Python packages for a container image. `checkout` is the folder of Callgauge's own files.
    """

    command: tuple[str, ...]
    config: Path
    store: Path
    hour: int
    minute: int
    user: str | None
    address: str
    port: int
    image: str
    files: tuple[Path, ...] = ()
    secret_files: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    logs: tuple[Path, ...] = ()
    secrets: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    checkout: Path | None = None

    def commands(self, config: str | None = None) -> tuple[list[str], list[str]]:
        """Return the commands of the server and of the nightly job.

        `config` is the file path of the configuration in a container. None means the file path on this
        machine.
        """
        config_path = config or str(self.config)
        return [*self.command, "serve", "--config", config_path], [
            *self.command,
            "nightly",
            "--config",
            config_path,
        ]

    @property
    def environment_file(self) -> Path:
        """The file with the secrets, next to the configuration. Each line is NAME=value."""
        return self.config.with_suffix(".env")


def describe_installation(
    configuration: Configuration,
    command: Sequence[str],
    *,
    at: str,
    user: str | None,
    image: str,
    checkout: Path | None,
) -> Installation:
    """Return what the service for a configuration needs. Raises DeploymentError."""
    begins = _TIME.fullmatch(at)
    if begins is None:
        raise DeploymentError(f"--at {at!r} is not a time of day; write it like 02:14")
    if user is not None and (user == "root" or not _USER.fullmatch(user)):
        raise DeploymentError(
            f"--user {user!r} is not the name of a user other than root; write for example callgauge"
        )
    described = Installation(
        command=tuple(command),
        config=Path(os.path.normpath(configuration.path)),
        store=configuration.store,
        hour=int(begins[1]),
        minute=int(begins[2]),
        user=user,
        address=configuration.serve.address,
        port=configuration.serve.port,
        image=image,
        files=tuple(_list_files(configuration)),
        secret_files=tuple(_list_secret_files(configuration)),
        writable=tuple(_list_writable(configuration)),
        logs=tuple(_list_logs(configuration)),
        secrets=tuple(_list_secrets(configuration)),
        packages=tuple(_list_packages(configuration)),
        checkout=checkout,
    )
    _refuse_unwritable_names(described)
    return described


def _list_files(configuration: Configuration) -> Iterator[Path]:
    load = configuration.load
    named = (*load.tools, load.labels, load.redact_config)
    yield from _unique(path for path in named if path is not None)


def _list_secret_files(configuration: Configuration) -> Iterator[Path]:
    users = configuration.sign_in.password_file
    # A file inside the store needs no separate entry.
    if users is not None and not users.is_relative_to(configuration.store):
        yield users


def _list_writable(configuration: Configuration) -> Iterator[Path]:
    folders = [configuration.report.folder] if configuration.report.folder else []
    if configuration.backup.to and not is_address(configuration.backup.to):
        folders.append(Path(configuration.backup.to))
    yield from (path for path in _unique(folders) if not path.is_relative_to(configuration.store))


def _list_logs(configuration: Configuration) -> Iterator[Path]:
    folders = []
    for source in configuration.sources:
        named = [(place, False) for place in source.paths] + [(place, True) for place in source.manifests]
        for place, is_file in named:
            if not is_address(place):
                path = Path(_before_pattern(place))
                folders.append(path.parent if is_file or path.is_file() else path)
    if Path("/") in folders:
        raise DeploymentError("a source is directly in /; move the logs to a folder, and name that folder")
    outermost = [
        path for path in folders if not any(path != other and path.is_relative_to(other) for other in folders)
    ]
    yield from _unique(outermost)


def _before_pattern(place: str) -> str:
    """Return the deepest folder that contains all matches of a pattern."""
    parts = PurePosixPath(place).parts
    plain = next((number for number, part in enumerate(parts) if glob.has_magic(part)), len(parts))
    return str(PurePosixPath(*parts[:plain])) if plain else "."


def _list_secrets(configuration: Configuration) -> Iterator[str]:
    sign_in = configuration.sign_in
    names: list[str | None] = [hook.url_variable for hook in configuration.report.webhooks]
    names += [configuration.report.email.password_variable if configuration.report.email else None]
    if sign_in.method != "none" and sign_in.secret_variable != SignInSettings().secret_variable:
        names.append(sign_in.secret_variable)  # Without this variable, the server creates a key in the store.
    names += [sign_in.client_secret_variable] if sign_in.method == "oidc" else []
    yield from dict.fromkeys(name for name in names if name)


def _list_packages(configuration: Configuration) -> Iterator[str]:
    places = [place for source in configuration.sources for place in (*source.paths, *source.manifests)]
    places += [configuration.backup.to] if configuration.backup.to else []
    if configuration.sign_in.method == "oidc":
        yield from ("authlib", "joserfc")  # These packages are the extra `oidc`.
    if any(hook.kind == "apprise" for hook in configuration.report.webhooks):
        yield "apprise"
    schemes = [place.split("://")[0].lower() for place in places if is_address(place)]
    yield from dict.fromkeys(DRIVERS[scheme][1] for scheme in schemes if scheme in DRIVERS)


def _unique(paths: Iterable[Path]) -> Iterator[Path]:
    yield from dict.fromkeys(paths)


def _refuse_unwritable_names(described: Installation) -> None:
    paths = (described.config, described.store, *described.files, *described.secret_files)
    paths += (*described.writable, *described.logs)
    for word in (*described.command, described.image, *map(str, paths)):
        if not all(character.isprintable() for character in word):
            raise DeploymentError(
                f"{word!r} contains a character that service files do not support; rename it"
            )

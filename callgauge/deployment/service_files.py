"""Writes the service files of each target from the templates in this folder.

Each value in a template passes a filter of `_load_templates`, which quotes the value for the file format.
Numbers, and names that `describe_installation` has checked, need no filter.
"""

from __future__ import annotations

import os
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any
from xml.sax.saxutils import escape as escape_xml

import jinja2
import yaml

from callgauge.deployment.installation import DeploymentError, Installation

_TEMPLATES = Path(__file__).parent / "templates"
_HOMES = (Path("/home"), Path("/root"), Path("/run/user"))
_SHARED_TMP = (Path("/tmp"), Path("/var/tmp"))  # noqa: S108 - where a private one would hide what lies there
_LONGEST_CRON_COMMAND = 998  # Debian's cron and cronie allow this many bytes in a command.
_PLAIN_SYSTEMD_WORD = re.compile(r"[A-Za-z0-9_./:@+,=-]+")
_NOT_IN_CONFIG_MAP_KEY = re.compile(r"[^A-Za-z0-9._-]+")

CONTAINER_HOME = PurePosixPath("/callgauge")
CONTAINER_USER_ID = 10001
"""The user and group id in the image, chosen so that no user of a machine has the same id."""
_FOLDERS_OF_THE_IMAGE = {"/", "/opt", "/opt/callgauge", "/var"}
_FIRST_FOLDERS_OF_THE_IMAGE = {"bin", "dev", "etc", "lib", "lib64", "proc", "sbin", "sys", "tmp", "usr"}


@dataclass(frozen=True, slots=True)
class ServiceFiles:
    """The files of one target by file name, and the next steps. `comment` is the format of a comment line in
    these files.
    """

    files: Mapping[str, str]
    steps: Sequence[str]
    comment: str = "# {}"


# --- machines --------------------------------------------------------------------------------


def make_systemd_files(installation: Installation) -> ServiceFiles:
    """Return a systemd service for the server, and a timer with a service for the nightly job."""
    server, night = installation.commands()
    folders = [installation.store, *installation.writable]
    touched = [*folders, installation.config, *installation.logs, *installation.files]
    touched += [*installation.secret_files, Path(installation.command[0])]
    uses_shared_tmp = _lie_in(touched, _SHARED_TMP)
    values = {
        **_list_values(installation),
        "server": server,
        "night": night,
        "user": installation.user or "callgauge",
        "uses_home": _lie_in(touched, _HOMES),
        "uses_shared_tmp": uses_shared_tmp,
        "writable": [*folders, *(_SHARED_TMP if uses_shared_tmp else ())],
    }
    names = ("callgauge.service", "callgauge-nightly.service", "callgauge-nightly.timer")
    return _render("systemd", names, values)


def make_cron_files(installation: Installation) -> ServiceFiles:
    """Return a line for /etc/cron.d if a user is named. Otherwise return a line for the current user's
    crontab.

    Raises DeploymentError.
    """
    _, night = installation.commands()
    if any("\\" in word for word in night):
        raise DeploymentError("crons differ in how they read a backslash: take it out of the paths")
    # In a crontab an unescaped percent sign ends the command.
    command = _read_secrets_first(installation, night).replace("%", "\\%")
    if len(command.encode()) > _LONGEST_CRON_COMMAND:
        raise DeploymentError(
            f"cron takes commands of at most {_LONGEST_CRON_COMMAND} bytes, this one has "
            f"{len(command.encode())}: move callgauge.toml to a shorter path"
        )
    name = "callgauge" if installation.user else "callgauge.cron"
    return _render("cron", (name,), {**_list_values(installation), "command": command})


def make_launchd_files(installation: Installation) -> ServiceFiles:
    """Return two property lists for launchd: daemons if a user is named, else agents of the current user."""
    folder = (Path("/") if installation.user else Path.home()) / "Library" / "Logs"
    values, files = _list_values(installation), {}
    for job, words in zip(("server", "nightly"), installation.commands(), strict=True):
        in_shell = ["/bin/sh", "-c", _read_secrets_first(installation, words)]
        # launchd cannot read a file of environment variables.
        command = in_shell if installation.secrets else words
        label = f"org.callgauge.{job}"
        of_job = {"job": job, "command": command, "log": folder / f"{label}.log"}
        files[f"{label}.plist"] = _fill("launchd/job.plist", {**values, **of_job})
    return ServiceFiles(files, _list_steps("launchd", files, values), "<!-- {} -->")


def _read_secrets_first(installation: Installation, words: Sequence[str]) -> str:
    command = shlex.join(words)
    if not installation.secrets:
        return command
    return f"set -a; . {shlex.quote(str(installation.environment_file))}; set +a; exec {command}"


def _lie_in(paths: Iterable[Path], folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) for path in paths for folder in folders)


# --- containers ------------------------------------------------------------------------------


def make_docker_files(installation: Installation) -> ServiceFiles:
    """Return the Dockerfile, which is the same for all configurations."""
    words = ["docker", "build", "-f", "Dockerfile", "-t", installation.image]
    if installation.packages:
        words += ["--build-arg", f"EXTRA_PACKAGES={' '.join(installation.packages)}"]
    values = {"build_command": [*words, _name_checkout(installation)]}
    return _render("docker", ("Dockerfile", "Dockerfile.dockerignore"), values)


def make_compose_files(installation: Installation) -> ServiceFiles:
    """Return a compose file and the Dockerfile for the server and, if requested, the nightly job.

    Raises DeploymentError.
    """
    writable = (installation.store, *installation.writable)
    paths = (
        installation.config, *installation.files, *installation.secret_files, *installation.logs, *writable,
    )  # fmt: skip
    mounts: list[dict[str, Any]] = [
        {"source": path, "target": find_place(installation, path), "is_writable": path in writable}
        for path in dict.fromkeys(paths)
    ]
    values = {
        **_list_container_values(installation),
        # A folder must be mounted before its subfolders.
        "mounts": sorted(mounts, key=lambda mount: (len(mount["target"].parts), mount["target"])),
        "checkout": _name_checkout(installation),
    }
    made = _render("compose", ("compose.yaml",), values)
    return ServiceFiles({**made.files, **make_docker_files(installation).files}, made.steps)


def make_kubernetes_files(installation: Installation) -> ServiceFiles:
    """Return a Deployment with its Service, a CronJob for the nightly job, and a volume claim for the store.

    The store's file locks work on one node only, so the nightly job runs on the server's node. Raises
    DeploymentError.
    """
    config_files = (installation.config, *installation.files)
    values = {
        **_list_container_values(installation),
        "mounts": list(_list_volume_mounts(installation, config_files)),
        "config_arguments": _list_from_file_arguments(config_files),
        "users_arguments": _list_from_file_arguments(installation.secret_files),
        "log_parts": [_name_part(path) for path in installation.logs],
    }
    return _render("kubernetes", ("callgauge.yaml",), values)


def find_place(installation: Installation, path: Path) -> PurePosixPath:
    """Return the path in the container for a path of this machine. Raises DeploymentError.

    The same callgauge.toml works on this machine and in the container, with relative and absolute paths.
    """
    folder = installation.config.parent
    is_next_to_configuration = path.is_relative_to(folder)
    place = CONTAINER_HOME / path.relative_to(folder) if is_next_to_configuration else PurePosixPath(path)
    is_first_folder = len(place.parts) == 2 and place.name in _FIRST_FOLDERS_OF_THE_IMAGE
    if is_first_folder or str(place) in _FOLDERS_OF_THE_IMAGE:
        raise DeploymentError(f"{path} cannot be mounted: the image has files of its own there; move it")
    return place


def _list_container_values(installation: Installation) -> dict[str, Any]:
    server, night = installation.commands(str(find_place(installation, installation.config)))
    begins = len(installation.command)  # The image has its own command.
    return {
        **_list_values(installation),
        "server": server[begins:],
        "night": night[begins:],
        "user_id": CONTAINER_USER_ID,
    }


def _name_checkout(installation: Installation) -> str:
    return str(installation.checkout) if installation.checkout else "CHECKOUT_OF_CALLGAUGE"


def _list_volume_mounts(installation: Installation, config_files: Sequence[Path]) -> Iterator[dict[str, Any]]:
    """Yield the mounts of the volumes. Each mount covers one file or folder, and so hides no other files of
    the image.
    """
    for number, path in enumerate((installation.store, *installation.writable)):
        part = "store" if number == 0 else f"folder-{number}"
        yield {"volume": "store", "target": find_place(installation, path), "part": part}
    for volume, files in (("config", config_files), ("users", installation.secret_files)):
        for path, key in _name_keys(files).items():
            yield {"volume": volume, "target": find_place(installation, path), "part": key}
    for path in installation.logs:
        yield {"volume": "logs", "target": find_place(installation, path), "part": _name_part(path)}


def _name_part(path: Path) -> str:
    return str(path).lstrip("/")


def _name_keys(files: Iterable[Path]) -> dict[Path, str]:
    """Return the key of each file in a config map: the file name, with a number if the name is repeated."""
    times: Counter[str] = Counter()
    keys = {}
    for path in files:
        key = _NOT_IN_CONFIG_MAP_KEY.sub("-", path.name)
        times[key] += 1
        keys[path] = key if times[key] == 1 else f"{times[key]}-{key}"
    return keys


def _list_from_file_arguments(files: Iterable[Path]) -> list[str]:
    return [f"--from-file={key}={path}" for path, key in _name_keys(files).items()]


MAKERS: Mapping[str, Callable[[Installation], ServiceFiles]] = {
    "systemd": make_systemd_files,
    "cron": make_cron_files,
    "launchd": make_launchd_files,
    "kubernetes": make_kubernetes_files,
    "docker": make_docker_files,
    "compose": make_compose_files,
}

# --- templates -------------------------------------------------------------------------------


def _list_values(installation: Installation) -> dict[str, Any]:
    return {
        **asdict(installation),
        "environment_file": installation.environment_file,
        "folders": [installation.store, *installation.writable],
    }


def _render(target: str, names: Sequence[str], values: Mapping[str, Any]) -> ServiceFiles:
    files = {name: _fill(f"{target}/{name}", values) for name in names}
    return ServiceFiles(files, _list_steps(target, files, values))


def _list_steps(target: str, names: Iterable[str], values: Mapping[str, Any]) -> list[str]:
    return _fill(f"{target}/steps.txt", {**values, "names": list(names)}).splitlines()


def _fill(template: str, values: Mapping[str, Any]) -> str:
    return _load_templates().get_template(template).render(values)


@cache
def _load_templates() -> jinja2.Environment:
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - no template is HTML
    )
    templates.filters |= {
        "shell": lambda words: shlex.join(map(str, words)),
        "xml": lambda text: escape_xml(str(text)),
        "yaml": _quote_for_yaml,
        # A doubled dollar sign prevents expansion.
        "compose": lambda text: _quote_for_yaml(str(text).replace("$", "$$")),
        # A doubled dollar sign prevents expansion.
        "kubernetes_argument": lambda text: _quote_for_yaml(text.replace("$(", "$$(")),
        "systemd_command": _quote_systemd_command,
        "systemd_words": lambda words: " ".join(_quote_systemd_word(str(word)) for word in words),
        # Quotes are ordinary characters in this format.
        "systemd_line": lambda text: str(text).replace("%", "%%"),
    }
    return templates


def _quote_for_yaml(text: object) -> str:
    scalar = yaml.safe_dump(str(text), allow_unicode=True, width=float("inf"))
    return scalar.removesuffix("\n").removesuffix("\n...")


def _quote_systemd_command(words: Sequence[str]) -> str:
    """Quote a command for `ExecStart=`, so that systemd expands neither variables nor specifiers."""
    # With this prefix, systemd expands no variables.
    prefix = ":" if any("$" in word for word in words) else ""
    return prefix + " ".join(map(_quote_systemd_word, words))


def _quote_systemd_word(word: str) -> str:
    if _PLAIN_SYSTEMD_WORD.fullmatch(word):
        return word
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%") + '"'


# --- writing ---------------------------------------------------------------------------------


def write_files(files: Mapping[str, str], folder: Path, *, force: bool) -> list[Path]:
    """Write each file completely or not at all. Return the new files and the changed files.

    If an existing file differs and `force` is False, write nothing. Raises DeploymentError.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        new = [name for name, text in files.items() if not _has_content(folder / name, text)]
        differing = [str(folder / name) for name in new if os.path.lexists(folder / name)]
        if differing and not force:
            raise DeploymentError(
                f"{', '.join(differing)}: exists with other content; nothing was written. Check it, then "
                "use --force to replace it"
            )
        for name in new:
            unfinished = folder / f".{name}.{os.getpid()}"
            try:
                unfinished.write_text(files[name], encoding="utf-8")
                unfinished.replace(folder / name)
            finally:
                unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise DeploymentError(
            f"{folder} cannot be written: {error.strerror}; check its permissions and the free space"
        ) from None
    return [folder / name for name in new]


def _has_content(path: Path, text: str) -> bool:
    return path.is_file() and path.read_bytes() == text.encode()

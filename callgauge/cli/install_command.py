"""The command `callgauge install-service`: writes files that run the server and the nightly job."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from callgauge.cli import render
from callgauge.cli.render.exit_codes import ExitCode
from callgauge.cli.service_commands import Config
from ingest.version import CALLGAUGE_VERSION

if TYPE_CHECKING:
    from callgauge.deployment.service_files import ServiceFiles

_PACKAGE = Path(__file__).resolve().parents[1]


class Target(StrEnum):
    """A service manager or platform that can run Callgauge."""

    SYSTEMD = "systemd"
    CRON = "cron"
    LAUNCHD = "launchd"
    KUBERNETES = "kubernetes"
    DOCKER = "docker"
    COMPOSE = "compose"


_RUN_AS_OTHERS = (Target.SYSTEMD, Target.CRON, Target.LAUNCHD)


def install_service(
    target: Annotated[Target, typer.Option("--for", help="The system that runs the service.")],
    config: Config = Path("callgauge.toml"),
    write: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the files to this folder. [default: print them]")
    ] = None,
    at: Annotated[
        str,
        typer.Option(metavar="HH:MM", help="When the nightly run starts, in local time (Kubernetes: UTC)."),
    ] = "02:14",
    user: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The user that runs it (systemd, cron, launchd); never root."),
    ] = None,
    image: Annotated[str, typer.Option(help="The image (kubernetes, docker, compose).")] = (
        f"callgauge:{CALLGAUGE_VERSION}"
    ),
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that differ.")] = False,
) -> None:
    """Write files that run the server and the nightly job.

    The settings come from a callgauge.toml. Installs nothing; prints the next steps. The files contain names
    of variables, no secrets.
    """
    from callgauge.configuration.configuration_file import read_configuration
    from callgauge.deployment.installation import DeploymentError, describe_installation
    from callgauge.deployment.service_files import MAKERS, write_files

    if user is not None and target not in _RUN_AS_OTHERS:
        render.fail("--user does not apply here: the container always runs as user 10001", ExitCode.WRONG_USE)
    try:
        installation = describe_installation(
            read_configuration(config),
            _find_command(),
            at=at,
            user=user,
            image=image,
            checkout=_find_checkout(),
        )
        made = MAKERS[target.value](installation)
    except DeploymentError as problem:
        render.fail(str(problem), ExitCode.WRONG_USE)
    if write is None:
        _print_files(made)
    else:
        try:
            written = write_files(made.files, write, force=force)
        except DeploymentError as problem:
            render.fail(str(problem), ExitCode.FAILED)
        for path in written:
            render.print_message(f"wrote {path}")
        if not written:
            render.print_message(f"nothing to write: {write} is up to date")
    render.print_message("next:" if write is None else f"next, in {write}:")
    for step in made.steps:
        render.print_message(f"  {step}")


def _print_files(made: ServiceFiles) -> None:
    for name, text in made.files.items():
        if len(made.files) > 1:
            print(made.comment.format(name))
        sys.stdout.write(text)


def _find_command() -> list[str]:
    """Return the command that starts Callgauge: the script next to Python, or `python -m callgauge`."""
    program = Path(sys.executable).with_name("callgauge")
    return [str(program)] if program.is_file() else [sys.executable, "-m", "callgauge"]


def _find_checkout() -> Path | None:
    checkout = _PACKAGE.parent
    return checkout if (checkout / "requirements.lock").is_file() else None

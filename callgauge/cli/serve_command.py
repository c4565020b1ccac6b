"""The command `callgauge serve`: the address of the dashboard, who may see it, and what it shows."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from msgspec.structs import replace

from callgauge.cli import render
from callgauge.cli.options.listening import open_port
from callgauge.cli.options.store_option import OptionalStore, warn_of_open_store
from callgauge.cli.render.exit_codes import ExitCode
from callgauge.configuration.settings import ServeSettings, SignInSettings
from callgauge.serving.processes.server_child import (
    HAS_FRONT,
    make_front_command,
    make_server_command,
    write_address,
)
from callgauge.serving.settings import is_loopback

if TYPE_CHECKING:
    from callgauge.configuration.settings import Configuration

HideContent = Annotated[
    bool,
    typer.Option(
        "--hide-content",
        "--no-texts",
        help="Show rates and codes only: no arguments, messages, results or error texts.",
    ),
]
ListeningAddress = Annotated[
    str | None,
    typer.Option(
        help="The address to listen on. 0.0.0.0 opens it to the network and requires a sign-in. "
        "[default: 127.0.0.1]"
    ),
]
AllowedHosts = Annotated[
    list[str] | None,
    typer.Option(
        "--allowed-host",
        metavar="NAME",
        help="A host name that browsers may use in addition to localhost. Repeatable.",
    ),
]
OldAllowedHosts = Annotated[list[str] | None, typer.Option("--host", hidden=True)]
EmbedIn = Annotated[
    list[str] | None,
    typer.Option(metavar="ORIGIN", help="A site that may embed the dashboard: https://wiki.test."),
]
HealthyHours = Annotated[
    float | None,
    typer.Option(min=0.01, help="Maximum age of the newest load for /healthz, in hours. [default: 26]"),
]

Traces = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Take OpenTelemetry traces at /v1/traces and write them to this folder."
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(min=1, max=64, help="Processes that run pages. More than one uses more cores. [default: 1]"),
]


def serve(
    store: OptionalStore = None,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", readable=False, help="A callgauge.toml. Options on the command line override it."
        ),
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="The port to listen on. [default: 8501]")
    ] = None,
    address: ListeningAddress = None,
    allowed_host: AllowedHosts = None,
    host: OldAllowedHosts = None,
    embed_in: EmbedIn = None,
    sign_in: Annotated[
        Literal["password", "link"] | None,
        typer.Option(help="How users of `callgauge users` sign in. callgauge.toml has more methods."),
    ] = None,
    no_sign_in: Annotated[
        bool,
        typer.Option(
            "--no-sign-in", help="Require no sign-in: anyone who reaches the address sees everything."
        ),
    ] = False,
    hide_content: HideContent = False,
    healthy_hours: HealthyHours = None,
    traces: Traces = None,
    workers: Workers = None,
) -> None:
    """Serve the dashboard of a store."""
    if no_sign_in and sign_in is not None:
        render.fail("--sign-in and --no-sign-in contradict each other", ExitCode.WRONG_USE)
    configuration = _read_configuration(config)
    folder = store or (configuration.store if configuration else None)
    if folder is None:
        render.fail("name the store: --store DIR, or --config callgauge.toml", ExitCode.WRONG_USE)
    folder = folder.resolve()
    settings = configuration.serve if configuration else ServeSettings()
    settings = replace(
        settings,
        address=address or settings.address,
        port=port or settings.port,
        hosts=_join_hosts(allowed_host or (), host or ()) or settings.hosts,
        embed_in=tuple(embed_in or settings.embed_in),
        texts=settings.texts and not hide_content,
        healthy_hours=healthy_hours or settings.healthy_hours,
        traces=traces or settings.traces,
        workers=workers or settings.workers,
    )
    if settings.workers > 1 and not HAS_FRONT:
        render.fail("several workers do not work on Windows; serve with --workers 1", ExitCode.WRONG_USE)
    signing = configuration.sign_in if configuration and not no_sign_in else SignInSettings()
    signing = replace(signing, method=sign_in) if sign_in is not None else signing
    _check_address(settings, signing, is_meant=no_sign_in)
    _check_store(folder, has_configuration=configuration is not None)
    _check_sign_in(signing, folder)
    open_port(settings.address, settings.port).close()
    _start(folder, settings, signing)


def _join_hosts(allowed: Sequence[str], old: Sequence[str]) -> tuple[str, ...]:
    """Return the host names of `--allowed-host` and of its former name `--host`."""
    if old:
        render.print_message("--host is now --allowed-host; the next release does not accept --host")
    return (*allowed, *old)


def _read_configuration(path: Path | None) -> Configuration | None:
    if path is None:
        return None
    from callgauge.configuration.configuration_file import ConfigurationError, read_configuration

    try:
        return read_configuration(path)
    except ConfigurationError as mistakes:
        render.print_mistakes(mistakes)
        raise typer.Exit(ExitCode.WRONG_USE) from None


def _check_address(settings: ServeSettings, signing: SignInSettings, *, is_meant: bool) -> None:
    """Exit if the server is open to the network but has no sign-in. If `is_meant` is True, only warn."""
    if is_loopback(settings.address) or signing.method != "none":
        return
    what = "all content" if settings.texts else "all numbers"
    if not is_meant:
        render.fail(
            f"{settings.address} is open to the network without a sign-in: anyone who reaches it could read "
            f"{what} in the store. Choose a sign-in (--sign-in password, or [sign_in] in callgauge.toml; "
            "see docs/service.md), or use --no-sign-in to allow it",
            ExitCode.WRONG_USE,
        )
    render.print_message(
        f"Warning: no sign-in. Anyone who reaches {settings.address}:{settings.port} can read {what} "
        "in the store"
    )


def _check_store(store: Path, *, has_configuration: bool) -> None:
    if store.exists() and not store.is_dir():
        render.fail(f"{store} is a file, not a store; name the folder that `callgauge ingest --store` wrote")
    how = "callgauge nightly" if has_configuration else f"callgauge ingest PATH --store {store}"
    if not (store.exists() or has_configuration):
        render.fail(f"there is no store {store}; check the name, or create it with `{how}`")
    if not (store / "CURRENT").exists():
        render.print_message(f"{store} is empty; data appears after `{how}`")
    warn_of_open_store(store)


def _check_sign_in(signing: SignInSettings, store: Path) -> None:
    if signing.method == "none":
        return
    from callgauge.serving.sign_in.setup import SignInSetupError, check_sign_in

    if not store.is_dir():
        render.fail(
            f"folder {store} does not exist; a sign-in needs it for its key and its log. Create it first",
            ExitCode.WRONG_USE,
        )
    try:
        check_sign_in(signing, store)
    except SignInSetupError as problem:
        render.fail(str(problem), ExitCode.WRONG_USE)


def _start(store: Path, settings: ServeSettings, signing: SignInSettings) -> None:
    """Replace this process by the server."""
    render.print_message(f"Callgauge on {write_address(settings)} (Ctrl-C stops it)")
    make_command = make_front_command if HAS_FRONT else make_server_command
    command, environment = make_command(store, settings, signing)
    if os.name == "nt":  # On Windows, execve starts a second process and ends this one.
        raise typer.Exit(subprocess.run(command, env=environment, check=False).returncode)
    os.execve(sys.executable, command, environment)  # noqa: S606 - no shell is the point

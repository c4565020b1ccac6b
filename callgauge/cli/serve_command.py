"""The command `callgauge serve`: where the dashboard listens, who may see it, and what it shows."""

from __future__ import annotations

import os
import socket
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from callgauge.cli import render
from callgauge.cli.options.store_option import OptionalStore
from callgauge.cli.render.exit_codes import ExitCode
from callgauge.configuration.settings import ServeSettings, SignInSettings
from callgauge.serving.settings import (
    EMBEDDING_VARIABLE,
    HEALTHY_HOURS_VARIABLE,
    HOSTS_VARIABLE,
    LOCAL_NAMES,
    SIGN_IN_VARIABLE,
    STORE_VARIABLE,
    TEXTS_VARIABLE,
    TRACES_VARIABLE,
    is_loopback,
    write_sign_in,
)

if TYPE_CHECKING:
    from callgauge.configuration.settings import Configuration

ENTRY = Path(__file__).resolve().parents[1] / "server.py"
STREAMLIT = ENTRY.parent / "serving" / "server_process.py"
HideContent = Annotated[
    bool,
    typer.Option(
        "--hide-content",
        "--no-texts",
        help="Show rates and codes only: no arguments, messages, results or error texts.",
    ),
]
AllowedHosts = Annotated[
    list[str] | None,
    typer.Option(
        "--allowed-host",
        "--host",
        metavar="NAME",
        help="A host name that browsers may use in addition to localhost. Repeatable.",
    ),
]
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
    address: Annotated[
        str | None,
        typer.Option(
            help="The address to listen on. 0.0.0.0 opens it to the network and requires a sign-in. "
            "[default: 127.0.0.1]"
        ),
    ] = None,
    allowed_host: AllowedHosts = None,
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
) -> None:
    """Serve the dashboard of a store."""
    if no_sign_in and sign_in is not None:
        render.fail("--sign-in and --no-sign-in contradict each other", ExitCode.WRONG_USE)
    configuration = _read_configuration(config)
    folder = store or (configuration.store if configuration else None)
    if folder is None:
        render.fail("name the store: --store DIR, or --config callgauge.toml", ExitCode.WRONG_USE)
    folder = folder.resolve()
    known = configuration.serve if configuration else ServeSettings()
    known = replace(
        known,
        address=address or known.address,
        port=port or known.port,
        hosts=tuple(allowed_host or known.hosts),
        embed_in=tuple(embed_in or known.embed_in),
        texts=known.texts and not hide_content,
        healthy_hours=healthy_hours or known.healthy_hours,
        traces=traces or known.traces,
    )
    signing = configuration.sign_in if configuration and not no_sign_in else SignInSettings()
    signing = replace(signing, method=sign_in) if sign_in is not None else signing
    _check_address(known, signing, is_meant=no_sign_in)
    _check_store(folder, has_configuration=configuration is not None)
    _check_sign_in(signing, folder)
    _check_port(known)
    _start(folder, known, signing)


def _read_configuration(path: Path | None) -> Configuration | None:
    if path is None:
        return None
    from callgauge.configuration.configuration_file import ConfigurationError, read_configuration

    try:
        return read_configuration(path)
    except ConfigurationError as mistakes:
        render.print_mistakes(mistakes)
        raise typer.Exit(ExitCode.WRONG_USE) from None


def _check_address(known: ServeSettings, signing: SignInSettings, *, is_meant: bool) -> None:
    """Exit if the server is open to the network without a sign-in; only warn with `is_meant`."""
    if is_loopback(known.address) or signing.method != "none":
        return
    what = "all content" if known.texts else "all numbers"
    if not is_meant:
        render.fail(
            f"{known.address} is open to the network without a sign-in: anyone who reaches it could read "
            f"{what} in the store. Choose a sign-in (--sign-in password, or [sign_in] in callgauge.toml; "
            "see docs/service.md), or use --no-sign-in to allow it",
            ExitCode.WRONG_USE,
        )
    render.print_message(
        f"Warning: no sign-in. Anyone who reaches {known.address}:{known.port} can read {what} in the store"
    )


def _check_store(store: Path, *, has_configuration: bool) -> None:
    if store.exists() and not store.is_dir():
        render.fail(f"{store} is a file, not a store; name the folder that `callgauge ingest --store` wrote")
    how = "callgauge nightly" if has_configuration else f"callgauge ingest PATH --store {store}"
    if not (store.exists() or has_configuration):
        render.fail(f"there is no store {store}; check the name, or create it with `{how}`")
    if not (store / "CURRENT").exists():
        render.print_message(f"{store} is empty; data appears after `{how}`")


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


def _check_port(known: ServeSettings) -> None:
    family = socket.AF_INET6 if ":" in known.address else socket.AF_INET
    with socket.socket(family) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((known.address, known.port))
        except OSError as taken:
            render.fail(
                f"cannot listen on {known.address}:{known.port}: {taken.strerror}; choose another port with "
                "--port",
                ExitCode.WRONG_USE,
            )


def _start(store: Path, known: ServeSettings, signing: SignInSettings) -> None:
    """Replace this process by the server."""
    render.print_message(f"Callgauge on http://{known.address}:{known.port} (Ctrl-C stops it)")
    options = ["--server.port", str(known.port), "--server.address", known.address]
    names = [*LOCAL_NAMES, *known.hosts]
    if not is_loopback(known.address):
        names.append(known.address)
    for name in names:
        options += ["--server.allowedHosts", name]  # anything else could be another site's DNS trick
    command = [sys.executable, "-P", str(STREAMLIT), "run", str(ENTRY), *options]
    environment = {
        **os.environ,
        STORE_VARIABLE: str(store),
        HOSTS_VARIABLE: ",".join(names),
        EMBEDDING_VARIABLE: " ".join(known.embed_in),
        SIGN_IN_VARIABLE: write_sign_in(signing),
        TEXTS_VARIABLE: "yes" if known.texts else "no",
        HEALTHY_HOURS_VARIABLE: str(known.healthy_hours),
        TRACES_VARIABLE: str(known.traces.resolve()) if known.traces else "",
        # The server sees who is really at the other end; the gate decides what a proxy's header is worth.
        "FORWARDED_ALLOW_IPS": "",
    }
    os.execve(sys.executable, command, environment)  # noqa: S606 - no shell is the point

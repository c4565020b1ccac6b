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
from callgauge.configuration.settings import ServeSettings, SignInSettings
from callgauge.serving.settings import (
    EMBEDDING_VARIABLE,
    HEALTHY_HOURS_VARIABLE,
    HOSTS_VARIABLE,
    LOCAL_NAMES,
    SIGN_IN_VARIABLE,
    STORE_VARIABLE,
    TEXTS_VARIABLE,
    is_loopback,
    write_sign_in,
)

if TYPE_CHECKING:
    from callgauge.configuration.settings import Configuration

ENTRY = Path(__file__).resolve().parents[1] / "server.py"
STREAMLIT = ENTRY.parent / "serving" / "server_process.py"
_WRONG_USE = 2
NoTexts = Annotated[
    bool, typer.Option("--no-texts", help="Show rates and codes; no arguments, messages, results or errors.")
]
HealthyHours = Annotated[
    float | None,
    typer.Option(min=0.01, help="How old the newest load may be for /healthz, in hours. [default: 26]"),
]


def serve(
    store: OptionalStore = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", readable=False, help="A callgauge.toml; options here win over it."),
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="The port to listen on. [default: 8501]")
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(help="0.0.0.0 lets the network in; that takes a sign-in. [default: 127.0.0.1]"),
    ] = None,
    host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A name by which browsers may reach it, besides localhost."),
    ] = None,
    embed_in: Annotated[
        list[str] | None,
        typer.Option(metavar="ORIGIN", help="A site whose pages may show it in a frame: https://wiki.test."),
    ] = None,
    sign_in: Annotated[
        Literal["password", "link"] | None,
        typer.Option(help="How the people of `callgauge users` sign in; other ways in callgauge.toml."),
    ] = None,
    no_sign_in: Annotated[
        bool, typer.Option("--no-sign-in", help="Whoever reaches the address sees everything in the store.")
    ] = False,
    no_texts: NoTexts = False,
    healthy_hours: HealthyHours = None,
) -> None:
    """Serve the dashboard of a store."""
    if no_sign_in and sign_in is not None:
        render.fail("--sign-in and --no-sign-in contradict each other", _WRONG_USE)
    told = _read_configuration(config)
    folder = store or (told.store if told else None)
    if folder is None:
        render.fail("name the store: --store DIR, or --config callgauge.toml", _WRONG_USE)
    folder = folder.resolve()
    known = told.serve if told else ServeSettings()
    known = replace(
        known,
        address=address or known.address,
        port=port or known.port,
        hosts=tuple(host or known.hosts),
        embed_in=tuple(embed_in or known.embed_in),
        texts=known.texts and not no_texts,
        healthy_hours=healthy_hours or known.healthy_hours,
    )
    signing = told.sign_in if told and not no_sign_in else SignInSettings()
    if sign_in is not None:
        signing = replace(signing, method=sign_in)
    _check_address(known, signing, is_meant=no_sign_in)
    _check_store(folder, has_configuration=told is not None)
    _check_sign_in(signing, folder)
    _check_port(known)
    render.print_message(f"Callgauge on http://{known.address}:{known.port} (Ctrl-C stops it)")
    _start(folder, known, signing)


def _read_configuration(path: Path | None) -> Configuration | None:
    if path is None:
        return None
    from callgauge.configuration.configuration_file import ConfigurationError, read_configuration

    try:
        return read_configuration(path)
    except ConfigurationError as mistakes:
        render.print_mistakes(mistakes)
        raise typer.Exit(_WRONG_USE) from None


def _check_address(known: ServeSettings, signing: SignInSettings, *, is_meant: bool) -> None:
    """Refuse to let the network in where nobody signs in, unless that is meant; then warn."""
    if is_loopback(known.address) or signing.method != "none":
        return
    what = "every text" if known.texts else "every number"
    if not is_meant:
        render.fail(
            f"{known.address} lets the network in, and there is no sign-in: whoever reaches it could read "
            f"{what} in the store. Choose a sign-in (--sign-in password, or [sign_in] in callgauge.toml; "
            "docs/service.md), or say --no-sign-in if that is meant",
            _WRONG_USE,
        )
    render.print_message(
        f"Warning: no sign-in. Whoever reaches {known.address}:{known.port} reads {what} in the store"
    )


def _check_store(store: Path, *, has_configuration: bool) -> None:
    if store.exists() and not store.is_dir():
        render.fail(f"{store} is a file, not a store; name the folder that `callgauge ingest --store` wrote")
    if not (store / "CURRENT").exists():
        how = "callgauge nightly" if has_configuration else f"callgauge ingest PATH --store {store}"
        render.print_message(f"{store} holds no data yet; it shows as soon as `{how}` ran")


def _check_sign_in(signing: SignInSettings, store: Path) -> None:
    if signing.method == "none":
        return
    from callgauge.serving.sign_in.setup import SignInSetupError, check_sign_in

    if not store.is_dir():
        render.fail(f"there is no folder {store}: a sign-in keeps its key and its log there", _WRONG_USE)
    try:
        check_sign_in(signing, store)
    except SignInSetupError as problem:
        render.fail(str(problem), _WRONG_USE)


def _check_port(known: ServeSettings) -> None:
    family = socket.AF_INET6 if ":" in known.address else socket.AF_INET
    with socket.socket(family) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((known.address, known.port))
        except OSError as taken:
            render.fail(
                f"cannot listen on {known.address}:{known.port}: {taken.strerror}; name another with --port",
                _WRONG_USE,
            )


def _start(store: Path, known: ServeSettings, signing: SignInSettings) -> None:
    """Replace this process by the server."""
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
        # The server sees who is really at the other end; the gate decides what a proxy's header is worth.
        "FORWARDED_ALLOW_IPS": "",
    }
    os.execve(sys.executable, command, environment)  # noqa: S606 - no shell is the point

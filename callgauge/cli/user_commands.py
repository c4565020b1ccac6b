"""The commands `callgauge users …`, which manage the users who may sign in with a password or a link."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from callgauge.cli import render
from callgauge.cli.options.store_option import STORE_METAVAR, find_store
from callgauge.cli.render.exit_codes import ExitCode
from callgauge.cli.render.terminal import align_columns

if TYPE_CHECKING:
    from callgauge.serving.sign_in.users_file import UsersFile


Store = Annotated[
    Path | None,
    typer.Option(
        "--store",
        metavar=STORE_METAVAR,
        parser=find_store,
        help="The store's folder; its users.json is used.",
    ),
]
Config = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", readable=False, help="A callgauge.toml that names the store and the users file."
    ),
]
Name = Annotated[str, typer.Argument(metavar="NAME", help="The user's name, or e-mail address.")]

users = typer.Typer(
    name="users", help="Manage people who sign in with a password or a link.", no_args_is_help=True
)


@users.command()
def add(
    name: Name,
    store: Store = None,
    config: Config = None,
    admin: Annotated[
        bool, typer.Option("--admin", help="May run SQL, export raw content and delete sessions.")
    ] = False,
    without_password: Annotated[
        bool, typer.Option("--without-password", help="Allow sign-in by link only.")
    ] = False,
) -> None:
    """Add or change a user. Asks for the password at a terminal, else reads it from standard input."""
    from callgauge.serving.sign_in.users_file import tidy_name

    with _explain_problems():
        file = _find_file(store, config)
        try:
            tidy = tidy_name(name)
        except ValueError as problem:
            render.fail(f"invalid user name {name!r}: {problem}", ExitCode.WRONG_USE)
        password = None if without_password else _ask_password()
        file.put(tidy, "admin" if admin else "viewer", password)
    render.print_message(f"{tidy} may sign in as {'an admin' if admin else 'a viewer'} ({file.path})")


@users.command()
def link(
    name: Name,
    store: Store = None,
    config: Config = None,
    hours: Annotated[float, typer.Option(min=0.01, max=24 * 31, help="How long the link is valid.")] = 24.0,
    address: Annotated[
        str | None, typer.Option(help="The dashboard's address: https://gauge.example.com.")
    ] = None,
) -> None:
    """Print a link that signs a user in once."""
    with _explain_problems():
        file = _find_file(store, config)
        text = file.make_link(name, hours)
    if text is None:
        render.fail(f"no user {name}; add one with: callgauge users add {name} --store DIR")
    print(f"{(address or _find_address(config)).rstrip('/')}/sign-in/link?token={text}")
    render.print_message(f"Valid for {hours:g} hours and one sign-in; keep it secret")


@users.command("list")
def list_(store: Store = None, config: Config = None) -> None:
    """List the users and their roles."""
    with _explain_problems():
        listed = _find_file(store, config).list_users()
    rows = [(user.name, user.role, "password" if user.password else "links only") for user in listed]
    for line in align_columns(rows):
        print(line)
    if not rows:
        render.print_message("no users yet; add one with: callgauge users add NAME --admin --store DIR")


@users.command()
def remove(name: Name, store: Store = None, config: Config = None) -> None:
    """Remove a user. Pages that the user has open load no more data."""
    with _explain_problems():
        is_removed = _find_file(store, config).remove(name)
    if not is_removed:
        render.fail(f"no user {name}; `callgauge users list` lists all users")
    render.print_message(f"removed {name}")


def _find_file(store: Path | None, config: Path | None) -> UsersFile:
    from callgauge.serving.sign_in.users_file import FILE, UsersFile

    if config is not None:
        from callgauge.configuration.configuration_file import ConfigurationError, read_configuration

        try:
            configuration = read_configuration(config)
        except ConfigurationError as mistakes:
            render.print_mistakes(mistakes)
            raise typer.Exit(ExitCode.WRONG_USE) from None
        path = configuration.sign_in.password_file or (store or configuration.store) / FILE
    elif store is not None:
        path = store / FILE
    else:
        render.fail("name the store: --store DIR, or --config callgauge.toml", ExitCode.WRONG_USE)
    if not path.parent.is_dir():
        render.fail(
            f"folder {path.parent} does not exist; create it, or load logs into it first", ExitCode.WRONG_USE
        )
    return UsersFile(path)


def _find_address(config: Path | None) -> str:
    if config is not None:
        from callgauge.configuration.configuration_file import read_configuration

        configuration = read_configuration(config)
        address = configuration.sign_in.address or configuration.report.address
        return address or f"http://{configuration.serve.address}:{configuration.serve.port}"
    return "http://127.0.0.1:8501"


def _ask_password() -> str:
    """Ask for a password twice at a terminal. Without a terminal, read the first line of standard input."""
    from callgauge.serving.sign_in.users_file import LONGEST_PASSWORD, SHORTEST_PASSWORD

    if sys.stdin.isatty():
        password = str(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        render.fail(
            f"a password needs {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters; use several words",
            ExitCode.WRONG_USE,
        )
    return password


@contextmanager
def _explain_problems() -> Iterator[None]:
    from callgauge.serving.sign_in.users_file import UsersFileError

    try:
        yield
    except UsersFileError as problem:
        render.fail(str(problem))

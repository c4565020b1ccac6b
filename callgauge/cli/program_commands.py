"""The commands for programs that read a store: `callgauge token …` and `callgauge mcp`."""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from callgauge.cli import render
from callgauge.cli.options.store_option import Store
from callgauge.cli.render.exit_codes import ExitCode
from callgauge.cli.render.terminal import align_columns

if TYPE_CHECKING:
    from callgauge.memory.tokens import AccessToken


Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]

token = typer.Typer(
    name="token", help="Manage the tokens of programs that read a served store.", no_args_is_help=True
)


@token.command()
def create(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The purpose of the token, such as ci or reporting-agent.")
    ],
    store: Store,
    role: Annotated[
        Literal["viewer", "admin", "sender"],
        typer.Option(help="admin may also run SQL and export raw content; sender may only send traces."),
    ] = "viewer",
    expires: Annotated[str, typer.Option(metavar="TIME", help="90d, 12h, 2027-01-31 or never.")] = "90d",
) -> None:
    """Create a token and print it once. The store keeps only the token's hash."""
    from callgauge.memory.tokens import TokenList
    from ingest.time_ranges import read_expiry

    _check_folder(store)
    try:
        ends = read_expiry(expires, datetime.now(UTC))
    except ValueError as problem:
        render.fail(f"--expires {problem}", ExitCode.WRONG_USE)
    with _explain_problems():
        text = TokenList(store).create(name, role, ends, _find_user())
    print(text)
    until = f"until {ends:%Y-%m-%d %H:%M} UTC" if ends else "until it is revoked"
    whose = {"admin": "An admin's", "viewer": "A viewer's", "sender": "A sender's"}[role]
    render.print_message(f"{whose} token, valid {until}. It is shown only once; keep it secret")


@token.command("list")
def list_(store: Store, as_json: Json = False) -> None:
    """List the tokens with their roles and expiry dates.

    The list never contains the tokens themselves.
    """
    from callgauge.memory.tokens import TokenList

    _check_folder(store)
    with _explain_problems():
        tokens = TokenList(store).read()
    if as_json:
        print(render.to_json([_describe(token) for token in tokens]))
    elif tokens:
        head = ("name", "role", "expires", "made", "by")
        rows = [tuple(str(value) for value in _describe(token).values()) for token in tokens]
        for line in align_columns([head, *rows]):
            print(render.escape_for_terminal(line))
    else:
        render.print_message(f"no tokens yet: create one with `callgauge token create NAME --store {store}`")


@token.command()
def revoke(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The token's name, as in `callgauge token list`.")
    ],
    store: Store,
) -> None:
    """Revoke a token. A running server rejects the token within two seconds."""
    from callgauge.memory.tokens import TokenList

    _check_folder(store)
    with _explain_problems():
        is_gone = TokenList(store).revoke(name)
    if not is_gone:
        render.print_message(f"no token {name!r}; `callgauge token list --store {store}` lists all tokens")
        raise typer.Exit(ExitCode.FAILED)
    render.print_message(f"{name} is revoked")


def _check_folder(store: Path) -> None:
    if not store.is_dir():
        render.print_message(f"{store} is not a store; name the folder that `callgauge ingest` wrote")
        raise typer.Exit(ExitCode.WRONG_USE)


def _describe(token: AccessToken) -> dict[str, str]:
    ends = f"{token.expires:%Y-%m-%d %H:%M}" if token.expires else "never"
    if not token.is_valid(datetime.now(UTC)):
        ends += " (expired)"
    return {
        "name": token.name,
        "role": token.role,
        "expires": ends,
        "made": f"{token.at:%Y-%m-%d %H:%M}",
        "by": token.by,
    }


@contextmanager
def _explain_problems() -> Iterator[None]:
    """Exit with a message if the token is invalid or memory.sqlite cannot be used."""
    from callgauge.memory.memory_file import MemoryProblemError
    from callgauge.memory.tokens import TokenProblemError

    try:
        yield
    except TokenProblemError as problem:
        render.print_message(str(problem))
        raise typer.Exit(ExitCode.WRONG_USE) from None
    except MemoryProblemError as problem:
        render.print_message(str(problem))
        raise typer.Exit(ExitCode.FAILED) from None


def _find_user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""


def mcp(store: Store) -> None:
    """Run an MCP server through which an agent queries a store.

    It reads standard input and writes standard output.
    """
    if not store.is_dir():
        render.print_message(f"{store} is not a store; name the folder that `callgauge ingest` wrote")
        raise typer.Exit(ExitCode.WRONG_USE)
    from ingest.processes import let_pandas_in

    let_pandas_in()
    from callgauge.api.mcp_server import NoMcpError, run_stdio
    from callgauge.api.questions.store_access import SharedStore
    from ingest.store.shared.follower import follow

    follow(store.resolve())
    try:
        run_stdio(SharedStore(store.resolve()))
    except NoMcpError as missing:
        render.print_message(str(missing))
        raise typer.Exit(ExitCode.WRONG_USE) from None

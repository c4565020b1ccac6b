"""The option `--store` of all commands: a folder, or the address of a shared store.

For a shared store, the commands work in a folder on this machine.
"""

from __future__ import annotations

import os
import re
import shlex
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import typer

from callgauge.cli import render
from callgauge.cli.render.exit_codes import ExitCode

STATE_VARIABLE = "CALLGAUGE_STATE"
"""The folder that contains the local folders of shared stores."""
_NO_NAME = re.compile(r"[^a-z0-9]+")


def find_store(named: str) -> Path:
    """Return the folder of the store given by `--store`. For a shared store, fetch the published store file.

    Exits with a message if the shared store cannot be used and the folder has no earlier data.
    """
    from ingest.errors import IngestError, OptionError
    from ingest.sources.stored_names import is_address
    from ingest.store.generations import published_generation
    from ingest.store.shared.link import link_folder, read_link

    folder = Path(named)
    try:
        if is_address(named):
            folder = _find_folder(named)
            link_folder(folder, named)
        link = read_link(folder)
        if link is None:
            return folder
        from ingest.store.shared.shared_folder import (
            open_shared_folder,  # A top-level import would delay every command by 0.1 seconds.
        )

        open_shared_folder(folder, link).fetch()
    except OptionError as problem:
        render.fail(str(problem), ExitCode.WRONG_USE)
    except IngestError as problem:
        if published_generation(folder) is None:
            render.fail(str(problem))
        render.print_message(f"{problem}. Data that was fetched earlier is in {folder}")
    return folder


def warn_of_open_store(store: Path) -> None:
    """Print a message if every user of this machine may read the store."""
    from ingest.safe_files import is_open_to_everybody

    if is_open_to_everybody(store):
        render.print_message(
            f"Warning: each user of this machine can read the store {store}. Run `chmod 700 "
            f"{shlex.quote(str(store))}`; for a server that runs as another user, see File modes in "
            "docs/service.md"
        )


def _find_folder(address: str) -> Path:
    """Return this machine's folder for a shared store. Raises OptionError."""
    from ingest.store.shared.link import check_shared_address

    address = check_shared_address(address)
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    above = Path(os.environ.get(STATE_VARIABLE) or Path(home) / "callgauge")
    name = _NO_NAME.sub("-", address.partition("://")[2].lower())[-60:].strip("-")
    return above / f"{name}-{sha256(address.encode()).hexdigest()[:8]}"


STORE_METAVAR = "DIR|s3://…"
Store = Annotated[
    Path, typer.Option("--store", metavar=STORE_METAVAR, parser=find_store, help="The store's folder.")
]
OptionalStore = Annotated[
    Path | None, typer.Option("--store", metavar=STORE_METAVAR, parser=find_store, help="The store's folder.")
]

"""The file in a store's folder that contains the address of its shared store."""

from __future__ import annotations

import json
import re
import secrets
from pathlib import Path

import msgspec
from msgspec.structs import asdict

from ingest.errors import OptionError, StoreError, explain_os_errors
from ingest.safe_files import replace_text
from ingest.store.shared.pointer import CURRENT

LINK = "shared.json"
FETCH_LOCK = "fetch.lock"
# Error messages may quote an address. So this pattern accepts no address with a password.
_ADDRESS = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,62}(/[\w.()!*'=-]+)*", re.ASCII)
_FOLDER_ID = re.compile(r"[0-9a-f]{16}")


class SharedLink(msgspec.Struct, frozen=True):
    """The address of a shared store, and the unique id of the folder."""

    address: str
    folder_id: str


def check_shared_address(address: str) -> str:
    """Return the address of a shared store, without a slash at its end. Raises OptionError."""
    address = address.rstrip("/")
    if not _ADDRESS.fullmatch(address) or {".", ".."} & set(address.split("/")):
        raise OptionError(
            "the address of a shared store is s3://BUCKET/FOLDER, without a user, a password or a query; "
            "credentials are read from AWS_PROFILE, AWS_ACCESS_KEY_ID or the machine's role"
        )
    return address


def read_link(folder: Path) -> SharedLink | None:
    """Return the shared store of a folder. Return None for a store that is only on this machine.

    Raises StoreError when the file cannot be read.
    """
    try:
        fields = json.loads((folder / LINK).read_text("utf-8"))
        link = SharedLink(check_shared_address(str(fields["address"])), str(fields["folder_id"]))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, TypeError, KeyError, OptionError):
        link = None
    if link is None or not _FOLDER_ID.fullmatch(link.folder_id):
        raise StoreError(
            f"{folder / LINK} cannot be read; move the folder away, and name the address with --store"
        )
    return link


def link_folder(folder: Path, address: str) -> None:
    """Link a folder to a shared store. Make the folder if it is missing.

    Raises OptionError when the folder is linked to another address or already contains a store.
    """
    address, link = check_shared_address(address), read_link(folder)
    if link is not None and link.address != address:
        raise OptionError(f"{folder} belongs to {link.address}; name another folder")
    if link is not None:
        return
    if (folder / CURRENT).exists():
        raise OptionError(
            f"{folder} already contains another store; `callgauge backup` it, then `callgauge restore` "
            f"with --store {address}"
        )
    with explain_os_errors(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        link = SharedLink(address, secrets.token_hex(8))
        replace_text(folder / LINK, json.dumps(asdict(link), indent=1))

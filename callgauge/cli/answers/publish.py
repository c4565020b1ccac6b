"""The command `callgauge publish`: writes a leaderboard to hand out into a folder."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from callgauge.cli import render
from callgauge.cli.options.days_option import DaysText, read_calls
from callgauge.cli.options.store_option import Store
from callgauge.cli.render.exit_codes import ExitCode
from ingest.errors import OptionError
from ingest.version import CALLGAUGE_VERSION

if TYPE_CHECKING:
    from callgauge.analysis.comparisons.leaderboard import Leaderboard

_MOST_ROWS = 10  # the page must fit on two printed pages
_DATA, _MADE_BY = "leaderboard.json", "callgauge publish"
_MOST_BYTES = 64 * 2**20  # a larger file is not the JSON of a published folder
_LEFT_AFTER = 3600.0  # seconds after which a hidden folder belongs to a killed run
_TRIES = 5  # two runs at the same time may both replace the folder


def publish(
    store: Store,
    out: Annotated[
        Path,
        typer.Option("--out", metavar="DIR", help="A new folder, or a folder of an earlier `publish`."),
    ],
    days: DaysText = None,
    top: Annotated[
        int, typer.Option(min=1, max=_MOST_ROWS, metavar="N", help="Publish the N most used tools.")
    ] = 8,
    prompts: Annotated[
        bool, typer.Option("--prompts", help="Also publish valid calls by prompt, with the prompts' names.")
    ] = False,
    hide_tools: Annotated[
        bool, typer.Option("--hide-tools", help="Publish numbers in place of the names of tools.")
    ] = False,
) -> None:
    """Write a leaderboard of models to hand out.

    The leaderboard is a web page, Markdown, JSON and badges. The files contain no content of calls, and no
    names of hosts or people. The page needs no server and no other file. Exits with 1 if the store cannot
    be read, or if the folder cannot be written.
    """
    check_folder(out.resolve())
    board = _read_leaderboard(store, days, top, prompts=prompts, tools=not hide_tools)
    from callgauge.documents.leaderboard_files import write_files

    files = write_files(board, CALLGAUGE_VERSION)
    try:
        replace_folder(out, files)
    except OSError as problem:
        reason = problem.strerror or type(problem).__name__
        render.fail(
            f"cannot write {out}: {reason}. An existing folder is unchanged. Check the permissions and the "
            "free space",
            ExitCode.FAILED,
        )
    print(render.escape_for_terminal(board.sentence))
    render.print_message(f"wrote {len(files)} files into {out}; open {out / 'index.html'}")


def _read_leaderboard(store: Path, days: str | None, top: int, *, prompts: bool, tools: bool) -> Leaderboard:
    with read_calls(store, days, texts=False) as (reader, chosen):
        from callgauge.analysis.comparisons.leaderboard import PublishedNames, read_leaderboard
        from callgauge.memory.team_memory import TeamMemory

        prices, names = TeamMemory(store).read().prices, PublishedNames(prompts=prompts, tools=tools)
        return read_leaderboard(reader.ask, prices, chosen.parameters, top, names)


# --- the folder -------------------------------------------------------------------------------------


def replace_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Replace a published folder as a whole, or create it. Raises OptionError and OSError.

    The files are written into a new folder next to the target, which then takes the target's name. A folder
    with a file that `publish` did not write is not replaced. If the process is killed, the folder has all old
    files or all new files, and a later run removes the hidden folders that remain.
    """
    folder = folder.resolve()
    check_folder(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    _remove_remains(folder)
    with _remove_later(folder.with_name(f".{folder.name}.new-{os.getpid()}")) as new:
        new.mkdir()
        for path, content in files.items():
            file = new / path
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(content)
        if folder.is_dir():
            shutil.copymode(folder, new)
        _swap_folders(new, folder)


def check_folder(folder: Path) -> None:
    """Raise OptionError if `publish` must not replace a folder, because something else is in it."""
    if not os.path.lexists(folder):
        return
    if not folder.is_dir():
        raise OptionError(f"{folder} is a file; name a new folder with --out")
    present = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}
    foreign = sorted(present - _read_published(folder / _DATA)) if present else []
    if foreign:
        raise OptionError(
            f"{folder} contains {foreign[0]!r}, which `callgauge publish` did not write, so the folder is "
            "not replaced. Name a new folder with --out, or move the file away"
        )


def _read_published(data: Path) -> set[str]:
    """Return the paths of the files in a published folder. Return no path if the folder is not published."""
    try:
        if data.is_symlink() or data.stat().st_size > _MOST_BYTES:
            return set()
        published = json.loads(data.read_bytes())
        is_published = published["made_by"] == _MADE_BY
        return {str(path) for path in published["files"]} if is_published else set()
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return set()


def _remove_remains(folder: Path) -> None:
    """Remove the hidden folders of killed runs."""
    for remains in folder.parent.iterdir():
        if remains.name.startswith((f".{folder.name}.new-", f".{folder.name}.old-")):
            with suppress(FileNotFoundError):
                if remains.stat().st_mtime < time.time() - _LEFT_AFTER:
                    shutil.rmtree(remains, ignore_errors=True)


@contextmanager
def _remove_later(path: Path) -> Iterator[Path]:
    """Yield the path of a folder that does not exist, and remove the folder afterwards."""
    shutil.rmtree(path, ignore_errors=True)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def exchange_folders(new: Path, folder: Path) -> bool:
    """Exchange the names of two folders in one step. Return False if this is not possible.

    Linux and macOS have a system call for this, but not for all file systems.
    """
    if sys.platform == "win32":
        return False
    names = os.fsencode(new), os.fsencode(folder)
    library, flag = ctypes.CDLL(None), 2  # RENAME_EXCHANGE on Linux, RENAME_SWAP on macOS
    try:
        if sys.platform == "darwin":
            return bool(library.renamex_np(*names, flag) == 0)
        working_folder = -100  # AT_FDCWD: relative paths start at the working directory
        return bool(library.renameat2(working_folder, names[0], working_folder, names[1], flag) == 0)
    except AttributeError:  # an old C library
        return False


def _swap_folders(new: Path, folder: Path) -> None:
    """Give a new folder the name of an old folder, and remove the old folder.

    If the new folder cannot have the name, the old folder keeps it. Raises OSError.
    """
    if folder.is_dir() and exchange_folders(new, folder):
        return  # the caller removes the old folder, which now has the other name
    old = folder.with_name(f".{folder.name}.old-{os.getpid()}")
    for _ in range(_TRIES):
        with suppress(FileNotFoundError):
            folder.rename(old)
        try:
            new.rename(folder)
        except BaseException as problem:
            if not os.path.lexists(folder) and old.exists():
                old.rename(folder)
            # Another run of the command may have put its own folder there in the meantime.
            if not isinstance(problem, OSError) or problem.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        else:
            return
        finally:
            shutil.rmtree(old, ignore_errors=True)
    raise OSError(errno.EBUSY, "another run of the command replaces the folder now; run it again")

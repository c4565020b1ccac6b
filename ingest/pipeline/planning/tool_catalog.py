"""Reads the tool definitions of the folder `tools` and of the option `--tools` into one catalog.

Every file of a folder `tools` next to the store is read like a file of `--tools`. That folder may contain
other files, so a file there without a tool only causes a note. A file of `--tools` without a tool is an
error.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ingest.errors import OptionError
from lenient import ToolCatalog, ToolDefinitionError

FOLDER = "tools"
_LARGEST = 16 * 1024 * 1024  # bytes; more than any list of tools has


def read_given_definitions(store_dir: Path, files: Iterable[Path]) -> tuple[ToolCatalog, tuple[str, ...]]:
    """Return the definitions for logs that contain none, and a note for each file that cannot be used.

    Of two definitions with the same name, the one from `files` counts before the folder's, and the later
    file's before the earlier one's. Raises OptionError when one of `files` cannot be used.
    """
    catalog, notes = ToolCatalog(), []
    for file in _definition_files(store_dir.parent / FOLDER):
        try:
            catalog = catalog.overlay(_read_catalog(file))
        except (ToolDefinitionError, OSError) as problem:
            notes.append(f"not used as tool definitions: {problem}")
    return catalog.overlay(read_tools(files)), tuple(notes)


def read_tools(files: Iterable[Path]) -> ToolCatalog:
    """Return the definitions of all files. Raises OptionError when a file cannot be used.

    Of two definitions with the same name, the later file's counts.
    """
    catalog = ToolCatalog()
    for file in files:
        try:
            catalog = catalog.overlay(_read_catalog(file))
        except ToolDefinitionError as error:
            raise OptionError(f"these tool definitions cannot be used: {error}") from error
    return catalog


def _read_catalog(file: Path) -> ToolCatalog:
    loaded = ToolCatalog.load(file)
    if not len(loaded):
        raise ToolDefinitionError(f"{file} defines no tool")
    return loaded


def _definition_files(folder: Path) -> Sequence[Path]:
    """Return the files of the folder that may contain definitions, sorted; empty without the folder."""
    try:
        files = [path for path in folder.iterdir() if path.is_file() and not path.name.startswith(".")]
        return sorted(path for path in files if path.stat().st_size <= _LARGEST)
    except OSError:
        return []

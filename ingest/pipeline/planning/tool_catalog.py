"""Reads the tool definitions of the `tools` folder and of `--tools` into one catalog.

Every file of a folder `tools` beside the store is read as if it had been given with --tools. A team's folder
may hold other things, so a file there that defines no tool is only noted; one that was named is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ingest.errors import OptionError
from lenient import ToolCatalog, ToolDefinitionError

FOLDER = "tools"
_LARGEST = 16 * 1024 * 1024  # bytes; no list of tools is that long


def read_given_definitions(store_dir: Path, files: Iterable[Path]) -> tuple[ToolCatalog, tuple[str, ...]]:
    """Return the definitions to judge by where a log has none, and a sentence for each file that gave none.

    Of two with one name the later file's counts, and a named file's before the folder's. Raises OptionError.
    """
    catalog, notes = ToolCatalog(), []
    for file in _definition_files(store_dir.parent / FOLDER):
        try:
            catalog = catalog.overlay(_read_catalog(file))
        except (ToolDefinitionError, OSError) as problem:
            notes.append(f"not used as tool definitions: {problem}")
    return catalog.overlay(read_tools(files)), tuple(notes)


def read_tools(files: Iterable[Path]) -> ToolCatalog:
    """Read the definitions of all files; of two with one name the later file's counts. Raises OptionError."""
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
    """The files that may hold definitions, in the order of their names."""
    try:
        files = [path for path in folder.iterdir() if path.is_file() and not path.name.startswith(".")]
        return sorted(path for path in files if path.stat().st_size <= _LARGEST)
    except OSError:
        return []

"""Combines the tool definitions in the folder `tools` and in the files of `--tools` into one catalog.

All files of the folder `tools` next to the store are read. In this folder, a file without a tool only causes
a note. In `--tools`, a file without a tool is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ingest.errors import OptionError
from lenient import ToolCatalog, ToolDefinitionError

FOLDER = "tools"
_LARGEST = 16 * 1024 * 1024  # bytes; no list of tools is larger


def read_given_definitions(store_dir: Path, files: Iterable[Path]) -> tuple[ToolCatalog, tuple[str, ...]]:
    """Return the definitions for logs that contain no definitions, and a note for each unusable file.

    If a tool is defined twice, a file of `files` has priority over the folder, and a later file over an
    earlier file. Raises OptionError when one of `files` is unusable.
    """
    catalog, notes = ToolCatalog(), []
    for file in _definition_files(store_dir.parent / FOLDER):
        try:
            catalog = catalog.overlay(_read_catalog(file))
        except (ToolDefinitionError, OSError) as problem:
            notes.append(f"not used as tool definitions: {problem}")
    return catalog.overlay(read_tools(files)), tuple(notes)


def read_tools(files: Iterable[Path]) -> ToolCatalog:
    """Return the definitions of all files. Raises OptionError when a file is unusable.

    If two files define a tool, the definition of the later file is used.
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
    try:
        files = [path for path in folder.iterdir() if path.is_file() and not path.name.startswith(".")]
        return sorted(path for path in files if path.stat().st_size <= _LARGEST)
    except OSError:
        return []

"""Lists lines, values and files that could not be used. Reads the affected files again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from typing import Any

from ingest.errors import InputError
from ingest.load_report import LoadReport, Reject
from ingest.pipeline.load import load
from ingest.pipeline.planning.tool_catalog import read_given_definitions
from ingest.sources.discovery import Named
from ingest.sources.local_files import STDIN
from ingest.sources.stored_names import is_address, is_stream, parse_stored_path
from ingest.store.generations import published_generation
from ingest.store.ledger import Ledger
from ingest.store.reader import read_ledger, read_rejects


def list_rejects(store_dir: Path, *, files: str | None = None, code: str | None = None) -> Iterator[Reject]:
    """Yield the lines and values that loads could not use, ordered by file and position. Then yield the
    unusable files.

    `files` is a pattern such as `*.jsonl` for a path or a file name. `code` is a key of REJECT_CODES. Raises
    StoreError. Raises InputError when nothing was loaded yet.
    """
    current = published_generation(store_dir.absolute())
    if current is None:
        raise InputError(f"nothing has been loaded into {store_dir} yet; check the spelling of --store")
    for reject in read_rejects(current):
        if _matches_name(reject.file, files) and code in (None, reject.code):
            yield reject


def _matches_name(name: str, pattern: str | None) -> bool:
    return pattern is None or fnmatchcase(name, pattern) or fnmatchcase(PurePath(name).name, pattern)


def retry_rejected(
    store_dir: Path,
    *,
    files: str | None = None,
    code: str | None = None,
    tools: Sequence[Path] = (),
    **options: Any,
) -> tuple[LoadReport | None, list[str]]:
    """Read the files with rejects again. The new rows replace the earlier rows.

    Return the report of that load, and a sentence for each skipped file. The report is None when there was
    nothing to read. Piped input and missing files are skipped. If no tool definitions are given now, files
    that were read with tool definitions are skipped, too. `options` are those of `ingest.pipeline.load.load`.
    """
    store_dir = store_dir.absolute()
    names = {
        reject.part_of or reject.file: reject.tools
        for reject in list_rejects(store_dir, files=files, code=code)
    }
    catalog, _ = read_given_definitions(store_dir, tools)
    ledger = _open_ledger(store_dir)
    again: dict[str, Named] = {}
    left = []
    for name, read_with in sorted(names.items()):
        row = ledger.find_by_name(name)
        file = (row.outside.archive if row else None) or name
        if file == STDIN or is_stream(file):
            left.append(f"{name} was piped in; pipe it in again")
        elif not is_address(file) and not parse_stored_path(file).exists():
            left.append(f"{name} is no longer there")
        elif read_with is not None and not len(catalog):
            left.append(f"{name} was read with tool definitions; name them with --tools")
        else:
            again[name] = file if is_address(file) else parse_stored_path(file)
    if not again:
        return None, left
    return load(again.values(), store_dir, tools=tools, again=again.keys(), **options), left


def _open_ledger(store_dir: Path) -> Ledger:
    current = published_generation(store_dir)
    return read_ledger(current) if current else Ledger()

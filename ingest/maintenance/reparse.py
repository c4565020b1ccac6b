"""Judges the calls of a store again, with a newer parser or with other tool definitions.

The logs are not needed. The result is the same as if the logs were loaded today.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from ingest.load_report import ReparseReport
from ingest.maintenance.transaction import change_copy, lock_published
from ingest.pipeline.planning.naming import read_naming
from ingest.pipeline.planning.tool_catalog import read_tools
from ingest.pipeline.publish import standing_tables
from ingest.pipeline.reading.file_reader import ReadSettings
from ingest.store.generations import OnWrite, Patience, do_not_wait, ignore_write
from ingest.store.reader import count_calls_of_other_parsers, is_outdated
from ingest.store.reassessment import reassess_turns
from ingest.store.settling.settle import sum_days
from lenient import PARSER_VERSION

_WANTED = """
    CREATE TEMP TABLE wanted AS
    SELECT DISTINCT turn_id FROM stored_tool_calls WHERE $all OR parser_version IS DISTINCT FROM $version"""
_OF_WANTED = """
    SELECT source, session_id FROM stored_turns WHERE turn_id IN (FROM wanted)
    UNION SELECT source, session_id FROM stored_tool_calls WHERE turn_id IN (FROM wanted)"""
_DAYS = """
    CREATE TEMP TABLE touched_days AS
    SELECT day FROM stored_tool_calls SEMI JOIN wanted USING (turn_id)
    UNION SELECT day FROM stored_turns SEMI JOIN wanted USING (turn_id)"""
_SET_TOOLS = "UPDATE files SET tools_hash = ? WHERE status IN ('loaded', 'earlier')"


def reparse(
    store_dir: Path,
    *,
    everything: bool = False,
    tools: Sequence[Path] = (),
    on_write: OnWrite = ignore_write,
    patience: Patience = do_not_wait,
) -> ReparseReport:
    """Judge calls again and publish the result.

    By default, only calls that another parser version judged are judged again; `everything` means all calls.
    `tools` are files of definitions that replace the definitions given earlier with --tools. With `tools`,
    all calls are judged again. Raises InputError, StoreError, StoreBusy or StoreVersionError. After an error,
    nothing is published.
    """
    started = time.monotonic()
    catalog = read_tools(tools) if tools else None
    failures = read_naming(store_dir.absolute()).failures
    everything = everything or catalog is not None
    with lock_published(store_dir, on_write, patience) as (folder, current):
        calls = count_calls_of_other_parsers(current, None if everything else PARSER_VERSION)
        if not calls and not is_outdated(current):
            return ReparseReport(calls=0, changed=0, generation=None, seconds=time.monotonic() - started)
        with change_copy(folder) as building:
            with building.open_transaction("wanted") as con:
                con.execute(_WANTED, {"all": everything, "version": PARSER_VERSION})
                con.execute(_DAYS)
                if catalog is not None:
                    con.execute(_SET_TOOLS, [ReadSettings.from_options(catalog, 0).options.tools])
            building.pull_sessions(_OF_WANTED)
            changed = reassess_turns(building, failures, catalog)
            building.replace_tables(standing_tables(building.schemas))
            sum_days(building)
            building.finish()
            generation = folder.publish()
    return ReparseReport(
        calls=calls, changed=changed, generation=generation, seconds=time.monotonic() - started
    )

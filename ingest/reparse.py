"""A store in, the same store with its calls judged anew out: no log is needed, their text is in the store.

For a newer parser, or for tool definitions that came to hand later. What comes out is what a load of the same
logs would hold today.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from ingest.definitions import read_tools
from ingest.generations import OnWrite, Patience, ignore, none
from ingest.intake import Settings
from ingest.lookup import calls_judged_otherwise, is_outdated
from ingest.publishing import standing_tables
from ingest.reports import ReparseReport
from ingest.revising import building_on, held
from ingest.rework import rework
from lenient import PARSER_VERSION

_WANTED = """
    CREATE TEMP TABLE touched_days (day DATE);
    CREATE TEMP TABLE wanted AS
    SELECT DISTINCT turn_id FROM tool_calls WHERE $all OR parser_version IS DISTINCT FROM $version"""
_GIVEN = "UPDATE files SET tools_hash = ? WHERE status = 'loaded'"


def reparse(
    store_dir: Path,
    *,
    everything: bool = False,
    tools: Sequence[Path] = (),
    on_write: OnWrite = ignore,
    patience: Patience = none,
) -> ReparseReport:
    """Judge the calls that another version of the parser judged, or `everything`, and publish the outcome.

    `tools`: files of definitions that take the place of those once given with --tools; everything is judged
    by them. Raises InputError, StoreError, StoreBusy or StoreVersionError, with nothing published.
    """
    started = time.monotonic()
    given = read_tools(tools) if tools else None
    everything = everything or given is not None
    with held(store_dir, on_write, patience) as (folder, current):
        calls = calls_judged_otherwise(current, None if everything else PARSER_VERSION)
        if not calls and not is_outdated(current):
            return ReparseReport(calls=0, changed=0, generation=None, seconds=time.monotonic() - started)
        with building_on(folder) as building:
            with building.writing("wanted") as con:
                con.execute(_WANTED, {"all": everything, "version": PARSER_VERSION})
                if given is not None:
                    con.execute(_GIVEN, [Settings.of(given, 0).options.tools])
            changed = rework(building, given)
            building.replace_tables(standing_tables(building.schemas))
            building.roll_up()
            building.finish()
            generation = folder.publish()
    return ReparseReport(
        calls=calls, changed=changed, generation=generation, seconds=time.monotonic() - started
    )

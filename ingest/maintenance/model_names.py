"""Lists the models of a store with their names in the logs.

Counts the calls of the models again when the aliases changed.
"""

from __future__ import annotations

from pathlib import Path

from ingest.load_report import ModelNamesReport
from ingest.maintenance.transaction import change_copy, lock_published
from ingest.pipeline.planning.naming import read_naming
from ingest.pipeline.publish import count_models, has_new_aliases, standing_tables
from ingest.store.generations import OnWrite, Patience, do_not_wait, ignore_write, published_generation
from ingest.store.reader import is_outdated, read_model_names
from ingest.store.settling.settle import sum_days

_NO_DAYS = "CREATE TEMP TABLE touched_days (day DATE)"


def count_models_anew(
    store_dir: Path, *, on_write: OnWrite = ignore_write, patience: Patience = do_not_wait
) -> ModelNamesReport:
    """Apply the aliases in the store's `naming.toml` to all stored calls, and return the models.

    Publishes nothing when the aliases are already applied. Raises InputError, OptionError, StoreError,
    StoreBusy or StoreVersionError.
    """
    aliases = read_naming(store_dir.absolute()).aliases
    generation: str | None = None
    with lock_published(store_dir, on_write, patience) as (folder, current):
        if is_outdated(current) or has_new_aliases(current, aliases):
            with change_copy(folder) as building:
                with building.open_transaction("touched days") as con:
                    con.execute(_NO_DAYS)
                count_models(building, aliases)
                building.replace_tables(standing_tables(building.schemas))
                sum_days(building)
                building.finish()
                generation = folder.publish()
        published = published_generation(store_dir.absolute()) or current
        return ModelNamesReport(tuple(read_model_names(published)), aliases.enabled, generation)

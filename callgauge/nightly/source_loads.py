"""Loads the sources of a callgauge.toml, and records the time of the newest data of each source."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from callgauge.configuration.settings import Configuration, LoadSettings, SourceSettings
from callgauge.memory.nights.source_states import SourceState, SourceStates
from ingest.errors import IngestError, InputError, NothingFoundError
from ingest.pipeline.planning.naming import keep_aliases
from ingest.sources.local_files import read_file_list
from ingest.store.generations import prepare_store

if TYPE_CHECKING:
    from ingest.load_report import LoadReport, Progress
    from ingest.privacy.configuration import PrivacyOptions

ShowProgress = Callable[[], AbstractContextManager["Callable[[Progress], None]"]]
"""Shows the progress of one load during the `with` block."""


class SourceLoad(msgspec.Struct, frozen=True):
    """The result of loading one source. `problem` is a sentence if the load failed, else empty.

    `report` is None after a failure, or when the source has no files. `is_fatal` means that no other source
    can be loaded.
    """

    name: str
    report: LoadReport | None
    problem: str = ""
    is_fatal: bool = False


def load_sources(
    configuration: Configuration,
    *,
    given: Mapping[str, Any],
    show_progress: ShowProgress,
    stop: Callable[[], bool],
) -> Iterator[SourceLoad]:
    """Load the sources in the order of the configuration and yield the results. A failed source does not stop
    later sources.

    `given` has parameters of `ingest.pipeline.load.load` that override the configuration. Ends early when the
    store cannot be written, or when `stop()` returns True. Raises IngestError when the folder cannot be a
    store. Raises MemoryProblemError.
    """
    prepare_store(configuration.store)
    keep_aliases(configuration.store, configuration.aliases)
    states = SourceStates(configuration.store)
    states.drop_others([source.name for source in configuration.sources])
    for source in configuration.sources:
        if stop():
            return
        with show_progress() as tell:
            loaded = _load_source(configuration, source, {**given, "on_progress": tell, "stop": stop})
        states.note(_describe_state(source, loaded))
        yield loaded
        if loaded.is_fatal or (loaded.report is not None and loaded.report.unread):
            return


def load_words(settings: LoadSettings) -> dict[str, Any]:
    """Return the shared settings of all sources as parameters of `ingest.pipeline.load.load`. Raises
    OptionError.
    """
    words = {
        "tools": settings.tools,
        "labels": settings.labels,
        "max_line": settings.max_line,
        "since": settings.since,
        "workers": settings.workers,
        "on": settings.on,
        "shared": settings.shared,
        "replacing": settings.replace,
        "private": choose_privacy(
            redact=settings.redact, config=settings.redact_config, results=settings.results
        ),
    }
    return {name: value for name, value in words.items() if value is not None}


def source_words(source: SourceSettings) -> dict[str, Any]:
    """Return the settings of one source as parameters of `ingest.pipeline.load.load`."""
    return {
        "form": source.log_format,
        "model": source.model,
        "from_path": source.from_path,
        "mapping": source.mapping,
    }


def choose_privacy(*, redact: bool, config: Path | None, results: bool) -> PrivacyOptions:
    """Return the options that remove private content from a load. Raises OptionError."""
    from ingest.privacy.configuration import PrivacyOptions

    if not redact and config is None:
        return PrivacyOptions(results=results)
    from ingest.privacy.rules import read_rules  # This import loads the detectors.

    return PrivacyOptions(read_rules(config), results)


def list_named(source: SourceSettings) -> list[str]:
    """Return the paths of a source, including the paths in the source's list files. Raises InputError."""
    return [*source.paths, *(name for file in source.manifests for name in read_file_list(file))]


def _load_source(
    configuration: Configuration, source: SourceSettings, options: Mapping[str, Any]
) -> SourceLoad:
    from ingest.pipeline.load import load  # This import loads DuckDB and Arrow, which takes long.

    try:
        words = {**load_words(configuration.load), **source_words(source), **options}
        return SourceLoad(source.name, load(list_named(source), configuration.store, **words))
    except NothingFoundError:
        return SourceLoad(source.name, None)
    except InputError as problem:
        return SourceLoad(source.name, None, str(problem))
    except IngestError as problem:
        return SourceLoad(source.name, None, str(problem), is_fatal=True)
    except Exception as mistake:
        traceback.print_exc()
        return SourceLoad(source.name, None, f"{type(mistake).__name__}: {mistake}")


def _describe_state(source: SourceSettings, loaded: SourceLoad) -> SourceState:
    now, report = datetime.now(UTC), loaded.report
    newest = report.newest if report else None
    if newest is None and report is not None and (report.turns or report.calls):
        newest = now  # The logs have no times, so the data of the logs counts as new.
    return SourceState(
        source.name, newest and min(newest, now), now, now, source.silent_after, loaded.problem
    )

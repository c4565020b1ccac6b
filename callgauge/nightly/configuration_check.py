"""Checks whether a callgauge.toml works on this machine: files, folders, variables and sources."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from callgauge.checked_files.file_problems import KeyPath, Problem, write_key
from callgauge.checked_files.toml_file import find_key_lines, find_line
from callgauge.configuration.places import is_address
from callgauge.configuration.settings import Configuration, SignInSettings, SourceSettings
from callgauge.nightly.source_loads import list_named, load_words
from ingest.errors import IngestError, InputError, NothingFoundError
from ingest.pipeline.planning.naming import BadRuleError, check_mapping, read_naming
from ingest.pipeline.planning.selection import check_format_name, parse_moment
from ingest.sources.discovery import find_logs
from ingest.store.generations import check_store_place, published_generation


@dataclass(frozen=True, slots=True)
class SourceOutlook:
    """The current files of a source: the number of files, the number of unreadable files, and the newest
    time.

    `problem` says why the first unreadable file cannot be read.
    """

    name: str
    files: int = 0
    unreadable: int = 0
    newest: datetime | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ConfigurationOutlook:
    """The files that a configuration would load on this machine.

    `problems` lists what is missing on this machine, in the order of the configuration file.
    """

    sources: tuple[SourceOutlook, ...]
    variables: tuple[str, ...]
    problems: tuple[Problem, ...]


def check_configuration(configuration: Configuration) -> ConfigurationOutlook:
    """Return the files of all sources, and a list of what is missing on this machine. Changes nothing."""
    lines = find_key_lines(configuration.path.read_text("utf-8-sig"))
    sources, problems = [], []

    def note(key: KeyPath, what: str, advice: str) -> None:
        problems.append(Problem(configuration.path, find_line(lines, key), write_key(key), what, advice))

    for key, what, advice in (
        *_check_places(configuration),
        *_check_files(configuration),
        *_check_load(configuration),
    ):
        note(key, what, advice)
    for source in configuration.sources:
        try:
            outlook = _look_at_source(source, configuration)
            sources.append(outlook)
            if outlook.problem:
                note(("sources", source.name), outlook.problem, "fix it here, or in the file")
        except InputError as problem:
            note(("sources", source.name), str(problem), "fix it here, or in the file")
            sources.append(SourceOutlook(source.name))
    variables = list_variables(configuration)
    for key, name in variables:
        if not os.environ.get(name, "").strip():
            note(
                key,
                f"the variable {name} is not set here",
                "set it on the machine that uses it (nightly run or dashboard)",
            )
    return ConfigurationOutlook(
        tuple(sources),
        tuple(name for _, name in variables),
        tuple(sorted(problems, key=lambda problem: problem.line or 0)),
    )


def list_variables(configuration: Configuration) -> list[tuple[KeyPath, str]]:
    """Return the environment variables with secrets, each with its key in the configuration.

    The cookie secret is listed only if the configuration names a variable for it.
    """
    report, sign_in = configuration.report, configuration.sign_in
    variables: list[tuple[KeyPath, str]] = [
        (("report", "webhooks", place, "url"), hook.url_variable)
        for place, hook in enumerate(report.webhooks)
    ]
    if report.email is not None and report.email.password_variable is not None:
        variables.append((("report", "email", "password"), report.email.password_variable))
    if sign_in.method != "none" and sign_in.secret_variable != SignInSettings().secret_variable:
        variables.append((("sign_in", "secret"), sign_in.secret_variable))
    if sign_in.method == "oidc":
        variables.append((("sign_in", "client_secret"), sign_in.client_secret_variable))
    return variables


def _check_places(configuration: Configuration) -> Iterator[tuple[KeyPath, str, str]]:
    try:
        check_store_place(configuration.store)
        published_generation(configuration.store)
    except IngestError as problem:
        yield (
            ("store",),
            _without_option(str(problem)),
            "create this folder; a nightly run creates the store in it",
        )
    else:
        if not _can_write(configuration.store):
            yield (
                ("store",),
                f"{configuration.store} cannot be written",
                "change its permissions or its owner",
            )
    places = {("backup", "to"): configuration.backup.to, ("report", "folder"): configuration.report.folder}
    for key, place in places.items():
        if place is not None and not is_address(str(place)) and not _can_write(Path(place)):
            yield key, f"{place} cannot be written", "make the folder, or change its permissions"


def _without_option(advice: str) -> str:
    return advice.removesuffix(" with --store")


def _can_write(folder: Path) -> bool:
    """Return True when a folder is writable. For a new folder, check the nearest existing parent."""
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    return nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)


def _check_files(configuration: Configuration) -> Iterator[tuple[KeyPath, str, str]]:
    load = configuration.load
    files: list[tuple[KeyPath, Path | None]] = [
        *((("load", "tools"), tool) for tool in load.tools),
        (("load", "labels"), load.labels),
        (("load", "redact_config"), load.redact_config),
        (("sign_in", "password_file"), configuration.sign_in.password_file),
    ]
    for key, file in files:
        if file is not None and not (file.is_file() and os.access(file, os.R_OK)):
            yield key, f"{file} is not a readable file on this machine", "check its name and its permissions"


def _check_load(configuration: Configuration) -> Iterator[tuple[KeyPath, str, str]]:
    """Yield the problems with the options of a load, as `callgauge ingest` would report them."""
    try:
        load_words(configuration.load)
        if configuration.load.since is not None:
            parse_moment(configuration.load.since, datetime.now().astimezone())
    except InputError as problem:
        yield ("load",), str(problem), "correct it"
    for source in configuration.sources:
        for name, check in (("format", _check_format), ("map", _check_map), ("from_path", _check_naming)):
            try:
                check(source, configuration)
            except (InputError, BadRuleError) as problem:
                yield ("sources", source.name, name), str(problem), "correct it"


def _check_format(source: SourceSettings, _: Configuration) -> None:
    check_format_name(source.log_format)


def _check_map(source: SourceSettings, _: Configuration) -> None:
    check_mapping(source.mapping)


def _check_naming(source: SourceSettings, configuration: Configuration) -> None:
    read_naming(configuration.store, source.from_path, source.model)


def _look_at_source(source: SourceSettings, configuration: Configuration) -> SourceOutlook:
    try:
        logs = find_logs(list_named(source), configuration.store)
    except NothingFoundError:
        return SourceOutlook(source.name)
    newest = max((log.seen.mtime_ns for log in logs), default=0)
    unreadable = [log for log in logs if log.problem is not None]
    return SourceOutlook(
        source.name,
        len(logs),
        len(unreadable),
        datetime.fromtimestamp(newest / 1e9, UTC) if newest else None,
        f"{unreadable[0].name} {unreadable[0].problem}" if unreadable else "",
    )

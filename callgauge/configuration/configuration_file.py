"""Reads callgauge.toml: all of it, or an error that lists every mistake."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from callgauge.checked_files.file_problems import CheckedFileError
from callgauge.checked_files.toml_file import TomlReading
from callgauge.configuration.configuration_fields import CONFIGURATION
from callgauge.configuration.contradictions import note_contradictions
from callgauge.configuration.places import resolve_place
from callgauge.configuration.settings import (
    BackupSettings,
    Configuration,
    EmailSettings,
    LoadSettings,
    ReportSettings,
    RetentionSettings,
    ServeSettings,
    SignInSettings,
    SourceSettings,
    WebhookSettings,
)

_OPTIONAL = ("load", "retention", "report", "serve")


class ConfigurationError(CheckedFileError):
    """Raised when callgauge.toml has mistakes."""


def read_configuration(path: Path) -> Configuration:
    """Return what a callgauge.toml says; its paths are relative to the file.

    Only what stands in the file is judged, not whether the files that it names exist, nor whether the
    variables are set: the dashboard and the night may run on two machines. Raises ConfigurationError with all
    mistakes at once.
    """
    path = path.absolute()
    reading = TomlReading(path, "a callgauge.toml, such as `callgauge init-config` writes")
    known = reading.read_table(CONFIGURATION, {name: {} for name in _OPTIONAL})
    if known is not None:
        note_contradictions(reading, known)
    if known is None or reading.mistakes:
        raise ConfigurationError(reading.problems())
    return _make_configuration(path, known)


def _make_configuration(path: Path, known: Mapping[str, Any]) -> Configuration:
    folder = path.parent
    return Configuration(
        path=path,
        store=_find(folder, known["store"]),
        sources=tuple(_make_source(name, one, folder) for name, one in known["sources"].items()),
        load=_make_load(known["load"], folder),
        aliases=known["aliases"],
        retention=RetentionSettings(**known["retention"]),
        backup=_make_backup(known["backup"], folder) if known["backup"] else BackupSettings(),
        report=_make_report(known["report"], folder),
        serve=ServeSettings(**known["serve"]),
        sign_in=_make_sign_in(known["sign_in"], folder) if known["sign_in"] else SignInSettings(),
    )


def _make_source(name: str, table: Mapping[str, Any], folder: Path) -> SourceSettings:
    return SourceSettings(
        name=name,
        paths=tuple(resolve_place(folder, one) for one in table["paths"]),
        manifests=tuple(resolve_place(folder, one) for one in table["manifests"]),
        log_format=table["format"],
        silent_after=table["silent_after"] or None,
        **_without(table, "paths", "manifests", "format", "silent_after"),
    )


def _make_backup(table: Mapping[str, Any], folder: Path) -> BackupSettings:
    return BackupSettings(to=resolve_place(folder, table["to"]), keep=table["keep"])


def _make_load(table: Mapping[str, Any], folder: Path) -> LoadSettings:
    return LoadSettings(
        tools=tuple(_find(folder, tool) for tool in table["tools"]),
        labels=_find_given(folder, table["labels"]),
        redact_config=_find_given(folder, table["redact_config"]),
        shared=table["shared"] and resolve_place(folder, table["shared"]),
        **_without(table, "tools", "labels", "redact_config", "shared"),
    )


def _make_report(table: Mapping[str, Any], folder: Path) -> ReportSettings:
    email = table["email"]
    return ReportSettings(
        address=table["address"],
        folder=_find_given(folder, table["folder"]),
        quiet=table["quiet"],
        webhooks=tuple(
            WebhookSettings(kind=one["kind"], url_variable=_name_variable(one["url"]))
            for one in table["webhooks"]
        ),
        email=None
        if email is None
        else EmailSettings(
            sender=email["from"],
            password_variable=email["password"] and _name_variable(email["password"]),
            **_without(email, "from", "password"),
        ),
    )


def _make_sign_in(table: Mapping[str, Any], folder: Path) -> SignInSettings:
    return SignInSettings(
        secret_variable=_name_variable(table["secret"]),
        client_secret_variable=_name_variable(table["client_secret"]),
        password_file=_find_given(folder, table["password_file"]),
        **_without(table, "secret", "client_secret", "password_file"),
    )


def _without(table: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in table.items() if name not in names}


def _find(folder: Path, name: str) -> Path:
    return Path(resolve_place(folder, name))


def _find_given(folder: Path, name: str | None) -> Path | None:
    return None if name is None else _find(folder, name)


def _name_variable(told: str) -> str:
    return told.removeprefix("env:")

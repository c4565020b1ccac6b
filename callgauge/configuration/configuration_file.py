"""Reads callgauge.toml: all of it, or an error that lists every mistake."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from callgauge.checked_files.file_problems import CheckedFileError
from callgauge.checked_files.toml_file import TomlReading
from callgauge.configuration.configuration_fields import CONFIGURATION
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

    Raises ConfigurationError with all mistakes at once.
    """
    reading = TomlReading(path, "a callgauge.toml as docs/service.md shows it")
    known = reading.read_table(CONFIGURATION, {name: {} for name in _OPTIONAL})
    if known is None or reading.mistakes:
        raise ConfigurationError(reading.problems())
    return _make_configuration(path.absolute(), known)


def _make_configuration(path: Path, known: Mapping[str, Any]) -> Configuration:
    folder = path.parent
    return Configuration(
        path=path,
        store=folder / known["store"],
        sources=tuple(_make_source(name, one) for name, one in known["sources"].items()),
        load=_make_load(known["load"], folder),
        aliases=known["aliases"],
        retention=RetentionSettings(**known["retention"]),
        backup=BackupSettings(**known["backup"]) if known["backup"] else BackupSettings(),
        report=_make_report(known["report"], folder),
        serve=ServeSettings(**known["serve"]),
        sign_in=_make_sign_in(known["sign_in"], folder) if known["sign_in"] else SignInSettings(),
    )


def _make_source(name: str, table: Mapping[str, Any]) -> SourceSettings:
    return SourceSettings(name=name, log_format=table["format"], **_without(table, "format"))


def _make_load(table: Mapping[str, Any], folder: Path) -> LoadSettings:
    return LoadSettings(
        tools=tuple(folder / tool for tool in table["tools"]),
        labels=_find(folder, table["labels"]),
        redact_config=_find(folder, table["redact_config"]),
        **_without(table, "tools", "labels", "redact_config"),
    )


def _make_report(table: Mapping[str, Any], folder: Path) -> ReportSettings:
    email = table["email"]
    return ReportSettings(
        address=table["address"],
        folder=_find(folder, table["folder"]),
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
        password_file=_find(folder, table["password_file"]),
        **_without(table, "secret", "client_secret", "password_file"),
    )


def _without(table: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in table.items() if name not in names}


def _find(folder: Path, name: str | None) -> Path | None:
    return None if name is None else folder / name


def _name_variable(told: str) -> str:
    return told.removeprefix("env:")

"""Reads callgauge.toml completely, or raises an error that lists every mistake."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from callgauge.checked_files.field_types import (
    FieldType,
    KeyedTable,
    ListOf,
    Schema,
    declare_table,
    list_declared,
)
from callgauge.checked_files.file_problems import CheckedFileError
from callgauge.checked_files.toml_file import TomlReading
from callgauge.configuration.places import is_address, resolve_place
from callgauge.configuration.settings import Configuration, FileText, PlaceText, SourceSettings, VariableText

CONFIGURATION = declare_table(Configuration)
EXAMPLE = Path(__file__).with_name("example.toml").read_text("utf-8")
"""An example of callgauge.toml that explains every key. `callgauge init-config` writes it."""
_STANDARD_INPUT = "-"
# This dict holds for each key the sign-in methods that use the key. Keys that are not here are for every
# method.
_USED_BY = {
    "issuer": ("oidc",),
    "client_id": ("oidc",),
    "client_secret": ("oidc",),
    "user_header": ("header",),
    "groups_header": ("header",),
    "password_file": ("password", "link"),
}
_NEEDED_BY = {"oidc": ("issuer", "client_id")}
_WHO = ("domains", "users", "groups", "admins", "admin_groups")


class ConfigurationError(CheckedFileError):
    """Raised when callgauge.toml has mistakes."""


def configuration_schema() -> Schema:
    """Return the JSON Schema of callgauge.toml for editors (draft 7)."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "The configuration of a team's Callgauge",
        **CONFIGURATION.to_schema(),
    }


def read_configuration(path: Path) -> Configuration:
    """Return the settings of a callgauge.toml. Paths in the file are relative to its folder.

    Files and environment variables that callgauge.toml names need not exist on this machine. Raises
    ConfigurationError with all mistakes.
    """
    path = path.absolute()
    reading = TomlReading(path, "a callgauge.toml, such as `callgauge init-config` writes")
    tables = reading.read_table(CONFIGURATION, {})
    if tables is not None:
        _note_contradictions(reading, tables)
    if tables is None or reading.mistakes:
        raise ConfigurationError(reading.problems())
    sources = tuple(
        _make_source(name, table, path.parent) for name, table in (tables["sources"] or {}).items()
    )
    values = {**tables, "sources": None}
    configuration: Configuration = _make_settings(
        Configuration, values, path.parent, path=path, sources=sources
    )
    return configuration


def _make_settings(
    declaration: type[msgspec.Struct], values: Mapping[str, Any], folder: Path, **attributes: Any
) -> Any:
    """Return a TOML table as an instance of the class that declares the table."""
    for attribute, key, field_type, _ in list_declared(declaration):
        if values.get(key.name) is not None:
            attributes[attribute.name] = _convert(field_type, values[key.name], folder)
    return declaration(**attributes)


def _convert(field_type: FieldType, value: Any, folder: Path) -> Any:
    match field_type:
        case ListOf(item=item):
            return tuple(_convert(item, part, folder) for part in value)
        case KeyedTable(declared_by=type() as declaration):
            return _make_settings(declaration, value, folder)
        case FileText():
            return Path(resolve_place(folder, value))
        case PlaceText():
            return resolve_place(folder, value)
        case VariableText():
            return value.removeprefix("env:")
    return value


def _make_source(name: str, table: Mapping[str, Any], folder: Path) -> SourceSettings:
    source: SourceSettings = _make_settings(SourceSettings, table, folder, name=name)
    return source if source.silent_after else replace(source, silent_after=None)


def _note_contradictions(reading: TomlReading, configuration: Mapping[str, Any]) -> None:
    """Record each contradiction between values of a file.

    `known` contains only the values that could be read.
    """
    folder = reading.path.parent
    if is_address(configuration.get("store", "")):
        reading.note(
            ("store",),
            "is an address",
            "name a folder of this machine: for a shared store the one that `callgauge ingest --store "
            "s3://…` made (docs/service.md)",
        )
    _check_sources(reading, configuration.get("sources") or {}, folder)
    _check_retention(reading, configuration.get("retention") or {})
    _check_backup(reading, configuration, folder)
    _check_report(reading, configuration.get("report") or {})
    if configuration.get("sign_in"):
        _check_sign_in(reading, configuration["sign_in"])


def _check_sources(reading: TomlReading, sources: Mapping[str, Mapping[str, Any]], folder: Path) -> None:
    owners: dict[str, str] = {}
    for name, source in sources.items():
        key = ("sources", name)
        if not (source.get("paths", True) or source.get("manifests", True)):
            reading.note(key, "names no logs", "add paths, or manifests, the lists of them")
        for kind in ("paths", "manifests"):
            for place in source.get(kind, ()):
                if place == _STANDARD_INPUT:
                    what = '"-" is standard input, which a nightly run does not have'
                    reading.note((*key, kind), what, "name files, folders or addresses")
                elif (owner := owners.setdefault(resolve_place(folder, place), name)) != name:
                    reading.note(
                        (*key, kind),
                        f"{place} is a path of {owner}, too",
                        "name it in one of the two sources",
                    )


def _check_retention(reading: TomlReading, retention: Mapping[str, Any]) -> None:
    text, facts = retention.get("text_days"), retention.get("fact_days")
    if text is not None and facts is not None and text > facts:
        what = f"content would be kept for {text:,} days, but its calls only for {facts:,}"
        reading.note(("retention", "text_days"), what, f"write {facts} or less")


def _check_backup(reading: TomlReading, configuration: Mapping[str, Any], folder: Path) -> None:
    place, store = (configuration.get("backup") or {}).get("to"), configuration.get("store")
    if place is None or store is None or is_address(place):
        return
    if Path(resolve_place(folder, place)).is_relative_to(resolve_place(folder, store)):
        reading.note(
            ("backup", "to"), "is in the store, and would be lost with it", "name a folder on another disk"
        )


def _check_report(reading: TomlReading, report: Mapping[str, Any]) -> None:
    sent = [name for name in ("webhooks", "email") if report.get(name)]
    if sent and "address" in report and report["address"] is None:
        what = "has no address, so its links would lead nowhere"
        reading.note(("report",), what, 'add address = "https://…", where people reach the dashboard')
    email = report.get("email") or {}
    for name, other in (("user", "password"), ("password", "user")):
        if email.get(name) is not None and other in email and email[other] is None:
            reading.note(("report", "email", name), f"needs {other}", f"add {other}, or leave both out")


def _check_sign_in(reading: TomlReading, sign_in: Mapping[str, Any]) -> None:
    method = sign_in.get("method")
    if method is None:
        return
    for name in _NEEDED_BY.get(method, ()):
        if name in sign_in and sign_in[name] is None:
            reading.note(("sign_in", "method"), f'"{method}" needs {name}', f"add {name} to [sign_in]")
    for name, methods in _USED_BY.items():
        if ("sign_in", name) in reading.lines and method not in methods:
            advice = " or ".join(f'"{word}"' for word in methods)
            reading.note(
                ("sign_in", name), f'is not used with method = "{method}"', f"leave it out, or write {advice}"
            )
    if method == "oidc" and not any(sign_in.get(name, True) for name in _WHO):
        # The sign-in provider may also authenticate people outside the team, so the users must be limited.
        what = f'"{method}" with nobody who may come in'
        reading.note(("sign_in", "method"), what, f"name them in one of {', '.join(_WHO)}")

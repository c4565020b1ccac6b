"""Finds what in a callgauge.toml contradicts itself or lacks its other half, though each value may stand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from callgauge.checked_files.toml_file import TomlReading
from callgauge.configuration.places import is_address, resolve_place

_STANDARD_INPUT = "-"
# Keys that only some ways to sign in use, and those that one cannot do without.
_USED_BY = {
    "issuer": ("oidc",),
    "client_id": ("oidc",),
    "client_secret": ("oidc",),
    "user_header": ("header",),
    "groups_header": ("header",),
    "proxies": ("header",),
    "password_file": ("password", "link"),
}
_NEEDED_BY = {"oidc": ("issuer", "client_id")}
_WHO = ("domains", "users", "groups", "admins", "admin_groups")


def note_contradictions(reading: TomlReading, known: Mapping[str, Any]) -> None:
    """Note each contradiction between values of a file; those that could not be read are not in `known`."""
    folder = reading.path.parent
    if is_address(known.get("store", "")):
        reading.note(
            ("store",),
            "is an address",
            "name a folder of this machine: for a shared store the one that `callgauge ingest --store "
            "s3://…` made (docs/service.md)",
        )
    _check_sources(reading, known.get("sources", {}), folder)
    _check_retention(reading, known.get("retention") or {})
    _check_backup(reading, known, folder)
    _check_report(reading, known.get("report") or {})
    if known.get("sign_in"):
        _check_sign_in(reading, known["sign_in"])


def _check_sources(reading: TomlReading, sources: Mapping[str, Mapping[str, Any]], folder: Path) -> None:
    owners: dict[str, str] = {}
    for name, source in sources.items():
        key = ("sources", name)
        if not (source.get("paths", True) or source.get("manifests", True)):
            reading.note(key, "names no logs", "add paths, or manifests, the lists of them")
        for kind in ("paths", "manifests"):
            for place in source.get(kind, ()):
                if place == _STANDARD_INPUT:
                    what = '"-" is standard input, which a night does not have'
                    reading.note((*key, kind), what, "name files, folders or addresses")
                elif (owner := owners.setdefault(resolve_place(folder, place), name)) != name:
                    reading.note(
                        (*key, kind), f"{place} is one of {owner}, too", "name it in one of the two sources"
                    )


def _check_retention(reading: TomlReading, retention: Mapping[str, Any]) -> None:
    text, facts = retention.get("text_days"), retention.get("fact_days")
    if text is not None and facts is not None and text > facts:
        what = f"texts would stay for {text:,} days, and the calls that they belong to for {facts:,}"
        reading.note(("retention", "text_days"), what, f"write {facts} or less")


def _check_backup(reading: TomlReading, known: Mapping[str, Any], folder: Path) -> None:
    place, store = (known.get("backup") or {}).get("to"), known.get("store")
    if place is None or store is None or is_address(place):
        return
    if Path(resolve_place(folder, place)).is_relative_to(resolve_place(folder, store)):
        reading.note(
            ("backup", "to"), "lies in the store, and would be lost with it", "name a folder on another disk"
        )


def _check_report(reading: TomlReading, report: Mapping[str, Any]) -> None:
    sent = [name for name in ("webhooks", "email") if report.get(name)]
    if sent and "address" in report and report["address"] is None:
        what = "has no address, so its links would lead nowhere"
        reading.note(("report",), what, 'add address = "https://…", where people reach the dashboard')
    email = report.get("email") or {}
    for name, other in (("user", "password"), ("password", "user")):
        if email.get(name) is not None and other in email and email[other] is None:
            reading.note(
                ("report", "email", name), f"stands without {other}", f"add {other}, or leave both out"
            )


def _check_sign_in(reading: TomlReading, sign_in: Mapping[str, Any]) -> None:
    method = sign_in.get("method")
    if method is None:
        return
    for name in _NEEDED_BY.get(method, ()):
        if name in sign_in and sign_in[name] is None:
            reading.note(("sign_in", "method"), f'"{method}" needs {name}', f"add {name} to [sign_in]")
    for name, methods in _USED_BY.items():
        if ("sign_in", name) in reading.lines and method not in methods:
            one = " or ".join(f'"{word}"' for word in methods)
            reading.note(
                ("sign_in", name), f'says nothing with method = "{method}"', f"leave it out, or write {one}"
            )
    if method == "oidc" and not any(sign_in.get(name, True) for name in _WHO):
        what = f'"{method}" with nobody who may come in'  # the provider may know anybody
        reading.note(("sign_in", "method"), what, f"name them in one of {', '.join(_WHO)}")

"""Creates the gate of a server from its settings. Reports invalid settings before the server starts."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from callgauge.configuration.settings import SignInSettings
from callgauge.serving.access_log import AccessLog
from callgauge.serving.clients import ClientAddresses
from callgauge.serving.identity import User
from callgauge.serving.sign_in.admission import Admission
from callgauge.serving.sign_in.oidc import is_safe_address
from callgauge.serving.sign_in.routes import SignInRoutes
from callgauge.serving.sign_in.sessions import SecretError, Sessions, Signer, read_ended, read_secret
from callgauge.serving.sign_in.users_file import FILE, UsersFile, UsersFileError
from ingest.version import install_command


class SignInSetupError(Exception):
    """Raised when the settings would admit nobody or everybody; the message says what is missing."""


def users_file(settings: SignInSettings, folder: Path) -> UsersFile | None:
    """Return the users file. Return None if the sign-in method uses no users file."""
    if settings.method not in ("password", "link"):
        return None
    return UsersFile(settings.password_file or folder / FILE)


def check_sign_in(settings: SignInSettings, folder: Path) -> None:
    """Raise SignInSetupError if a server with these settings would admit nobody, or everybody."""
    check = {"oidc": _check_oidc, "header": _check_header, "password": _check_users, "link": _check_users}
    try:
        ClientAddresses(settings.trusted_proxies)
    except ValueError as problem:
        raise SignInSetupError(f"[sign_in] proxies: {problem}") from None
    if settings.method in check:
        check[settings.method](settings, folder)
        try:
            read_secret(settings.secret_variable, folder)
            read_ended(folder)
        except SecretError as problem:
            raise SignInSetupError(str(problem)) from None


def _check_oidc(settings: SignInSettings, _: Path) -> None:
    if not settings.issuer or not settings.client_id:
        raise SignInSetupError("[sign_in] needs issuer and client_id with oidc")
    if not is_safe_address(settings.issuer):
        raise SignInSetupError(f"the issuer {settings.issuer} is not an https address")
    if not os.environ.get(settings.client_secret_variable):
        raise SignInSetupError(f"{settings.client_secret_variable} (the client's secret) is not set")
    if not (
        settings.domains or settings.users or settings.groups or settings.admins or settings.admin_groups
    ):
        raise SignInSetupError(
            "[sign_in] names nobody: give domains, users or groups; the provider may know anybody"
        )
    if not all(importlib.util.find_spec(name) for name in ("authlib", "joserfc")):
        raise SignInSetupError(f"OIDC needs two more packages: {install_command('oidc')}")


def _check_header(settings: SignInSettings, _: Path) -> None:
    if not settings.trusted_proxies:
        raise SignInSetupError("[sign_in] needs proxies with header: the addresses that may send it")


def _check_users(settings: SignInSettings, folder: Path) -> None:
    users = users_file(settings, folder)
    try:
        is_empty = users is None or not users.list_users()
    except UsersFileError as problem:
        raise SignInSetupError(str(problem)) from None
    if is_empty:
        raise SignInSetupError(
            f"nobody is in the file of users yet: callgauge users add NAME --admin --store {folder}"
        )


def gate_options(
    settings: SignInSettings, folder: Path | None, find_token: Callable[[str], User | None]
) -> dict[str, Any]:
    """Return the arguments of a Gate for the store in `folder`.

    Raises SignInSetupError, so that no server starts without protection.
    """
    options: dict[str, Any] = {"settings": settings, "find_token": find_token}
    if settings.method == "none":
        return options
    if folder is None:
        raise SignInSetupError("no store is named")
    check_sign_in(settings, folder)
    users = users_file(settings, folder)
    signer = Signer(read_secret(settings.secret_variable, folder))
    sessions = Sessions(signer, settings.hours, folder)
    admission, log = Admission(settings, users), AccessLog(folder)
    routes = SignInRoutes(settings, sessions, signer, admission, log, users)
    return options | {"sessions": sessions, "routes": routes, "admission": admission, "log": log}

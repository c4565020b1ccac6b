"""The settings that `callgauge serve` passes to its web server through the environment."""

from __future__ import annotations

import ipaddress
import json
import os
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from callgauge.configuration.settings import ServeSettings, SignInSettings

HOSTS_VARIABLE = "CALLGAUGE_HOSTS"
"""The host names of the server, separated by commas; `*` allows any. Set by `callgauge serve`."""
EMBEDDING_VARIABLE = "CALLGAUGE_EMBED_IN"
"""Origins whose pages may show the dashboard in a frame, separated by spaces. Set by `callgauge serve`."""
SIGN_IN_VARIABLE = "CALLGAUGE_SIGN_IN"
"""The settings of the sign-in, as JSON without secrets. Set by `callgauge serve`."""
TEXTS_VARIABLE = "CALLGAUGE_TEXTS"
"""`no` if the store is served without content. Set by `callgauge serve`."""
STORE_VARIABLE = "CALLGAUGE_STORE"
HEALTHY_HOURS_VARIABLE = "CALLGAUGE_HEALTHY_HOURS"
"""The maximum age of the newest load, in hours, for a healthy server. Set by `callgauge serve`."""
TRACES_VARIABLE = "CALLGAUGE_TRACES"
"""The folder for the traces that programs send. Set by `callgauge serve`."""
ENDS_WITH_INPUT_VARIABLE = "CALLGAUGE_ENDS_WITH_INPUT"
"""`yes` if the server stops when its standard input is closed. Set by `callgauge up`."""
WORKER_VARIABLE = "CALLGAUGE_WORKER"
"""The number of a worker, how many workers there are, and the file descriptor of its channel."""
ALIVE = "/healthz/live"
"""Answers 200 while the server works, even if the store is damaged: a restart would not repair a store."""
LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")


def is_loopback(address: str) -> bool:
    """Return True if only this machine can reach a server that listens on this address."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address in LOCAL_NAMES


def hosts_from_environment() -> list[str]:
    """Return the host names that `callgauge serve` allows. By default these are the names of this machine."""
    hosts = [name for name in os.environ.get(HOSTS_VARIABLE, "").split(",") if name]
    return hosts or list(LOCAL_NAMES)


def embedders_from_environment() -> list[str]:
    """Return the origins that may show the dashboard in a frame."""
    return os.environ.get(EMBEDDING_VARIABLE, "").split()


def healthy_hours_from_environment() -> float:
    """Return the maximum age of the newest load in hours; an older load makes the server unhealthy."""
    return float(os.environ.get(HEALTHY_HOURS_VARIABLE) or ServeSettings().healthy_hours)


def write_sign_in(settings: SignInSettings) -> str:
    """Return the sign-in settings as a string that `sign_in_from_environment` can read."""
    return json.dumps(asdict(settings), default=str)


def sign_in_from_environment() -> SignInSettings:
    """Return the sign-in settings. The method is `none` if the environment has no settings.

    Raises TypeError or ValueError for invalid settings, so that no server starts without protection.
    """
    values: dict[str, Any] = json.loads(os.environ.get(SIGN_IN_VARIABLE) or "{}")
    settings: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }
    if settings.get("password_file"):
        settings["password_file"] = Path(str(settings["password_file"]))
    return SignInSettings(**settings)


def is_gated() -> bool:
    """Return True if `callgauge serve` started this server. Then the gate sets the user of every request."""
    return SIGN_IN_VARIABLE in os.environ


def texts_are_shown() -> bool:
    """Return False if the server hides content such as prompts and arguments."""
    return os.environ.get(TEXTS_VARIABLE) != "no"


def traces_from_environment() -> Path | None:
    """Return the folder for traces that programs send. Return None if the server accepts no traces."""
    folder = os.environ.get(TRACES_VARIABLE)
    return Path(folder) if folder else None


def store_from_environment() -> Path | None:
    """Return the folder of the served store."""
    store = os.environ.get(STORE_VARIABLE)
    return Path(store) if store else None

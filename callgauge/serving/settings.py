"""What `callgauge serve` tells the web server that it starts, through the environment."""

from __future__ import annotations

import ipaddress
import os
from pathlib import Path

HOSTS_VARIABLE = "CALLGAUGE_HOSTS"
"""Names by which browsers may reach the server, apart by commas; `*` is any. Set by `callgauge serve`."""
EMBEDDING_VARIABLE = "CALLGAUGE_EMBED_IN"
"""Origins whose pages may show the dashboard in a frame, apart by blanks. Set by `callgauge serve`."""
STORE_VARIABLE = "CALLGAUGE_STORE"
HEALTHY_HOURS_VARIABLE = "CALLGAUGE_HEALTHY_HOURS"
"""How old the newest load may be before `/healthz` says so, in hours. Set by `callgauge serve`."""
HEALTHY_HOURS = 26.0
"""Unless something else is said: a night a day, and two hours for one that takes longer."""
LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")


def is_loopback(address: str) -> bool:
    """Return True when only this machine can reach what listens on an address."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address in LOCAL_NAMES


def hosts_from_environment() -> list[str]:
    """Return the names that `callgauge serve` was given; this machine's own without any."""
    told = [name for name in os.environ.get(HOSTS_VARIABLE, "").split(",") if name]
    return told or list(LOCAL_NAMES)


def embedders_from_environment() -> list[str]:
    """Return the origins that may frame the dashboard."""
    return os.environ.get(EMBEDDING_VARIABLE, "").split()


def healthy_hours_from_environment() -> float:
    """Return how old the newest load may be, in hours."""
    return float(os.environ.get(HEALTHY_HOURS_VARIABLE) or HEALTHY_HOURS)


def store_from_environment() -> Path | None:
    """Return the folder of the store that is served."""
    told = os.environ.get(STORE_VARIABLE)
    return Path(told) if told else None

"""The environment variables by which clients of models find their server, for a command that is recorded."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class ClientApi:
    """One API: the `variables` that its clients read, its provider's `server`, and the name of its `route`.

    `version` is the end of the base URL that its clients need: OpenAI's do not add it, the others do.
    """

    route: str
    variables: tuple[str, ...]
    server: str
    version: str = ""


CLIENT_APIS = (
    ClientApi("openai", ("OPENAI_BASE_URL", "OPENAI_API_BASE"), "https://api.openai.com/v1", "/v1"),
    ClientApi("anthropic", ("ANTHROPIC_BASE_URL",), "https://api.anthropic.com"),
    ClientApi("gemini", ("GOOGLE_GEMINI_BASE_URL",), "https://generativelanguage.googleapis.com"),
)
_VERSION = re.compile(r"/v\d\w*$")


@dataclass(frozen=True, slots=True)
class RecordedAddresses:
    """Where a command's requests go: `targets` by route, and the `variables` that name the recorder."""

    targets: Mapping[str, str]
    variables: Mapping[str, str]


def find_client_addresses(
    recorder: str, environment: Mapping[str, str], server: str | None = None
) -> RecordedAddresses:
    """Return the addresses for a command behind the recorder at the address `recorder`.

    Requests go to `server`; without it, to what a variable of `environment` names, else to the provider.
    """
    targets: dict[str, str] = {}
    variables: dict[str, str] = {}
    for api in CLIENT_APIS:
        own = next((environment[name] for name in api.variables if environment.get(name)), None)
        target = targets[api.route] = server or own or api.server
        path = urlsplit(target).path.rstrip("/")
        if api.version:
            path = path or api.version
        elif server is not None:  # these clients add the version
            path = _VERSION.sub("", path)
        variables |= dict.fromkeys(api.variables, f"{recorder}/{api.route}{path}")
    local = urlsplit(recorder).hostname or ""
    for name in ("NO_PROXY", "no_proxy"):  # the recorder is never behind a proxy
        variables[name] = ",".join(part for part in (environment.get(name), local) if part)
    return RecordedAddresses(targets, variables)

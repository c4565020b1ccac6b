"""Environment variables that direct the model clients of a command to the recorder."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class ClientApi:
    """One model API. `variables` are the environment variables that its clients read. `server` is the
    provider's server.

    `route` is the name of the API in the recorder's URLs. `version` is the URL path that a client's base URL
    must end with, such as `/v1`. It is empty if clients add the version themselves.
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


def find_targets(environment: Mapping[str, str], server: str | None = None) -> dict[str, str]:
    """Return the server of each API by route.

    The server is `server` if given, else the value of the API's environment variable, else the provider's
    server.
    """
    return {
        api.route: server
        or next((environment[name] for name in api.variables if environment.get(name)), api.server)
        for api in CLIENT_APIS
    }


def name_recorder(
    recorder: str, targets: Mapping[str, str], environment: Mapping[str, str], *, is_one_server: bool
) -> dict[str, str]:
    """Return environment variables that send a command's requests to the recorder at `recorder`.

    `targets` is the result of `find_targets`. `is_one_server` means that all targets are the same base URL.
    Then the version is removed from the URL for clients that add the version themselves.
    """
    variables: dict[str, str] = {}
    for api in CLIENT_APIS:
        path = urlsplit(targets[api.route]).path.rstrip("/")
        if api.version:
            path = path or api.version
        elif is_one_server:
            path = _VERSION.sub("", path)
        variables |= dict.fromkeys(api.variables, f"{recorder}/{api.route}{path}")
    local = urlsplit(recorder).hostname or ""
    for name in ("NO_PROXY", "no_proxy"):  # Requests to the recorder must not go through another proxy.
        variables[name] = ",".join(part for part in (environment.get(name), local) if part)
    return variables

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


def find_targets(environment: Mapping[str, str], server: str | None = None) -> dict[str, str]:
    """Return the server of each route: `server`, else what a variable names, else the provider's."""
    return {
        api.route: server
        or next((environment[name] for name in api.variables if environment.get(name)), api.server)
        for api in CLIENT_APIS
    }


def name_recorder(
    recorder: str, targets: Mapping[str, str], environment: Mapping[str, str], *, is_one_server: bool
) -> dict[str, str]:
    """Return the variables that name the recorder, at the address `recorder`, for a command.

    `targets`: those of `find_targets`. `is_one_server`: all of them are one server's base URL, whose version
    the clients of some APIs add themselves.
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
    for name in ("NO_PROXY", "no_proxy"):  # the recorder is never behind a proxy
        variables[name] = ",".join(part for part in (environment.get(name), local) if part)
    return variables

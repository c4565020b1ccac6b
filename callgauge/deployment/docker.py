"""Docker: the image, and a compose file that runs the server and, when it is asked to, the night."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from callgauge.deployment.container_paths import (
    USER_ID,
    Mount,
    container_commands,
    list_mounts,
    list_warnings,
)
from callgauge.deployment.installation import Installation, ServiceFiles
from callgauge.deployment.yaml_text import write_yaml

_HERE = Path(__file__).parent
_RECIPES = ("Dockerfile", "Dockerfile.dockerignore")
_CHECK = "import urllib.request; urllib.request.urlopen('http://127.0.0.1:{port}/healthz', timeout=5)"


def make_docker_files(known: Installation) -> ServiceFiles:
    """Return the recipe of the image, which is the same for everybody."""
    words = ["docker", "build", "-f", "Dockerfile", "-t", known.image]
    if known.packages:
        words += ["--build-arg", f"EXTRA_PACKAGES={' '.join(known.packages)}"]
    build = shlex.join([*words, _name_checkout(known)])
    return ServiceFiles({name: (_HERE / name).read_text("utf-8") for name in _RECIPES}, [build])


def make_compose_files(known: Installation) -> ServiceFiles:
    """Return the compose file and the recipe of its image. Raises DeploymentError."""
    server, night = container_commands(known)
    probe = {"test": ["CMD", "python", "-c", _CHECK.format(port=known.port)], "interval": "30s"}
    services = {
        "server": {
            **_make_service(known, server),
            "build": {
                "context": _escape(_name_checkout(known)),
                "dockerfile": "${PWD}/Dockerfile",
                "args": {"EXTRA_PACKAGES": " ".join(known.packages)},
            },
            "restart": "on-failure",
            # The published port: this machine only. A proxy with TLS goes before it.
            "ports": [f"127.0.0.1:{known.port}:{known.port}"],
            "healthcheck": {**probe, "timeout": "10s", "start_period": "60s", "retries": 3},
        },
        "nightly": {
            **_make_service(known, night),
            "profiles": ["nightly"],  # not started with the server
            "healthcheck": {"disable": True},
        },
    }
    text = write_yaml({"name": "callgauge", "services": services})
    docker = make_docker_files(known)
    return ServiceFiles({"compose.yaml": text, **docker.files}, [*list_warnings(known), *_list_steps(known)])


def _make_service(known: Installation, arguments: list[str]) -> dict[str, Any]:
    return {
        "image": _escape(known.image),
        "command": [_escape(word) for word in arguments],
        "init": True,
        "user": f"{USER_ID}:{USER_ID}",
        "read_only": True,
        "tmpfs": ["/tmp:mode=1777,size=4g"],  # noqa: S108 - its own
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges:true"],
        "stop_grace_period": "15s",
        "env_file": [{"path": _escape(str(known.environment_file)), "required": bool(known.secrets)}],
        "volumes": [_make_mount(mount) for mount in list_mounts(known)],
    }


def _make_mount(mount: Mount) -> dict[str, Any]:
    return {
        "type": "bind",
        "source": _escape(str(mount.here)),
        "target": _escape(str(mount.there)),
        "read_only": not mount.is_writable,
        "bind": {"create_host_path": False},  # one that Docker makes would be root's
    }


def _escape(text: str) -> str:
    """Return a text in which compose replaces no variable."""
    return text.replace("$", "$$")


def _name_checkout(known: Installation) -> str:
    return str(known.checkout) if known.checkout else "CHECKOUT_OF_CALLGAUGE"


def _list_steps(known: Installation) -> list[str]:
    folders = " ".join(shlex.quote(str(path)) for path in (known.store, *known.writable))
    steps = [f"sudo install -d -o {USER_ID} -g {USER_ID} -m 0750 {folders}"]
    steps += [f"user {USER_ID} must be able to read {path}" for path in known.logs]
    if known.secrets:
        steps.append(f"write {', '.join(known.secrets)} into {known.environment_file}, NAME=value, mode 0600")
    night = "docker compose -f DIR/compose.yaml run --rm nightly"
    return [
        *steps,
        "docker compose up -d --build server",
        f"in a crontab, DIR being the folder of these files: {known.minute} {known.hour} * * * {night}",
    ]

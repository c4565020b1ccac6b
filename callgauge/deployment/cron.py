"""cron: one line that starts the night. It needs no flock: a night holds a lock by itself."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from callgauge.deployment.installation import DeploymentError, Installation, ServiceFiles

_LONGEST = 998  # bytes of a command that Debian's cron and cronie take


def make_cron_files(known: Installation) -> ServiceFiles:
    """Return the line: for /etc/cron.d with a user, else for your own crontab. Raises DeploymentError."""
    _, night = known.commands()
    if any("\\" in word for word in night):
        raise DeploymentError("crons differ in how they read a backslash: take it out of the paths")
    command = write_command(with_secrets(known, night))
    if len(command.encode()) > _LONGEST:
        raise DeploymentError(
            f"cron takes commands of at most {_LONGEST} bytes, this one has {len(command.encode())}: "
            "move callgauge.toml to a shorter path"
        )
    user = f"{known.user} " if known.user else ""
    line = f"{known.minute} {known.hour} * * * {user}{command}\n"
    if known.user:
        return ServiceFiles(
            {"callgauge": line},
            ["sudo install -m 0644 callgauge /etc/cron.d/callgauge  # cron mails what it says"],
        )
    steps = ["(crontab -l; cat callgauge.cron) | crontab -  # cron mails what it says"]
    return ServiceFiles({"callgauge.cron": line}, steps)


def with_secrets(known: Installation, words: Sequence[str]) -> str:
    """Return a command for a shell that first reads the secrets, where the configuration needs any."""
    command = shlex.join(words)
    if not known.secrets:
        return command
    return f"set -a; . {shlex.quote(str(known.environment_file))}; set +a; exec {command}"


def write_command(command: str) -> str:
    """Return a shell's command as a crontab holds it: there a percent sign would end the line."""
    return command.replace("%", "\\%")

"""systemd: a service for the server, and a timer that starts the night."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from callgauge.deployment.installation import Installation, ServiceFiles

_USER = "callgauge"
_PLAIN = re.compile(r"[A-Za-z0-9_./:@+,=-]+")
_HOMES = (Path("/home"), Path("/root"), Path("/run/user"))
_SHARED = (Path("/tmp"), Path("/var/tmp"))  # noqa: S108 - where a private one would hide what lies there
_HARDENING = """\
NoNewPrivileges=yes
ProtectSystem=strict
PrivateDevices=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
CapabilityBoundingSet=
LockPersonality=yes
RemoveIPC=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
UMask=0077"""


def make_systemd_files(known: Installation) -> ServiceFiles:
    """Return the units, and the commands that install them."""
    server, night = known.commands()
    shared = _write_shared_part(known)
    units = {
        "callgauge.service": f"""\
[Unit]
Description=Callgauge dashboard
Wants=network-online.target
After=network-online.target

[Service]
Type=exec
ExecStart={write_command(server)}
Restart=on-failure
RestartSec=5
TimeoutStopSec=15
{shared}

[Install]
WantedBy=multi-user.target
""",
        "callgauge-nightly.service": f"""\
[Unit]
Description=The night of Callgauge: load, retention, backup, report
Wants=network-online.target
After=network-online.target
# A night that was killed is tried again, one that failed is not: its reason would be the same.
StartLimitIntervalSec=1h
StartLimitBurst=3

[Service]
Type=oneshot
ExecStart={write_command(night)}
# Done, but lines were rejected: the Data page has them.
SuccessExitStatus=3
Restart=on-abnormal
RestartSec=5min
TimeoutStartSec=infinity
Nice=10
IOSchedulingClass=idle
{shared}
""",
        "callgauge-nightly.timer": f"""\
[Unit]
Description=Starts the night of Callgauge

[Timer]
OnCalendar=*-*-* {known.hour:02}:{known.minute:02}:00
# A night that was slept through begins when the machine is up again.
Persistent=true

[Install]
WantedBy=timers.target
""",
    }
    return ServiceFiles(units, _list_steps(known, units))


def write_command(words: Sequence[str]) -> str:
    """Return the words as `ExecStart=` reads them: quoted, with no variable and no specifier among them."""
    prefix = ":" if any("$" in word for word in words) else ""  # then systemd replaces no variables
    return prefix + " ".join(map(_quote, words))


def _quote(word: str) -> str:
    if _PLAIN.fullmatch(word):
        return word
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%") + '"'


def _write_shared_part(known: Installation) -> str:
    writable = [known.store, *known.writable]
    touched = [*writable, known.config, *known.logs, *known.files, *known.secret_files]
    touched.append(Path(known.command[0]))
    lines = [f"User={known.user or _USER}", f"EnvironmentFile=-{_escape_line(known.environment_file)}"]
    lines.append(_HARDENING)
    lines.append(f"ProtectHome={'read-only' if _lie_in(touched, _HOMES) else 'yes'}")
    if _lie_in(touched, _SHARED):
        writable += _SHARED
        lines.append("# What this service reads or writes lies there.\nPrivateTmp=no")
    else:
        lines.append("PrivateTmp=yes")
    lines.append("ReadWritePaths=" + " ".join(_quote(str(path)) for path in writable))
    return "\n".join(lines)


def _escape_line(path: Path) -> str:
    """Return a path as a setting that takes the whole line reads it: no quotes, no specifiers."""
    return str(path).replace("%", "%%")


def _lie_in(paths: Iterable[Path], folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) for path in paths for folder in folders)


def _list_steps(known: Installation, units: Iterable[str]) -> list[str]:
    user, write = known.user or _USER, shlex.quote
    folders = " ".join(write(str(path)) for path in (known.store, *known.writable))
    steps = [
        f"id {user} || sudo useradd --system --no-create-home --shell /usr/sbin/nologin {user}",
        f"sudo install -d -o {user} -m 0750 {folders}",
    ]
    if known.secrets:
        steps.append(
            f"sudo install -m 0600 /dev/null {write(str(known.environment_file))}; write into it, one "
            f"NAME=value a line: {', '.join(known.secrets)}"
        )
    return [
        *steps,
        f"sudo cp {' '.join(units)} /etc/systemd/system/ && sudo systemctl daemon-reload",
        "sudo systemctl enable --now callgauge.service callgauge-nightly.timer",
    ]

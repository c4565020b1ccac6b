"""launchd of macOS: an agent of your own, or with a user a daemon, for the server and for the night."""

from __future__ import annotations

import plistlib
from pathlib import Path
from typing import Any

from callgauge.deployment.cron import with_secrets
from callgauge.deployment.installation import Installation, ServiceFiles

_LABELS = ("org.callgauge.server", "org.callgauge.nightly")


def make_launchd_files(known: Installation) -> ServiceFiles:
    """Return the property lists, and the commands that install them."""
    server, night = known.commands()
    when = {"StartCalendarInterval": {"Hour": known.hour, "Minute": known.minute}, "Nice": 10}
    always = {"RunAtLoad": True, "KeepAlive": {"SuccessfulExit": False}, "ExitTimeOut": 15}
    jobs = {
        label: _describe_job(known, label, words, more)
        for label, words, more in zip(_LABELS, (server, night), (always, when), strict=True)
    }
    files = {f"{label}.plist": plistlib.dumps(job).decode() for label, job in jobs.items()}
    sudo, folder, domain = (
        ("sudo ", "/Library/LaunchDaemons/", "system")
        if known.user
        else ("", "~/Library/LaunchAgents/", "gui/$(id -u)")
    )
    steps = [f"{sudo}cp {' '.join(files)} {folder}"]
    steps += [f"{sudo}launchctl bootstrap {domain} {folder}{name}" for name in files]
    if known.secrets:
        steps.insert(
            0, f"write {', '.join(known.secrets)} into {known.environment_file}, NAME=value, mode 0600"
        )
    return ServiceFiles(files, steps, "<!-- {} -->")


def _describe_job(known: Installation, label: str, words: list[str], more: dict[str, Any]) -> dict[str, Any]:
    if known.secrets:  # launchd reads no file of variables
        words = ["/bin/sh", "-c", with_secrets(known, words)]
    folder = Path("/Library/Logs") if known.user else Path.home() / "Library" / "Logs"
    log = str(folder / f"{label}.log")
    job = {
        "Label": label,
        "ProgramArguments": words,
        "ProcessType": "Background",
        "Umask": 0o077,
        "StandardOutPath": log,
        "StandardErrorPath": log,
        **more,
    }
    return {**job, "UserName": known.user} if known.user else job

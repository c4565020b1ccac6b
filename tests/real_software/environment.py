"""Defines the programs that tests need in .real_software/. `./dev test --all` installs them once.

`python -m tests.real_software.environment` installs programs that are missing or whose lock file changed. If
an installer fails, the tests that need its programs are skipped with the reason.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
FOLDER = ROOT / ".real_software"
TIME_LIMIT = 1800.0  # seconds for one installer


class InstallError(Exception):
    """An installer is missing, or the installer failed. The message is one sentence."""


@dataclass(frozen=True)
class Environment:
    """A folder of installed programs, which is made again if a file in `files` has changed."""

    name: str
    files: Sequence[str]
    install: Callable[[Path], None]
    folder: Path = FOLDER

    @property
    def path(self) -> Path:
        return self.folder / self.name

    @property
    def _stamp(self) -> Path:
        return self.path / "made-from"

    @property
    def _reason(self) -> Path:
        return self.folder / f"{self.name}.reason"

    def is_ready(self) -> bool:
        return self._stamp.is_file() and self._stamp.read_text() == self._fingerprint()

    def why_missing(self) -> str | None:
        """Return the reason why the programs are not installed, or None if they are installed."""
        if self.is_ready():
            return None
        if self._reason.is_file():
            return self._reason.read_text(encoding="utf-8")
        return f"{self.path} is missing or old: ./dev test --all installs it"

    def make(self) -> None:
        """Install the programs. If this fails, write the reason to a file."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._reason.unlink(missing_ok=True)
        started = time.monotonic()
        try:
            self.path.mkdir(parents=True)
            self.install(self.path)
            self._stamp.write_text(self._fingerprint())
        except (InstallError, OSError) as error:
            self.folder.mkdir(exist_ok=True)
            self._reason.write_text(f"{self.name} programs were not installed: {error}", encoding="utf-8")
            report(f"{error}; the tests that need these programs are skipped")
        else:
            report(f"{self.name} programs are ready after {time.monotonic() - started:.0f} s")

    def _fingerprint(self) -> str:
        # A virtual environment works only in its own folder and with its own Python.
        parts = [platform.python_version(), platform.machine(), str(self.path)]
        parts += [(HERE / name).read_text(encoding="utf-8") for name in self.files]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def report(message: str) -> None:
    print(f"[real software] {message}", file=sys.stderr, flush=True)


def run_installer(log: Path, *command: object) -> None:
    """Execute an installer, and write its output to a log file. Raises InstallError if it fails."""
    words = [str(word) for word in command]
    with log.open("a", encoding="utf-8") as output:
        try:
            done = subprocess.run(
                words,
                cwd=log.parent,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=TIME_LIMIT,
            )
        except subprocess.TimeoutExpired as error:
            raise InstallError(f"{words[0]} was stopped after {TIME_LIMIT:.0f} s, see {log}") from error
    if done.returncode:
        copy = log.parent.with_suffix(".log")
        shutil.copyfile(log, copy)
        raise InstallError(f"{Path(words[0]).name} failed with exit code {done.returncode}, see {copy}")


def install_python(folder: Path) -> None:
    """Install the lock file, then torch. Only pip knows which torch without CUDA fits this machine."""
    log, python = folder / "install.log", folder / "bin" / "python"
    if os.name == "nt":
        python = folder / "Scripts" / "python.exe"
    pip = (python, "-m", "pip", "install", "--no-compile", "--progress-bar", "off", "--retries", "2")
    run_installer(log, sys.executable, "-m", "venv", folder)
    run_installer(log, *pip, "--no-deps", "--require-hashes", "-r", HERE / "requirements.lock")
    run_installer(log, *pip, "-r", HERE / "requirements-torch.txt")


def install_node(folder: Path) -> None:
    """Install package-lock.json with npm, without executing the packages' scripts.

    promptfoo has optional packages of 1.7 GB that no test needs. package.json replaces each of them with the
    small package `wrappy`.
    """
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        raise InstallError("node and npm are not installed")
    for name in NODE.files:
        shutil.copyfile(HERE / name, folder / name)
    log = folder / "install.log"
    run_installer(log, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=2")


PYTHON = Environment("python", ("requirements.lock", "requirements-torch.txt"), install_python)
NODE = Environment("node", ("package.json", "package-lock.json"), install_node)


def main() -> None:
    for environment, size in ((PYTHON, "1.6 GB"), (NODE, "0.4 GB")):
        if not environment.is_ready():
            report(f"installing {environment.name} programs for the tests, once: {size}, some minutes")
            environment.make()


if __name__ == "__main__":
    main()

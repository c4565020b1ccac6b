"""Makes environments with the built wheels, like those of a user without a checkout.

A new environment uses the dependencies in the tests' environment, but cannot import the checkout.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import time
import venv
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CALLGAUGE, LENIENT = ROOT, ROOT / "lenient"
SITE_PACKAGES = Path(sysconfig.get_path("purelib"))
LONGEST_BUILD = 300  # seconds; another test process may build the wheel meanwhile, on a busy machine


@dataclass(frozen=True, slots=True)
class Installation:
    """A virtual environment in `folder`."""

    folder: Path

    @property
    def programs(self) -> Path:
        return self.folder / ("Scripts" if os.name == "nt" else "bin")

    def pip(self, *words: object) -> None:
        command = [sys.executable, "-m", "pip", "-q", "--python", self.programs / "python", *words]
        subprocess.run([str(word) for word in command], check=True)

    def install(self, wheel: Path) -> None:
        self.pip("install", "--no-deps", "--no-index", wheel)

    def run(
        self, program: str, *words: object, cwd: Path, stdin: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Start a program of the environment in `cwd`, without variables that point to the checkout."""
        return subprocess.run(
            [str(self.programs / program), *map(str, words)],
            cwd=cwd,
            env=clean_environment(),
            input=stdin,
            capture_output=True,
            text=True,
        )


def clean_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def build_wheel(project: Path, folder: Path) -> Path:
    """Build the wheel of the project into `folder`, with the locked build back end."""
    return build_distribution(project, folder, "wheel")


def build_distribution(project: Path, folder: Path, target: str) -> Path:
    """Build a `target` (wheel or sdist) into `folder`, with the locked build back end."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    subprocess.run(command, cwd=project, check=True, capture_output=True)
    (distribution,) = folder.glob("*.whl" if target == "wheel" else "*.tar.gz")
    return distribution


def make_environment(folder: Path, packages: Path) -> Installation:
    """Make an environment that can import only the packages in `packages`."""
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    variables = {"base": str(folder), "platbase": str(folder)}
    site_packages = Path(sysconfig.get_path("purelib", vars=variables))
    (site_packages / "dependencies.pth").write_text(f"{packages}\n", encoding="utf-8")
    return Installation(folder)


def installed_callgauge(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """Return the environment with callgauge's wheel, which all test processes share."""
    shared = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        shared = shared.parent
    folder, done = shared / "installed", shared / "installed.done"
    try:
        folder.mkdir()
    except FileExistsError:
        end = time.monotonic() + LONGEST_BUILD
        while not done.exists():
            assert time.monotonic() < end, f"{folder} was not finished by the process that makes it"
            time.sleep(0.2)
        return Installation(folder / "environment")
    installation = make_environment(folder / "environment", SITE_PACKAGES)
    installation.install(build_wheel(CALLGAUGE, folder / "wheel"))
    done.touch()
    return installation

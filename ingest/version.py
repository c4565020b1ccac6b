"""The version of Callgauge, and the command that installs an extra of Callgauge."""

import importlib.util
import os
import shlex
import sys
from pathlib import Path

CALLGAUGE_VERSION = "0.2.0"


def install_command(extra: str) -> str:
    """Return the command that installs an extra of Callgauge into the Python environment of this process.

    A pipx environment contains pipx_metadata.json. An environment of `uv tool` contains uv-receipt.toml.
    """
    requirement = f'"callgauge[{extra}]"'
    prefix = Path(sys.prefix)
    if (prefix / "pipx_metadata.json").exists():
        return f"pipx install --force {requirement}"
    if (prefix / "uv-receipt.toml").exists():
        return f"uv tool install --force {requirement}"
    python = f'"{sys.executable}"' if os.name == "nt" else shlex.quote(sys.executable)
    if importlib.util.find_spec("pip") is None:
        return f"uv pip install --python {python} {requirement}"
    return f"{python} -m pip install {requirement}"

"""Makes a store of three weeks with a known fault.

From 12 November on, heron-70b uses the prompt mender@13, and half of its calls fail. The two boreal models
make the fewest mistakes, and nano-1b makes the most.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from sample_data import generate

SEED = 4242
NAMES = {
    "aurora-large": "boreal-xl",
    "aurora-mini": "boreal-s",
    "kestrel-coder-14b": "heron-70b",
    "falcon-3-8b": "merlin-8b",
    "pico-2b": "nano-1b",
    '"fixer"': '"mender"',
}
ROOT = Path(__file__).parents[2]


def load_planted(folder: Path) -> Path:
    """Write the logs into `folder` and load them. Return the store."""
    logs, store = folder / "logs", folder / "store"
    logs.mkdir()
    for name, content in generate.files(SEED):
        for before, after in NAMES.items():
            name, content = name.replace(before, after), content.replace(before, after)  # noqa: PLW2901
        (logs / name).write_text(content, encoding="utf-8")
    subprocess.run(
        [sys.executable, "-m", "callgauge", "ingest", str(logs), "--store", str(store)], check=True, cwd=ROOT
    )
    return store

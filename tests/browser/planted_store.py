"""A store with a planted truth: three made weeks under other names and another seed than the sample's.

The truth: heron-70b takes mender@13 badly (half of its calls fail), which is in use from 12 November on; the
two boreal models make few mistakes, and nano-1b makes the most.
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
    """Write the logs into `folder`, load them, and return the store."""
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

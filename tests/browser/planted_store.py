"""Makes a store with a known fault: three weeks with other names and another seed than the sample.

From 12 November on, the prompt mender@13 is used, with which half of the calls of heron-70b fail. The two
boreal models make few mistakes, and nano-1b makes most mistakes.
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

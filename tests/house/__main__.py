"""`./dev house [REVISION]` compares layout, names and docstrings with another revision (default: HEAD).

`./dev house list [FOLDER]` prints the names that the numbers count, by module.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path

from tests.house.call_path import MEASURED_CALL
from tests.house.measurements import functions, measure_house, mutual_imports, read_modules
from tests.house.words import begins_with_verb, is_riddle

ROOT = Path(__file__).parents[2]


def call_path_in(root: Path) -> str:
    """Return how many functions and modules of the parser below `root` one call with one coercion uses."""
    run = subprocess.run(
        [sys.executable, "-P", "-c", MEASURED_CALL.format(root=str(root))], capture_output=True, text=True
    )
    return run.stdout.strip() or f"cannot be measured: {run.stderr.strip().splitlines()[-1]}"


def measure_tree(root: Path) -> dict[str, str]:
    return {**measure_house(root), 'the way of {"limit": "10"}': call_path_in(root)}


def list_findings(folder: str) -> None:
    """Print the names that should be changed, by folder: unclear names, and names without a verb."""
    modules = [module for module in read_modules(ROOT) if module.path.startswith(folder)]
    for first, other in mutual_imports(modules):
        print(f"both ways: {first} and {other}")
    for module in modules:
        names = [function.name for function in functions([module])]
        riddles = [name for name in names if is_riddle(name)]
        verbs = sum(map(begins_with_verb, names))
        found = ", ".join(riddles) or "none"
        print(f"{module.path}: {verbs} of {len(names)} begin with a verb; riddles: {found}")


def main() -> None:
    if sys.argv[1:2] == ["list"]:
        list_findings(*sys.argv[2:] or [""])
        return
    revision = sys.argv[1] if len(sys.argv) > 1 else "HEAD"
    archive = subprocess.run(["git", "archive", revision], cwd=ROOT, capture_output=True, check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        before = measure_tree(Path(folder))
    now = measure_tree(ROOT)
    print(f"| | {revision} | working tree |\n|---|---|---|")
    for row in now:
        print(f"| {row} | {before[row]} | {now[row]} |")


if __name__ == "__main__":
    main()

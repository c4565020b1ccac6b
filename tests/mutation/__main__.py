"""`./dev mutate FILE [TESTS...]` makes small mistakes in a module, and lists those that no test notices.

Each mistake is made in a copy of the checkout (one copy per core). `TESTS_OF` contains the default tests of
each module. Thorough tests are skipped. `--most N` chooses N random mistakes. `--seed S` changes the choice.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

from tests.mutation.mutants import Mutant, find_mutants

ROOT = Path(__file__).parents[2]
LONGEST = 600  # seconds for the tests of one mutant; a timeout counts as a failed test
# Maps prefixes of module paths to tests. For a module, the tests of its longest prefix run.
TESTS_OF = {
    "lenient/": ("tests/test_cases.py", "tests/parser"),
    "lenient/calls/": (
        "tests/test_cases.py",
        "tests/parser/test_calls.py",
        "tests/parser/test_call_properties.py",
    ),
    "ingest/": ("tests/formats", "tests/sessions", "tests/sources", "tests/store"),
    "ingest/decoding/": (
        "tests/store/test_lines.py",
        "tests/store/test_bad_input.py",
        "tests/sources",
        "tests/formats",
    ),
    "ingest/formats/": ("tests/formats",),
    "ingest/privacy/": ("tests/privacy",),
    "ingest/sessions/": ("tests/sessions", "tests/formats/test_cases.py"),
    "ingest/sources/": ("tests/sources",),
    "callgauge/analysis/": ("tests/analysis", "tests/dashboard"),
    "callgauge/stats/": ("tests/stats",),
    "callgauge/dashboard/": ("tests/dashboard",),
    "callgauge/api/": ("tests/api",),
    "callgauge/deployment/": ("tests/deployment",),
    "callgauge/prices/": ("tests/prices",),
    "callgauge/report/": ("tests/report",),
    "callgauge/cli/": ("tests/test_cli.py", "tests/cli"),
}


def copy_checkout(folder: Path) -> Path:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, check=True
    ).stdout.decode()
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def passes(copy: Path, tests: list[str]) -> bool:
    """Execute the tests in a copy of the checkout. Return False if a test fails, or if the tests take too
    long.
    """
    command = [sys.executable, "-m", "pytest", "-x", "-q", *tests]
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        run = subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        return False
    return run.returncode == 0


def tests_of(file: str) -> list[str]:
    prefixes = [prefix for prefix in TESTS_OF if file.startswith(prefix)]
    if not prefixes:
        sys.exit(f"no tests are known for {file}: name them behind it")
    return list(TESTS_OF[max(prefixes, key=len)])


def find_survivors(file: str, mutants: list[Mutant], tests: list[str]) -> list[Mutant]:
    source = (ROOT / file).read_bytes()
    survivors = []
    with tempfile.TemporaryDirectory() as folder:
        copies: Queue[Path] = Queue()
        workers = os.cpu_count() or 1
        for number in range(workers):
            copies.put(copy_checkout(Path(folder) / str(number)))

        def try_mutant(mutant: Mutant) -> bool:
            copy = copies.get()
            try:
                (copy / file).write_bytes(mutant.apply_to(source))
                return passes(copy, tests)
            finally:
                (copy / file).write_bytes(source)
                copies.put(copy)

        first = copies.get()
        if not passes(first, tests):
            sys.exit("the tests do not pass without a mistake; mend that first")
        copies.put(first)
        with ThreadPoolExecutor(workers) as pool:
            results = zip(mutants, pool.map(try_mutant, mutants), strict=True)
            for number, (mutant, survived) in enumerate(results, 1):
                mark = "SURVIVED" if survived else "noticed "
                change = f"{mutant.before!r} -> {mutant.text!r}"
                print(f"{number}/{len(mutants)} {mark} {file}:{mutant.line}: {change}", flush=True)
                if survived:
                    survivors.append(mutant)
    return survivors


def main() -> None:
    parser = argparse.ArgumentParser(prog="./dev mutate", description=__doc__)
    parser.add_argument("file")
    parser.add_argument("tests", nargs="*")
    parser.add_argument("--most", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    mutants = find_mutants((ROOT / args.file).read_bytes())
    if len(mutants) > args.most:
        mutants = sorted(random.Random(args.seed).sample(mutants, args.most), key=lambda mutant: mutant.start)
    survivors = find_survivors(args.file, mutants, args.tests or tests_of(args.file))
    print(f"{len(mutants) - len(survivors)} of {len(mutants)} were noticed")
    sys.exit(1 if survivors else 0)


if __name__ == "__main__":
    main()

"""`python -m bench [NAME] [OPTIONS]`: run one benchmark of this folder, by default `ingest`."""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path

FOLDER = Path(__file__).parent


def benchmarks() -> dict[str, str]:
    """Return the name and the first docstring line of every benchmark, without importing the benchmarks."""
    summaries: dict[str, str] = {}
    for path in sorted([*FOLDER.glob("[!_]*.py"), *FOLDER.glob("*/__init__.py")]):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body):
            name = path.parent.name if path.stem == "__init__" else path.stem
            summaries[name] = (ast.get_docstring(tree) or "").split("\n")[0]
    return summaries


def main(arguments: list[str]) -> int:
    summaries = benchmarks()
    name, *options = arguments or ["ingest"]
    if name not in summaries:
        print(f"no benchmark is called {name}; there are:", file=sys.stderr)
        for benchmark, about in summaries.items():
            print(f"  {benchmark:12} {about}", file=sys.stderr)
        return 2
    return int(importlib.import_module(f"bench.{name}").main(options))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

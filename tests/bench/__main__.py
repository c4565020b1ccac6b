"""`python -m tests.bench [NAME] [OPTIONS]`: run one benchmark of this folder, or list them."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import tests.bench


def benchmarks() -> dict[str, str]:
    """Name → first line of the docstring of every benchmark."""
    names = [
        module.name for module in pkgutil.iter_modules(tests.bench.__path__) if module.name != "__main__"
    ]
    modules = {name: importlib.import_module(f"tests.bench.{name}") for name in names}
    return {
        name: (module.__doc__ or "").split("\n")[0]
        for name, module in modules.items()
        if hasattr(module, "main")
    }


def main(arguments: list[str]) -> int:
    known = benchmarks()
    name, *options = arguments or ["ingest"]
    if name not in known:
        print(f"no benchmark is called {name}; there are:", file=sys.stderr)
        for one, about in known.items():
            print(f"  {one:12} {about}", file=sys.stderr)
        return 2
    return int(importlib.import_module(f"tests.bench.{name}").main(options))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Measures layout, names and docstrings of the source tree of any revision."""

from __future__ import annotations

import ast
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.house.words import begins_with_verb, is_one_word, is_riddle

PACKAGES = ("lenient", "ingest", "callgauge")
MODULES = ("app.py",)
# this folder has one module for each log format, so it may have many modules
LONG_FOLDERS = ("ingest/formats",)
# Matches docstrings such as "Logs in, their rows out.", "A text → its value.", "…; knows no pages."
FORMULA = re.compile(
    r"\bin, [^.]*\bout\b|\bGoes in:|^[^`.]*→|\bknows\s+(no|nothing|neither|only)\b", re.DOTALL | re.IGNORECASE
)
FILTER_CLAUSE = re.compile(r"\$models\b.*\n.*\$prompts\b|\$model\b.*\n.*\$prompt\b")
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class SourceModule:
    """One module: the path relative to the root, and the source text."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """Return the syntax tree. The module is parsed when the tree is first needed."""
        return ast.parse(self.text)

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0] or "."

    @property
    def name(self) -> str:
        return re.sub(r"/__init__$", "", self.path.removesuffix(".py")).replace("/", ".")

    @property
    def docstring(self) -> str:
        return ast.get_docstring(self.tree) or ""


def read_modules(root: Path) -> list[SourceModule]:
    """Return all modules of the packages below `root`. Tests are left out."""
    paths = [path for package in PACKAGES for path in sorted((root / package).rglob("*.py"))]
    paths += [root / name for name in MODULES]
    texts = {path: path.read_text(encoding="utf-8") for path in paths}
    return [SourceModule(path.relative_to(root).as_posix(), text) for path, text in texts.items()]


def imported_names(module: SourceModule) -> Iterator[str]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def mutual_imports(modules: list[SourceModule]) -> list[tuple[str, str]]:
    """Return the pairs of folders that import each other."""
    by_name = {module.name: module for module in modules}
    arrows = set()
    for module in modules:
        for name in imported_names(module):
            imported = by_name.get(name) or by_name.get(name.rpartition(".")[0])
            if imported is not None and imported.folder != module.folder:
                arrows.add((module.folder, imported.folder))
    return sorted((first, other) for first, other in arrows if first < other and (other, first) in arrows)


def functions(modules: list[SourceModule]) -> list[FunctionNode]:
    """Return every function, method and inner function. Special methods such as `__init__` are left out."""
    return [
        node
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, FunctionNode) and not node.name.startswith("__")
    ]


def class_names(modules: list[SourceModule]) -> Counter[str]:
    return Counter(
        node.name for module in modules for node in module.tree.body if isinstance(node, ast.ClassDef)
    )


def crowded_folders(modules: list[SourceModule], most: int = 15) -> dict[str, int]:
    """Return the number of modules of each folder with more than `most` modules, without `__init__.py`."""
    sizes = Counter(module.folder for module in modules if not module.path.endswith("__init__.py"))
    return {folder: n for folder, n in sizes.items() if n > most and folder not in LONG_FOLDERS}


def repeated_filter_clauses(root: Path) -> int:
    """Return how often the metrics' `.sql` files repeat the filter by model and prompt."""
    metrics = root / "callgauge" / "analysis" / "metrics"
    texts = [path.read_text(encoding="utf-8") for path in metrics.rglob("*.sql")]
    return sum(len(FILTER_CLAUSE.findall(text)) for text in texts)


def measure_house(root: Path) -> dict[str, str]:
    """Return the name of each measurement, and the value as a string."""
    modules = read_modules(root)
    names = [function.name for function in functions(modules)]
    lengths = sorted(module.text.count("\n") for module in modules)
    ninth_decile = lengths[len(lengths) * 9 // 10]
    classes = class_names(modules)
    files: dict[str, list[str]] = defaultdict(list)
    for module in modules:
        if not module.path.endswith(("__init__.py", "__main__.py")):
            files[module.path.rpartition("/")[2]].append(module.folder)
    described = [module.docstring for module in modules if module.docstring]
    by_formula = [text for text in described if FORMULA.search(text)]
    inner = [ast.get_docstring(node) or "" for node in functions(modules)]

    def percent(judge: object) -> str:
        assert callable(judge)
        return f"{100 * sum(map(judge, names)) / len(names):.1f} %"

    return {
        "modules": str(len(modules)),
        "lines of a module, median / p90": f"{statistics.median(lengths):.0f} / {ninth_decile}",
        "folders with more than 15 modules": ", ".join(
            f"{folder} ({n})" for folder, n in sorted(crowded_folders(modules).items())
        )
        or "none",
        "folders that import each other both ways": str(len(mutual_imports(modules))),
        "functions": str(len(names)),
        "function names of one word": percent(is_one_word),
        "function names that begin with a verb": percent(begins_with_verb),
        "function names that are one participle or particle": percent(is_riddle),
        "module docstrings by formula": f"{len(by_formula)} of {len(described)}",
        "function docstrings by formula": str(sum(bool(FORMULA.search(text)) for text in inner)),
        "class names used more than once": f"{sum(n > 1 for n in classes.values())} of {len(classes)}",
        "file names used more than once": str(sum(len(folders) > 1 for folders in files.values())),
        "filter clauses written out in the metrics": str(repeated_filter_clauses(root)),
    }

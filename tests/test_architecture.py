"""Tests the rules of docs/internal/architecture.md, such as the allowed imports."""

from __future__ import annotations

import ast
import builtins
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.house.measurements import (
    FORMULA,
    SourceModule,
    class_names,
    crowded_folders,
    functions,
    imported_names,
    mutual_imports,
    read_modules,
)
from tests.house.words import begins_with_verb, is_riddle

ROOT = Path(__file__).parents[1]
PACKAGES = ("lenient", "ingest", "callgauge")
HOUSE = read_modules(ROOT)

SHOWS_ANSWERS = (
    "callgauge.analysis", "callgauge.memory", "callgauge.prices", "callgauge.serving", "callgauge.stats",
    "ingest.time_ranges", "ingest.version",
)  # fmt: skip
# Maps prefixes of module names to the packages of this project that the module may import. The longest
# matching prefix applies.
OURS = {
    "lenient": ("lenient",),
    "ingest": ("ingest", "lenient"),
    # Every change of a store computes alerts with the same statistics as the pages.
    "ingest.store.settling.alerts": ("callgauge.stats", "ingest"),
    "callgauge": ("callgauge", "ingest.store.shared"),
    "callgauge.checked_files": ("callgauge.checked_files",),
    "callgauge.configuration": ("callgauge.checked_files", "callgauge.configuration"),
    "callgauge.stats": ("callgauge.stats",),
    "callgauge.memory": ("callgauge.checked_files", "callgauge.memory", "ingest.safe_files"),
    "callgauge.prices": ("callgauge.checked_files", "callgauge.memory", "callgauge.prices"),
    "callgauge.serving": (
        "callgauge.configuration", "callgauge.memory", "callgauge.serving", "callgauge.traces",
        "ingest.decoding.zstd", "ingest.safe_files", "ingest.version",
    ),
    "callgauge.traces": ("callgauge.traces",),
    # This package contains all queries. Packages that show results must not query the store themselves.
    "callgauge.analysis": (
        "callgauge.analysis", "callgauge.memory", "callgauge.prices", "callgauge.stats", "ingest.errors",
        "ingest.pipeline.planning.model_aliases", "ingest.pipeline.planning.naming", "ingest.processes",
        "ingest.store", "ingest.time_ranges",
    ),
    "callgauge.api": (*SHOWS_ANSWERS, "callgauge.api", "ingest.sessions.stored_text", "lenient"),
    # These modules turn plain data into documents. Both the dashboard and the report use them.
    "callgauge.documents": (
        "callgauge.analysis.wording", "callgauge.documents", "callgauge.stats.gate_syntax",
    ),
    "callgauge.documents.leaderboard_files": (
        "callgauge.analysis", "callgauge.documents", "callgauge.stats",
    ),
    "callgauge.dashboard": (*SHOWS_ANSWERS, "callgauge.dashboard", "callgauge.documents"),
    # No other module of the dashboard sends requests to models.
    "callgauge.dashboard.components.shell.live_models": (
        "callgauge.dashboard", "callgauge.gateway", "lenient",
    ),
    "callgauge.monitoring": (*SHOWS_ANSWERS, "callgauge.monitoring"),
    "callgauge.report": (
        *SHOWS_ANSWERS, "callgauge.configuration", "callgauge.documents", "callgauge.gateway.retry_after",
        "callgauge.report", "ingest.processes", "ingest.safe_files",
    ),
    "callgauge.gateway": ("callgauge.gateway", "ingest.version", "lenient"),
    "callgauge.recorder": (
        "callgauge.gateway.endpoint", "callgauge.recorder", "callgauge.traces", "ingest.decoding.zstd",
    ),
    # The report of a trial run uses the same sentences as the page Trials and the gate of a store.
    "callgauge.trials": (
        "callgauge.analysis.verdicts.trials", "callgauge.analysis.wording", "callgauge.checked_files",
        "callgauge.documents.gate_text", "callgauge.gateway", "callgauge.prices", "callgauge.stats",
        "callgauge.trials", "ingest.safe_files", "lenient",
    ),
    "callgauge.nightly": (
        "callgauge.checked_files", "callgauge.configuration", "callgauge.memory", "callgauge.nightly",
        "callgauge.report", "ingest",
    ),
    "callgauge.deployment": (
        "callgauge.configuration", "callgauge.deployment", "ingest.sources.object_store",
    ),
    "callgauge.cli": ("callgauge", "ingest", "lenient"),
    # log formats of other packages may import these modules
    "callgauge.log_formats": ("ingest.events", "ingest.log_format"),
    "callgauge.recorded_calls": ("callgauge.analysis.wording", "ingest", "lenient"),
    "app": ("callgauge.dashboard.components.shell.live_models", "callgauge.dashboard.pages"),
}  # fmt: skip
# Maps each package to the modules (by prefix) that may import it. All other imports are forbidden.
THIRD_PARTY = {
    "orjson": ("lenient", "ingest", "callgauge.analysis", "callgauge.api", "callgauge.dashboard",
               "callgauge.gateway", "callgauge.recorder", "callgauge.traces", "callgauge.trials"),
    "anyio": ("callgauge.api",),
    "streamlit": (
        "callgauge.app", "callgauge.server", "callgauge.serving.processes.server_process",
        "callgauge.serving.streamlit_answers",
        "callgauge.dashboard.components", "callgauge.dashboard.filters",
        "callgauge.dashboard.url_keys", "callgauge.dashboard.pages",
        "callgauge.dashboard.shown_page", "callgauge.dashboard.store_queries",
        "callgauge.dashboard.viewer",
        "callgauge.serving.open_pages",
    ),
    "apprise": ("callgauge.report.delivery.channels",),
    "jinja2": ("callgauge.deployment.service_files",),
    "authlib": ("callgauge.serving.sign_in.oidc",),
    "joserfc": ("callgauge.serving.sign_in.oidc",),
    "itsdangerous": ("callgauge.serving.sign_in.sessions",),
    "argon2": ("callgauge.serving.sign_in.users_file",),
    "plotly": ("callgauge.dashboard.charts",),
    "duckdb": (
        "callgauge.analysis.metrics", "callgauge.analysis.sandbox", "ingest.store.connection",
        "ingest.store.migrations", "ingest.store.reader", "ingest.store.segments",
    ),
    "pyarrow": (
        "ingest", "callgauge.api.tables", "callgauge.analysis.export", "callgauge.analysis.sandbox",
    ),
    # lenient also runs without msgspec, but is slower
    "msgspec": ("callgauge", "ingest", "lenient.coerce.compiled_tool"),
    "httpx2": (
        "callgauge.gateway.endpoint", "callgauge.gateway.tools.mcp_servers", "callgauge.recorder.proxy",
        "callgauge.serving.sign_in.oidc", "callgauge.serving.sign_in.limited_answers",
    ),
    "mcp": ("callgauge.api.mcp_server", "callgauge.gateway.tools.mcp_servers"),
    "fsspec": ("ingest.sources", "ingest.store.shared"),
    "yaml": (
        "callgauge.analysis.comparisons.routing_files", "callgauge.deployment",
        "callgauge.trials.planning.foreign_tasks", "ingest.decoding",
    ),
    "starlette": (
        "callgauge.api", "callgauge.recorder", "callgauge.server", "callgauge.serving", "callgauge.traces",
    ),
    "google": ("callgauge.traces.otlp_requests",),
    "opentelemetry": ("callgauge.traces.otlp_requests",),
    "ray": ("ingest.pipeline.workers.ray_cluster",),
    "uvicorn": ("callgauge.cli.recording.record_command", "callgauge.serving.processes.server_process"),
    "backports": ("ingest.decoding.zstd",),
    "compression": ("ingest.decoding.zstd",),
    "prometheus_client": ("callgauge.monitoring",),
    "rich": ("callgauge.cli.render",),
    "typer": ("callgauge.cli",),
    "click": ("callgauge.serving.processes.server_process",),
    "pandas": (
        "callgauge.analysis", "callgauge.api", "callgauge.dashboard", "callgauge.monitoring",
        "callgauge.notebooks", "callgauge.report",
    ),
    "pytest": ("callgauge.pytest_plugin",),
    "numpy": ("callgauge.stats",),
}  # fmt: skip
# Only these parts of the dashboard may call the parser (lenient). The playground and the page of a call show
# its steps. Replays parse stored calls again. Forms and advice use its checks of tool definitions. Regression
# cases contain its diagnostics, and test sets contain tool definitions.
ASKS_LENIENT = (
    "callgauge.analysis.advice",
    "callgauge.dashboard.components.definition_editor",
    "callgauge.dashboard.pages.calls",
    "callgauge.dashboard.pages.playground",
    "callgauge.analysis.regression_cases",
    "callgauge.analysis.reparsed_call",
    "callgauge.analysis.replay",
    "callgauge.analysis.testsets",
)
# The folders of each package, lowest first. A folder may import only the folders before it in this list. The
# folders `ingest/formats/<name>/` have no order, and none may import another.
ORDER = {
    "lenient": (
        "regex", "diagnostics", "definitions/json_schema", "definitions", "scan/strings", "scan", "unwrap",
        "coerce", "lint", "arguments", "calls/reading", "calls/dialects", "calls", "",
    ),
    "ingest": (
        "", "decoding", "privacy", "sessions/results", "sessions",
        "sources/archives", "sources/databases", "sources",
        "store/migrations", "store/shared", "store", "store/settling", "backup",
        "formats/provider_messages", "formats/conversations", "formats/spans",
        "formats/span_conventions", "formats/traces", "formats/<producer>", "formats", "pipeline/planning",
        "pipeline/reading", "pipeline/workers", "pipeline", "maintenance",
    ),
    "callgauge": (
        "checked_files", "configuration", "stats", "stats/over_time", "traces", "memory", "memory/nights",
        "serving", "serving/processes", "serving/sign_in", "prices", "gateway/apis", "gateway/tools",
        "gateway", "recorder",
        "analysis/metrics", "analysis/queries", "analysis/sandbox", "analysis", "analysis/texts",
        "analysis/measures", "analysis/verdicts", "analysis/comparisons", "analysis/replay",
        "analysis/testsets", "documents",
        "trials/planning/foreign_tasks", "trials/planning", "trials/results", "trials/verdicts",
        "trials/running", "trials",
        "dashboard",
        "dashboard/components/controls", "dashboard/components/memory", "dashboard/components/shell",
        "dashboard/components/trend",
        "dashboard/components", "dashboard/components/definition_editor", "dashboard/components/money",
        "dashboard/components/sharing",
        "dashboard/pages/playground/replay", "dashboard/pages/<page>", "dashboard/pages",
        "api/questions", "api",
        "report/content", "report/formats", "report/delivery", "report", "monitoring", "deployment",
        "nightly", "cli/render", "cli/options", "cli/recording", "cli/answers", "cli/trials", "cli", "",
    ),
}  # fmt: skip
VAGUE = {"utils", "common", "helpers", "manager", "base", "misc"}
IMPORTED_BY_A_LOAD = (
    "ingest/",
    "callgauge/checked_files/",
    "callgauge/cli/",
    "callgauge/configuration/",
    "callgauge/memory/nights/source_states.py",
    "callgauge/nightly/source_loads.py",
    "callgauge/stats/",
)
MOST_RIDDLES = 0.02  # maximum share of unclear names among all function names
LEAST_VERBS = 0.30


def within(module: str, prefixes: tuple[str, ...] | set[str]) -> bool:
    return any(module == prefix or module.startswith(prefix + ".") for prefix in prefixes)


def longest_prefix(module: str, prefixes: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    return prefixes[max((prefix for prefix in prefixes if within(module, (prefix,))), key=len)]


def test_imports_point_one_way() -> None:
    wrong = []
    for module in HOUSE:
        for imported in imported_names(module):
            top = imported.split(".")[0]
            if top == "lenient" and within(module.name, ASKS_LENIENT):
                continue
            if top in PACKAGES:
                allowed = longest_prefix(module.name, OURS)
            elif top not in sys.stdlib_module_names:
                allowed = THIRD_PARTY.get(top, ())
            else:
                continue
            if not within(imported if top in PACKAGES else module.name, allowed):
                wrong.append(f"{module.path} must not import {imported}")
    assert wrong == []


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_has_no_import_cycle(package: str) -> None:
    by_name = {module.name: module for module in HOUSE if module.name.split(".")[0] == package}
    graph = {
        name: {
            module_name
            for imported in imported_names(module)
            for module_name in (imported, imported.rpartition(".")[0])
            if module_name in by_name
        }
        - {name}
        for name, module in by_name.items()
    }
    order: list[str] = []

    def visit(module: str, above: tuple[str, ...]) -> None:
        assert module not in above, f"import cycle: {' -> '.join((*above, module))}"
        if module not in order:
            for imported in sorted(graph[module] - {package}):
                visit(imported, (*above, module))
            order.append(module)

    for module in sorted(graph):
        visit(module, ())


def place_in_order(module: SourceModule) -> tuple[str, int, str]:
    """Return the package of a module, the position of the module's folder in ORDER, and the folder."""
    package, _, folder = module.folder.partition("/")
    order = ORDER[package]
    if folder not in order:
        above = folder.rpartition("/")[0]
        folder = next(name for name in order if re.fullmatch(rf"{re.escape(above)}/<\w+>", name))
    return package, order.index(folder), module.folder


def test_the_folders_of_a_package_have_one_order() -> None:
    by_name = {module.name: module for module in HOUSE if module.name.split(".")[0] in PACKAGES}
    for module in by_name.values():
        package, place, folder = place_in_order(module)
        for imported in imported_names(module):
            other = by_name.get(imported) or by_name.get(imported.rpartition(".")[0])
            if other is None or other.folder == folder:
                continue
            its_package, its_place, its_folder = place_in_order(other)
            assert its_package != package or its_place < place, (
                f"{module.path} must not import {imported}: {its_folder} stands above {folder}"
            )


def test_no_two_folders_import_each_other() -> None:
    assert mutual_imports(HOUSE) == []


def test_no_folder_is_crowded() -> None:
    assert crowded_folders(HOUSE) == {}


def test_formats_know_only_records_and_events() -> None:
    allowed = (
        "ingest.decoding", "ingest.events", "ingest.formats", "ingest.log_format", "ingest.record_mapping",
        "ingest.sessions.open_sessions", "ingest.sessions.stored_text", "ingest.third_party_formats",
        "lenient.calls", "lenient.regex",
        "lenient.definitions.tools", "lenient.definitions.declarations",
    )  # fmt: skip
    for module in HOUSE:
        if module.path.startswith("ingest/formats/"):
            for imported in imported_names(module):
                ours = imported.split(".")[0] in PACKAGES
                assert not ours or within(imported, allowed), f"{module.path} imports {imported}"


def test_no_module_has_a_vague_name() -> None:
    assert not [module.path for module in HOUSE if module.name.rpartition(".")[2] in VAGUE]


def test_every_module_opens_with_a_plain_sentence() -> None:
    for module in HOUSE:
        assert not module.tree.body or module.docstring, f"{module.path} has no module docstring"
        assert not FORMULA.search(module.docstring), f"{module.path} is described by a formula"


def test_names_of_functions_say_what_they_do_or_return() -> None:
    names = [function.name for function in functions(HOUSE)]
    riddles = sorted(name for name in names if is_riddle(name))
    assert len(riddles) <= MOST_RIDDLES * len(names), riddles
    assert sum(map(begins_with_verb, names)) >= LEAST_VERBS * len(names)


def test_an_error_that_a_docstring_names_exists() -> None:
    error_names = {
        node.name for module in HOUSE for node in ast.walk(module.tree) if isinstance(node, ast.ClassDef)
    }
    for module in HOUSE:
        for name in re.findall(r"\bRaises ([A-Z]\w+)", module.text):
            assert name in error_names or hasattr(builtins, name), f"{module.path}: nothing raises {name}"


def test_records_that_a_load_imports_are_structs() -> None:
    """Python defines a struct forty times as fast as a dataclass, and a load imports 150 records."""
    loading = [module for module in HOUSE if module.path.startswith(IMPORTED_BY_A_LOAD)]
    assert [module.path for module in loading if "@dataclass" in module.text] == []


def test_no_two_classes_have_one_name() -> None:
    assert [name for name, times in class_names(HOUSE).items() if times > 1] == []


def test_no_function_is_longer_than_sixty_lines_besides_its_docstring() -> None:
    for module in HOUSE:
        for function in functions([module]):
            length = (function.end_lineno or function.lineno) - function.lineno + 1
            if ast.get_docstring(function) is not None:
                length -= (function.body[0].end_lineno or 0) - function.body[0].lineno + 1
            assert length <= 60, f"{module.path}: {function.name} has {length} lines"


def test_the_browsers_entry_stays_short() -> None:
    for path in (ROOT / "app.py", ROOT / "callgauge" / "app.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 30


def read_pins(name: str) -> set[str]:
    """Return the lines of a lock file that pin a version. Each line has its platform marker."""
    lock = (ROOT / name).read_text(encoding="utf-8")
    assert "://" not in lock
    pins = re.findall(r"^(\S+==.*?) \\\n\s+--hash=", lock, re.MULTILINE)
    assert len(pins) == len(re.findall(r"^[\w.-]+==", lock, re.MULTILINE)), f"{name}: a pin has no hash"
    return set(pins)


def lacking(pins: set[str], requirements: list[str]) -> list[str]:
    pinned = {pin.split("==")[0] for pin in pins}
    return [each for each in requirements if normal_name(each) not in pinned]


def normal_name(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[<>=~!\[; ]", requirement)[0]).lower()


def test_the_locks_name_no_registry_and_cover_every_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    used, tests = project["project"]["dependencies"], project["dependency-groups"]["dev"]
    assert lacking(read_pins("requirements.lock"), used) == []
    assert lacking(read_pins("requirements-dev.lock"), used + tests) == []
    folder = ROOT / "tests" / "real_software"
    lines = (folder / "requirements.in").read_text(encoding="utf-8").splitlines()
    programs = [line for line in lines if not line.startswith("#")]
    assert lacking(read_pins("tests/real_software/requirements.lock"), programs) == []
    assert '"resolved"' not in (folder / "package-lock.json").read_text(encoding="utf-8")


def test_the_lock_of_a_user_is_a_part_of_that_of_the_tests() -> None:
    def unmarked(pins: set[str]) -> set[str]:
        return {pin.split(" ;")[0] for pin in pins}

    used, tests = read_pins("requirements.lock"), read_pins("requirements-dev.lock")
    assert unmarked(used) <= unmarked(tests)
    for tool in ("pytest", "playwright", "mypy", "ruff", "moto"):
        assert not any(pin.startswith(f"{tool}==") for pin in used), f"a user needs no {tool}"


def test_nothing_reads_the_folder_beside_the_project() -> None:
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in tracked.decode().split("\0"):
        path = ROOT / name
        if (
            path.suffix in {".py", ".sql", ".toml", ".md"}
            and path.is_file()
            and path.name != "test_architecture.py"
        ):
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"\.\./shared|(?<!\w)/work\b", text), (
                f"{name} names a place outside the project"
            )

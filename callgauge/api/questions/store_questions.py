"""Questions about the store itself: its contents, its age, its diagnostic codes and metrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from callgauge.analysis import wording
from callgauge.analysis.metrics import metrics
from callgauge.analysis.sandbox import query_runs
from callgauge.api.questions.answers import Answer, Row, first_row, list_rows
from callgauge.api.questions.parameters import Parameter
from callgauge.api.questions.parsed_calls import code_data
from callgauge.api.questions.problems import ProblemError, refuse_memory, refuse_name
from callgauge.api.questions.slice_filters import RARE
from callgauge.api.questions.store_access import StoreAccess
from callgauge.memory.memory_file import MemoryProblemError
from callgauge.memory.nights.night_steps import NightRecords
from callgauge.serving.settings import texts_are_shown
from lenient import CODES, DEFINITION_CODES

CHOICES = (
    "model", "prompt", "tool", "mcp_server", "source", "provider", "strategy", "harness_version",
    *RARE, "run", "arm",
)  # fmt: skip
CHOICES_ASKED = (
    Parameter("dimension", "text", "Only of this dimension; all without.", CHOICES),
    Parameter("search", "text", "Only names that contain this, in any case.", longest=200),
    Parameter("run", "texts", "Counted in these runs of trials; without, in all but trials."),
    Parameter("limit", "integer", "Maximum number of rows.", default=200, low=1, high=10_000),
)
LOADS_ASKED = (
    Parameter("nights", "integer", "The number of nightly runs to return.", default=14, low=1, high=400),
)
CODES_ASKED = (
    Parameter("of", "text", "Codes of the parser, or of the linter for definitions.", ("parser", "lint")),
)
CODE_ASKED = (
    Parameter("code", "text", "A code, such as missing_required.", is_required=True, is_in_path=True),
)
METRICS_ASKED: tuple[Parameter, ...] = ()
SQL_ASKED = (
    Parameter("query", "text", "One SELECT over the tables of the store.", is_required=True, longest=100_000),
)


def ask_choices(store: StoreAccess, parameters: Mapping[str, Any]) -> Answer:
    """Return the models, prompts, tools and other values in the store, the most used first."""
    rows = list_rows(store.reader.ask("choices", runs=parameters["run"]))
    if parameters["dimension"]:
        rows = [row for row in rows if row["dimension"] == parameters["dimension"]]
    if wanted := (parameters["search"] or "").lower():
        rows = [row for row in rows if wanted in f"{row['value']}\n{row['label']}".lower()]
    limit = parameters["limit"]
    noun = wording.dimension(parameters["dimension"] or "name")
    summary = f"{wording.plural(len(rows), noun)} in the store."
    return Answer(
        {"found": len(rows), "truncated": len(rows) > limit}, rows[:limit], summary, has_log_text=True
    )


def ask_loads(store: StoreAccess, parameters: Mapping[str, Any]) -> Answer:
    """Return the age of the store's data: the last load, earlier loads, nightly runs, and silent sources."""
    ask = store.reader.ask
    last, silent = first_row(ask("last_load")), list_rows(ask("silent_sources"))
    try:
        steps = NightRecords(store.folder).list_steps(parameters["nights"])
    except MemoryProblemError as problem:
        raise refuse_memory(problem) from None
    facts = {
        "last_load": last,
        "nights": [
            {
                "night": step.night,
                "step": step.step,
                "began": step.began,
                "ended": step.ended,
                "outcome": step.outcome,
            }
            for step in steps
        ],
        "silent_sources": silent,
    }
    at = wording.utc(last["loaded_at"]) if last else "never"
    quiet = f" {wording.plural(len(silent), 'source')} silent." if silent else ""
    return Answer(facts, list_rows(ask("loads")), f"Last loaded {at}.{quiet}", has_log_text=True)


def ask_codes(_: StoreAccess, parameters: Mapping[str, Any]) -> Answer:
    """Return every diagnostic code of the parser and the linter."""
    rows: list[Row] = []
    if parameters["of"] != "lint":
        rows += [
            {
                "of": "parser",
                "name": code.name,
                "stage": code.stage.value,
                "severity": code.severity.value,
                "lossy": code.lossy,
                "summary": code.summary,
            }
            for code in CODES.values()
        ]
    if parameters["of"] != "parser":
        rows += [
            {
                "of": "lint",
                "name": code.name,
                "stage": None,
                "severity": code.severity.value,
                "lossy": None,
                "summary": code.summary,
            }
            for code in DEFINITION_CODES.values()
        ]
    return Answer({}, rows, f"{len(rows)} codes.")


def ask_code(_: StoreAccess, parameters: Mapping[str, Any]) -> Answer:
    """Return the meaning and the reason of a diagnostic code, and the parser's result for an example."""
    name = parameters["code"].split(":")[0]
    if name in DEFINITION_CODES:
        of_lint = DEFINITION_CODES[name]
        return Answer({"of": "lint", **asdict(of_lint)}, text=f"{name}: {of_lint.summary} {of_lint.advice}")
    if name not in CODES:
        raise refuse_name("code", name, [*CODES, *DEFINITION_CODES], status=404)
    code = CODES[name]
    return Answer({"of": "parser", **code_data(code)}, text=f"{name}: {code.summary} {code.why}")


def ask_metrics(_: StoreAccess, parameters: Mapping[str, Any]) -> Answer:
    """Return all metrics by name."""
    del parameters
    rows = [
        {
            "name": metric.name,
            "title": metric.title,
            "question": metric.question,
            "unit": metric.unit,
            "notes": list(metric.notes),
            "columns": dict(metric.columns),
            "parameters": sorted(metric.parameters),
        }
        for metric in metrics().values()
    ]
    return Answer({}, rows, f"{len(rows)} metrics.")


def ask_sql(store: StoreAccess, parameters: Mapping[str, Any]) -> Answer:
    """Return the rows of an SQL query, which is executed in a separate process with its own limits."""
    try:
        result = query_runs.run(store.reader.path, parameters["query"], texts=texts_are_shown())
    except query_runs.SandboxBusyError as busy:
        raise ProblemError(503, str(busy)) from None
    except query_runs.SqlError as refused:
        raise ProblemError(400, str(refused)) from None
    names = result.column_names
    rows = [dict(zip(names, row, strict=True)) for row in result.read_rows(0, result.kept_rows)]
    facts = {"found": result.rows, "found_is_complete": result.counted, "truncated": result.rows > len(rows)}
    return Answer(facts, rows, f"{wording.plural(result.rows, 'row')}.", has_log_text=True)

"""Returns the rows of any metric by name, so that programs get every number on the pages.

The rows are read in batches and written to a temporary file, so a large answer needs little memory.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from callgauge.analysis.metrics import Metric, metrics
from callgauge.analysis.metrics.session_filters import SESSION_FILTERS
from callgauge.api.questions.parameters import Given, Kind, Parameter, read_parameters
from callgauge.api.questions.problems import refuse_name

ADMIN_METRICS = frozenset(
    {"calls", "rejects", "replayed_calls", "sessions", "testset_calls", "testset_steps", "turn_answers"}
)
"""Metrics that return the content of many calls. Only admins may export raw content."""
_DAYS = re.compile(r"(?:\w+_)?day|since|until|newest")
_INTEGERS = re.compile(
    r"(?:\w+_)?(?:limit|offset|step|file|least_days|every|attempts_from|attempts_to)|(?:first|last)_turn"
)
_FLAGS = ("reversed", "undated", "stored")
_LISTS = (
    "models",
    "providers",
    "prompts",
    "tools",
    "mcp_servers",
    "sources",
    "runs",
    "arms",
    *SESSION_FILTERS,
)  # These names take several texts, even if the SQL only tests `IS NULL`.


@cache
def metric_parameters(name: str) -> tuple[Parameter, ...]:
    """Return the parameters of a metric by name. All are optional. A missing filter selects all values."""
    metric = metrics()[name]
    return tuple(
        Parameter(name, _find_kind(metric, name), f"${name} of the metric; all without it.", longest=100_000)
        for name in sorted(metric.parameters | _find_session_filters(metric))
    )


def _find_session_filters(metric: Metric) -> set[str]:
    """Return the filters that exist only for sessions, if the metric uses the pages' filters."""
    return set(SESSION_FILTERS) if "sources" in metric.parameters else set()


def _find_kind(metric: Metric, name: str) -> Kind:
    if name in _LISTS or re.search(
        rf"(?:list_contains\(|unnest\(|list_has_any\()\${name}\b|\${name}::VARCHAR\[\]", metric.sql
    ):
        return "texts"
    if _DAYS.fullmatch(name):
        return "day"
    if _INTEGERS.fullmatch(name) or (name == "turn" and "turn <= $turn" in metric.sql):
        return "integer"
    return "flag" if name in _FLAGS else "text"


def find_metric(name: str) -> Metric:
    """Return a metric by its name. Raises ProblemError."""
    if name not in metrics():
        raise refuse_name("metric", name, metrics(), status=404)
    return metrics()[name]


def read_metric_parameters(name: str, query: Given) -> dict[str, Any]:
    """Return the parameter values for the SQL of a metric. Raises ProblemError."""
    values = read_parameters(metric_parameters(name), query)
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

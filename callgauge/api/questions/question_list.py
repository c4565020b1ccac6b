"""All questions that programs can ask. The routes, the OpenAPI document and the agents' tools are generated
from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from callgauge.api.questions import (
    call_questions,
    model_questions,
    public_rate_questions,
    rate_questions,
    store_questions,
    testset_questions,
)
from callgauge.api.questions.answers import Answer
from callgauge.api.questions.parameters import Given, Parameter, read_parameters
from callgauge.api.questions.store_access import StoreAccess
from callgauge.serving.identity import Role


@dataclass(frozen=True, slots=True)
class Question:
    """One question. `path` is the question's URL path below /api/v1.

    `answer` is the function that answers the question from a store. `has_rows` means that the answer has
    rows, which can be sent as Arrow or Parquet. `role` is the role that the client's token needs.
    """

    name: str
    path: str
    summary: str
    parameters: tuple[Parameter, ...]
    answer: Callable[[StoreAccess, Mapping[str, Any]], Answer]
    has_rows: bool = True
    role: Role = "viewer"

    def read(self, query: Given) -> dict[str, Any]:
        """Return the values of the parameters. Raises ProblemError."""
        return read_parameters(self.parameters, query)


_ALL = (
    Question(
        "rates",
        "/rates",
        "Rates with their counts and 95 % intervals, in total or by one or two dimensions.",
        rate_questions.RATES_ASKED,
        rate_questions.ask_rates,
    ),
    Question(
        "ranking",
        "/ranking",
        "Models, prompts or tools, ranked by a mix-adjusted rate as on the page Models.",
        rate_questions.RANKING_ASKED,
        rate_questions.ask_ranking,
    ),
    Question(
        "comparison",
        "/comparison",
        "Whether slice B is better than slice A, with the numbers of the page Compare.",
        rate_questions.COMPARISON_ASKED,
        rate_questions.ask_comparison,
    ),
    Question(
        "public_rates",
        "/public-rates",
        "Tool-call errors by model and host as public lists count them, next to imported public rates.",
        public_rate_questions.PUBLIC_RATES_ASKED,
        public_rate_questions.ask_public_rates,
    ),
    Question(
        "model_choices",
        "/model-choices",
        "The cheapest model that is proven not worse, for each prompt or tool.",
        model_questions.CHOICES_ASKED,
        model_questions.ask_model_choices,
    ),
    Question(
        "calls",
        "/calls",
        "The calls that match the filters, the newest first, page by page.",
        call_questions.CALLS_ASKED,
        call_questions.ask_calls,
    ),
    Question(
        "call",
        "/calls/{call}",
        "One call with its raw arguments, outcome and diagnostics, and its neighbouring calls.",
        call_questions.CALL_ASKED,
        call_questions.ask_call,
        has_rows=False,
    ),
    Question(
        "testset",
        "/testsets/{shape}",
        "The calls that match the filters as a test set for another tool.",
        testset_questions.TESTSET_ASKED,
        testset_questions.ask_testset,
        has_rows=False,
        role="admin",
    ),
    Question(
        "sessions",
        "/sessions",
        "The sessions that match the filters, the newest first, page by page.",
        call_questions.SESSIONS_ASKED,
        call_questions.ask_sessions,
    ),
    Question(
        "session",
        "/sessions/{session}",
        "One session with its turns, messages and calls.",
        call_questions.SESSION_ASKED,
        call_questions.ask_session,
        has_rows=False,
    ),
    Question(
        "signatures",
        "/signatures",
        "Error signatures (messages without their variable parts), new signatures first.",
        call_questions.SIGNATURES_ASKED,
        call_questions.ask_signatures,
    ),
    Question(
        "choices",
        "/choices",
        "The names of models, prompts, tools or sources in the store, the most used first.",
        store_questions.CHOICES_ASKED,
        store_questions.ask_choices,
    ),
    Question(
        "loads",
        "/loads",
        "The last load, earlier loads, nightly runs, and sources that stopped sending.",
        store_questions.LOADS_ASKED,
        store_questions.ask_loads,
    ),
    Question(
        "codes",
        "/codes",
        "All diagnostic codes of the parser and of the linter for tool definitions.",
        store_questions.CODES_ASKED,
        store_questions.ask_codes,
    ),
    Question(
        "code",
        "/codes/{code}",
        "The meaning of a diagnostic code, the reason for it, and an example.",
        store_questions.CODE_ASKED,
        store_questions.ask_code,
        has_rows=False,
    ),
    Question(
        "metrics",
        "/metrics",
        "The names of all metrics, with the question that each metric answers.",
        store_questions.METRICS_ASKED,
        store_questions.ask_metrics,
    ),
    Question(
        "sql",
        "/sql",
        "The result of your own SQL query on the tables of the store, within limits.",
        store_questions.SQL_ASKED,
        store_questions.ask_sql,
        role="admin",
    ),
)
QUESTIONS = {question.name: question for question in _ALL}
"""All questions by name, in the order of the reference."""

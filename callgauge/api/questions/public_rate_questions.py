"""The question about tool-call errors by model and host, next to imported public rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from callgauge.analysis import wording
from callgauge.analysis.comparisons.public_rates import compare_with_public
from callgauge.analysis.measures.comparisons import SMALLEST
from callgauge.analysis.measures.rates import PUBLIC_ERROR
from callgauge.api.questions.answers import Answer, describe_days
from callgauge.api.questions.parameters import Parameter
from callgauge.api.questions.problems import refuse_memory
from callgauge.api.questions.slice_filters import FILTERS, choose_filters
from callgauge.api.questions.store_access import StoreAccess
from callgauge.memory.memory_file import MemoryProblemError
from callgauge.memory.team_memory import TeamMemory

PUBLIC_RATES_ASKED = (
    Parameter(
        "smallest",
        "number",
        "The smallest difference of interest between two hosts, a share: 0.02 is two points.",
        default=SMALLEST,
        low=0.0,
        high=0.5,
    ),
    *FILTERS,
)


def ask_public_rates(store: StoreAccess, parameters: Mapping[str, Any]) -> Answer:
    """Return the tool-call errors of each model and host, with the sentences of the page Models."""
    chosen = choose_filters(store.reader.ask, parameters)
    try:
        rates = TeamMemory(store.folder).read().public_rates
    except MemoryProblemError as problem:
        raise refuse_memory(problem) from None
    table = compare_with_public(store.reader.ask, rates, chosen.parameters)
    sentences = table.write_sentences(
        lambda model: wording.one_line(chosen.label("model", model), 60), parameters["smallest"]
    )
    facts = {
        "sentence": " ".join(sentences),
        "meaning": PUBLIC_ERROR.meaning,
        "days": describe_days(table.checked) if table.checked else chosen.describe_days(),
        "imported": table.imported,
        "unmatched": [asdict(each) for each in table.unmatched],
    }
    return Answer(facts, [row.to_dict() for row in table.rows], " ".join(sentences), has_log_text=True)

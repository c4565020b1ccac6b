"""The question for a test set: selected tool calls as a file for an evaluation or training tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from callgauge.analysis import wording
from callgauge.analysis.day_paging import CALLS, read_page
from callgauge.analysis.metrics import read_rows
from callgauge.analysis.testsets import MOST, MOST_BYTES, REASONS, CaseFile, make_case_file
from callgauge.analysis.testsets.shapes import SHAPES, TestsetShape
from callgauge.api.questions.answers import Answer
from callgauge.api.questions.call_questions import CALL_CHOICES
from callgauge.api.questions.parameters import Parameter
from callgauge.api.questions.problems import ProblemError
from callgauge.api.questions.slice_filters import FILTERS, choose_filters
from callgauge.api.questions.store_access import StoreAccess
from callgauge.serving.settings import texts_are_shown

TESTSET_ASKED = (
    Parameter("shape", "text", "The format of the file.", tuple(SHAPES), is_required=True, is_in_path=True),
    *FILTERS,
    *CALL_CHOICES,
    Parameter("limit", "integer", "At most this many calls, the newest.", default=MOST, low=1, high=MOST),
)


@dataclass(frozen=True, slots=True)
class Testset:
    """A test set. `found` counts the matching tool calls. `calls` counts the newest matching tool calls that
    were read.

    `is_complete` is False when not all matching tool calls were counted.
    """

    shape: TestsetShape
    file: CaseFile
    found: int
    calls: int
    is_complete: bool

    def describe(self) -> list[str]:
        """Return sentences about the tests in the file, and the reasons why tool calls were left out."""
        matching = f"{'' if self.is_complete else 'at least '}{wording.plural(self.found, 'call')}"
        newest = f"the newest {self.calls:,} of " if self.calls < self.found else ""
        sentences = [f"{wording.plural(self.file.lines, 'test')} from {newest}{matching}"]
        sentences += [
            f"left out: {calls:,}: {REASONS[reason]}" for reason, calls in self.file.left_out.most_common()
        ]
        if self.file.full:
            sentences.append(f"the file ends at {wording.size(MOST_BYTES)}; choose fewer calls")
        return sentences


def make_testset(store: StoreAccess, parameters: Mapping[str, Any]) -> Testset:
    """Return a test set from the newest matching calls. Raises ProblemError and MetricError."""
    chosen = choose_filters(store.reader.ask, parameters)
    narrowed = {parameter.name: parameters[parameter.name] for parameter in CALL_CHOICES}
    # Counting has no own time limit, because the question has one.
    page = read_page(
        store.reader.ask, CALLS, {**chosen.parameters, **narrowed}, parameters["limit"], clock=lambda: 0.0
    )
    call_ids = page.rows.call_id.tolist()
    file = make_case_file(
        parameters["shape"], call_ids, lambda metric, asked: read_rows(store.connection, metric, asked)
    )
    return Testset(SHAPES[parameters["shape"]], file, page.found, len(call_ids), page.is_complete)


def ask_testset(store: StoreAccess, parameters: Mapping[str, Any]) -> Answer:
    """Return a test set as the content of its file. Raises ProblemError when content is hidden."""
    if not texts_are_shown():
        raise ProblemError(403, "This server hides content (--hide-content); a test set consists of content.")
    made = make_testset(store, parameters)
    facts: dict[str, Any] = {
        "file": made.shape.name,
        "content": made.file.data.decode(),
        "lines": made.file.lines,
        "calls": made.calls,
        "found": made.found,
        "found_is_complete": made.is_complete,
        "is_cut": made.file.full,
        "left_out": [
            {"reason": reason, "about": REASONS[reason], "calls": calls}
            for reason, calls in made.file.left_out.most_common()
        ],
    }
    if made.shape.companion:
        facts["companion"] = {
            "file": made.shape.companion,
            "content": made.shape.read_companion().decode(),
        }
    return Answer(facts, text=f"{'. '.join(made.describe())}.", has_log_text=True)

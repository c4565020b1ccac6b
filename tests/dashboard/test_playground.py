"""Tests that the playground's examples match their titles, and that its editors accept any input."""

from __future__ import annotations

import json

import pytest

from callgauge.dashboard.components.controls import editor
from callgauge.dashboard.components.definition_editor import editor as definition_editor
from callgauge.dashboard.pages.playground.playground_examples import EXAMPLES, REPLIES
from lenient import ToolCatalog, extract_tool_calls, parse_arguments
from tests.dashboard.conftest import opened, page_text


@pytest.mark.parametrize(
    ("title", "outcome"),
    [
        ("Clean", "clean"),
        ("Values of another type", "coerced"),
        ("In a code fence, with words around it", "repaired"),
        ("Single quotes, Python words, trailing comma", "repaired"),
        ("An object sent as a string", "coerced"),
        ("Encoded as a string, twice", "repaired"),
        ("Cut off in the middle of a string", "repaired"),
        ("Unescaped quotes inside a string", "repaired"),
        ("A value outside the enum", "failed"),
        ("A required parameter is missing", "failed"),
        ("Not a call at all", "failed"),
        ("A parameter that the definition forbids", "clean"),
        ("Hostile text, and a parameter that is not declared", "clean"),
    ],
)
def test_an_example_has_the_outcome_that_its_title_promises(title: str, outcome: str) -> None:
    example = next(example for example in EXAMPLES if example.title == title)
    (tool,) = ToolCatalog.load(json.loads(example.definition))
    assert parse_arguments(example.raw, tool).outcome == outcome


@pytest.mark.parametrize(
    ("title", "calls"),
    [
        ("Two calls between a dialect's tags", ["hermes coerced", "hermes repaired"]),
        ("A call that was written out instead of made", ["fenced_json clean"]),
        ("Two Python calls, the second cut off", ["pythonic clean", "pythonic repaired"]),
        ("An answer that only speaks of a call", []),
    ],
)
def test_the_example_of_a_reply_holds_the_calls_that_its_title_promises(title: str, calls: list[str]) -> None:
    example = next(example for example in REPLIES if example.title == title)
    extracted = extract_tool_calls(example.raw, ToolCatalog.load(json.loads(example.definition)))
    assert [f"{call.dialect} {call.request.outcome}" for call in extracted] == calls


def test_titles_are_unique_since_the_address_holds_them() -> None:
    titles = [example.title for example in (*EXAMPLES, *REPLIES)]
    assert len(set(titles)) == len(titles) == 17


def test_a_text_over_the_limit_is_not_parsed_and_has_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(editor, "editor", lambda *_args, **_sizes: "x" * 1_000_001)
    words = page_text(opened("callgauge/dashboard/pages/playground/page.py"))
    assert "more than 1,000,000 characters, the limit of the playground" in words
    assert "Verdict" not in words


def test_a_definition_that_cannot_be_read_is_one_box_and_the_verdict_goes_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (editor, definition_editor):
        monkeypatch.setattr(module, "editor", lambda *_args, **_sizes: "{**not json**")
    app = opened("callgauge/dashboard/pages/playground/page.py")
    assert len(app.error) == 1
    assert "Checked without a tool definition" in page_text(app)

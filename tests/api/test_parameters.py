"""Tests request parameters."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from callgauge.api.questions.parameters import Parameter, read_parameters, write_texts
from callgauge.api.questions.problems import ProblemError
from callgauge.api.questions.slice_filters import choose_days, find_values

DECLARED = (
    Parameter("model", "texts", "Models."),
    Parameter("rate", "text", "A rate.", ("parse_error", "retried"), default="parse_error"),
    Parameter("limit", "integer", "Rows.", default=10, low=1, high=50),
    Parameter("smallest", "number", "A share.", low=0, high=1),
    Parameter("reversed", "flag", "The other way."),
    Parameter("day", "day", "A day."),
    Parameter("call", "text", "An id.", is_required=True, longest=5),
)
TODAY = date(2026, 11, 26)  # a Thursday


def test_values_have_the_kind_that_is_declared() -> None:
    parameters = {
        "model": ["a", "b"],
        "limit": ["50"],
        "smallest": ["0.5"],
        "reversed": ["YES"],
        "day": ["2026-11-09"],
        "call": ["c1"],
    }
    assert read_parameters(DECLARED, parameters) == {
        "model": ("a", "b"),
        "rate": "parse_error",
        "limit": 50,
        "smallest": 0.5,
        "reversed": True,
        "day": date(2026, 11, 9),
        "call": "c1",
    }


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("modle", ["a"], "There is no parameter 'modle'. Did you mean model?"),
        ("rate", ["parse_eror"], "Did you mean parse_error?"),
        ("rate", ["parse_error", "retried"], "takes one value"),
        ("limit", ["51"], "from 1 to 50"),
        ("limit", ["1.5"], "limit='1.5' is not a whole number."),
        ("limit", ["9" * 5000], "characters"),
        ("smallest", ["nan"], "smallest='nan' is not a number."),
        ("smallest", ["inf"], "from 0 to 1"),
        ("reversed", ["perhaps"], "reversed='perhaps' is not a boolean; use true or false."),
        ("day", ["2026-02-30"], "day='2026-02-30' is not a date; use 2026-11-09."),
        ("call", ["123456"], "6 characters; 5 are read"),
        ("call", ["a\0"], "NUL"),
        ("call", ["\ud800"], "half of a character"),
        ("call", [], "call is needed"),
        ("model", ["a"] * 201, "at most 200"),
        ("x" * 500, ["1"], "There is no parameter"),
    ],
)
def test_a_mistake_is_told_with_what_to_do(name: str, values: list[str], words: str) -> None:
    with pytest.raises(ProblemError) as refused:
        read_parameters(DECLARED, {"call": ["c1"], name: values})
    assert refused.value.status == 400
    assert words in refused.value.detail
    assert len(refused.value.detail) < 400


def test_a_model_may_send_numbers_as_texts_and_one_value_for_a_list() -> None:
    parameters: dict[str, Any] = {"model": "a", "limit": "5", "reversed": True, "call": "c", "day": None}
    values = read_parameters(DECLARED, write_texts(parameters))
    assert (values["model"], values["limit"], values["reversed"], values["day"]) == (("a",), 5, True, None)
    with pytest.raises(ProblemError, match="model is a dict; use a string, a number or a list of them"):
        write_texts({"model": {"name": "a"}})


@pytest.mark.parametrize(
    ("texts", "days"),
    [
        ({}, (date(2026, 10, 24), date(2026, 11, 20))),
        ({"days": "7 days to today"}, (date(2026, 11, 20), TODAY)),
        ({"days": "all"}, (None, None)),
        ({"days": "2026-11"}, (date(2026, 11, 1), date(2026, 11, 30))),
        ({"since": "monday"}, (date(2026, 11, 23), TODAY)),
        ({"since": "Thursday"}, (TODAY, TODAY)),
        ({"since": "last friday"}, (date(2026, 11, 20), TODAY)),
        ({"since": "yesterday", "until": "today"}, (date(2026, 11, 25), TODAY)),
        ({"until": "2026-11-09"}, (None, date(2026, 11, 9))),
    ],
)
def test_days_are_read_as_people_say_them(
    texts: dict[str, str], days: tuple[date | None, date | None]
) -> None:
    assert choose_days(texts, date(2026, 11, 20), TODAY) == days


def test_days_that_are_none_are_refused() -> None:
    for texts, words in (
        ({"days": "soon"}, "is not a range of days"),
        ({"days": "7 days", "since": "monday"}, "not both"),
        ({"since": "2026-11-09", "until": "2026-11-01"}, "no day is between"),
        ({"since": "someday"}, "is not a day; use today, yesterday"),
    ):
        with pytest.raises(ProblemError, match=words):
            choose_days(texts, None, TODAY)


def test_a_filter_takes_values_and_labels_and_refuses_what_no_log_has() -> None:
    labels = {"prompt": {"p1": "fixer@12", "p2": "fixer@13", "p3": "fixer@13"}}
    assert find_values("prompt", ("p1", "fixer@13"), labels) == ("p1", "p2", "p3")
    assert find_values("prompt", None, labels) is None
    with pytest.raises(ProblemError, match=r"no prompt 'fixer@14'\. Did you mean fixer@1[23]"):
        find_values("prompt", ("fixer@14",), labels)
    with pytest.raises(ProblemError, match=r"no agent version 'x'\. Known are: none"):
        find_values("harness_version", ("x",), labels)

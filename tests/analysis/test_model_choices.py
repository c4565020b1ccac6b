"""Tests which model is suggested for a prompt or tool, and the reasons for keeping a model."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from callgauge.analysis.comparisons.model_choices import choose_models, judge_choice
from callgauge.analysis.comparisons.routing_files import write_litellm, write_openrouter
from callgauge.analysis.measures.alerts import Alert
from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.metrics.published_store import read_store
from callgauge.analysis.verdicts.model_choices import (
    ModelChoices,
    Obstacle,
    describe_blocked,
    describe_choice,
    describe_choices,
    describe_unlisted,
)
from callgauge.memory.records import ModelPrice
from callgauge.prices import PriceList
from callgauge.stats import Share
from tests.analysis.made_models import Made, join_rows, make_evidence, make_rows
from tests.analysis.store_fixture import HOSTILE, publish

OWL = Made(price=2.0)
ALL_DAYS: dict[str, Any] = {"from_day": None, "to_day": None}


def label(_: str, value: str) -> str:
    return value


def sentence(models: dict[str, Made], **fields: Any) -> str:
    """Return the sentence on these models. `owl` is the current model."""
    return describe_choice(judge_choice("prompt", "p", make_evidence(models, **fields), "owl"), label, 0.02)


def obstacle(models: dict[str, Made], **fields: Any) -> Obstacle | None:
    return judge_choice("prompt", "p", make_evidence(models, **fields), "owl").obstacle


def test_the_cheapest_model_that_is_not_worse_is_suggested() -> None:
    models = {"owl": OWL, "jay": Made(price=1.5), "wren": Made(price=1.0), "kite": Made(price=3.0)}
    choice = judge_choice("prompt", "p", make_evidence(models), "owl")
    assert choice.model == "wren"
    assert choice.suggestion is not None
    assert choice.suggestion.ratio is not None
    assert choice.suggestion.ratio.estimate == pytest.approx(0.5, rel=0.01)
    written = describe_choice(choice, label, 0.02)
    assert written.startswith(
        "Use wren instead of owl: wren is not worse by 2 points or more (parse errors 0 points,"
    )
    assert " and costs 50% less per successful turn (" in written
    assert "times" not in written


def test_a_better_model_is_called_better() -> None:
    models = {"owl": Made(errors=200, price=2.0), "jay": Made(price=1.5)}
    written = sentence(models)
    assert written.startswith("Use jay instead of owl: jay is better (parse errors −10.0 points, ")
    assert "is not worse by 2 points or more (turn success 0 points, " in written
    assert written.endswith(" The differences are mix-adjusted, with 95% intervals.")


def test_the_cell_names_the_rate_that_may_be_worse() -> None:
    for other, words in (
        (Made(succeeded=700), "worse in turn success"),
        (Made(errors=200), "worse in parse errors"),
        (Made(calls=100, turns=60, succeeded=60), "may be worse in turn success"),
    ):
        blocked = judge_choice("prompt", "p", make_evidence({"owl": OWL, "jay": other}), "owl").blocked
        assert blocked is not None
        assert describe_blocked(blocked) == words


def test_an_unproven_cost_and_a_correction_have_words() -> None:
    assert "jay is not proven cheaper: jay costs " in sentence({"owl": OWL, "jay": Made(price=1.9999)})
    four = {f"m{n}": Made() for n in range(4)}
    assert sentence({"owl": OWL, **four}).count("97.5% intervals: 95% corrected for 4 candidates.") == 1


def test_every_cheaper_model_is_named_with_its_reason() -> None:
    few = Made(calls=12, turns=6, succeeded=6, sessions=6, price=0.5)
    models = {"jay": Made(price=1.0), "wren": Made(errors=200), "kite": few, "rook": Made(price=1.5)}
    others = "wren (worse: parse errors +10.0 points, "
    assert f" Other models that were considered: {others}" in sentence({"owl": OWL, **models})
    assert "), kite (not enough data) and rook (proven, but not the cheapest)." in sentence(
        {"owl": OWL, **models}
    )
    kept = sentence({"owl": OWL, "wren": models["wren"], "kite": few, "finch": Made(price=9.0)})
    assert kept.startswith("Keep owl: wren is cheaper but worse")
    assert kept.endswith(" Other models that were considered: kite (not enough data).")
    gain = sentence({"owl": Made(price=2.5, succeeded=600), "jay": Made(errors=200)})
    assert gain.startswith("Keep owl: jay is cheaper but worse: parse errors +10.0 points")
    assert ". It is better in turn success +" in gain


@pytest.mark.parametrize(
    ("other", "why", "words"),
    [
        (Made(price=2.5), Obstacle.NOT_CHEAPER, "no other model with enough data is cheaper"),
        (Made(errors=200), Obstacle.WORSE, "jay is cheaper but worse: parse errors +10.0 points"),
        (Made(succeeded=700), Obstacle.WORSE, "jay is cheaper but worse: turn success −30.0 points"),
        (Made(errors=30), Obstacle.WORSE, "parse errors +1.5 points"),
        (
            Made(calls=100, turns=60, succeeded=60),
            Obstacle.UNPROVEN,
            "jay is cheaper but may be worse by 2 points",
        ),
        (Made(price=None), Obstacle.UNPRICED, "the cost of jay is unknown."),
        (Made(tool="write"), Obstacle.OTHER_WORK, "jay did different work"),
        (Made(defined=0.4), Obstacle.MEASURED_APART, "60% of the calls of jay have no tool definition"),
        (
            Made(calls=12, turns=6, succeeded=6, sessions=6),
            Obstacle.TOO_LITTLE,
            "needs 18 more measured calls in 4 more sessions and 24 more turns with a known end in 4 more",
        ),
        (Made(turns=0, succeeded=0), Obstacle.TOO_LITTLE, "30 more turns with a known end"),
    ],
)
def test_a_model_is_kept_with_the_reason(other: Made, why: Obstacle, words: str) -> None:
    models = {"owl": OWL, "jay": other}
    assert obstacle(models) is why
    assert sentence(models).startswith("Keep owl: ")
    assert words in sentence(models)


def test_a_model_with_too_little_data_is_never_suggested() -> None:
    free = Made(calls=28, turns=29, succeeded=29, price=0.001)
    assert judge_choice("prompt", "p", make_evidence({"owl": OWL, "jay": free}), "owl").model == "owl"


def test_the_current_model_needs_data_a_price_and_a_rival() -> None:
    jay = Made(price=0.1)
    assert "no other named model was used here" in sentence({"owl": OWL})
    thin = Made(calls=20, turns=10, succeeded=10, sessions=5)
    assert sentence({"owl": thin, "jay": jay}) == (
        "Keep owl: it has too little data. A verdict needs 10 more measured calls in 5 more sessions and 20 "
        "more turns with a known end in 5 more sessions."
    )
    assert "its cost per successful turn is unknown" in sentence({"owl": Made(price=None), "jay": jay})


def test_a_difference_that_is_proven_but_smaller_than_the_margin_is_not_worse() -> None:
    models = {"owl": Made(calls=200_000, price=2.0), "jay": Made(errors=1_000, calls=200_000)}
    choice = judge_choice("prompt", "p", make_evidence(models), "owl")
    assert choice.suggestion is not None
    assert choice.suggestion.checks[0].is_worse
    assert judge_choice("prompt", "p", make_evidence(models), "owl", smallest=0.004).suggestion is None


def test_equal_prices_save_only_what_is_proven_and_are_mentioned() -> None:
    price = PriceList([ModelPrice(name, date(2026, 1, 1), 1, 2) for name in ("owl", "jay")])
    prices = {name: price.match(name) for name in ("owl", "jay")}
    assert obstacle({"owl": Made(), "jay": Made(price=0.9999)}) is Obstacle.COST_UNPROVEN
    assert "Both models have the same list price" in sentence({"owl": OWL, "jay": Made()}, prices=prices)


def test_an_open_alert_keeps_the_current_model() -> None:
    day = date(2026, 11, 20)
    alert = Alert(
        "k", {"model": "jay"}, RATES["parse_error"], day, day, None, None, rose=True, now=Share(9, 90),
        interval=None, before=Share(1, 90), difference=None, q=0.01, days=(day, day), baseline=(day, day),
    )  # fmt: skip
    models = {"owl": OWL, "jay": Made()}
    assert obstacle(models, alerts={"jay": alert}) is Obstacle.ALERT
    assert "jay has an open alert. Open alert: parse errors of jay rose" in sentence(
        models, alerts={"jay": alert}
    )


def test_more_rivals_need_a_higher_confidence() -> None:
    few, many = (
        judge_choice(
            "prompt", "p", make_evidence({"owl": OWL, **{f"m{n}": Made() for n in range(size)}}), "owl"
        )
        for size in (2, 5)
    )
    assert [choice.candidates[0].level for choice in (few, many)] == [
        pytest.approx(0.95),
        pytest.approx(0.98),
    ]
    widths = [
        check.high - check.low
        for choice in (few, many)
        if (check := choice.candidates[0].checks[0].difference)
    ]
    assert widths[0] < widths[1]


# --- a store --------------------------------------------------------------------------------------


def prices(**amounts: float) -> PriceList:
    return PriceList([ModelPrice(name, date(2026, 1, 1), amount, amount) for name, amount in amounts.items()])


def ask_store(store: Path, list_: PriceList, by: str = "prompt", **chosen: Any) -> ModelChoices:
    with read_store(store, texts=True) as reader:
        return choose_models(reader.ask, list_, by, {**ALL_DAYS, **chosen})


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with two prompts. `jay` is as good as `owl` at p1, and was not used at p2."""
    store = tmp_path_factory.mktemp("models") / "store"
    publish(
        store,
        join_rows(
            make_rows("owl", 300, provider="openai"),
            make_rows("jay", 260, provider="Together"),
            make_rows("owl", 40, prompt_id=HOSTILE),
        ),
    )
    return store


@pytest.fixture(scope="module")
def choices(made: Path) -> ModelChoices:
    return ask_store(made, prices(owl=2, jay=0.5))


@pytest.mark.thorough
def test_a_planted_equal_model_is_found_and_its_saving(choices: ModelChoices) -> None:
    first, second = choices.rows
    assert (first.name, first.current.model, first.model) == ("p1", "owl", "jay")
    assert (first.spent, second.obstacle) == (600.0, Obstacle.ONLY_MODEL)
    assert choices.total is not None
    assert choices.total[0] == pytest.approx(450)
    assert describe_choices(choices) == (
        "For 1 of 2 prompts, a cheaper model is not worse; it would have saved $450 (95% interval 450 to "
        "450) in the last 30 days. The models are compared on the calls of 2026-11-20."
    )


@pytest.mark.thorough
def test_tools_have_no_sum_of_savings(made: Path) -> None:
    choices = ask_store(made, prices(owl=2, jay=0.5), by="tool")
    assert [row.name for row in choices.rows] == ["read_file"]
    assert choices.total is None
    assert describe_choices(choices).startswith(
        ("For the only tool", "Keep the current model for the only tool")
    )


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("filters", "words"),
    [
        ({"list_": prices()}, "No cost is known: load the prices of the models with callgauge prices"),
        ({"list_": prices(owl=2, jay=0.5), "models": ("owl",)}, "only one model was used"),
        ({"list_": prices(owl=2, jay=0.5), "prompts": ("none",)}, "No calls with a prompt match the filters"),
        (
            {"list_": PriceList([ModelPrice("x", date(2026, 1, 1), 1, 1, currency="EUR")])},
            "prices are in EUR",
        ),
    ],
)
def test_the_sentence_says_what_is_missing(made: Path, filters: dict[str, Any], words: str) -> None:
    assert words in describe_choices(ask_store(made, **filters))


@pytest.mark.thorough
def test_stores_without_prompts_success_or_calls_get_a_sentence(store: Path) -> None:
    unnamed = join_rows(make_rows("owl", 40, prompt_id=None), make_rows("jay", 40, prompt_id=None))
    publish(store, unnamed)
    assert describe_choices(ask_store(store, prices(owl=2, jay=1))).startswith(
        "The logs do not name the prompts"
    )
    rows = join_rows(make_rows("owl", 40), make_rows("jay", 40))
    rows["turns"] = [turn | {"recorded_ok": None} for turn in rows["turns"]]
    publish(store, rows, number=2)
    assert "Turn success was not measured" in describe_choices(ask_store(store, prices(owl=2, jay=1)))
    publish(store, {"turns": [], "tool_calls": []}, number=3)
    assert describe_choices(ask_store(store, prices())).startswith("No calls with a prompt match")


@pytest.mark.thorough
def test_the_newest_week_decides_which_model_is_current_and_old_prompts_are_left_out(store: Path) -> None:
    newest = date(2026, 11, 20)
    old = (newest - timedelta(20)).isoformat()
    older = (newest - timedelta(40)).isoformat()
    publish(
        store,
        join_rows(
            make_rows("owl", 60, day=old),
            make_rows("jay", 20),
            make_rows("kite", 20, prompt_id="p0", day=older),
        ),
    )
    choices = ask_store(store, prices(owl=2, jay=1, kite=1))
    assert [(row.name, row.current.model) for row in choices.rows] == [("p1", "jay")]
    assert describe_unlisted(choices) == "Not listed: 1 prompt without a call in the last 30 days."


# --- routing files --------------------------------------------------------------------------------


def route(models: dict[str, Made], name: str = "p", **hosts: list[str]) -> ModelChoices:
    """Return the choice for one prompt. The first model is the current model."""
    current = next(iter(models))
    rows = [judge_choice("prompt", name, make_evidence(models), current)]
    return ModelChoices("prompt", "USD", 0.02, rows, hosts=hosts)


def test_routing_files_have_the_chosen_models_and_their_hosts() -> None:
    switch = route({"owl": OWL, "jay": Made()}, owl=["openai"], jay=["Together", "east-1"])
    written = write_litellm(switch, label)
    (entry,) = yaml.safe_load(written)["model_list"]
    assert entry == {"model_name": "p", "litellm_params": {"model": "together_ai/jay"}}
    assert "  # Use jay instead of owl: " in written
    routes = json.loads(write_openrouter(switch, label))
    order = ["together", "east-1"]
    assert routes == {
        "_models_without_author": ["jay", "owl"],
        "p": {"model": "jay", "models": ["jay", "owl"], "provider": {"order": order}},
    }
    complete = json.loads(write_openrouter(route({"a/owl": OWL, "b/jay": Made()}), label))
    assert complete == {"p": {"model": "b/jay", "models": ["b/jay", "a/owl"]}}
    kept = route({"owl": OWL}, owl=["east-1"])
    written = write_litellm(kept, label)
    assert yaml.safe_load(written)["model_list"][0]["litellm_params"] == {"model": "owl"}
    assert "Add the prefix of the provider: the logs name east-1." in written
    assert json.loads(write_openrouter(kept, label))["p"] == {
        "model": "owl",
        "provider": {"order": ["east-1"]},
    }


def test_a_comment_at_the_top_explains_missing_prefixes_once() -> None:
    rows = [row for name in "pq" for row in route({"owl": OWL}, name).rows]
    written = write_litellm(ModelChoices("prompt", "USD", 0.02, rows), label)
    assert written.splitlines()[1].startswith("# LiteLLM skips a model without a provider's prefix.")
    assert written.count("for example openai/owl") == 1
    assert written.count("  # Add the prefix of the provider: the logs name no host.") == 2
    assert "LiteLLM skips" not in write_litellm(route({"owl": OWL}, owl=["openai"]), label)


@pytest.mark.parametrize(
    "name",
    [
        "a: b",
        "- x\n- y",
        "#",
        "\x00\x1b[31m",
        "💥\u202e",
        "yes",
        "{{x}}",
        "0123",
        "",
        "é" * 300,
        "a\u2028b",
        HOSTILE.replace("*", ""),
    ],
)
def test_any_name_survives_both_routing_files(name: str) -> None:
    hostile = route({name: OWL}, name, **{name: [name]})
    (entry,) = yaml.safe_load(write_litellm(hostile, label))["model_list"]
    assert (entry["model_name"], entry["litellm_params"]["model"]) == (name, name)
    assert json.loads(write_openrouter(hostile, label))[name]["model"] == name


@pytest.mark.parametrize(
    ("name", "model"), [("*", "owl"), ("p", "os.environ/OPENAI_API_KEY"), ("p", "openai/*")]
)
def test_a_name_with_a_special_meaning_in_litellm_is_left_out(name: str, model: str) -> None:
    written = write_litellm(route({model: OWL}, name), label)
    assert yaml.safe_load(written) == {"model_list": []}
    assert "# Left out: " in written


def test_an_empty_routing_file_is_still_a_configuration() -> None:
    nothing = ModelChoices("prompt", "USD", 0.02, ())
    assert yaml.safe_load(write_litellm(nothing, label)) == {"model_list": []}
    assert json.loads(write_openrouter(nothing, label)) == {}

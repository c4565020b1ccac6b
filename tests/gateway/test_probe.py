"""Tests the probe, which finds out properties of a model's server."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from callgauge.gateway import WIRES, Capabilities, Endpoint, JsonStability, Probe, probe_model
from callgauge.gateway.apis.messages import ChatRequest, Reply
from callgauge.gateway.probe import MOST_TOKENS, has_unusual_spaces
from tests.gateway.served.brain import Asked, Brain, Emitted
from tests.gateway.served.in_process import BrainEndpoint, ask_with

SEVEN = ("report_number", '{"number": 7}')
EIGHT = ("report_number", '{"number": 8}')


IN_TEXT = '<tool_call>{"name": "report_number", "arguments": {"number": 7}}</tool_call>'
NO_TOOLS = {"error": {"message": "m does not support tools"}}


def good_model(request: Asked) -> Emitted:
    if request.last.role == "tool":
        return Emitted("done")
    if request.has_tools:
        return Emitted(calls=[SEVEN, EIGHT] if "both calls" in request.user else [SEVEN])
    if "Report the number" in request.user:
        number = int(request.user.split()[-1].strip("."))
        return Emitted(f'```json\n{{"tool": "report_number", "input": {{"number": {number}}}}}\n```')
    return Emitted("two")


def probe(
    brain: Brain, wire: str = "openai-chat", declared: Capabilities | None = None, **options: Any
) -> tuple[Probe, BrainEndpoint]:
    endpoint = BrainEndpoint(brain, wire)
    return ask_with(endpoint, lambda opened: probe_model(opened, "m", declared, **options)), endpoint


@pytest.mark.parametrize("wire", WIRES)
def test_a_model_that_can_do_all_of_it(wire: str) -> None:
    probed, endpoint = probe(good_model, wire, json_questions=5)
    capabilities = probed.capabilities
    assert (probed.ok, probed.error) == (True, None)
    assert (capabilities.supports_tool_use, capabilities.supports_parallel_tools) == (True, True)
    assert capabilities.json_stability == JsonStability(5, 5)
    assert capabilities.allows_midturn_system is (wire in ("openai-chat", "openai-responses"))
    assert capabilities.known_by["allows_midturn_system"] == (
        "probed" if wire in ("openai-chat", "openai-responses") else "wire"
    )
    assert probed.requests == len(endpoint.asked)
    # The probe must not force a call: every model makes a forced call, so the probe would prove nothing.
    assert "required" not in json.dumps(endpoint.asked[0].body.get("tool_choice", "auto"))


@pytest.mark.parametrize(
    ("emitted", "error"),
    [
        (Emitted("The number is 7."), "the answer has no tool call"),
        (Emitted(IN_TEXT), "the call is in the text (hermes): the server's parser of calls is off"),
        (Emitted(status=400, body=NO_TOOLS), "models.test: HTTP 400: m does not support tools"),
    ],
)
def test_a_no_says_why(emitted: Emitted, error: str) -> None:
    probed, _ = probe(lambda request: emitted if request.has_tools else Emitted("x"))
    assert probed.ok is False
    assert probed.error is not None
    assert probed.error.startswith(error)
    assert probed.capabilities.supports_parallel_tools is None


def test_a_call_that_the_server_could_not_parse_is_a_native_call() -> None:
    error = {"error": "error parsing tool call: raw='{\"number\": ', err=unexpected end"}
    probed, _ = probe(lambda request: Emitted(status=500, body=error) if request.has_tools else Emitted("x"))
    assert probed.ok is True


def test_a_server_that_is_not_reached_says_nothing_about_the_model() -> None:
    probed, _ = probe(lambda _: Emitted(status=503, body={}))
    assert probed.ok is None
    assert probed.capabilities.supports_tool_use is None
    assert probed.to_log()["error"].startswith("models.test gave no reply")


def test_a_model_that_makes_one_call_at_a_time() -> None:
    probed, _ = probe(lambda request: Emitted(calls=[SEVEN]) if request.has_tools else Emitted("x"))
    assert probed.capabilities.supports_parallel_tools is False


def test_a_server_that_refuses_system_messages_within_a_conversation() -> None:
    def brain(request: Asked) -> Emitted:
        roles = [message.role for message in request.messages]
        if roles.count("system") > 1:
            return Emitted(status=400, body={"error": {"message": "system message must be first"}})
        return good_model(request)

    assert probe(brain)[0].capabilities.allows_midturn_system is False


def test_the_pattern_of_the_ids_is_read_from_the_calls_seen() -> None:
    def brain(request: Asked) -> Emitted:
        return Emitted(calls=[SEVEN], ids=["D681PevKs"]) if request.has_tools else Emitted("x")

    assert probe(brain)[0].capabilities.tool_id_pattern == "[A-Za-z0-9]{9}"


def test_json_that_is_not_alone_is_not_stable() -> None:
    answers = iter(range(100))

    def brain(request: Asked) -> Emitted:
        clean = good_model(request)
        if request.has_tools:
            return Emitted("no tools here")
        return Emitted("Sure!\n" + clean.text) if next(answers) % 2 else clean

    assert probe(brain, json_questions=4)[0].capabilities.json_stability == JsonStability(2, 4)


def test_what_is_declared_is_not_asked() -> None:
    declared = Capabilities(supports_tool_use=False, allows_midturn_system=True)
    probed, endpoint = probe(good_model, declared=declared)
    assert (probed.ok, len(endpoint.asked)) == (False, 0)
    assert probed.capabilities.known_by == {
        "supports_tool_use": "declared",
        "allows_midturn_system": "declared",
    }


# --- limits


@pytest.mark.parametrize("wire", WIRES)
def test_each_answer_has_a_limit_of_tokens(wire: str) -> None:
    _, endpoint = probe(good_model, wire, json_questions=1, is_full=True)
    assert all(str(MOST_TOKENS) in json.dumps(request.body) for request in endpoint.asked)


def test_a_model_that_takes_no_limit_is_asked_without() -> None:
    def brain(request: Asked) -> Emitted:
        if "max_tokens" in request.body:
            message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
            return Emitted(status=400, body={"error": {"message": message}})
        return good_model(request)

    probed, endpoint = probe(brain)
    assert probed.ok is True
    assert ["max_tokens" in request.body for request in endpoint.asked[:3]] == [True, False, False]


def test_an_answer_that_is_cut_before_a_call_is_unknown() -> None:
    probed, _ = probe(lambda _: Emitted("Let me think", stop="length"))
    assert (probed.ok, probed.error) == (None, "the answer was cut at 2,048 tokens before a call")


class SlowEndpoint(BrainEndpoint):
    """An endpoint that stops responding after some requests."""

    fast = 0

    async def ask(self, request: ChatRequest, on_text: Any = None) -> Reply:
        if len(self.asked) >= self.fast:
            await asyncio.sleep(60)
        return await super().ask(request, on_text)


@pytest.mark.parametrize(("fast", "ok"), [(0, None), (1, True)])
def test_a_probe_ends_at_its_time_limit_and_keeps_what_it_knows(fast: int, ok: bool | None) -> None:
    endpoint = SlowEndpoint(good_model)
    endpoint.fast = fast
    probed = ask_with(endpoint, lambda opened: probe_model(opened, "m", time_limit=0.1))
    reason = probed.error if ok is None else probed.notes["probe"]
    assert (probed.ok, reason) == (ok, "no answer within the 0.1 s of the probe")
    assert probed.capabilities.supports_parallel_tools is None


def test_each_question_is_shown() -> None:
    shown: list[str] = []
    probe(good_model, json_questions=1, watch=shown.append)
    assert shown == [
        "native calls",
        "parallel calls",
        "results taken",
        "text of calls",
        "system mid-turn",
        "JSON answers",
    ]


# --- streams that lack calls


def drop_calls_from_streams(request: Asked) -> Emitted:
    emitted = good_model(request)
    return Emitted("Done.") if request.has_tools and request.body.get("stream") else emitted


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "anthropic"])
def test_a_server_that_drops_calls_from_streams_is_asked_without_streaming(wire: str) -> None:
    probed, endpoint = probe(drop_calls_from_streams, wire)
    capabilities = probed.capabilities
    assert (probed.ok, probed.error) == (True, None)
    assert (
        capabilities.streams_calls,
        capabilities.supports_parallel_tools,
        capabilities.takes_tool_results,
    ) == (
        False,
        True,
        True,
    )
    assert [bool(request.body.get("stream")) for request in endpoint.asked[:3]] == [True, False, False]


def test_a_server_that_refuses_tools_in_streams_is_asked_without_streaming() -> None:
    refusal = {"message": "This model doesn't support tool use in streaming mode."}

    def brain(request: Asked) -> Emitted:
        streams = request.has_tools and request.body.get("stream")
        return Emitted(status=400, body=refusal) if streams else good_model(request)

    assert probe(brain)[0].capabilities.streams_calls is False


def test_a_model_without_tools_is_asked_once_without_streaming() -> None:
    probed, endpoint = probe(lambda _: Emitted("No."))
    assert (probed.ok, probed.capabilities.streams_calls) == (False, None)
    assert [bool(request.body.get("stream")) for request in endpoint.asked if request.has_tools] == [
        True,
        False,
    ]


def test_an_endpoint_without_streams_is_never_asked_for_one() -> None:
    endpoint = BrainEndpoint(drop_calls_from_streams, streams=False)
    probed = ask_with(endpoint, lambda opened: probe_model(opened, "m"))
    assert probed.ok is True
    assert not any(request.body.get("stream") for request in endpoint.asked)


# --- who wrote the text of arguments


def test_unusual_spaces_prove_that_a_server_passes_on_the_models_text() -> None:
    def brain(request: Asked) -> Emitted:
        question = request.messages[-1].text
        if "exactly like this" in question:
            return Emitted(calls=[("report_number", question[question.index("{") :])])
        return good_model(request)

    capabilities = probe(brain)[0].capabilities
    assert (capabilities.keeps_argument_text, capabilities.whose_text) == (True, "model")
    assert capabilities.known_by["keeps_argument_text"] == "probed"


def test_usual_spaces_prove_nothing() -> None:
    probed, _ = probe(good_model)
    assert (probed.capabilities.keeps_argument_text, probed.capabilities.whose_text) == (None, "unknown")


@pytest.mark.parametrize(
    ("raw", "is_unusual"),
    [
        ('{"a":1,"b":"x  y"}', False),
        ('{"a": 1, "b": [1, 2]}', False),
        ('{\n  "a": 1,\n  "b": 2\n}', False),
        ('{ "a" : 1 }', True),
        ('{"a":1, "b":2}', True),
        ('{ "a" : ', False),
        ("[1 ,2]", False),
        ("", False),
    ],
)
def test_spaces_that_no_library_writes_are_unusual(raw: str, is_unusual: bool) -> None:
    assert has_unusual_spaces(raw) is is_unusual


@pytest.mark.parametrize(
    ("wire", "url", "server", "whose"),
    [
        ("openai-chat", "https://api.openai.com/v1", None, "model"),
        ("openai-responses", "https://api.openai.com/v1", None, "model"),
        ("openai-chat", "http://127.0.0.1:8000/v1", None, "unknown"),
        ("openai-chat", "http://127.0.0.1:11434/v1", "ollama", "server"),
        ("anthropic", "https://api.anthropic.com/v1", None, "model"),
        ("anthropic", "http://127.0.0.1:4000/v1", None, "unknown"),
        ("gemini", "https://generativelanguage.googleapis.com/v1beta", None, "server"),
    ],
)
def test_only_the_providers_own_hosts_are_known_to_pass_on_the_models_text(
    wire: str, url: str, server: str | None, whose: str
) -> None:
    assert Endpoint(url, wire=wire, server=server).known.whose_text == whose


# --- results of calls, ids


def test_a_call_goes_back_with_its_result_and_a_text_shows_that_it_was_taken() -> None:
    probed, endpoint = probe(good_model)
    assert probed.capabilities.takes_tool_results is True
    [request] = [request for request in endpoint.asked if request.last.role == "tool"]
    [call] = [call for message in request.messages for call in message.calls]
    assert json.loads(call["function"]["arguments"]) == {"number": 7}
    assert call["id"] == request.body["messages"][-1]["tool_call_id"]


@pytest.mark.parametrize(
    ("emitted", "takes", "why"),
    [
        (Emitted(status=400, body={"error": {"message": "unknown role: tool"}}), False, "unknown role: tool"),
        (Emitted(status=503, body={}), None, "gave no reply"),
        (Emitted(status=401, body={}), None, "HTTP 401"),
        (Emitted(calls=[SEVEN]), None, "the tool was called again"),
    ],
)
def test_a_result_that_is_not_taken_is_told_from_a_server_out_of_reach(
    emitted: Emitted, takes: bool | None, why: str
) -> None:
    probed, _ = probe(lambda request: emitted if request.last.role == "tool" else good_model(request))
    assert probed.ok is True
    assert probed.capabilities.takes_tool_results is takes
    assert probed.capabilities.can_use_tools is (takes is not False)
    assert why in probed.notes["takes_tool_results"]


def test_what_the_model_sent_goes_back_as_an_object_whatever_it_was() -> None:
    def brain(request: Asked) -> Emitted:
        broken = Emitted(calls=[("report_number", '{"number": ')], ids=[""])
        return broken if request.has_tools and request.last.role == "user" else good_model(request)

    probed, endpoint = probe(brain)
    assert probed.capabilities.takes_tool_results is True
    [request] = [request for request in endpoint.asked if request.last.role == "tool"]
    [call] = [call for message in request.messages for call in message.calls]
    assert json.loads(call["function"]["arguments"]) == {"number": 7}
    assert call["id"]


def test_all_ids_that_were_seen_make_the_pattern() -> None:
    ids = iter([["D681PevKs"], ["a", "b"], ["c"]])

    def brain(request: Asked) -> Emitted:
        clean = good_model(request)
        return Emitted(clean.text, clean.calls, ids=next(ids)) if request.has_tools and clean.calls else clean

    assert probe(brain)[0].capabilities.tool_id_pattern is None


def test_a_model_that_takes_no_temperature_is_asked_without() -> None:
    def brain(request: Asked) -> Emitted:
        if "temperature" in request.body:
            return Emitted(status=400, body={"error": {"message": "Unsupported value: 'temperature'"}})
        return good_model(request)

    probed, endpoint = probe(brain)
    assert probed.ok is True
    assert ["temperature" in request.body for request in endpoint.asked] == [
        True,
        *[False] * probed.requests,
    ][: len(endpoint.asked)]


# --- what the server does beyond calls

MOOD = '{"mood": "glad", "weight": 7}'
DIGITS = {7: "4711" * 10, 8: "0815" * 10}


def full_model(request: Asked) -> Emitted:
    body = json.dumps(request.body)
    if "mood" in body:
        return Emitted(MOOD)
    if "digits" in request.user:
        seed = request.body.get("seed") or request.body.get("generationConfig", {}).get("seed")
        return Emitted(DIGITS[seed])
    return good_model(request)


@pytest.mark.parametrize("wire", WIRES)
def test_the_full_probe_asks_for_what_the_wire_has_and_pretends_nothing(wire: str) -> None:
    probed, endpoint = probe(full_model, wire, is_full=True)
    has_seed = wire in ("openai-chat", "gemini")
    assert probed.features.to_log() == {
        "strict_definitions": "not offered" if wire == "gemini" else "accepted",
        "json_schema": "obeyed",
        "seed": "equal" if has_seed else "not offered",
        "usage": "reported",
    }
    assert probed.to_log()["features"] == probed.features.to_log()
    bodies = [json.dumps(request.body) for request in endpoint.asked]
    assert sum('"strict": true' in body and "report_number" in body for body in bodies) == (wire != "gemini")
    assert sum('"seed": ' in body for body in bodies) == (3 if has_seed else 0)
    assert probed.requests == len(endpoint.asked)
    assert probed.tokens.read == 50 * probed.requests


def test_a_short_probe_asks_for_none_of_it() -> None:
    probed, endpoint = probe(full_model)
    assert probed.features.to_log() == {"usage": "reported"}
    assert not any("mood" in json.dumps(request.body) for request in endpoint.asked)


NO = Emitted(status=400, body={"error": {"message": "Unrecognized request argument supplied"}})
NOBODY = Emitted(status=404, body={"error": {"message": "No endpoints found that can handle it."}})
AWAY = Emitted(status=503, body={})


@pytest.mark.parametrize(
    ("emitted", "word"),
    [(Emitted("Fine, thanks."), "not obeyed"), (Emitted('{"mood": "bad", "weight": 1}'), "not obeyed"),
     (NO, "refused"), (NOBODY, "refused"), (AWAY, "unknown"), (Emitted(status=401, body={}), "unknown")],
)  # fmt: skip
def test_an_answer_by_a_schema_is_checked_and_not_only_accepted(emitted: Emitted, word: str) -> None:
    probed, _ = probe(
        lambda request: emitted if "mood" in json.dumps(request.body) else full_model(request), is_full=True
    )
    assert probed.features.json_schema == word


@pytest.mark.parametrize(
    ("answers", "word"),
    [(["1", "1", "2"], "equal"), (["1", "2", "3"], "different"), (["1", "1", "1"], "no effect seen")],
)
def test_a_seed_is_said_to_work_only_where_another_seed_gives_another_answer(
    answers: list[str], word: str
) -> None:
    texts = iter(answers)
    probed, _ = probe(
        lambda request: Emitted(next(texts)) if "digits" in request.user else full_model(request),
        is_full=True,
    )
    assert probed.features.seed == word


@pytest.mark.parametrize(("emitted", "word"), [(NO, "refused"), (AWAY, "unknown")])
def test_what_a_server_refuses_is_told_from_what_it_did_not_answer(emitted: Emitted, word: str) -> None:
    def brain(request: Asked) -> Emitted:
        return (
            emitted
            if "seed" in request.body or '"strict": true' in json.dumps(request.body)
            else full_model(request)
        )

    features = probe(brain, is_full=True)[0].features
    assert (features.strict_definitions, features.seed) == (word, word)


def test_a_server_that_is_not_reached_is_not_asked_for_more() -> None:
    probed, endpoint = probe(lambda _: AWAY, is_full=True)
    assert (probed.features.to_log(), probed.requests) == ({}, 1)
    assert len(endpoint.asked) == 3

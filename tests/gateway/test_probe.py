"""The probe: what each answer means, and that a server which is not reached leaves everything unknown."""

from __future__ import annotations

import json
from typing import Any

import pytest

from callgauge.gateway import WIRES, Capabilities, JsonStability, Probe, probe_model
from tests.gateway.served.brain import Asked, Brain, Emitted
from tests.gateway.served.in_process import BrainEndpoint, ask_with

SEVEN = ("report_number", '{"number": 7}')
EIGHT = ("report_number", '{"number": 8}')


IN_TEXT = '<tool_call>{"name": "report_number", "arguments": {"number": 7}}</tool_call>'
NO_TOOLS = {"error": {"message": "m does not support tools"}}


def good_model(asked: Asked) -> Emitted:
    if asked.has_tools:
        return Emitted(calls=[SEVEN, EIGHT] if "both calls" in asked.user else [SEVEN])
    if "Report the number" in asked.user:
        number = int(asked.user.split()[-1].strip("."))
        return Emitted(f'```json\n{{"tool": "report_number", "input": {{"number": {number}}}}}\n```')
    return Emitted("two")


def probe(
    brain: Brain, wire: str = "openai-chat", declared: Capabilities | None = None, **options: Any
) -> tuple[Probe, BrainEndpoint]:
    endpoint = BrainEndpoint(brain, wire)
    return ask_with(endpoint, lambda opened: probe_model(opened, "m", declared, **options)), endpoint


@pytest.mark.parametrize("wire", WIRES)
def test_a_model_that_can_do_all_of_it(wire: str) -> None:
    found, endpoint = probe(good_model, wire, json_questions=5)
    known = found.capabilities
    assert (found.ok, found.error) == (True, None)
    assert (known.supports_tool_use, known.supports_parallel_tools) == (True, True)
    assert known.json_stability == JsonStability(5, 5)
    assert known.allows_midturn_system is (wire in ("openai-chat", "openai-responses"))
    assert known.known_by["allows_midturn_system"] == (
        "probed" if wire in ("openai-chat", "openai-responses") else "wire"
    )
    assert found.requests == len(endpoint.asked)
    # Never forced: a grammar would make any model say yes.
    assert "required" not in json.dumps(endpoint.asked[0].body.get("tool_choice", "auto"))


@pytest.mark.parametrize(
    ("emitted", "error"),
    [
        (Emitted("The number is 7."), "the answer held no tool call"),
        (Emitted(IN_TEXT), "the call stands in the text (hermes): the server's parser of calls is off"),
        (Emitted(status=400, body=NO_TOOLS), "models.test: HTTP 400: m does not support tools"),
    ],
)
def test_a_no_says_why(emitted: Emitted, error: str) -> None:
    found, _ = probe(lambda asked: emitted if asked.has_tools else Emitted("x"))
    assert found.ok is False
    assert found.error is not None
    assert found.error.startswith(error)
    assert found.capabilities.supports_parallel_tools is None


def test_a_call_that_the_server_could_not_parse_is_a_native_call() -> None:
    error = {"error": "error parsing tool call: raw='{\"number\": ', err=unexpected end"}
    found, _ = probe(lambda asked: Emitted(status=500, body=error) if asked.has_tools else Emitted("x"))
    assert found.ok is True


def test_a_server_that_is_not_reached_says_nothing_about_the_model() -> None:
    found, _ = probe(lambda _: Emitted(status=503, body={}))
    assert found.ok is None
    assert found.capabilities.supports_tool_use is None
    assert found.to_log()["error"].startswith("models.test gave no reply")


def test_a_model_that_makes_one_call_at_a_time() -> None:
    found, _ = probe(lambda asked: Emitted(calls=[SEVEN]) if asked.has_tools else Emitted("x"))
    assert found.capabilities.supports_parallel_tools is False


def test_a_server_that_refuses_system_messages_within_a_conversation() -> None:
    def brain(asked: Asked) -> Emitted:
        roles = [one.role for one in asked.messages]
        if roles.count("system") > 1:
            return Emitted(status=400, body={"error": {"message": "system message must be first"}})
        return good_model(asked)

    assert probe(brain)[0].capabilities.allows_midturn_system is False


def test_the_pattern_of_the_ids_is_read_from_the_calls_seen() -> None:
    def brain(asked: Asked) -> Emitted:
        return Emitted(calls=[SEVEN], ids=["D681PevKs"]) if asked.has_tools else Emitted("x")

    assert probe(brain)[0].capabilities.tool_id_pattern == "[A-Za-z0-9]{9}"


def test_json_that_is_not_alone_is_not_stable() -> None:
    answers = iter(range(100))

    def brain(asked: Asked) -> Emitted:
        clean = good_model(asked)
        if asked.has_tools:
            return Emitted("no tools here")
        return Emitted("Sure!\n" + clean.text) if next(answers) % 2 else clean

    assert probe(brain, json_questions=4)[0].capabilities.json_stability == JsonStability(2, 4)


def test_what_is_declared_is_not_asked() -> None:
    declared = Capabilities(supports_tool_use=False, allows_midturn_system=True)
    found, endpoint = probe(good_model, declared=declared)
    assert (found.ok, len(endpoint.asked)) == (False, 0)
    assert found.capabilities.known_by == {
        "supports_tool_use": "declared",
        "allows_midturn_system": "declared",
    }

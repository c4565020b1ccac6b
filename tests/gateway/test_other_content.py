"""Tests images, audio and files. The model's server gets them unchanged, but the session log has only their
sizes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from callgauge.gateway import (
    WIRES,
    Capabilities,
    Gateway,
    Tool,
    ToolContext,
    ToolOutput,
    Turn,
    tool,
)
from tests.event_loops import run
from tests.gateway.served.brain import Asked, Brain, Emitted
from tests.gateway.served.in_process import BrainEndpoint

DATA = "iVBORw0KGgo" * 200_000  # 2 MB of base64
NATIVE = Capabilities(supports_tool_use=True, keeps_argument_text=True)
IMAGES: dict[str, dict[str, Any]] = {
    "openai-chat": {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}"}},
    "openai-responses": {"type": "input_image", "image_url": f"data:image/png;base64,{DATA}"},
    "anthropic": {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": DATA},
    },
    "gemini": {"inlineData": {"mimeType": "image/png", "data": DATA}},
}
AUDIO = {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}
FIELDS = {"openai-chat": "messages", "openai-responses": "input", "anthropic": "messages"}


def converse(
    brain: Brain,
    wire: str,
    *parts: Any,
    text: str = "What is on it?",
    tools: Sequence[Tool] = (),
    **options: Any,
) -> tuple[Turn, BrainEndpoint]:
    endpoint = BrainEndpoint(brain, wire)

    async def talk() -> Turn:
        async with Gateway(endpoint, tools, model="m", **{"capabilities": NATIVE, **options}) as gateway:
            return await gateway.run(text, parts)

    return run(talk()), endpoint


def photographing(image: dict[str, Any]) -> Tool:
    @tool
    def take_photo() -> ToolOutput:
        """Take a photo."""
        return ToolOutput("The photo.", [image])

    return take_photo


def shoot_once(asked: Asked) -> Emitted:
    return Emitted("A cat.") if len(asked.messages) > 2 else Emitted(calls=[("take_photo", "{}")])


def last_message(wire: str, endpoint: BrainEndpoint) -> Any:
    return endpoint.asked[-1].body[FIELDS.get(wire, "contents")][-1]


@pytest.mark.parametrize(
    ("wire", "content"),
    [
        ("openai-chat", [{"type": "text", "text": "What is on it?"}, IMAGES["openai-chat"], AUDIO]),
        (
            "openai-responses",
            [{"type": "input_text", "text": "What is on it?"}, IMAGES["openai-responses"], AUDIO],
        ),
        ("anthropic", [{"type": "text", "text": "What is on it?"}, IMAGES["anthropic"], AUDIO]),
        ("gemini", [{"text": "What is on it?"}, IMAGES["gemini"], AUDIO]),
    ],
)
def test_parts_of_a_users_message_follow_its_text_unchanged(wire: str, content: Any) -> None:
    turn, endpoint = converse(lambda _: Emitted("A cat."), wire, IMAGES[wire], AUDIO)
    assert turn.answer == "A cat."
    sent = last_message(wire, endpoint)
    assert sent == {"role": "user", ("parts" if wire == "gemini" else "content"): content}


@pytest.mark.parametrize("wire", WIRES)
def test_a_message_may_have_no_text(wire: str) -> None:
    _, endpoint = converse(lambda _: Emitted("A cat."), wire, IMAGES[wire], text="")
    assert last_message(wire, endpoint)["parts" if wire == "gemini" else "content"] == [IMAGES[wire]]


@pytest.mark.parametrize("wire", WIRES)
def test_parts_of_a_result_go_back_unchanged(wire: str) -> None:
    image = IMAGES[wire]
    turn, endpoint = converse(shoot_once, wire, tools=[photographing(image)])
    assert (turn.status, turn.calls[0].result.status) == ("ok", "success")
    message = last_message(wire, endpoint)
    sent = {
        "openai-chat": lambda: message["content"][1],
        "openai-responses": lambda: message["output"][1],
        "anthropic": lambda: message["content"][0]["content"][1],
        "gemini": lambda: message["parts"][0]["functionResponse"]["parts"][0],
    }[wire]()
    assert sent == image
    assert "The photo." in json.dumps(message)


def test_parts_of_a_result_go_back_with_the_fallback() -> None:
    def brain(asked: Asked) -> Emitted:
        call = '```json\n{"tool": "take_photo", "input": {}}\n```'
        return Emitted("A cat." if len(asked.messages) > 2 else call)

    image = IMAGES["openai-chat"]
    capabilities = Capabilities(supports_tool_use=False)
    _, endpoint = converse(brain, "openai-chat", tools=[photographing(image)], capabilities=capabilities)
    text, part = last_message("openai-chat", endpoint)["content"]
    assert (text["text"], part) == ("[success] take_photo: The photo.", image)


def test_the_session_log_has_the_size_of_a_part_and_not_its_bytes(tmp_path: Path) -> None:
    image = IMAGES["openai-chat"]
    converse(shoot_once, "openai-chat", image, tools=[photographing(image)], log=tmp_path)
    [log] = tmp_path.glob("*.jsonl")
    assert log.stat().st_size < 10_000
    events = {event["type"]: event for event in map(json.loads, log.read_text().splitlines())}
    line = f"[image_url: {len(json.dumps(image)):,} characters of JSON]"
    assert events["turn_start"]["content"] == f"What is on it?\n{line}"
    assert events["observation"]["content"] == f"The photo.\n{line}"


@pytest.mark.parametrize("part", ["a photo", b"\x89PNG", {"data": b"\x89PNG"}, 7, None])
def test_a_part_that_is_no_json_object_is_refused_before_anything_is_sent(part: Any, tmp_path: Path) -> None:
    endpoint = BrainEndpoint(lambda _: Emitted("A cat."))

    async def talk() -> None:
        async with Gateway(endpoint, model="m", log=tmp_path) as gateway:
            with pytest.raises(TypeError, match="a part of a message is"):
                await gateway.run("Look.", [part])
            assert (await gateway.run("Hello.")).number == 1

    run(talk())
    assert len(endpoint.asked) == 1


def test_a_tool_that_returns_bytes_has_failed_and_the_turn_goes_on() -> None:
    async def photograph(_context: ToolContext) -> ToolOutput:
        return ToolOutput("", [{"data": b"\x89PNG"}])

    definition = photographing({}).definition
    turn, _ = converse(shoot_once, "openai-chat", tools=[Tool(definition, photograph)])
    assert turn.answer == "A cat."
    [call] = turn.calls
    assert call.result.status == "execution_failed"
    assert "write bytes as base64" in call.result.text

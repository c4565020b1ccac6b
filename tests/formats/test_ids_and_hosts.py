"""Tests which ids are globally unique, and which provider a URL belongs to."""

from __future__ import annotations

import pytest

from ingest.formats.provider_messages.api_detection import provider_name
from ingest.formats.provider_messages.message_hashes import is_unique


@pytest.mark.parametrize(
    ("id_", "unique"),
    [
        ("call_6KQlxELWhphiY7wr0DV9WW5S", True),
        ("call_cCPjAyfwTzboEKjVlqFrArNF", True),
        ("toolu_01YC8RhZeDTZRbb8n1gUFTmb", True),
        ("chatcmpl-tool-429aded05dbe483697404967c567cbd6", True),
        ("tk85n1k4m", True),
        ("034c8718-3f49-40b0-a1c3-2441d2117c25", True),
        ("call_1", False),
        ("call_12345", False),
        ("functions.bash:0", False),
        ("get_current_weather_0", False),
        ("chatcmpl-531", False),
        ("resp_parallel", False),
        ("", False),
        (None, False),
    ],
)
def test_an_id_is_unique_when_nobody_would_give_it_twice(id_: str | None, unique: bool) -> None:
    assert is_unique(id_) is unique


@pytest.mark.parametrize(
    ("url", "provider"),
    [
        ("https://api.openai.com/v1/chat/completions", "openai"),
        ("https://acme.openai.azure.com/openai/deployments/x/chat/completions", "azure"),
        ("https://bedrock-runtime.eu-west-1.amazonaws.com/model/x/invoke", "aws"),
        ("https://generativelanguage.googleapis.com/v1beta/models/x:generateContent", "google"),
        ("https://api.x.ai/v1/chat/completions", "xai"),
        ("https://openrouter.ai/api/v1/chat/completions", "openrouter"),
        ("https://llm.acme.co.uk/v1", "acme"),
        ("http://localhost:11434/v1/chat/completions", "localhost:11434"),
        ("http://10.0.0.7/v1", "10.0.0.7"),
        ("http://[::1]:8000/v1", "::1:8000"),
        ("http://[::1/v1", None),
        ("/v1/chat/completions", None),
        (None, None),
    ],
)
def test_the_provider_is_told_by_the_host(url: str | None, provider: str | None) -> None:
    assert provider_name(url) == provider

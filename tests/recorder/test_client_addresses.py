"""The base URLs of a recorded command: each request has one version in its path."""

from __future__ import annotations

import pytest

from callgauge.recorder.client_addresses import find_client_addresses

RECORDER = "http://127.0.0.1:9"


@pytest.mark.parametrize(
    ("environment", "server", "openai", "anthropic", "target"),
    [
        ({}, None, "/openai/v1", "/anthropic", "https://api.openai.com/v1"),
        ({}, "http://h:8000", "/openai/v1", "/anthropic", "http://h:8000"),
        ({}, "http://h:8000/v1", "/openai/v1", "/anthropic", "http://h:8000/v1"),
        ({}, "http://h/api/v1/", "/openai/api/v1", "/anthropic/api", "http://h/api/v1/"),
        ({"OPENAI_BASE_URL": "http://h/x"}, None, "/openai/x", "/anthropic", "http://h/x"),
        ({"OPENAI_API_BASE": "http://h/v2"}, None, "/openai/v2", "/anthropic", "http://h/v2"),
        ({"ANTHROPIC_BASE_URL": "http://h/v1"}, None, "/openai/v1", "/anthropic/v1", "https://api.openai.com/v1"),
        ({"OPENAI_BASE_URL": ""}, None, "/openai/v1", "/anthropic", "https://api.openai.com/v1"),
    ],
)  # fmt: skip
def test_each_client_gets_the_address_that_it_needs(
    environment: dict[str, str], server: str | None, openai: str, anthropic: str, target: str
) -> None:
    addresses = find_client_addresses(RECORDER, environment, server)
    assert addresses.variables["OPENAI_BASE_URL"] == RECORDER + openai
    assert addresses.variables["ANTHROPIC_BASE_URL"] == RECORDER + anthropic
    assert addresses.targets["openai"] == target


def test_the_recorder_is_asked_without_a_proxy() -> None:
    addresses = find_client_addresses(RECORDER, {"NO_PROXY": "example.com"})
    assert addresses.variables["NO_PROXY"] == "example.com,127.0.0.1"
    assert addresses.variables["no_proxy"] == "127.0.0.1"

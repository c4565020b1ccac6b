"""Tests the base URLs in the environment of a recorded command."""

from __future__ import annotations

import pytest

from callgauge.recorder.client_addresses import find_targets, name_recorder

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
    targets = find_targets(environment, server)
    variables = name_recorder(RECORDER, targets, environment, is_one_server=server is not None)
    assert variables["OPENAI_BASE_URL"] == RECORDER + openai
    assert variables["ANTHROPIC_BASE_URL"] == RECORDER + anthropic
    assert targets["openai"] == target


def test_the_recorder_is_asked_without_a_proxy() -> None:
    environment = {"NO_PROXY": "example.com"}
    variables = name_recorder(RECORDER, find_targets(environment), environment, is_one_server=False)
    assert variables["NO_PROXY"] == "example.com,127.0.0.1"
    assert variables["no_proxy"] == "127.0.0.1"

"""Tests that redacted arguments fail like the originals, and that only equal values share a placeholder."""

from __future__ import annotations

import json
import pickle
import random
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.privacy import redactor
from ingest.privacy.redactor import Redactor
from ingest.privacy.rules import RedactionRules
from lenient import ToolCallRequest, ToolDefinition, parse_arguments
from tests.privacy.test_detectors import KEY, REDACTOR
from tests.test_cases import FILES, definition

SECRETS = [
    "alice.smith@example.com", "/home/alice", "/Users/josé/x", "C:\\Users\\nina", "C:\\\\Users\\\\tom",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "sk-proj-abcd1234ABCD5678efghIJKL", "AKIAIOSFODNN7EXAMPLE",
    "https://bob:s3cr3t@host.io/x", '"password": "hunter2x"', "password=hunter2hunter2", "password: 12345678",
    '\\"api_key\\": \\"abc123def\\"', 'secret: "', "m\\u00fcller@example.org", "\\nbob@example.org",
]  # fmt: skip
SAMPLE = 4_000


def cases() -> list[dict[str, Any]]:
    """Return the parser cases, without those whose tool definition checks the format of values or names."""
    every = (case for path in FILES for case in json.loads(path.read_text(encoding="utf-8")))
    return [case for case in every if "raw" in case and "attern" not in json.dumps(case.get("tool"))]


def drawn() -> Iterator[tuple[dict[str, Any], str]]:
    """Yield random raw arguments of parser cases, with a secret in them."""
    seeded, all_cases = random.Random(20), cases()
    for _ in range(SAMPLE):
        case, secret = seeded.choice(all_cases), seeded.choice(SECRETS)
        at = seeded.randint(0, len(case["raw"]))
        yield case, case["raw"][:at] + secret + case["raw"][at:]


def findings(case: dict[str, Any], raw: str) -> tuple[Any, ...]:
    request: ToolCallRequest = parse_arguments(raw, definition(case), tool_name=case.get("called"))
    return request.outcome, [(error.code, error.start, error.end) for error in request.diagnostics]


@pytest.mark.thorough
def test_a_redacted_text_has_the_same_codes_at_the_same_places() -> None:
    redacted = [(case, raw, REDACTOR.redact_text(raw, parsed=True)) for case, raw in drawn()]
    assert sum(raw != new for _, raw, new in redacted) > SAMPLE * 0.8
    for case, raw, new in redacted:
        if keeps_names(case, raw, new):
            assert findings(case, new) == findings(case, raw), (raw, new)


def keeps_names(case: dict[str, Any], raw: str, new: str) -> bool:
    """Return True if the arguments contain all declared names even after the secret was inserted."""
    declared = definition(case)
    tools = [declared] if isinstance(declared, ToolDefinition) else declared or ()
    names = [parameter.name for tool in tools for parameter in tool.parameters]
    return all(raw.count(name) == new.count(name) for name in names)


@pytest.mark.thorough
def test_the_parsers_own_cases_hold_little_to_redact_and_stay_what_they_show() -> None:
    for case in cases():
        raw, new = case["raw"], REDACTOR.redact_text(case["raw"], parsed=True)
        assert new == raw or "@" in raw or "Users" in raw
        assert findings(case, new) == findings(case, raw)


@given(
    st.text(alphabet="ab9Z\\\"'{}[]:,@./-_ nu0é\n\ud800", max_size=40),
    st.sampled_from(SECRETS),
    st.text(max_size=9),
)
def test_any_text_keeps_its_length_and_every_sign_that_is_no_letter(
    before: str, secret: str, after: str
) -> None:
    text = before + secret + after
    for parsed in (True, False):
        new = REDACTOR.redact_text(text, parsed=parsed)
        assert len(new) == len(text)
        assert all(a == b for a, b in zip(text, new, strict=True) if not a.isalnum())
        assert all(a.isupper() == b.isupper() for a, b in zip(text, new, strict=True))


@pytest.mark.parametrize(
    "text",
    [
        r'{"to": "m\u00fcller@example.org"}',
        r'{"p": "C:\Users\nina\x"}',
        r'{"p": "C:\Users\tom\x", "q": "\d"}',
        r'{"a": "{\"p\": \"C:\\Users\\nina\"}"}',
        r'{"k": "-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn/ygWyF8Pb\nabcdef\n"}',
    ],
)
def test_no_escape_is_split_or_becomes_another_kind(text: str) -> None:
    new = REDACTOR.redact_text(text, parsed=True)
    assert new != text
    assert [diagnostic.code for diagnostic in parse_arguments(new, None).diagnostics] == [
        diagnostic.code for diagnostic in parse_arguments(text, None).diagnostics
    ]


def test_one_value_has_one_placeholder_wherever_it_stands() -> None:
    spelled = REDACTOR.redact_text(r"alice@example.org, /home/alice/a C:\\Users\\alice\\b -home-alice-c")
    assert REDACTOR.redact_text("alice@example.org") == spelled.split(",")[0]
    assert REDACTOR.redact_text("/home/alice")[6:] in spelled.split("/")[2]
    assert len({spelled.split("/")[2], spelled.split("\\")[4], spelled.split("-")[-2]}) == 1


def test_two_values_of_one_shape_and_two_keys_have_different_placeholders() -> None:
    assert REDACTOR.redact_text("/home/alice/x") != REDACTOR.redact_text("/home/clara/x")
    assert Redactor(RedactionRules(), b"another").redact_text("/home/alice/x") != REDACTOR.redact_text(
        "/home/alice/x"
    )


def test_a_worker_process_redacts_alike() -> None:
    copy = pickle.loads(pickle.dumps(REDACTOR))  # noqa: S301 - our own bytes
    assert copy.redact_text("alice@example.org") == REDACTOR.redact_text("alice@example.org")
    assert copy.key == KEY


def test_decoded_values_are_redacted_to_any_depth_with_their_keys() -> None:
    deep: Any = "alice@example.org"
    for _ in range(20_000):
        deep = [deep]
    assert type(REDACTOR.redact_value(deep)) is list
    value = {
        "password": "hunter2",
        "n": 1,
        "alice@example.org": [None, True, {"to": "/home/alice"}],
        "type": "string",
    }
    new = REDACTOR.redact_value(value)
    assert "hunter2" not in new.values()
    assert list(new.values())[1] == 1
    assert "alice" not in json.dumps(new)
    assert REDACTOR.redact_value({"password": {"type": "string"}}) == {"password": {"type": "string"}}


def test_a_text_that_came_before_gives_what_it_gives_at_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redactor, "_MAX_CHARACTERS", 120)  # the cache is small, so that it drops some values
    texts = ["nothing to find here", r"C:\Users\nina\x", r'{"to": "\u0061lice@example.org"}', "/home/alice/x"]
    used = Redactor(RedactionRules(), b"key")
    for text, parsed in [*product(texts, (False, True))] * 3:
        fresh = Redactor(RedactionRules(), b"key").redact_text(text, parsed=parsed)
        assert used.redact_text(text, parsed=parsed) == fresh

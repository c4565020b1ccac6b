"""Tests that every string of every event is redacted."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from ingest.events import (
    ArgsSource,
    CallMade,
    Event,
    FaultLayer,
    FlagSource,
    LogLine,
    Rejected,
    ResultSeen,
    ResultStatus,
    SessionSeen,
    StepMade,
    ToolsOffered,
    TurnStarted,
)
from ingest.privacy.event_redaction import Privacy
from tests.privacy.test_detectors import REDACTOR

PRIVATE = Privacy(REDACTOR)
MAIL = "alice@example.org"
AT = LogLine(1, 0)


def every_event() -> list[type[Event]]:
    return sorted(Event.__subclasses__(), key=lambda kind: kind.__name__)


@pytest.mark.parametrize("kind", every_event(), ids=lambda kind: kind.__name__)
def test_no_text_of_an_event_escapes(kind: type[Event]) -> None:
    fields: dict[str, Any] = {"where": AT}
    for field in msgspec.structs.fields(kind):
        if field.type in (str, str | None):
            fields[field.name] = f"by {MAIL}"
        elif field.name == "definitions":
            fields[field.name] = ({"name": "send", "description": MAIL},)
        elif field.name == "arguments":
            fields[field.name] = {"to": [MAIL]}
        elif field.required and field.name not in fields:
            fields[field.name] = next(iter(field.type)) if isinstance(field.type, type(ArgsSource)) else None
    event = kind(**fields)
    assert MAIL in str(event)
    assert MAIL not in str(PRIVATE.redact_event(event))


def test_a_rejects_reason_and_snippet_are_redacted() -> None:
    reject = PRIVATE.redact_event(Rejected(AT, "not_json", f"not JSON: {MAIL}", f'{{"to": "{MAIL}"'))
    assert MAIL not in str(reject)
    assert isinstance(reject, Rejected)
    assert reject.code == "not_json"


def test_an_event_without_secrets_is_the_same_object() -> None:
    event = TurnStarted(session_id="s1", where=AT, text="list the files")
    assert PRIVATE.redact_event(event) is event


def test_arguments_and_offered_definitions_still_fit_each_other() -> None:
    schema = {"properties": {"to": {"enum": [MAIL]}}}
    call = CallMade(
        session_id="s", where=AT, tool="send", args_source=ArgsSource.RAW, raw_arguments=f'{{"to": "{MAIL}"}}'
    )
    offered = PRIVATE.redact_event(
        ToolsOffered(session_id="s", where=AT, definitions=({"name": "send", "input_schema": schema},))
    )
    made = PRIVATE.redact_event(call)
    assert isinstance(offered, ToolsOffered)
    assert isinstance(made, CallMade)
    assert offered.definitions[0]["input_schema"]["properties"]["to"]["enum"][0] in str(made.raw_arguments)


def test_a_leaked_call_in_a_text_keeps_its_escapes() -> None:
    step = PRIVATE.redact_event(
        StepMade(session_id="s", where=AT, text=r'<tool_call>{"p": "C:\Users\nina"}</tool_call>')
    )
    assert isinstance(step, StepMade)
    assert r"C:\Users\n" in str(step.text)
    assert r"C:\Users\nina" not in str(step.text)


@pytest.mark.parametrize(
    ("layer", "has_message"),
    [(None, False), (FaultLayer.EXECUTION, False), (FaultLayer.SCHEMA, True), (FaultLayer.REFUSED, True)],
)
def test_without_results_only_what_the_harness_said_of_the_arguments_stays(
    layer: FaultLayer | None, has_message: bool
) -> None:
    result = ResultSeen(
        session_id="s", where=AT, status=ResultStatus.ERROR, flag_source=FlagSource.EXPLICIT,
        fault_layer=layer, message="no such file", content="ls: no such file",
    )  # fmt: skip
    event = Privacy(results=False).redact_event(result)
    assert isinstance(event, ResultSeen)
    assert (event.content, event.status, event.message is not None) == (None, ResultStatus.ERROR, has_message)


def test_a_message_that_a_format_cut_from_the_content_shows_no_half_of_a_secret() -> None:
    content = f"{'x' * 480} mail {MAIL} for help"
    result = ResultSeen(
        session_id="s", where=AT, status=ResultStatus.ERROR, flag_source=FlagSource.EXPLICIT,
        message=content[:492], content=content,
    )  # fmt: skip
    event = PRIVATE.redact_event(result)
    assert isinstance(event, ResultSeen)
    assert str(event.message).startswith("x" * 480 + " mail ")
    assert str(event.content).startswith(str(event.message))
    assert "alice" not in str(event.message)


def test_the_beginning_of_a_token_at_the_end_of_a_cut_text_is_redacted() -> None:
    assert "AbCdEf" not in REDACTOR.redact_text("the key is sk-ant-api03-AbCdEf")


def test_who_asked_becomes_the_placeholder_of_their_home_folder() -> None:
    event = PRIVATE.redact_event(SessionSeen(session_id="s", where=AT, user="alice"))
    assert isinstance(event, SessionSeen)
    assert f"/home/{event.user}/x" == REDACTOR.redact_text("/home/alice/x")

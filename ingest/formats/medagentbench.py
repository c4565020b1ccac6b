"""MedAgentBench task results of a program that writes one JSON document per task.

**Files.** WhissleAI's fork of tau2-bench writes `results/<agent>/medagentbench/<run>/tasks/<task>.json`. The
benchmark itself (github.com/stanfordmlgroup/MedAgentBench) writes other files, which are not read.

**Fields.** `task_id`, `prompt`, `status`, `result`, `correct`, `infra_fail`, `duration_ms`, `turns[].{round,
agent_reply, action_kind, url, payload, observation, latency_ms}`, `diagnostics.provenance.{model,
harness_commit, captured_at}`. A file is a session of one turn. Its task is `task_id`.

**Calls.** The model writes one action as text: `GET <url>`, `POST <url>` with a JSON body, or
`FINISH([answers])`. GET and POST are read as tools (strategy `json_fallback`). The body of a POST is the
model's own text; the only argument of a GET is the URL. FINISH is the answer.

**Rules.**
- `action_kind: invalid` marks a reply that contains other text next to the action. This is an emission
  failure and ends the task.
- "Invalid POST request" means that the body was not JSON.
- Failures are visible only in the text. A 4xx answer or an invalid URL means invalid arguments; any other
  error is an execution failure.
- `correct` is the verdict. With `infra_fail` there is no verdict on the model.

**Not in the log.** The model, if the provenance is `(agent default)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ingest.decoding.fields import read_number, read_object, read_objects, read_text, read_time
from ingest.events import (
    MESSAGE_READ,
    ArgsSource,
    CallMade,
    Event,
    FaultLayer,
    FlagSource,
    ResultSeen,
    ResultStatus,
    SessionSeen,
    StepMade,
    Strategy,
    TurnEnded,
    TurnStarted,
)
from ingest.formats.conversations.session_per_record import SessionPerRecord
from ingest.formats.conversations.task_names import task_name
from ingest.log_format import About, Record, Source, Translator
from ingest.sessions.stored_text import json_text
from lenient.regex import compile_regex

SOURCE = Source(
    name="medagentbench",
    title="MedAgentBench task results",
    raw_arguments="partly: the bodies of POST actions",
    argument_failures="yes: replies that are not an action, and bodies that are not JSON",
    error_flag="partly: derived from the text",
    definitions="no: they are in the prompt as text",
    system_prompt="no: the prompt is one message",
    model="partly: per run, where it is named",
    turn_end="yes: correct",
    cannot_tell="GET actions have an address, not arguments; only POST bodies can be malformed.",
)

_REFUSED = compile_regex(r"\b4\d\d Client Error|Invalid URL|No connection adapters")


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    first = head[0] if len(head) == 1 else {}
    rounds = first.get("turns")
    return (
        {"task_id", "prompt", "status", "correct", "history"} <= first.keys()
        and isinstance(rounds, list)
        and all("action_kind" in round_ for round_ in read_objects(rounds))
    )


def translator(about: About) -> Translator:
    return SessionPerRecord(about, _task_name)


def _task_name(record: Record, session_id: str) -> Iterator[Event]:
    value = record.value
    provenance = read_object(read_object(value.get("diagnostics")).get("provenance"))
    shared: dict[str, Any] = {
        "session_id": session_id,
        "where": record.where,
        "ts": read_time(provenance.get("captured_at")),
    }
    model = read_text(provenance.get("model"))
    yield SessionSeen(
        **shared,
        harness="MedAgentBench",
        harness_version=read_text(provenance.get("harness_commit")),
        model=None if model == "(agent default)" else model,
        task=task_name(None, value.get("task_id")),
    )
    yield TurnStarted(**shared, text=read_text(value.get("prompt")))
    for step, made in enumerate(read_objects(value.get("turns"))):
        shared["where"] = record.find_line('"round"', past=True)
        yield from _take_round(made, step, shared)
    correct = value.get("correct")
    judged = isinstance(correct, bool) and value.get("infra_fail") is not True
    result = value.get("result")
    yield TurnEnded(
        **shared,
        status=read_text(value.get("status")),
        recorded_ok=correct if judged else None,
        answer="" if result is None else result if isinstance(result, str) else json_text(result),
        latency_ms=read_number(value.get("duration_ms")),
    )


def _take_round(made: Mapping[str, Any], step: int, shared: dict[str, Any]) -> Iterator[Event]:
    reply, kind = read_text(made.get("agent_reply")) or "", made.get("action_kind")
    acts = kind in ("get", "post", "finish")
    yield StepMade(
        **shared,
        text=None if acts else reply,
        strategy=Strategy.JSON_FALLBACK,
        latency_ms=read_number(made.get("latency_ms")),
    )
    if kind == "finish":
        return
    yield CallMade(
        **shared,
        step=step,
        strategy=Strategy.JSON_FALLBACK,
        **_read_call(str(kind), reply, made.get("payload")),
    )
    observation = read_text(made.get("observation"))
    if observation is not None:
        yield _make_observation(observation, step, shared)


def _read_call(kind: str, reply: str, payload: Any) -> dict[str, Any]:
    """Return the fields of `CallMade` for the tool call in a reply."""
    first, _, body = reply.partition("\n")
    if kind == "get":
        address = {"url": first.removeprefix("GET").strip()}
        return {"tool": "GET", "arguments": address, "args_source": ArgsSource.RESERIALISED}
    if kind == "post":
        facts = {"tool": "POST", "raw_arguments": body, "args_source": ArgsSource.RAW}
        return facts if payload is not None else {**facts, "refused_by_harness": FaultLayer.SYNTAX}
    return {
        "tool": None,
        "args_source": ArgsSource.MISSING,
        "refused_by_harness": FaultLayer.EMISSION,
        "harness_message": "the reply matched none of GET, POST and FINISH",
    }


def _make_observation(answer: str, step: int, shared: dict[str, Any]) -> ResultSeen:
    layer: FaultLayer | None = None
    if answer.startswith("Invalid POST request"):
        layer = FaultLayer.SYNTAX
    elif answer.startswith("Error in sending"):
        layer = FaultLayer.TOOL_REJECTED if _REFUSED.search(answer[:1_000]) else FaultLayer.EXECUTION
    good = answer.startswith(("Here is the response", "POST request accepted"))
    flag_source = FlagSource.DERIVED_TEXT if layer or good else FlagSource.ABSENT
    status = ResultStatus.ERROR if layer else ResultStatus.OK if good else ResultStatus.UNKNOWN
    return ResultSeen(
        **shared,
        step=step,
        status=status,
        flag_source=flag_source,
        fault_layer=layer,
        message=answer[:MESSAGE_READ] if layer else None,
        content=answer,
    )

"""tau2-bench results: one JSON document with all simulations, or one document per simulation.

**Files.** `data/simulations/<name>.json`, or `<name>/results.json` next to `<name>/simulations/<id>.json`
(github.com/sierra-research/tau2-bench). These notes are based on one results file of a fork of 1.0.

**Fields.** `info.{agent_info, user_info, environment_info, git_commit}`, `simulations[].{id, task_id, trial,
termination_reason, reward_info.reward, messages[]}`. Each simulation is a session with its own id. A message
has `role`, `content`, `tool_calls[].{id, name, arguments (an object), requestor}`, `raw_data` (the provider's
response), `usage`, `timestamp`. A result has the call's id as `id`, and `error`. One message may contain
several results (`tool_messages`).

**Rules.**
- Syntax failures are missing. If a call's arguments cannot be parsed, the agent raises an exception and the
  attempt is repeated. The failed attempt has `messages: []` and is not in the benchmark's own figures. All
  other calls in the file were parsed, so 0 % syntax failures mean nothing. Attempts without messages become
  turns without a verdict.
- The user is a model that may call its own tools (`requestor: user`). These calls and results are skipped.
  The user's messages begin turns, except the last one, which nobody answers.
- The first message, the agent's greeting, is not written by a model.
- Call ids repeat within a simulation. A result belongs to the latest call with its id.
- The reward judges the attempt and is stored with the last turn; 1 is a success. The task is the domain and
  `task_id`. In a file with one simulation, only the first line of the policy names the domain.
- `error` marks every exception of a tool. The text shows arguments that do not match the signature (schema)
  and values that the tool's own types rejected ("2 validation errors for Payment").

**Not in the log.** The model's own argument text, unless the agent stores `raw_data`; how many attempts were
repeated. The system prompt is the policy; the agent's own instructions are not in the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ingest.decoding.fields import read_count, read_number, read_object, read_objects, read_text, read_time
from ingest.events import (
    Event,
    FaultLayer,
    FlagSource,
    PromptSeen,
    ResultStatus,
    SessionSeen,
    ToolsOffered,
)
from ingest.formats.conversations.result_layers import failed_flag
from ingest.formats.conversations.session_per_record import SessionPerRecord
from ingest.formats.conversations.task_names import policy_domain, task_name
from ingest.formats.conversations.trial_messages import TrialMessages, python_fault_layer
from ingest.formats.provider_messages.chat_messages import ResultFlag, join_content, list_calls
from ingest.formats.provider_messages.openai_chat import count_input
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="tau2_bench",
    title="tau2-bench results",
    raw_arguments="partly: where the agent keeps the provider's response",
    argument_failures="no: an attempt whose arguments did not parse is made again and left out of the file",
    error_flag="yes: error; the stage is derived from the text",
    definitions="partly: where environment_info.tool_defs has them, else supply them with --tools",
    system_prompt="partly: the policy, without the agent's own instructions",
    model="yes: per run",
    turn_end="yes: the reward, on the last turn of an attempt; the user is simulated",
    cannot_tell=(
        "Survivorship: attempts whose arguments did not parse were made again and are not in the file, so no "
        "rate of failures at the syntax layer can be read from it."
    ),
)


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    first = head[0] if head else {}
    whole_run = isinstance(first.get("simulations"), list) and isinstance(first.get("info"), dict)
    return whole_run or (first.keys() >= {"task_id", "termination_reason", "messages"} and len(head) == 1)


def translator(about: About) -> Translator:
    return SessionPerRecord(about, _take_results)


def _take_results(record: Record, identity: str) -> Iterator[Event]:
    value = record.value
    simulations = value.get("simulations")
    if not isinstance(simulations, list):
        yield from _take_simulation(value, {}, identity, record)
        return
    run = read_object(value.get("info"))
    for index, simulation in enumerate(read_objects(simulations)):
        yield from _take_simulation(simulation, run, f"{identity}/{index}", record)


def _take_simulation(
    simulation: Mapping[str, Any], run: Mapping[str, Any], identity: str, record: Record
) -> Iterator[Event]:
    session_id = read_text(simulation.get("id")) or identity
    where = record.find_line(f'"{session_id}"', past=True)
    shared: dict[str, Any] = {
        "session_id": session_id,
        "where": where,
        "ts": read_time(simulation.get("start_time")),
    }
    agent, environment = read_object(run.get("agent_info")), read_object(run.get("environment_info"))
    policy = read_text(simulation.get("policy")) or read_text(environment.get("policy"))
    domain = read_text(environment.get("domain_name")) or policy_domain(policy)
    yield SessionSeen(
        **shared,
        harness="tau2-bench",
        harness_version=read_text(run.get("git_commit")),
        model=read_text(agent.get("llm")),
        task=task_name(domain, simulation.get("task_id")),
    )
    if policy:
        yield PromptSeen(**shared, text=policy)
    definitions = _read_definitions(environment.get("tool_defs"))
    if definitions:
        yield ToolsOffered(**shared, definitions=definitions)
    reward = read_number(read_object(simulation.get("reward_info")).get("reward"))
    messages = [
        chat_message
        for message in read_objects(simulation.get("messages"))
        for chat_message in _to_chat_messages(message)
    ]
    trial = TrialMessages(
        session_id, record, where=where, flag=_read_flag, step=_make_step, when=_message_time
    )
    yield from trial.to_events(
        _drop_greeting(messages),
        status=read_text(simulation.get("termination_reason")),
        recorded_ok=abs(reward - 1) < 1e-6 if reward is not None and messages else None,
    )


def _read_definitions(stated: Any) -> tuple[Mapping[str, Any], ...]:
    """Return the tool definitions in `stated`.

    `stated` maps tool names to signatures (`{name: {doc, params}}`), or is a list of definitions, which is
    returned unchanged.
    """
    if isinstance(stated, dict):
        return tuple(
            {"name": name, "description": read_text(tool.get("doc")) or "", "parameters": tool["params"]}
            for name, tool in stated.items()
            if isinstance(tool, dict) and isinstance(tool.get("params"), dict)
        )
    return tuple(read_objects(stated))


def _to_chat_messages(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the message in the chat API's format.

    Tool calls and results of the model that plays the user are left out.
    """
    role = message.get("role")
    if role == "tool":
        for result in read_objects(message.get("tool_messages")) or [message]:
            if result.get("requestor") != "user":
                yield {**result, "role": "tool", "tool_call_id": result.get("id")}
    elif role != "user":
        yield {**message, "tool_calls": _find_raw_calls(message)}
    elif not read_objects(message.get("tool_calls")):
        yield {**message}


def _find_raw_calls(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the message's tool calls. The arguments are the model's own text if `raw_data` contains it."""
    response = read_object(message.get("raw_data"))
    choices = read_objects(response.get("choices"))
    reply_message = read_object((choices[0] if choices else response).get("message")) or response
    raw = {call["id"]: call["arguments"] for call in list_calls(reply_message) if isinstance(call["id"], str)}
    return [
        {**call, "arguments": sent if isinstance(sent := raw.get(call["id"]), str) else call["arguments"]}
        if isinstance(call["id"], str)
        else call
        for call in list_calls(message)
    ]


def _drop_greeting(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages without the agent's greeting at the beginning, which is not a model's text."""
    first = messages[0] if messages else {}
    greets = first.get("role") == "assistant" and not first.get("tool_calls") and not first.get("usage")
    return messages[1:] if greets and not first.get("raw_data") else messages


def _make_step(message: Mapping[str, Any]) -> dict[str, Any]:
    usage = read_object(message.get("usage"))
    took = read_number(message.get("generation_time_seconds"))
    return {
        "model": read_text(read_object(message.get("raw_data")).get("model")),
        **count_input(usage),
        "output_tokens": read_count(usage.get("completion_tokens")),
        "latency_ms": took * 1000 if took is not None else None,
    }


def _message_time(message: Mapping[str, Any]) -> Any:
    return read_time(message.get("timestamp"))


def _read_flag(message: Mapping[str, Any]) -> ResultFlag:
    if message.get("error") is not True:
        is_ok = message.get("error") is False
        return ResultFlag(ResultStatus.OK, FlagSource.EXPLICIT) if is_ok else ResultFlag()
    text = join_content(message.get("content")) or ""
    unknown = text.startswith("Error: Tool '") and text.endswith("' not found.")
    layer = FaultLayer.SCHEMA if unknown else python_fault_layer(text) or FaultLayer.EXECUTION
    return failed_flag(text, layer)

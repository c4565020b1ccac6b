"""Letta agent files (`.af`): Letta's export of an agent with its messages, tools and memory.

**Files.** Sources: letta-ai/letta, `letta/schemas/agent_file.py`; letta-ai/agent-file (2025-11, 2026-01).

**Fields.** `{agents[], tools[], blocks[], …}`. An agent has `messages[]`, `llm_config` and `tool_ids`. A
message is `{role, content[], model, tool_calls[].{id, function.{name, arguments}}, tool_call_id,
tool_returns[], approvals[], created_at}`. `arguments` is the model's own text. Each agent is a session.

**Turns.** A person's message begins a turn when the model answers it. A call of `send_message` is the answer.

**Rules.**
- A message of the role `user` may be an event of Letta itself, as JSON (`heartbeat`, `login`,
  `system_alert`). It begins no turn. A person's text is in `message` of such JSON, or is the whole message.
- `tool_returns[].status` is the error flag of a result.

**Limits.** `--max-line` limits the size of a document.

**Not in the log.** Tokens. No file with approvals or failed results was available.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ingest.decoding.fields import read_object, read_objects, read_text, read_time
from ingest.events import Event, FaultLayer, LogLine, PromptSeen, ResultSeen, SessionSeen, ToolsOffered
from ingest.formats.conversations.agent_session import AgentSession, sent_call_fields
from ingest.formats.conversations.result_layers import PASSED, failed_flag
from ingest.formats.provider_messages.chat_messages import ResultFlag, join_content, list_calls
from ingest.formats.provider_messages.embedded_json import open_json
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="letta",
    title="Letta agent files",
    raw_arguments="yes",
    argument_failures="yes: parsed from the model's own text",
    error_flag="yes: status of the tool's return",
    definitions="yes: the tools of the agent",
    system_prompt="yes",
    model="yes: per message",
    turn_end="partly: send_message, or a message without a call; no verdict",
    cannot_tell="Messages before those that the agent still has.",
)

_ANSWER = "send_message"


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(
        isinstance(record.get("agents"), list)
        and isinstance(record.get("blocks"), list)
        and any("messages" in agent and "llm_config" in agent for agent in read_objects(record["agents"]))
        for record in head[:1]
    )


def translator(about: About) -> Translator:
    return _AgentFile(about.identity)


class _AgentFile:
    """Translator of one file. Each agent in the file is one session."""

    def __init__(self, identity: str) -> None:
        self._identity = identity

    def take(self, record: Record) -> Iterator[Event]:
        tools = {read_text(tool.get("id")): tool for tool in read_objects(record.value.get("tools"))}
        for number, agent in enumerate(read_objects(record.value.get("agents"))):
            session = f"{self._identity}/{number}" if number else self._identity
            yield from _take_agent(agent, tools, AgentSession(session), record)

    def finish(self) -> Iterable[Event]:
        return ()

    def close(self) -> None:
        """Do nothing: no file is open."""


def _take_agent(
    agent: Mapping[str, Any], tools: Mapping[Any, dict[str, Any]], dialogue: AgentSession, record: Record
) -> Iterator[Event]:
    config = read_object(agent.get("llm_config"))
    place: dict[str, Any] = {"session_id": dialogue.session_id, "where": record.where}
    provider = read_text(config.get("provider_name"))
    yield SessionSeen(**place, harness="letta", model=read_text(config.get("model")), provider=provider)
    named = agent.get("tool_ids")
    agent_tools = [tools.get(read_text(tool_id)) for tool_id in named] if isinstance(named, list) else []
    definitions = [read_object(tool.get("json_schema")) for tool in agent_tools if tool is not None]
    if any(definitions):
        if not any(definition.get("name") == _ANSWER for definition in definitions):
            # The agent's definitions may lack this tool, which Letta itself calls to write a greeting.
            definitions.append({"name": _ANSWER})
        yield ToolsOffered(**place, definitions=tuple(filter(None, definitions)))
    # Continue the search after the list of message ids, if there is such a list.
    record.find_line('"messages"', past=True)
    for message in read_objects(agent.get("messages")):
        ident = read_text(message.get("id"))
        where = record.find_line(f'"{ident}"') if ident is not None else record.where
        yield from _take_message(message, dialogue, where)
    yield from dialogue.close_turn()


def _take_message(message: Mapping[str, Any], dialogue: AgentSession, where: LogLine) -> Iterator[Event]:
    role, words, ts = (
        message.get("role"), join_content(message.get("content")), read_time(message.get("created_at")),
    )  # fmt: skip
    calls = list(list_calls(message))
    if role == "system" and words:
        yield PromptSeen(session_id=dialogue.session_id, where=where, ts=ts, text=words)
    elif role == "user" and (question := _read_question(words)) is not None:
        dialogue.ask(where, ts, question)
    elif role == "assistant" or calls:
        yield from dialogue.add_step(where, ts, words, model=read_text(message.get("model")))
        for call in calls:
            yield dialogue.add_call(where, ts, **sent_call_fields(call))
            if call["name"] == _ANSWER:
                answer = read_text(read_object(open_json(call["arguments"])).get("message"))
                dialogue.note_stop(where, ts, answer=answer)
    yield from _make_results(message, words, dialogue, where, ts)


def _read_question(words: str | None) -> str | None:
    """Return the text of a user's message. Return None for an event that Letta itself created."""
    fields = read_object(open_json(words))
    if "type" not in fields:
        return words
    return read_text(fields.get("message")) if fields["type"] == "user_message" else None


def _make_results(
    message: Mapping[str, Any], words: str | None, dialogue: AgentSession, where: LogLine, ts: datetime | None
) -> Iterator[ResultSeen]:
    shared: dict[str, Any] = {"session_id": dialogue.session_id, "where": where, "ts": ts}
    for approval in read_objects(message.get("approvals")):
        if approval.get("approve") is False:
            reason = read_text(approval.get("reason")) or read_text(message.get("denial_reason")) or ""
            flag = failed_flag(reason, FaultLayer.REFUSED)
            call_id = read_text(approval.get("tool_call_id"))
            yield ResultSeen(**shared, tool_call_id=call_id, content=reason or None, **flag.fields)
    returns = read_objects(message.get("tool_returns"))
    if not returns and message.get("role") == "tool":
        returns = [{"tool_call_id": message.get("tool_call_id"), "func_response": words}]
    for tool_return in returns:
        content = join_content(tool_return.get("func_response")) or join_content(tool_return.get("stderr"))
        status = tool_return.get("status")
        flag = failed_flag(content or "") if status == "error" else ResultFlag()
        flag = PASSED if status == "success" else flag
        call_id = read_text(tool_return.get("tool_call_id")) or read_text(message.get("tool_call_id"))
        yield ResultSeen(**shared, tool_call_id=call_id, content=content, **flag.fields)

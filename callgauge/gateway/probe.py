"""Finds out by a few short questions what a model and its server can do.

A server that is not reached leaves everything unknown: that is not a no. What was declared is never asked.
"""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from callgauge.gateway.capabilities import MISTRAL_IDS, Capabilities, JsonStability, known_of_wire
from callgauge.gateway.endpoint import Endpoint
from callgauge.gateway.provider_errors import NoReplyError, Trouble
from callgauge.gateway.sentences import write_json_template
from callgauge.gateway.wires.messages import Call, ChatMessage, ChatRequest, Reply
from lenient import ToolCatalog, ToolDefinition, extract_tool_calls

REPORT_NUMBER = ToolDefinition.from_json_schema(
    name="report_number",
    description="Report one number.",
    schema={
        "type": "object",
        "properties": {"number": {"type": "integer", "description": "The number to report."}},
        "required": ["number"],
        "additionalProperties": False,
    },
)
_CATALOG = ToolCatalog.from_definitions([REPORT_NUMBER])
_IDS = (  # patterns of ids, the narrowest first
    MISTRAL_IDS,
    r"call_[A-Za-z0-9_-]+",
    r"toolu_[A-Za-z0-9_-]+",
)


@dataclass(frozen=True, slots=True)
class Probe:
    """What a probe found out. `ok` is seed 002's word: the model made a native call; None is unknown.

    `error` says why not. `requests` and `seconds` are what the probe cost.
    """

    id: str
    ts: str
    ok: bool | None
    error: str | None
    capabilities: Capabilities
    requests: int = 0
    seconds: float = 0.0

    def to_log(self) -> dict[str, Any]:
        """Return the field `probe` of a session log."""
        told = {"id": self.id, "ts": self.ts, "ok": self.ok, "error": self.error, "tried": self.requests}
        return {name: value for name, value in told.items() if value is not None}


async def probe_model(
    endpoint: Endpoint, model: str, declared: Capabilities | None = None, *, json_questions: int = 0
) -> Probe:
    """Ask a model what it can do; return that with what is declared and what its wire is known for.

    With `json_questions` the template of the JSON fallback is tried that many times. Never raises for what
    the endpoint answers.
    """
    known = (declared or Capabilities()).as_declared().complete(known_of_wire(endpoint.wire.name), "wire")
    asking = _Questions(endpoint, model)
    started = time.monotonic()
    error: str | None = None
    if known.supports_tool_use is None:
        known, error = await asking.ask_native(known)
    if known.supports_tool_use:
        known = await asking.ask_parallel(known)
    if known.allows_midturn_system is None and known.supports_tool_use is not None:
        known = await asking.ask_midturn_system(known)
    if json_questions and known.json_stability is None and known.supports_tool_use is not None:
        known = await asking.ask_json(known, json_questions)
    return Probe(
        uuid.uuid4().hex,
        datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        known.supports_tool_use,
        error,
        known,
        asking.sent,
        time.monotonic() - started,
    )


class _Questions:
    """The questions to one model; each returns the capabilities with what its answer says."""

    def __init__(self, endpoint: Endpoint, model: str) -> None:
        self.endpoint = endpoint
        self.model = model
        self.sent = 0

    async def _ask(self, *messages: ChatMessage, with_tool: bool = True) -> Reply:
        self.sent += 1
        tools = (REPORT_NUMBER,) if with_tool else ()
        sampling = {"temperature": 0}
        return await self.endpoint.ask(ChatRequest(self.model, messages, tools, sampling=sampling))

    async def ask_native(self, known: Capabilities) -> tuple[Capabilities, str | None]:
        """Ask for a call without forcing it: a grammar would make any model say yes."""
        try:
            reply = await self._ask(
                ChatMessage("system", "Use the tool. Do not answer in text."),
                ChatMessage("user", "Report the number 7 with the tool report_number."),
            )
        except NoReplyError as told:
            if told.trouble is Trouble.NO_TOOLS:
                return known.complete(Capabilities(supports_tool_use=False), "probed"), str(told)
            return known, str(told)
        if reply.refused is not None or any(call.name == REPORT_NUMBER.name for call in reply.calls):
            found = Capabilities(supports_tool_use=True, tool_id_pattern=_find_id_pattern(reply.calls))
            return known.complete(found, "probed"), None
        found = Capabilities(supports_tool_use=False)
        return known.complete(found, "probed"), _explain_text(reply.text)

    async def ask_parallel(self, known: Capabilities) -> Capabilities:
        if known.supports_parallel_tools is not None:
            return known

        def read(reply: Reply) -> Capabilities:
            return Capabilities(supports_parallel_tools=len(reply.calls) > 1)

        return await self._ask_for(
            known,
            read,
            ChatMessage("system", "Use the tool. Make both calls in one answer."),
            ChatMessage("user", "Report the numbers 7 and 8 with report_number, both calls at once."),
        )

    async def ask_midturn_system(self, known: Capabilities) -> Capabilities:
        messages = (
            ChatMessage("system", "Answer briefly."),
            ChatMessage("user", "Say one."),
            ChatMessage("assistant", "One."),
            ChatMessage("system", "From now on say two."),
            ChatMessage("user", "Again, please."),
        )
        try:
            await self._ask(*messages, with_tool=False)
        except NoReplyError as told:
            is_no = told.trouble is Trouble.REQUEST
            return known.complete(Capabilities(allows_midturn_system=False), "probed") if is_no else known
        return known.complete(Capabilities(allows_midturn_system=True), "probed")

    async def ask_json(self, known: Capabilities, questions: int) -> Capabilities:
        """Count the text answers to the template that are one readable block and nothing else."""
        system = ChatMessage("system", write_json_template([REPORT_NUMBER]))
        right = asked = 0
        for number in range(questions):
            try:
                reply = await self._ask(
                    system, ChatMessage("user", f"Report the number {number + 7}."), with_tool=False
                )
            except NoReplyError:
                break
            asked += 1
            right += _is_one_clean_block(reply.text)
        found = Capabilities(json_stability=JsonStability(right, asked) if asked else None)
        return known.complete(found, "probed")

    async def _ask_for(
        self, known: Capabilities, read: Callable[[Reply], Capabilities], *messages: ChatMessage
    ) -> Capabilities:
        try:
            return known.complete(read(await self._ask(*messages)), "probed")
        except NoReplyError:
            return known


def _find_id_pattern(calls: Sequence[Call]) -> str | None:
    ids = [call.id for call in calls if call.id]
    return next((pattern for pattern in _IDS if ids and all(re.fullmatch(pattern, one) for one in ids)), None)


def _explain_text(text: str) -> str:
    found = extract_tool_calls(text, _CATALOG)
    if found:
        return (
            f"the call stands in the text ({found[0].dialect}): the server's parser of calls is off or "
            "missing, which is not the model's fault"
        )
    return "the answer held no tool call"


_BLOCK = re.compile(r"\s*```json\n(.*)\n```\s*", re.DOTALL)


def _is_one_clean_block(text: str) -> bool:
    found = extract_tool_calls(text, _CATALOG)
    alone = _BLOCK.fullmatch(text) is not None
    return alone and len(found) == 1 and not found[0].diagnostics and not found[0].request.diagnostics

"""What a server does beyond tool calls: strict definitions, answers by a schema, seeds, counts of tokens.

None of it decides how a model is asked; it is what a team wants to know before it relies on it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from callgauge.gateway.provider_errors import NoReplyError, Trouble
from callgauge.gateway.wires.messages import ChatMessage, ChatRequest, Reply
from callgauge.gateway.wires.wire import Wire
from lenient import ToolCatalog, ToolDefinition, parse_arguments

Ask = Callable[[ChatRequest], Awaitable[Reply]]
Strict = Literal["accepted", "refused", "not offered", "unknown", "not asked"]
Schema = Literal["obeyed", "not obeyed", "refused", "unknown", "not asked"]
Seed = Literal["equal", "different", "no effect seen", "refused", "not offered", "unknown", "not asked"]
Usage = Literal["reported", "not reported", "unknown"]


@dataclass(frozen=True, slots=True)
class ServerFeatures:
    """What a server was seen to do; `unknown` where it gave no answer.

    `strict_definitions`: a definition marked as strict is `accepted` (nothing is said of whether the server
    keeps to it) or `refused`. `json_schema`: an answer is held to a schema (`obeyed`), is not, or the request
    is `refused`. `seed`, of answers at temperature 1: two with one seed were `equal` and one with another
    seed was not (seen once, which proves little); they were `different`; or all were alike, so that nothing
    can be told (`no effect seen`). `usage`: tokens are counted in the replies. `not offered`: the wire has no
    such field.
    """

    strict_definitions: Strict = "not asked"
    json_schema: Schema = "not asked"
    seed: Seed = "not asked"
    usage: Usage = "unknown"

    def to_log(self) -> dict[str, str]:
        """Return what is known, for a session log."""
        told = {
            "strict_definitions": self.strict_definitions,
            "json_schema": self.json_schema,
            "seed": self.seed,
            "usage": self.usage,
        }
        return {name: word for name, word in told.items() if word not in ("unknown", "not asked")}


_MOOD = ToolDefinition.from_json_schema(
    name="mood",
    description="An answer that nobody gives unasked.",
    schema={
        "type": "object",
        "properties": {
            "mood": {"type": "string", "enum": ["glad", "sad"], "description": "The mood."},
            "weight": {"type": "integer", "description": "Any number."},
        },
        "required": ["mood", "weight"],
        "additionalProperties": False,
    },
)
_REFUSALS = (400, 415, 422, 501)


def is_refusal(told: NoReplyError) -> bool:
    """Return True when a server refuses what was asked for, and is not merely out of reach."""
    if told.trouble is not Trouble.REQUEST:
        return told.trouble is Trouble.NO_TOOLS
    # OpenRouter says with 404 that nobody behind it takes what was asked for.
    return told.status in (None, *_REFUSALS) or "no endpoints found" in str(told).lower()


async def ask_strict(ask: Ask, wire: Wire, model: str, tool: ToolDefinition) -> Strict:
    """Offer a strict definition."""
    if not wire.knows_strict:
        return "not offered"
    question = ChatMessage("user", f"Report the number 7 with the tool {tool.name}.")
    try:
        await ask(ChatRequest(model, (question,), (tool,), is_strict=True))
    except NoReplyError as told:
        return "refused" if is_refusal(told) else "unknown"
    return "accepted"


async def ask_schema(ask: Ask, model: str) -> Schema:
    """Ask for an answer by a schema that the question does not suggest."""
    question = ChatMessage("user", "How are you?")
    try:
        reply = await ask(ChatRequest(model, (question,), answer_schema=_MOOD.to_json_schema()))
    except NoReplyError as told:
        return "refused" if is_refusal(told) else "unknown"
    catalog = ToolCatalog.from_definitions([_MOOD])
    read = parse_arguments(reply.text, catalog, tool_name=_MOOD.name)
    return "obeyed" if read.outcome == "clean" else "not obeyed"


async def ask_seed(ask: Ask, wire: Wire, model: str) -> Seed:
    """Ask twice with one seed and once with another, at temperature 1, for what has many answers."""
    if not wire.knows_seed:
        return "not offered"
    question = ChatMessage("user", "Write forty digits at random, and nothing else.")
    texts = []
    for seed in (7, 7, 8):
        sampling = {"temperature": 1, "seed": seed}
        try:
            texts.append((await ask(ChatRequest(model, (question,), sampling=sampling))).text)
        except NoReplyError as told:
            return "refused" if is_refusal(told) else "unknown"
    if texts[0] != texts[1]:
        return "different"
    return "no effect seen" if texts[1] == texts[2] else "equal"

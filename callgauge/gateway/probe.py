"""Find out with a few short questions what a model and its server can do.

If the server cannot be reached, all capabilities stay unknown. Declared capabilities are not probed. Strict
definitions, schemas, seeds and token counts are tested only for the report: the gateway behaves the same
without them.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal

from callgauge.gateway.apis.adapter import Wire
from callgauge.gateway.apis.messages import (
    Call,
    CallSource,
    ChatMessage,
    ChatRequest,
    FinishReason,
    Reply,
    Tokens,
    sum_tokens,
)
from callgauge.gateway.capabilities import MISTRAL_IDS, Capabilities, JsonStability
from callgauge.gateway.endpoint import Endpoint
from callgauge.gateway.provider_errors import NoReplyError, Trouble
from callgauge.gateway.sentences import write_json_template
from lenient import ToolCatalog, ToolDefinition, extract_tool_calls, parse_arguments

Ask = Callable[[ChatRequest], Awaitable[Reply]]
Strict = Literal["accepted", "refused", "not offered", "unknown", "not asked"]
Schema = Literal["obeyed", "not obeyed", "refused", "unknown", "not asked"]
Seed = Literal["equal", "different", "no effect seen", "refused", "not offered", "unknown", "not asked"]
Usage = Literal["reported", "not reported", "unknown"]
_MOOD = ToolDefinition.from_json_schema(
    name="mood",
    description="An answer that nobody gives without a question.",
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
_USE_THE_TOOL = (
    ChatMessage("system", "Use the tool. Do not answer in text."),
    ChatMessage("user", "Report the number 7 with the tool report_number."),
)
_SPACED_ARGUMENTS = (
    "Report the number 7 with the tool report_number. Write its arguments exactly like this, with all "
    'spaces: {  "number"  :  7  }'
)
MOST_TOKENS = 2048
"""The token limit of one answer. Reasoning models use many tokens before they call."""
_LIMIT_NAMES = re.compile(r"max\w{0,12}tokens", re.IGNORECASE)
_MADE_CALL = Call("call00001", REPORT_NUMBER.name, '{"number": 7}')
_IDS = (  # patterns of ids, the most restrictive first
    MISTRAL_IDS,
    r"call_[A-Za-z0-9_-]+",
    r"toolu_[A-Za-z0-9_-]+",
)
_BLOCK = re.compile(r"\s*```json\n(.*)\n```\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ServerFeatures:
    """Features that a server showed.

    Each field is `unknown` if the server gave no answer, or `not offered` if the API has no such setting.
    `strict_definitions` is `accepted` or `refused`: whether the server accepts a definition that is marked as
    strict. `json_schema` says whether the answer follows a schema (`obeyed`), or the request is `refused`.
    `seed` compares three answers at temperature 1, two of them with the same seed. It is `equal` if only
    these two are equal, `different` if they differ, and `no effect seen` if all three are equal. `usage` says
    whether replies contain token counts.
    """

    strict_definitions: Strict = "not asked"
    json_schema: Schema = "not asked"
    seed: Seed = "not asked"
    usage: Usage = "unknown"

    def to_log(self) -> dict[str, str]:
        """Return the features that are not unknown, for a session log."""
        features = {
            "strict_definitions": self.strict_definitions,
            "json_schema": self.json_schema,
            "seed": self.seed,
            "usage": self.usage,
        }
        return {name: word for name, word in features.items() if word not in ("unknown", "not asked")}


def _is_refusal(error: NoReplyError) -> bool:
    """Return True if the server rejected the request, and False if the server could not be reached."""
    if error.trouble is not Trouble.REQUEST:
        return error.trouble is Trouble.NO_TOOLS
    # OpenRouter answers 404 when no host behind it supports a parameter.
    return error.status in (None, *_REFUSALS) or "no endpoints found" in str(error).lower()


async def _ask_strict(ask: Ask, wire: Wire, model: str, tool: ToolDefinition) -> Strict:
    if not wire.knows_strict:
        return "not offered"
    question = ChatMessage("user", f"Report the number 7 with the tool {tool.name}.")
    try:
        await ask(ChatRequest(model, (question,), (tool,), is_strict=True))
    except NoReplyError as error:
        return "refused" if _is_refusal(error) else "unknown"
    return "accepted"


async def _ask_schema(ask: Ask, model: str) -> Schema:
    """Test whether an answer follows a schema that the question does not suggest."""
    question = ChatMessage("user", "How are you?")
    try:
        reply = await ask(ChatRequest(model, (question,), answer_schema=_MOOD.to_json_schema()))
    except NoReplyError as error:
        return "refused" if _is_refusal(error) else "unknown"
    catalog = ToolCatalog.from_definitions([_MOOD])
    read = parse_arguments(reply.text, catalog, tool_name=_MOOD.name)
    return "obeyed" if read.outcome == "clean" else "not obeyed"


async def _ask_seed(ask: Ask, wire: Wire, model: str) -> Seed:
    """Ask one question three times at temperature 1: twice with one seed, once with another seed."""
    if not wire.knows_seed:
        return "not offered"
    question = ChatMessage("user", "Write forty digits at random, and nothing else.")
    texts = []
    for seed in (7, 7, 8):
        sampling = {"temperature": 1, "seed": seed}
        try:
            texts.append((await ask(ChatRequest(model, (question,), sampling=sampling))).text)
        except NoReplyError as error:
            return "refused" if _is_refusal(error) else "unknown"
    if texts[0] != texts[1]:
        return "different"
    return "no effect seen" if texts[1] == texts[2] else "equal"


@dataclass(frozen=True, slots=True)
class Probe:
    """The result of a probe. `ok` is True when the model made a native call, None when that is unknown.

    `error` is the reason if `ok` is not True. `notes` holds the reasons for other capabilities. `requests`,
    `seconds` and `tokens` are the cost of the probe.
    """

    id: str
    ts: str
    ok: bool | None
    error: str | None
    capabilities: Capabilities
    requests: int = 0
    seconds: float = 0.0
    tokens: Tokens = field(default_factory=Tokens)
    features: ServerFeatures = field(default_factory=ServerFeatures)
    notes: Mapping[str, str] = field(default_factory=dict)

    def to_log(self) -> dict[str, Any]:
        """Return the field `probe` of a session log."""
        values = {
            "id": self.id,
            "ts": self.ts,
            "ok": self.ok,
            "error": self.error,
            "tried": self.requests,
            "features": self.features.to_log() or None,
        }
        return {name: value for name, value in values.items() if value is not None}


async def probe_model(
    endpoint: Endpoint,
    model: str,
    declared: Capabilities | None = None,
    *,
    json_questions: int = 0,
    is_full: bool = False,
    time_limit: float = 300.0,
    watch: Callable[[str], None] = lambda _question: None,
) -> Probe:
    """Test a model's unknown capabilities. Return them with the declared capabilities and those known of the
    API.

    `json_questions` is how often the template of the JSON fallback is tried. With `is_full`, features beyond
    tool calls are tested, too. After `time_limit` seconds the probe stops, and untested capabilities stay
    unknown. `watch` gets the name of each question. An error of the endpoint raises no exception.
    """
    known = (declared or Capabilities()).as_declared().complete(endpoint.known, "wire")
    asking = _Questions(endpoint, model, known, watch)
    started = time.monotonic()
    try:
        async with asyncio.timeout(time_limit):
            await asking.ask_all(json_questions, is_full=is_full)
    except TimeoutError:
        asking.stop(f"no answer within the {time_limit:g} s of the probe")
    return Probe(
        uuid.uuid4().hex,
        datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        asking.known.supports_tool_use,
        asking.error,
        asking.known,
        asking.sent,
        time.monotonic() - started,
        sum_tokens(asking.tokens),
        asking.describe_features(),
        asking.notes,
    )


class _Questions:
    """Asks one model questions. Each method returns the capabilities, with what the answer showed.

    `known` holds the capabilities so far. `error` says why native calls are missing or unknown.
    """

    def __init__(
        self, endpoint: Endpoint, model: str, known: Capabilities, watch: Callable[[str], None]
    ) -> None:
        self.endpoint = endpoint
        self.model = model
        self.known = known
        self.watch = watch
        self.error: str | None = None
        self.features = ServerFeatures()
        self.sent = 0
        self.tokens: list[Tokens] = []
        self.ids: list[str] = []
        self.raw_texts: list[str] = []
        self.notes: dict[str, str] = {}
        self._first: Reply | None = None
        self._streams = endpoint.streams and known.streams_calls is not False
        self._temperature: dict[str, float | int] = {"temperature": 0}
        self._limit: dict[str, float | int] = {"max_tokens": MOST_TOKENS}

    async def ask_all(self, json_questions: int, *, is_full: bool) -> None:
        """Ask about every unknown capability."""
        if self.known.supports_tool_use is None:
            self.watch("native calls")
            self.known, self.error = await self.ask_native(self.known)
        if self.known.supports_tool_use:
            for name, ask in (
                ("parallel calls", self.ask_parallel),
                ("results taken", self.ask_result),
                ("text of calls", self.ask_argument_text),
            ):
                self.watch(name)
                self.known = await ask(self.known)
            probed = Capabilities(tool_id_pattern=_find_id_pattern(self.ids))
            self.known = self.known.complete(probed, "probed")
        if self.known.supports_tool_use is None:  # The server cannot be reached.
            return
        if self.known.allows_midturn_system is None:
            self.watch("system mid-turn")
            self.known = await self.ask_midturn_system(self.known)
        if json_questions and self.known.json_stability is None:
            self.watch("JSON answers")
            self.known = await self.ask_json(self.known, json_questions)
        if is_full:
            self.watch("strict definitions, answers by schema, seed")
            self.features = await self.ask_features(self.known)

    def stop(self, reason: str) -> None:
        """Record that the questions were stopped early."""
        if self.known.supports_tool_use is None:
            self.error = reason
        else:
            self.notes["probe"] = reason

    async def _ask(self, *messages: ChatMessage, with_tool: bool = True) -> Reply:
        tools = (REPORT_NUMBER,) if with_tool else ()
        request = ChatRequest(self.model, messages, tools, sampling=self._temperature)
        try:
            return await self._send(request)
        except NoReplyError as error:  # Some models accept only their default temperature.
            if (
                error.trouble is not Trouble.REQUEST
                or "temperature" not in str(error)
                or not self._temperature
            ):
                raise
            self._temperature = {}
            return await self._send(replace(request, sampling={}))

    async def _send(self, request: ChatRequest) -> Reply:
        try:
            return await self._send_limited(request)
        except NoReplyError as error:  # Some models use another name for the token limit.
            if (
                error.trouble is not Trouble.REQUEST
                or not self._limit
                or _LIMIT_NAMES.search(str(error)) is None
            ):
                raise
            self._limit = {}
            return await self._send_limited(request)

    async def _send_limited(self, request: ChatRequest) -> Reply:
        self.sent += 1
        sampling = {**self._limit, **request.sampling}
        reply = await self.endpoint.ask(replace(request, streams=self._streams, sampling=sampling))
        self.tokens.append(reply.tokens)
        self.ids += [call.id for call in reply.calls if call.id]
        self.raw_texts += [call.raw for call in reply.calls if call.source is CallSource.RAW]
        return reply

    async def ask_native(self, known: Capabilities) -> tuple[Capabilities, str | None]:
        """Ask for a tool call without forcing one: with a forced grammar, every model makes a call."""
        try:
            reply = await self._ask(*_USE_THE_TOOL)
        except NoReplyError as error:
            # Bedrock reports: no tool use in streaming mode.
            is_about_streams = "stream" in str(error).lower()
            if is_about_streams and self._streams and await self._finds_call_unstreamed():
                return self._stop_streaming(known), None
            if error.trouble is Trouble.NO_TOOLS:
                return known.complete(Capabilities(supports_tool_use=False), "probed"), str(error)
            return known, str(error)
        if reply.refused is not None or any(call.name == REPORT_NUMBER.name for call in reply.calls):
            self._first = reply
            return known.complete(Capabilities(supports_tool_use=True), "probed"), None
        if reply.stop is FinishReason.MAX_TOKENS and not reply.calls:
            return known, f"the answer was cut at {MOST_TOKENS:,} tokens before a call"
        if self._streams and await self._finds_call_unstreamed():
            return self._stop_streaming(known), None
        probed = Capabilities(supports_tool_use=False)
        return known.complete(probed, "probed"), _explain_text(reply.text)

    def _stop_streaming(self, known: Capabilities) -> Capabilities:
        self._streams = False
        self.notes["streams_calls"] = "calls arrive only in answers without streaming, so no request streams"
        return known.complete(Capabilities(supports_tool_use=True, streams_calls=False), "probed")

    async def _finds_call_unstreamed(self) -> bool:
        """Ask again without streaming, because some servers omit calls from streams."""
        self._streams = False
        try:
            reply = await self._ask(*_USE_THE_TOOL)
        except NoReplyError:
            return False
        finally:
            self._streams = True
        is_called = any(call.name == REPORT_NUMBER.name for call in reply.calls)
        self._first = reply if is_called else None
        return is_called

    async def ask_parallel(self, known: Capabilities) -> Capabilities:
        if known.supports_parallel_tools is not None:
            return known
        try:
            reply = await self._ask(
                ChatMessage("system", "Use the tool. Make both calls in one answer."),
                ChatMessage(
                    "user", "Report the numbers 7 and 8 with report_number, both calls in one answer."
                ),
            )
        except NoReplyError as error:
            self.notes["supports_parallel_tools"] = str(error)
            return known
        if reply.refused is not None:  # The server does not say whether the reply had one call or two.
            self.notes["supports_parallel_tools"] = reply.refused
            return known
        return known.complete(Capabilities(supports_parallel_tools=len(reply.calls) > 1), "probed")

    async def ask_result(self, known: Capabilities) -> Capabilities:
        """Send a tool call back with its result. A text answer shows that the server accepted the result."""
        if known.takes_tool_results is not None:
            return known
        first = self._first or Reply()
        made = next((call for call in first.calls if call.name == REPORT_NUMBER.name), None)
        call = _MADE_CALL if made is None or not made.id else made
        call = replace(call, raw=_MADE_CALL.raw)  # The model's own arguments may not be a JSON object.
        try:
            reply = await self._ask(
                *_USE_THE_TOOL,
                ChatMessage("assistant", first.text, (call,), carried=first.carried),
                ChatMessage("tool", "The number is reported. Say done.", (), call.id, call.name),
            )
        except NoReplyError as error:
            self.notes["takes_tool_results"] = str(error)
            is_no = _is_refusal(error)
            return known.complete(Capabilities(takes_tool_results=False), "probed") if is_no else known
        if reply.calls or reply.refused is not None:
            self.notes["takes_tool_results"] = "after the result the tool was called again"
            return known
        return known.complete(Capabilities(takes_tool_results=True), "probed")

    async def ask_argument_text(self, known: Capabilities) -> Capabilities:
        """Ask for arguments with unusual spaces. If these spaces arrive, the server passes on the model's own
        text.
        """
        if known.keeps_argument_text is not None:
            return known
        try:
            await self._ask(_USE_THE_TOOL[0], ChatMessage("user", _SPACED_ARGUMENTS))
        except NoReplyError as error:
            self.notes["keeps_argument_text"] = str(error)
            return known
        probed = Capabilities(keeps_argument_text=any(map(has_unusual_spaces, self.raw_texts)) or None)
        return known.complete(probed, "probed")

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
        except NoReplyError as error:
            self.notes["allows_midturn_system"] = str(error)
            is_no = _is_refusal(error)
            return known.complete(Capabilities(allows_midturn_system=False), "probed") if is_no else known
        return known.complete(Capabilities(allows_midturn_system=True), "probed")

    async def ask_json(self, known: Capabilities, questions: int) -> Capabilities:
        """Count the answers to the template that consist of one readable JSON block and nothing else."""
        system = ChatMessage("system", write_json_template([REPORT_NUMBER]))
        right = tried = 0
        for number in range(questions):
            try:
                reply = await self._ask(
                    system, ChatMessage("user", f"Report the number {number + 7}."), with_tool=False
                )
            except NoReplyError as error:
                self.notes["json_stability"] = str(error)
                break
            tried += 1
            right += _is_one_clean_block(reply.text)
        probed = Capabilities(json_stability=JsonStability(right, tried) if tried else None)
        return known.complete(probed, "probed")

    async def ask_features(self, known: Capabilities) -> ServerFeatures:
        """Test strict definitions, an answer schema and a seed."""
        wire = self.endpoint.wire
        return ServerFeatures(
            await _ask_strict(self._send, wire, self.model, REPORT_NUMBER)
            if known.supports_tool_use
            else "not asked",
            await _ask_schema(self._send, self.model),
            await _ask_seed(self._send, wire, self.model),
        )

    def describe_features(self) -> ServerFeatures:
        """Return the features, including whether replies contain token counts."""
        if not self.tokens:
            return self.features
        is_counted = any(tokens.read is not None for tokens in self.tokens)
        return replace(self.features, usage="reported" if is_counted else "not reported")


def _find_id_pattern(ids: Sequence[str]) -> str | None:
    return next(
        (pattern for pattern in _IDS if ids and all(re.fullmatch(pattern, call_id) for call_id in ids)), None
    )


def has_unusual_spaces(raw: str) -> bool:
    """Return whether the spaces in these arguments differ from the output of every JSON library."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return False  # A stream that was cut off is no evidence.
    if not isinstance(value, dict):
        return False
    bare = "".join(raw.split())
    usual = [
        json.dumps(value, separators=separators) for separators in ((",", ":"), (", ", ": "), (",", ": "))
    ]
    if bare != "".join(usual[0].split()):
        return False  # A JSON library may also change escapes and the form of numbers.
    usual += [json.dumps(value, indent=indent) for indent in (1, 2, 3, 4, "\t")]
    return raw.strip() not in usual


def _explain_text(text: str) -> str:
    calls = extract_tool_calls(text, _CATALOG)
    if calls:
        return (
            f"the call is in the text ({calls[0].dialect}): the server's parser of calls is off or "
            "missing, which is not the model's fault"
        )
    return "the answer has no tool call"


def _is_one_clean_block(text: str) -> bool:
    calls = extract_tool_calls(text, _CATALOG)
    alone = _BLOCK.fullmatch(text) is not None
    return alone and len(calls) == 1 and not calls[0].diagnostics and not calls[0].request.diagnostics

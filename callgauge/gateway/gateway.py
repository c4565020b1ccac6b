"""Hold one conversation with a model: parse, repair, run and record its tool calls."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from callgauge.gateway.apis.messages import (
    ChatMessage,
    ChatRequest,
    Reply,
    TextPiece,
    Tokens,
    check_parts,
    describe_parts,
)
from callgauge.gateway.capabilities import Capabilities
from callgauge.gateway.endpoint import Endpoint
from callgauge.gateway.probe import Probe, probe_model
from callgauge.gateway.provider_errors import NoReplyError, Trouble
from callgauge.gateway.sentences import FALLBACK_IS_DEPRECATED, USE_TOOLS, write_json_template
from callgauge.gateway.session_log import SessionLog, TurnLog
from callgauge.gateway.tools.executor import TOOLS_LOG, Executor
from callgauge.gateway.tools.toolbox import Tool, Toolbox
from callgauge.gateway.turn import Strategy, Turn, TurnStep
from callgauge.gateway.turn_loop import TurnLoop
from lenient import ToolCatalog


@dataclass(frozen=True, slots=True)
class Prompt:
    """A system prompt. `name` and `version` identify it in the logs, if it has them."""

    text: str
    name: str | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits for one turn.

    `max_steps` is the maximum number of replies. `compensations` is the maximum number of corrections that
    are sent to the model after unreadable replies.
    """

    max_steps: int = 8
    compensations: int = 1


@dataclass(slots=True)
class Gateway:
    """One session with a model: `async with Gateway(endpoint, tools, model="…") as g: await g.run("…")`.

    `tools` is a list of tools, a toolbox, or an executor (which sets timeouts). The executor's `toolbox` may
    change between turns. `capabilities` declares what the model can do. Undeclared capabilities come from
    `probe`. Without `probe`, the gateway probes the model before the first turn. `strategy` is `auto` (native
    calls if the model supports them, else the JSON fallback), `tool_use` or `json_fallback`. `log` is a
    folder that gets one file per session, a log, or None. `sampling` may contain `temperature`, `top_p`,
    `max_tokens` and `seed`. `extra_body` is merged into every request. `price` returns the cost of a reply's
    tokens in USD for the log, or None if unknown. `meta` holds further fields for the log's event
    `session_start`. If `adds_template` is False, nothing is added to the prompt of native tools. `watch` is
    called with each step. `on_text` is called with each piece of a reply's text as the piece arrives. If
    `on_text` raises an exception, it is not called again. `judge` is called with every turn before the end of
    the turn is logged, and returns further fields for the log's event `turn_end` (`verdict`).
    """

    endpoint: Endpoint
    tools: Toolbox | Executor | Iterable[Tool] = ()
    model: str = ""
    prompt: Prompt | str = ""
    capabilities: Capabilities | None = None
    probe: Probe | None = None
    strategy: Literal["auto", "tool_use", "json_fallback"] = "auto"
    limits: Limits = Limits()
    sampling: Mapping[str, float | int] = field(default_factory=dict)
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    adds_template: bool = True
    log: str | Path | SessionLog | None = None
    session_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    environment: dict[str, Any] = field(default_factory=dict)
    price: Callable[[Tokens], float | None] | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    watch: Callable[[TurnStep], None] | None = None
    on_text: Callable[[TextPiece], None] | None = None
    judge: Callable[[Turn], Awaitable[Mapping[str, Any]]] | None = None
    history: list[ChatMessage] = field(default_factory=list, init=False)
    turns: int = field(default=0, init=False)
    _executor: Executor = field(init=False, repr=False)
    _named_prompt: Prompt = field(init=False, repr=False)
    _session_log: SessionLog | None = field(default=None, init=False, repr=False)
    _logged_catalog: ToolCatalog | None = field(default=None, init=False, repr=False)
    _is_started: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.tools, Executor):
            self._executor = self.tools
        else:
            box = self.tools if isinstance(self.tools, Toolbox) else Toolbox(self.tools)
            self._executor = Executor(box)
        self._named_prompt = Prompt(self.prompt) if isinstance(self.prompt, str) else self.prompt
        declared = (self.capabilities or Capabilities()).as_declared()
        self.capabilities = declared.complete(self.endpoint.known, "wire")

    async def __aenter__(self) -> Self:
        await self.endpoint.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session_log is not None and self._is_started:
            self._session_log.write("session_end")
        await self.endpoint.__aexit__(kind, error, trace)

    @property
    def known(self) -> Capabilities:
        """Return the capabilities that are known so far."""
        return self.capabilities or Capabilities()

    @property
    def used_strategy(self) -> Strategy | None:
        """Return the strategy for calls: the chosen strategy or, with `auto`, a strategy that the model
        supports.

        Return None with `auto` before the probe, or when the probe got no answer.
        """
        if self.strategy != "auto":
            return self.strategy
        if not len(self._executor.toolbox):
            return "tool_use"  # Without tools, no text can be a call.
        if self.known.supports_tool_use is None:
            return None
        return "tool_use" if self.known.can_use_tools else "json_fallback"

    async def run(self, text: str | None, parts: Iterable[Mapping[str, Any]] = ()) -> Turn:
        """Send a user's message and return the turn, with the final answer and all calls.

        `parts` holds images, audio or files in the API's own format. They are sent unchanged after the text.
        The log contains only their types and sizes. Raises TypeError if a part is not a JSON object. If
        `text` is None, the model continues `history`, which must end with a user's message or a result.
        Failures of the model, the server or a tool raise no exception: see the turn's `status` and `answer`.
        A cancelled turn is logged as cancelled.
        """
        sent = None if text is None else ChatMessage("user", text, parts=check_parts(parts))
        self.turns += 1
        await self._start()
        log = self._turn_log()
        if self._session_log is not None:
            self._session_log.write(
                "turn_start",
                turn=self.turns,
                role="user",
                content=_describe_message(sent or self._last_message()),
                tools=self._describe_new_tools(),
            )
        # A server that cannot be reached does not prove that the model lacks tools.
        if self.used_strategy is None:
            answer = f"(no reply) {self.probe.error if self.probe else 'the probe got no answer'}"
            log.write_end(0, answer, "error", 0.0, 0)
            return Turn(self.turns, "error", answer, (), 0, 0.0)
        if sent is not None:
            self.history.append(sent)
        loop = self._make_loop(log)
        try:
            return await loop.run()
        except BaseException:
            log.write_end(len(loop.steps), "", "cancelled", 0.0, loop.compensations)
            raise

    def _last_message(self) -> ChatMessage:
        users = (message for message in reversed(self.history) if message.role == "user")
        return next(users, ChatMessage("user"))

    async def _start(self) -> None:
        needs_probe = self.strategy == "auto" and self.known.supports_tool_use is None
        if self.probe is None and needs_probe and len(self._executor.toolbox):
            self.probe = await probe_model(self.endpoint, self.model, self.known)
        if self.probe is not None:
            self.capabilities = self.known.complete(self.probe.capabilities, "probed")
        if self._is_started:
            return
        self._is_started = True
        if self.used_strategy == "json_fallback":
            TOOLS_LOG.warning("%s: %s", self.model, FALLBACK_IS_DEPRECATED)
        if self.log is not None:
            self._session_log = (
                self.log
                if isinstance(self.log, SessionLog)
                else SessionLog(Path(self.log) / f"{self.session_id}.jsonl", self.session_id)
            )
            self._write_start(self._session_log)

    def _write_start(self, log: SessionLog) -> None:
        prompt = self._named_prompt
        identity = {"name": prompt.name, "version": prompt.version}
        log.write(
            "session_start",
            role="system",
            content=self._write_system(),
            harness={"name": "callgauge-gateway"},
            provider=self.endpoint.name,
            model=self.model,
            prompt={name: value for name, value in identity.items() if value is not None} or None,
            tools=self._describe_new_tools(),
            strategy=self.used_strategy,
            capabilities=self.known.to_log(),
            probe=self.probe.to_log() if self.probe is not None and self.probe.ok is not None else None,
            sampling=self._sampling_sent() or None,
            endpoint=self.endpoint.to_log(),
            **self.meta,
        )

    def _sampling_sent(self) -> dict[str, float | int]:
        """Return the sampling settings that are sent. Some APIs have no seed."""
        knows_seed = self.endpoint.wire.knows_seed
        return {name: value for name, value in self.sampling.items() if knows_seed or name != "seed"}

    def _describe_new_tools(self) -> list[dict[str, Any]] | None:
        """Return the tool definitions for the log, if they differ from the definitions already logged."""
        catalog = self._executor.toolbox.catalog
        if catalog is self._logged_catalog:
            return None
        self._logged_catalog = catalog
        return [definition.to_anthropic() for definition in catalog] or None

    def _write_system(self) -> str:
        prompt = self._named_prompt
        template = ""
        if len(self._executor.toolbox):
            if self.used_strategy == "json_fallback":
                template = write_json_template(self._executor.toolbox.catalog)
            elif self.used_strategy == "tool_use" and self.adds_template:
                template = USE_TOOLS
        return "\n\n".join(part for part in (prompt.text, template) if part)

    def _turn_log(self) -> TurnLog:
        return TurnLog(
            self._session_log,
            self.turns,
            self.endpoint.name,
            self.model,
            self.known.whose_text,
            self.price,
        )

    def _make_loop(self, log: TurnLog) -> TurnLoop:
        return TurnLoop(
            ask=self._ask,
            messages=self.history,
            executor=self._executor,
            log=log,
            # The strategy is known here, else the turn has already ended.
            strategy=lambda: self.used_strategy or "tool_use",
            session_id=self.session_id,
            number=self.turns,
            max_steps=self.limits.max_steps,
            compensations_left=self.limits.compensations,
            id_pattern=self.known.tool_id_pattern,
            is_serial=self.known.supports_parallel_tools is False,
            takes_system=self.known.allows_midturn_system is True,
            environment=self.environment,
            watch=self.watch or (lambda _step: None),
            judge=self.judge,
        )

    async def _ask(self) -> Reply:
        """Ask the model for its next reply.

        If the server rejects tools and the strategy is `auto`, the request is repeated with the JSON
        fallback.
        """
        try:
            return await self.endpoint.ask(self._write_request(), self._send_text)
        except NoReplyError as error:
            is_native = self.used_strategy == "tool_use"
            if error.trouble is not Trouble.NO_TOOLS or self.strategy != "auto" or not is_native:
                raise
            known_by = {**self.known.known_by, "supports_tool_use": "refused"}
            self.capabilities = replace(self.known, supports_tool_use=False, known_by=known_by)
            return await self.endpoint.ask(self._write_request(), self._send_text)

    def _send_text(self, piece: TextPiece) -> None:
        if self.on_text is None:
            return
        try:
            self.on_text(piece)
        except Exception as error:  # An exception in a callback must not end the turn.
            self.on_text = None
            TOOLS_LOG.warning("on_text failed and is not called again", exc_info=error)

    def _write_request(self) -> ChatRequest:
        is_native = self.used_strategy == "tool_use"
        system = self._write_system()
        head = (ChatMessage("system", system),) if system else ()
        return ChatRequest(
            model=self.model,
            messages=(*head, *self.history),
            tools=tuple(self._executor.toolbox.catalog) if is_native else (),
            is_serial=self.known.supports_parallel_tools is False,
            streams=self.known.streams_calls is not False,
            sampling=self.sampling,
            extra_body=self.extra_body,
        )


def _describe_message(message: ChatMessage) -> str:
    """Return the text of a message for the log, with a line for each image, audio or file."""
    return "\n".join(text for text in (message.text, describe_parts(message.parts)) if text)

"""Copilot Chat in VS Code: its chat sessions, and the output of "Chat: Export Session".

**Files.** `User/workspaceStorage/<hash>/chatSessions/<id>.json` (or `globalStorage/emptyWindowChatSessions`),
since 2026 `<id>.jsonl`. An export is `chat.json`. Sources: microsoft/vscode, `chatModel.ts` and
`objectMutationLog.ts`; an export of epics-containers/p47-services; artificial logs of
srinivasdrona/superbased-observer (2026-05).

**Fields.** `{sessionId, requests[]}`. A request is `{requestId, timestamp, message.text, modelId, response[],
result.{metadata, errorDetails}, modelState}`. `metadata.toolCallRounds[].toolCalls[].{id, name, arguments}`
are the calls with the model's own text. `metadata.toolCallResults` are the results by call id. A `.jsonl`
file is a log of changes to one such document; the changes are applied in order (`StateLog`).

**Turns.** One request is one turn. `modelState` states how it ended; with `errorDetails` it ended with an
error.

**Rules.**
- `response[]` is what VS Code showed. There, a call has another id, another name and no arguments, but states
  whether a person allowed it (`isConfirmed`). Shown calls are joined to the calls by id, or by order if both
  lists have the same length.
- `copilot/` before a model's name is the vendor. For `copilot/auto`, which is not a model,
  `metadata.resolvedModel` names the model.
- A later line of a `.jsonl` file can replace everything before it. The line number of a call is the last line
  that changed its request.

**Limits.** A whole session is kept in memory. `--max-line` limits each of its lines.

**Not in the log.** Tool definitions, the system prompt, and the tokens of a turn with several replies. No
file with a denied call was available.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ingest.decoding.fields import read_count, read_epoch_ms, read_object, read_objects, read_text
from ingest.decoding.lines import SNIPPET_READ, make_snippet
from ingest.events import (
    Event,
    FaultLayer,
    FlagSource,
    LogLine,
    Rejected,
    ResultSeen,
    SessionSeen,
    TurnStatus,
)
from ingest.formats.conversations.agent_session import AgentSession, sent_call_fields
from ingest.formats.conversations.result_layers import Texts, failed_flag, find_layer
from ingest.formats.provider_messages.chat_messages import ResultFlag, list_calls
from ingest.formats.provider_messages.message_hashes import unique_id
from ingest.log_format import About, Record, Source, Translator
from lenient.regex import compile_regex

SOURCE = Source(
    name="vscode_chat",
    title="VS Code Copilot Chat",
    raw_arguments="yes",
    argument_failures="yes: parsed from the model's own text; the extension's own errors",
    error_flag="partly: denials by a person, and the extension's messages for a failure",
    definitions="no: supply them with --tools",
    system_prompt="no",
    model="yes: per request",
    turn_end="yes: modelState or errorDetails of the request",
    cannot_tell="Results of tools have no flag: most stay unknown.",
)

_TOP = ("responderUsername", "sessionId", "creationDate")
_INITIAL, _SET, _PUSH, _DELETE = range(4)
_FARTHEST = 100_000  # Real sessions have no index above this.

# The extension's texts about calls (microsoft/vscode-copilot-chat, `toolCalling.tsx`, `toolsService.ts`).
_TEXTS: Texts = (
    (FaultLayer.SCHEMA, compile_regex(r"ERROR: Your input to the tool was invalid")),
    (FaultLayer.EXECUTION, compile_regex(r"ERROR while calling tool:")),
    (FaultLayer.REFUSED, compile_regex(r"The user cancelled the tool call|The user (?:chose to )?skip")),
)
_REFUSED = "a person did not allow the call"
_DENIED, _SKIPPED = 0, 5  # values of VS Code's ToolConfirmKind
_STATES = {1: TurnStatus.COMPLETED, 2: TurnStatus.CANCELLED, 3: TurnStatus.ERROR}
_UNFINISHED = (0, 4)  # states of a request in VS Code: pending, needs input
_PICTURE = "toolInvocationSerialized"
_SHOWN = (None, "markdownContent")
_DEEPEST = 40  # maximum number of nested nodes in a result


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(
        _is_session(record) or (record.get("kind") == 0 and _is_session(read_object(record.get("v"))))
        for record in head[:1]
    )


def _is_session(record: dict[str, Any]) -> bool:
    return isinstance(record.get("requests"), list) and any(key in record for key in _TOP)


def translator(about: About) -> Translator:
    return _ChatSession(about.identity)


class _ChatSession:
    """Translator of one file: a document, or a log of changes to one document."""

    def __init__(self, identity: str) -> None:
        self._identity = identity
        self._log = StateLog()

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        if isinstance(record.value.get("kind"), int):
            yield from self._log.take(record)
        else:
            yield from self._translate(record.value, record)

    def finish(self) -> Iterable[Event]:
        if self._log.state is not None:
            yield from self._translate(self._log.state, None)

    def close(self) -> None:
        """Do nothing: no file is open."""

    def _translate(self, session: dict[str, Any], record: Record | None) -> Iterator[Event]:
        requests = read_objects(session.get("requests"))
        metadata = (read_object(read_object(request.get("result")).get("metadata")) for request in requests)
        named = next(
            (session_id for fields in metadata if (session_id := read_text(fields.get("sessionId")))), None
        )
        dialogue = AgentSession(read_text(session.get("sessionId")) or named or self._identity)
        begin = record.where if record is not None else LogLine(1, 0)
        yield SessionSeen(session_id=dialogue.session_id, where=begin, harness="vscode_copilot_chat")
        for number, request in enumerate(requests):
            where = self._log.place_of(number) if record is None else begin
            yield from _translate_request(request, dialogue, record, where)
        yield from dialogue.close_turn()


class StateLog:
    """The document after all changes so far. The document is None before the first complete state.

    A line is `{kind, k, v, i}` (microsoft/vscode, `objectMutationLog.ts`). Kind 0 sets the whole document.
    Kind 1 sets the value at the path `k`. Kind 2 cuts the array at `k` to the length `i` (if there is one)
    and appends the items `v`. Kind 3 deletes the value at `k`.
    """

    def __init__(self) -> None:
        self.state: dict[str, Any] | None = None
        self._all = LogLine(1, 0)  # the last line that wrote all requests
        # index of a request → the last line that changed this request; only lines after the line `_all`
        self._places: dict[int, LogLine] = {}

    def take(self, record: Record) -> Iterator[Rejected]:
        """Apply one line to the document. Yield a reject when the line does not fit the document."""
        change = record.value
        path, kind = change.get("k"), change.get("kind")
        if kind == _INITIAL and isinstance(change.get("v"), dict):
            self.state, self._all, self._places = change["v"], record.where, {}
            return
        fits = isinstance(path, list) and path and self.state is not None
        if not fits or not _apply(self.state, kind, path, change):
            reason = f"a change of kind {kind} that does not fit the session before it"
            yield Rejected(record.where, "wrong_type", reason[:SNIPPET_READ], make_snippet(record.data))
            return
        if path[0] == "requests":
            self._note_place(path, change, record.where)

    def place_of(self, number: int) -> LogLine:
        """Return the last line that changed the request at this index."""
        return self._places.get(number, self._all)

    def _note_place(self, path: list[Any], change: dict[str, Any], where: LogLine) -> None:
        if len(path) > 1:
            if isinstance(path[1], int):
                self._places[path[1]] = where
        elif change.get("kind") == _PUSH:
            requests = (self.state or {}).get("requests", [])
            for number in range(len(requests) - len(change.get("v") or ()), len(requests)):
                self._places[number] = where
        else:
            self._all, self._places = where, {}


def _apply(state: Any, kind: Any, path: list[Any], change: dict[str, Any]) -> bool:
    """Change the document. Return False when the path does not exist or the kind is unknown."""
    inner = state
    for step in path[:-1]:
        inner = _enter(inner, step)
    last = path[-1]
    if kind == _SET:
        return _put(inner, last, change.get("v"))
    if kind == _DELETE:
        return isinstance(inner, dict) and (inner.pop(last, None), True)[1]
    items = change.get("v", [])
    if kind != _PUSH or not isinstance(items, list):
        return False
    current = _enter(inner, last)
    current = current if isinstance(current, list) else []
    length = read_count(change.get("i"))
    return _put(inner, last, [*(current if length is None else current[:length]), *items])


def _enter(holder: Any, step: Any) -> Any:
    if isinstance(holder, dict) and isinstance(step, str):
        return holder.get(step)
    if isinstance(holder, list) and isinstance(step, int) and 0 <= step < len(holder):
        return holder[step]
    return None


def _put(holder: Any, step: Any, value: Any) -> bool:
    if isinstance(holder, dict) and isinstance(step, str):
        holder[step] = value
        return True
    if isinstance(holder, list) and isinstance(step, int) and 0 <= step < _FARTHEST:
        holder.extend([None] * (step + 1 - len(holder)))
        holder[step] = value
        return True
    return False


def _translate_request(
    request: Mapping[str, Any], dialogue: AgentSession, record: Record | None, where: LogLine
) -> Iterator[Event]:
    """Yield the events of a request.

    `record` is the document that contains the request, or None for a log of changes.
    """
    result = read_object(request.get("result"))
    metadata = read_object(result.get("metadata"))
    ident, ts = read_text(request.get("requestId")), read_epoch_ms(request.get("timestamp"))
    where = _find_place(record, ident, where)
    question = read_text(read_object(request.get("message")).get("text"))
    dialogue.ask(where, ts, question, unique_id(ident))
    rounds = read_objects(metadata.get("toolCallRounds")) or [{"response": _join_markdown(request)}]
    results = read_object(metadata.get("toolCallResults"))
    calls = [call for round_ in rounds for call in _list_calls(round_)]
    refused = _refused_calls(request, calls)
    facts = _model_facts(request, metadata, alone=len(rounds) == 1)
    for round_ in rounds:
        ts = read_epoch_ms(round_.get("timestamp")) or ts
        made = _list_calls(round_)
        yield from dialogue.add_step(
            _find_place(record, made[0]["id"], where) if made else where,
            ts,
            read_text(round_.get("response")),
            **facts,
        )
        for call in made:
            place = _find_place(record, call["id"], where)
            yield dialogue.add_call(place, ts, **sent_call_fields(call))
            if call["id"] in results or call["id"] in refused:
                content = _read_content(results.get(call["id"]))
                flag = _read_flag(content or "", refused=call["id"] in refused)
                yield ResultSeen(
                    session_id=dialogue.session_id, where=place, ts=ts, tool_call_id=read_text(call["id"]),
                    content=content, **flag.fields,
                )  # fmt: skip
    _note_end(request, result, dialogue, where)


def _find_place(record: Record | None, ident: Any, where: LogLine) -> LogLine:
    return record.find_line(f'"{ident}"') if record is not None and isinstance(ident, str) else where


def _list_calls(round_: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the tool calls of one round (one model reply). An id that is not a string becomes None."""
    made = list_calls({"tool_calls": round_.get("toolCalls")})
    return [{**call, "id": read_text(call["id"])} for call in made]


def _model_facts(request: Mapping[str, Any], metadata: Mapping[str, Any], *, alone: bool) -> dict[str, Any]:
    """Return the `StepMade` fields for the model.

    Token counts are included only if the request has a single reply.
    """
    chosen = read_text(request.get("modelId")) or ""
    vendor, _, name = chosen.rpartition("/")
    facts: dict[str, Any] = {
        "model": read_text(metadata.get("resolvedModel")) or (name if name != "auto" else "") or None,
        "provider": vendor or None,
    }
    if alone:
        facts["input_tokens"] = read_count(metadata.get("promptTokens")) or None
        facts["output_tokens"] = read_count(metadata.get("outputTokens")) or None
    return facts


def _join_markdown(request: Mapping[str, Any]) -> str | None:
    """Return the text that VS Code displayed. It is needed for requests without `toolCallRounds`."""
    shown = [part for part in read_objects(request.get("response")) if part.get("kind") in _SHOWN]
    values = [part.get("value", read_object(part.get("content")).get("value")) for part in shown]
    words = [read_text(value) or read_text(read_object(value).get("value")) for value in values]
    return "".join(word for word in words if word) or None


def _refused_calls(request: Mapping[str, Any], calls: list[dict[str, Any]]) -> set[Any]:
    """Return the ids of the tool calls that a person denied, according to `response[]`."""
    pictures = [part for part in read_objects(request.get("response")) if part.get("kind") == _PICTURE]
    call_ids = {call["id"] for call in calls}
    by_order = len(pictures) == len(calls)
    refused: set[Any] = set()
    for number, picture in enumerate(pictures):
        confirmation = picture.get("isConfirmed")
        kind = read_object(confirmation).get("type")
        if confirmation is False or (not isinstance(kind, bool) and kind in (_DENIED, _SKIPPED)):
            ident = picture.get("toolCallId")
            if isinstance(ident, str) and ident in call_ids:
                refused.add(ident)
            elif by_order:
                refused.add(calls[number]["id"])
    return refused


def _read_content(result: Any) -> str | None:
    """Return the text of a tool result, which consists of text parts or trees of text nodes."""
    texts: list[str] = []
    waiting: list[tuple[Any, int]] = [(read_object(result).get("content"), 0)]
    while waiting:
        value, depth = waiting.pop()
        if isinstance(value, list):
            waiting.extend((item, depth + 1) for item in reversed(value))
        elif isinstance(value, str) and depth:
            texts.append(value)
        elif isinstance(value, dict) and depth < _DEEPEST:
            if isinstance(value.get("text"), str):
                texts.append(value["text"])
            waiting.extend((value[key], depth + 1) for key in ("children", "node", "value") if key in value)
    return "".join(texts) or None


def _read_flag(content: str, *, refused: bool) -> ResultFlag:
    if refused:
        return failed_flag(content or _REFUSED, FaultLayer.REFUSED)
    layer = find_layer(content, _TEXTS)
    return failed_flag(content, layer, FlagSource.DERIVED_TEXT) if layer is not None else ResultFlag()


def _note_end(
    request: Mapping[str, Any], result: Mapping[str, Any], dialogue: AgentSession, where: LogLine
) -> None:
    state = read_object(request.get("modelState"))
    failed = bool(read_object(result.get("errorDetails")))
    cancelled = request.get("isCanceled") is True
    value = read_count(state.get("value"))
    if value in _UNFINISHED and not failed and not cancelled:
        dialogue.close_without_end()
        return
    status = _STATES.get(value) if value is not None else None
    status = TurnStatus.CANCELLED if cancelled else TurnStatus.ERROR if failed else status
    if status is not None:
        dialogue.note_stop(
            where, read_epoch_ms(state.get("completedAt")), status.value, ok=False if failed else None
        )

"""Gemini contents: conversations in the format of Google's generateContent requests.

**Files.** Tuning data of Vertex AI (JSON Lines), saved chat histories (`chat.get_history()`), and checkpoints
of Gemini CLI (`checkpoint-<tag>.json`). No real file was available; the fields are those of the API
(https://ai.google.dev/api/caching#Content).

**Fields.** Objects `{contents: [{role, parts[]}], systemInstruction?, tools?[].functionDeclarations}`, or an
array of `{role: user | model, parts}`. Parts are `text`, `functionCall.{name, args, id?}` and
`functionResponse.{name, response, id?}`. Field names are in camelCase; dumps from Python have snake_case.
Each object or array is one session.

**Rules.**
- Calls rarely have an id. The answers after a message belong to the message's calls in order.
- `response.error` marks a failed call. Without `error`, the outcome is unknown.

**Not in the log.** The model's own argument text, because Google returns decoded arguments; the model, tokens
and times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ingest.decoding.fields import read_objects
from ingest.formats.conversations.message_dump import Conversation, MessageDump
from ingest.formats.provider_messages.gemini_content import read_request
from ingest.log_format import About, Source, Translator

SOURCE = Source(
    name="gemini_contents",
    title="Gemini contents",
    raw_arguments="no: Google hands them over decoded",
    argument_failures="partly: what the definitions show, where an object has tools",
    error_flag="partly: a response with an error",
    definitions="partly: where an object has tools",
    system_prompt="partly: where an object has it",
    model="no",
    turn_end="partly: an answer ends a turn, without a verdict",
    cannot_tell="The model and its own text. In tuning data the calls are labels, not what some model sent.",
)

_ROLES = ("user", "model", "function", "tool")
_OTHERS = frozenset(("candidates", "response", "sessionId", "session_id", "type", "timestamp", "id"))


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return bool(head) and all(map(_is_ours, head)) and any(map(_has_model, head))


def _is_ours(value: Mapping[str, Any]) -> bool:
    if value.keys() & _OTHERS:
        return False
    contents = value.get("contents")
    return _is_content(value) or (
        isinstance(contents, list) and bool(contents) and all(map(_is_content, contents))
    )


def _is_content(value: Any) -> bool:
    if not isinstance(value, dict) or value.get("role", "user") not in _ROLES:
        return False
    parts = value.get("parts")
    return isinstance(parts, list) and all(isinstance(part, dict) and "type" not in part for part in parts)


def _has_model(value: Mapping[str, Any]) -> bool:
    return any(item.get("role") == "model" for item in (value, *read_objects(value.get("contents"))))


def translator(about: About) -> Translator:
    return _GeminiContents(about)


class _GeminiContents(MessageDump):
    def split(self, value: Mapping[str, Any]) -> list[Conversation] | None:
        if "contents" not in value:
            return None
        request = read_request(value)
        return [Conversation(request.parts, system=request.prompt, definitions=tuple(request.tools))]

    def unwrap(self, message: Mapping[str, Any]) -> tuple[Any]:
        return ({"role": "user", **message},)

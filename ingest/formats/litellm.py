"""LiteLLM's standard logging payload: one call through its proxy or library per line.

**Files.** LiteLLM passes this payload to every logger (S3, GCS, Azure, SQS, a custom callback), directly or
in `standard_logging_object`. No real file was available. These notes are based on
https://docs.litellm.ai/docs/proxy/logging_spec and the project's own tests.

**Fields.** `id, trace_id, session_id, call_type, status (success | failure), custom_llm_provider, model,
model_id, api_base, messages, response, model_parameters.{tools, max_tokens …}, prompt_tokens,
completion_tokens, startTime, endTime, error_information.{error_code, error_class}, metadata`. `response` is a
chat completion, or the reply of the API in `call_type` (Responses, Anthropic Messages). Times are seconds or
text.

**Rules.**
- LiteLLM shows every provider's reply as a chat completion. If the provider's API sends decoded arguments
  (Anthropic, Bedrock, Google, Cohere, Ollama), LiteLLM writes their text. Such arguments are kept as decoded
  objects.
- If LiteLLM sends a failed request again, this is not a retry by the model.
- With `turn_off_message_logging`, messages and replies are `redacted-by-litellm`. The first such line is
  rejected with this reason; further lines are skipped.
- Requests are joined into conversations as in `request_log`. `trace_id` names one request, not one
  conversation.

**Limits.** At most 50,000 conversations are remembered.

**Not in the log.** Whether a tool failed, and which calls LiteLLM's adapters repaired or dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ingest.decoding.fields import read_object, read_text
from ingest.decoding.lines import make_snippet
from ingest.events import ArgsSource, Event, Rejected
from ingest.formats.conversations.exchange_translator import ExchangeTranslator
from ingest.formats.provider_messages.api_detection import make_exchange, provider_name
from ingest.formats.provider_messages.exchange import Exchange, decoded_argument_fields, parse_instant
from ingest.formats.provider_messages.http_bodies import HttpBody, decode_body, parse_json
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="litellm",
    title="LiteLLM standard logging payload",
    raw_arguments="partly: of providers that send text; LiteLLM writes it itself for the others",
    argument_failures="partly: parsed here; repairs and losses of LiteLLM's adapters are not visible",
    error_flag="no",
    definitions="yes: model_parameters.tools",
    system_prompt="yes: unless message logging is off",
    model="yes: per step, and the provider",
    turn_end="yes: finish_reason, without a verdict",
    cannot_tell="Whether a tool failed, and which calls a LiteLLM adapter repaired before logging.",
)

_REDACTED = "redacted-by-litellm"
# LiteLLM writes the argument text for these providers, because their APIs send decoded arguments.
_DECODED = (
    "anthropic",
    "bedrock",
    "sagemaker",
    "vertex_ai",
    "gemini",
    "palm",
    "cohere",
    "ollama",
    "snowflake",
)


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(_is_payload(_find_payload(record)) for record in head)


def _find_payload(record: Mapping[str, Any]) -> Mapping[str, Any]:
    return read_object(record.get("standard_logging_object")) or record


def _is_payload(payload: Mapping[str, Any]) -> bool:
    return (
        "call_type" in payload
        and {"messages", "response"} <= payload.keys()
        and ("model_parameters" in payload or "hidden_params" in payload)
    )


def translator(about: About) -> Translator:
    return _Payloads(about)


class _Payloads:
    def __init__(self, about: About) -> None:
        self._traffic = ExchangeTranslator(about.identity)
        self._redaction_reported = False

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        payload = _find_payload(record.value)
        if not _is_payload(payload):
            reason = "the line is not a standard logging payload: call_type, messages or response is missing"
            yield Rejected(record.where, "missing_field", reason, make_snippet(record.data))
        elif _is_redacted(payload):
            if not self._redaction_reported:
                self._redaction_reported = True
                reason = "LiteLLM wrote this log without messages and replies (turn_off_message_logging)"
                yield Rejected(record.where, "missing_field", reason, make_snippet(record.data))
        else:
            exchange = _make_exchange(payload, record)
            if exchange is not None:
                yield from self._traffic.take(exchange)

    def finish(self) -> Iterator[Event]:
        yield from self._traffic.finish()

    def close(self) -> None:
        """Do nothing: no file is open."""


def _is_redacted(payload: Mapping[str, Any]) -> bool:
    messages = payload.get("messages")
    first = read_object(messages[0]).get("content") if isinstance(messages, list) and messages else messages
    return first == _REDACTED


def _make_exchange(payload: Mapping[str, Any], record: Record) -> Exchange | None:
    failed = payload.get("status") == "failure"
    began, ended = parse_instant(payload.get("startTime")), parse_instant(payload.get("endTime"))
    exchange = make_exchange(
        HttpBody((_make_request(payload),)),
        HttpBody((_error_body(payload),)) if failed else decode_body(payload.get("response")),
        where=record.where,
        ts=began,
        session=read_text(payload.get("session_id")),
        latency_ms=(ended - began).total_seconds() * 1000 if began and ended and ended >= began else None,
    )
    if exchange is None:
        return None
    exchange.provider = read_text(payload.get("custom_llm_provider")) or provider_name(
        read_text(payload.get("api_base"))
    )
    if failed and not exchange.replies:
        error_info = read_object(payload.get("error_information"))
        code = read_text(error_info.get("error_code"))
        exchange.failure = f"http_{code}" if code else read_text(error_info.get("error_class")) or "error"
    _add_prompt(exchange, payload)
    if (exchange.provider or "").startswith(_DECODED):
        for call in (call for reply in exchange.replies for call in reply.calls):
            if call.arguments.get("args_source") is ArgsSource.RAW:
                call.arguments = decoded_argument_fields(call.arguments)
    return exchange


def _error_body(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of the server's error, which LiteLLM quotes after its own error text."""
    message = read_text(payload.get("error_str")) or ""
    error_text = (
        message or read_text(read_object(payload.get("error_information")).get("error_message")) or ""
    )
    quoted = parse_json(error_text[error_text.find("{") :]) if "{" in error_text else None
    return quoted if isinstance(quoted, dict) and "error" in quoted else {"error": error_text}


def _make_request(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request's body, made from fields of the log record."""
    messages = payload.get("messages")
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    name = "input" if read_object(payload.get("response")).get("object") == "response" else "messages"
    parameters = read_object(payload.get("model_parameters"))
    user = read_text(payload.get("end_user")) or parameters.get("user")
    return {**parameters, "model": payload.get("model"), "user": user, name: messages}


def _add_prompt(exchange: Exchange, payload: Mapping[str, Any]) -> None:
    """Set the exchange's prompt name if LiteLLM's prompt management recorded a name."""
    metadata = read_object(read_object(payload.get("metadata")).get("prompt_management_metadata"))
    if exchange.request is not None and exchange.request.prompt_name is None:
        exchange.request.prompt_name = read_text(metadata.get("prompt_id"))

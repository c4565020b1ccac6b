"""Detects which API the decoded bodies of a request and its reply belong to, and makes an `Exchange`.

The reply identifies the API most reliably. A request alone is identified by its fields and its URL path.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol
from urllib.parse import urlsplit

from ingest.decoding.fields import read_object, read_objects, read_text
from ingest.formats.provider_messages import (
    anthropic_messages,
    bedrock_converse,
    gemini_content,
    openai_chat,
    openai_responses,
)
from ingest.formats.provider_messages.exchange import Exchange, ModelReply, ModelRequest, StopReason
from ingest.formats.provider_messages.http_bodies import HttpBody
from lenient.regex import compile_regex

HTTP_ERROR = 400

# end of a host name → provider, for host names that do not contain the provider's name
_HOSTS = (
    ("openai.azure.com", "azure"),
    ("cognitiveservices.azure.com", "azure"),
    ("services.ai.azure.com", "azure"),
    ("models.inference.ai.azure.com", "azure"),
    ("googleapis.com", "google"),
    ("amazonaws.com", "aws"),
    ("x.ai", "xai"),
    ("moonshot.cn", "moonshot"),
    ("z.ai", "zai"),
    ("bigmodel.cn", "zai"),
    ("aliyuncs.com", "alibaba"),
    ("chatgpt.com", "openai"),
    ("claude.ai", "anthropic"),
)
_COUNTRY = compile_regex(r"(co|com|org|net)\.[a-z]{2}$")


class ModelApi(Protocol):
    """Interface of the modules that read the requests and replies of one API."""

    def read_request(self, body: Mapping[str, Any], /) -> ModelRequest: ...

    def read_replies(self, body: Mapping[str, Any], /) -> Iterator[ModelReply]: ...


def provider_name(url: str | None) -> str | None:
    """Return the name of the provider that a URL belongs to, such as `openai` for api.openai.com.

    For a local host or an IP address, return the host itself, with its port number if there is one. Return
    None when the URL is invalid or has no host.
    """
    try:
        parts = urlsplit(url or "")
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if host is None or not host:
        return None
    for ending, provider in _HOSTS:
        if host == ending or host.endswith("." + ending):
            return provider
    labels = host.split(".")
    if len(labels) < 2 or labels[-1].isdigit() or ":" in host:
        return f"{host}:{port}" if port else host
    return labels[-3] if _COUNTRY.search(host) and len(labels) > 2 else labels[-2]


def is_reply(body: Mapping[str, Any]) -> bool:
    """Return True when a body is the complete reply of a known API."""
    return detect_reply_api(body) is not None


def is_request(body: Mapping[str, Any]) -> bool:
    """Return True when an HTTP body is a request to a model.

    Such a body has a list `messages` or `contents` whose first item has `role` or `parts`, or it has both
    `input` and `model`.
    """
    talk = body.get("messages", body.get("contents"))
    if isinstance(talk, list) and talk:
        return isinstance(talk[0], dict) and ("role" in talk[0] or "parts" in talk[0])
    return isinstance(body.get("input"), str | list) and "model" in body


def is_error(body: Mapping[str, Any]) -> bool:
    """Return True when a body is the error that an API sends instead of a reply."""
    return body.get("type") == "error" or (isinstance(body.get("error"), dict | str) and not is_reply(body))


def read_replies(body: Mapping[str, Any], request_body: Mapping[str, Any]) -> list[ModelReply]:
    """Return the replies in the response body of a request.

    The list is empty for an error, unless the server reports that it could not parse the model's tool call.
    """
    api = detect_reply_api(body)
    if api is not None:
        return list(api.read_replies(body))
    unparsed = openai_chat.read_unparsed_call(body.get("error"), request_body)
    return [unparsed] if unparsed is not None else []


def read_request(
    body: Mapping[str, Any], reply: Mapping[str, Any] | None = None, url: str | None = None
) -> ModelRequest:
    """Return the model request in an HTTP body.

    The API is detected from `reply` (the body of the response), `url` (the URL of the request) and the body.
    """
    api = (detect_reply_api(reply) if reply else None) or detect_request_api(body, url or "")
    if api is openai_chat and "messages" not in body and isinstance(body.get("prompt"), str):
        message = {"role": "user", "content": body["prompt"]}
        return ModelRequest(parts=[message], read=openai_chat.read_items, model=read_text(body.get("model")))
    request = api.read_request(body)
    request.model = request.model or bedrock_converse.model_in_address(url)
    return request


def read_repeated_request(body: Mapping[str, Any]) -> ModelRequest | None:
    """Return the request data that a response repeats.

    In the Responses API, the response repeats the instructions, the tools and the id of the previous
    response. Return None for any other API.
    """
    return openai_responses.read_request(body) if detect_reply_api(body) is openai_responses else None


def detect_reply_api(body: Mapping[str, Any]) -> ModelApi | None:
    if isinstance(body.get("choices"), list) and body.get("object") != "chat.completion.chunk":
        return openai_chat
    if body.get("object") == "response" or (isinstance(body.get("output"), list) and "status" in body):
        return openai_responses
    if body.get("type") == "message" and isinstance(body.get("content"), list) and "role" in body:
        return anthropic_messages
    if isinstance(body.get("candidates"), list):
        return gemini_content
    if bedrock_converse.is_reply(body):
        return bedrock_converse
    ended = "finish_reason" in body or "done" in body or "done_reason" in body
    if isinstance(body.get("message"), dict) and "role" in body["message"] and ended:
        return openai_chat  # Cohere and Ollama have the format of OpenAI's messages, but no choices.
    return None


def detect_request_api(body: Mapping[str, Any], url: str) -> ModelApi:
    if "contents" in body:
        return gemini_content
    if "messages" not in body and "input" in body:
        return openai_responses
    if url.partition("?")[0].endswith(("/converse", "/converse-stream")):
        return bedrock_converse
    if {"toolConfig", "inferenceConfig"} & body.keys():
        return bedrock_converse
    if "/messages" in url or "system" in body:
        return anthropic_messages
    blocks = (
        block.get("type")
        for message in read_objects(body.get("messages"))
        for block in read_objects(message.get("content"))
    )
    if any("input_schema" in tool for tool in read_objects(body.get("tools"))) or any(
        kind in ("tool_use", "tool_result") for kind in blocks
    ):
        return anthropic_messages
    return openai_chat


def make_exchange(
    request: HttpBody, response: HttpBody, *, url: str | None = None, status: int | None = None, **facts: Any
) -> Exchange | None:
    """Return the `Exchange` in decoded HTTP bodies. Return None when they contain no call of a model.

    `facts` are further fields of `Exchange`. Requests for one output token are ignored: clients send them to
    check their quota.
    """
    sent = next((body for body in request.objects if is_request(body)), None)
    came = [body for body in response.objects if is_reply(body)]
    errors = [body for body in response.objects if is_error(body)]
    if sent is None and not came:
        return None
    if response.objects and not came and not errors and (status or 0) < HTTP_ERROR:
        return None
    model_request = (
        read_request(sent, came[0] if came else None, url)
        if sent is not None
        else read_repeated_request(came[0])
    )
    if model_request is not None and model_request.max_tokens == 1:
        return None
    replies = [reply for body in came or errors for reply in read_replies(body, sent or {})]
    if errors and all(reply.end is StopReason.BROKEN for reply in replies):
        replies = []  # A reply that broke off with an error never reached the client.
    return Exchange(
        request=model_request,
        replies=replies,
        provider=provider_name(url),
        failure=None if replies else describe_failure(errors, status),
        **facts,
    )


def describe_failure(errors: Sequence[Mapping[str, Any]], status: int | None) -> str:
    if status is not None and status >= HTTP_ERROR:
        return f"http_{status}"
    error = read_object(errors[0].get("error")) if errors else {}
    return read_text(error.get("code")) or read_text(error.get("type")) or ("error" if errors else "no_reply")

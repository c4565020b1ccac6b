"""Decoded bodies of a request and its reply in, an `Exchange` out: tells which API they speak, and who
served it.

The reply tells the API best; a request alone is told by its fields, and by the path it went to.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from ingest.fields import table, tables, text
from ingest.shapes import anthropic, gemini, openai_chat, openai_responses
from ingest.shapes.bodies import Body
from ingest.shapes.exchanges import Asked, End, Exchange, Item, Kind, Reply

HTTP_ERROR = 400

# The last labels of a host → the provider, where the host's own name does not say it.
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
_COUNTRY = re.compile(r"(co|com|org|net)\.[a-z]{2}$")


def provider_of(url: str | None) -> str | None:
    """The provider that a request went to: `openai` for api.openai.com, the host itself where it is local."""
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
    """True for the whole reply of an API that is known here."""
    return _api_of_reply(body) is not None


def is_request(body: Mapping[str, Any]) -> bool:
    """True for a request to such an API: it has a conversation in it, and names a model or offers tools."""
    talk = body.get("messages", body.get("contents"))
    if isinstance(talk, list) and talk and all(isinstance(said, dict) for said in talk):
        return any("role" in said or "parts" in said for said in talk)
    return isinstance(body.get("input"), str | list) and "model" in body


def is_error(body: Mapping[str, Any]) -> bool:
    """True for what an API sends instead of a reply."""
    return body.get("type") == "error" or (isinstance(body.get("error"), dict | str) and not is_reply(body))


def replies_in(body: Mapping[str, Any]) -> list[Reply]:
    """The replies in the body of a response; none in an error, but for a call that it tells of."""
    api = _api_of_reply(body)
    if api is not None:
        found: list[Reply] = list(api.replies(body))
        return found
    told = openai_chat.failed_generation(table(body.get("error")))
    return [told] if told is not None else []


def asked_in(
    body: Mapping[str, Any], reply: Mapping[str, Any] | None = None, url: str | None = None
) -> Asked:
    """What a request asks. `reply` is the body of its response, the best sign of the API."""
    api = (_api_of_reply(reply) if reply else None) or _api_of_request(body, url or "")
    if api is openai_chat and "messages" not in body and isinstance(body.get("prompt"), str):
        said = str(body["prompt"])
        return Asked(items=[Item(Kind.USER, ("user:" + said,), text=said)], model=text(body.get("model")))
    asked: Asked = api.asked(body)
    return asked


def asked_by_reply(body: Mapping[str, Any]) -> Asked | None:
    """What a reply repeats of its request: instructions, tools and the reply before it (Responses only)."""
    return openai_responses.asked(body) if _api_of_reply(body) is openai_responses else None


def _api_of_reply(body: Mapping[str, Any]) -> ModuleType | None:
    if isinstance(body.get("choices"), list) and body.get("object") != "chat.completion.chunk":
        return openai_chat
    if body.get("object") == "response" or (isinstance(body.get("output"), list) and "status" in body):
        return openai_responses
    if body.get("type") == "message" and isinstance(body.get("content"), list) and "role" in body:
        return anthropic
    if isinstance(body.get("candidates"), list):
        return gemini
    ended = "finish_reason" in body or "done" in body or "done_reason" in body
    if isinstance(body.get("message"), dict) and "role" in body["message"] and ended:
        return openai_chat  # Cohere, Ollama
    return None


def _api_of_request(body: Mapping[str, Any], url: str) -> ModuleType:
    if "contents" in body:
        return gemini
    if "messages" not in body and "input" in body:
        return openai_responses
    if "/messages" in url or "system" in body:
        return anthropic
    blocks = (
        block.get("type") for said in tables(body.get("messages")) for block in tables(said.get("content"))
    )
    if any("input_schema" in tool for tool in tables(body.get("tools"))) or any(
        kind in ("tool_use", "tool_result") for kind in blocks
    ):
        return anthropic
    return openai_chat


def exchange(
    request: Body, response: Body, *, url: str | None = None, status: int | None = None, **facts: Any
) -> Exchange | None:
    """An exchange of decoded bodies; None when it is none with a model. `facts`: other fields of Exchange.

    A request for one token is left out: clients send it to ask for their quota, and no call fits into it.
    """
    sent = next((body for body in request.objects if is_request(body)), None)
    came = [body for body in response.objects if is_reply(body)]
    errors = [body for body in response.objects if is_error(body)]
    if sent is None and not came:
        return None
    if response.objects and not came and not errors and (status or 0) < HTTP_ERROR:
        return None
    asked = asked_in(sent, came[0] if came else None, url) if sent is not None else asked_by_reply(came[0])
    if asked is not None and asked.max_tokens == 1:
        return None
    replies = [reply for body in came or errors for reply in replies_in(body)]
    if errors and all(reply.end is End.BROKEN for reply in replies):
        replies = []  # the client never had it
    return Exchange(
        asked=asked,
        replies=replies,
        provider=provider_of(url),
        failure=None if replies else _failure(errors, status),
        **facts,
    )


def _failure(errors: Sequence[Mapping[str, Any]], status: int | None) -> str:
    if status is not None and status >= HTTP_ERROR:
        return f"http_{status}"
    error = table(errors[0].get("error")) if errors else {}
    return text(error.get("code")) or text(error.get("type")) or ("error" if errors else "no_reply")

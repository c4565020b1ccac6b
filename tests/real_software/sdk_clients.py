"""Asks a model server through the SDKs of OpenAI and Anthropic, and prints how many tool calls arrived.

Run it with the Python of .real_software: `callgauge record -- python sdk_clients.py` sets the addresses of
the server.
"""

from __future__ import annotations

import json
from typing import Any

import anthropic
import openai

PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {"customer": {"type": "string"}, "limit": {"type": "integer"}},
    "required": ["customer"],
}
FUNCTION = {"name": "search_orders", "description": "Orders.", "parameters": PARAMETERS}
ANTHROPIC_TOOL = {"name": "search_orders", "description": "Orders.", "input_schema": PARAMETERS}


def ask_chat(client: Any, stream: bool) -> int:
    request = {
        "model": "scripted",
        "messages": [{"role": "user", "content": f"chat, stream {stream}"}],
        "tools": [{"type": "function", "function": FUNCTION}],
    }
    if not stream:
        return len(client.chat.completions.create(**request).choices[0].message.tool_calls)
    with client.chat.completions.stream(**request) as events:
        for _ in events:
            pass
        return len(events.get_final_completion().choices[0].message.tool_calls)


def ask_responses(client: Any, stream: bool) -> int:
    request = {
        "model": "scripted",
        "input": [{"role": "user", "content": f"responses, stream {stream}"}],
        "tools": [{"type": "function", **FUNCTION}],
    }
    if not stream:
        output = client.responses.create(**request).output
    else:
        events = list(client.responses.create(**request, stream=True))
        output = [event.item for event in events if event.type == "response.output_item.done"]
    return sum(item.type == "function_call" for item in output)


def ask_messages(client: Any, stream: bool) -> int:
    text = {"type": "text", "text": f"messages, stream {stream}"}
    request = {
        "model": "scripted",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": [text]}],
        "tools": [ANTHROPIC_TOOL],
    }
    if not stream:
        content = client.messages.create(**request).content
    else:
        with client.messages.stream(**request) as events:
            content = events.get_final_message().content
    return sum(block.type == "tool_use" for block in content)


def main() -> None:
    asked = {
        "chat": (ask_chat, openai.OpenAI(api_key="none", max_retries=0)),
        "responses": (ask_responses, openai.OpenAI(api_key="none", max_retries=0)),
        "messages": (ask_messages, anthropic.Anthropic(api_key="none", max_retries=0)),
    }
    calls = {
        f"{name} {'streamed' if stream else 'whole'}": ask(client, stream)
        for name, (ask, client) in asked.items()
        for stream in (False, True)
    }
    print(json.dumps(calls))


if __name__ == "__main__":
    main()

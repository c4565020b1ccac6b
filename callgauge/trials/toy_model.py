"""The toy model of `callgauge trial demo`: a script that makes seeded random mistakes, not a language model.

The script reads the task with a regular expression and fills in the arguments. It makes fewer date mistakes
when the tool definition shows the date format.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CARELESSNESS = {"toy-quick": 1.0, "toy-careful": 0.35}
"""The factor by which each toy model multiplies the rates below."""
DATE_SLIP = 0.40
"""The rate of dates in the task's format, when the tool definition does not show the date format."""
SHOWN_FORMAT_SLIP = 0.04  # The rate of date mistakes when the definition shows the date format.
STATUS_SLIP = 0.25  # The rate of invented status values when the definition has no enum.
NUMBER_SLIP = 0.10  # The rate of numbers that are written as text.
COMMA_SLIP = 0.08  # The rate of trailing commas.
STUBBORN = 0.15  # The rate at which a rejected mistake is repeated.

TOOL = "list_orders"
PROBED = "report_number"  # The probe of a model uses this tool.
TASK = re.compile(
    r"List the (?P<status>\w+) orders of (?P<customer>.+?) that are due before (?P<said>\d+ \w+ \d{4}), "
    r"at most (?P<limit>\d+)\."
)
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def answer_chat(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer to a request in OpenAI's chat format. Equal requests get equal answers."""
    messages, model = body["messages"], str(body["model"])
    question = next((str(message["content"]) for message in messages if message["role"] == "user"), "")
    task, tool = TASK.search(question), _find_tool(body, TOOL)
    if _find_tool(body, PROBED) is not None:
        numbers = re.findall(r"\d+", question) or ["7"]
        return _reply(body, "", [(PROBED, json.dumps({"number": int(number)})) for number in numbers])
    last = messages[-1]
    number = sum(message["role"] == "assistant" for message in messages)
    if task is None or tool is None:
        return _reply(body, "I can list orders only.")
    if last["role"] == "tool" and not _was_refused(str(last["content"])):
        return _reply(body, f"These are they: {last['content']}")
    slips = _Slips(model, question, number)
    if number and slips.happens("stubborn", STUBBORN):
        slips = _Slips(model, question, 0)
    elif number:
        slips = _Slips(model, question, number, share=0.0)
    return _reply(body, "", [(TOOL, write_arguments(task, tool, slips))])


class _Slips:
    """Decides at random whether a mistake happens. The seed depends on model, task and step number."""

    def __init__(self, model: str, task: str, number: int, share: float | None = None) -> None:
        self._seed = f"{model}\n{task}\n{number}"
        self._share = CARELESSNESS.get(model, 1.0) if share is None else share

    def happens(self, what: str, rate: float) -> bool:
        digest = hashlib.sha256(f"{self._seed}\n{what}".encode()).digest()
        return int.from_bytes(digest[:6], "big") / 2**48 < rate * self._share


def write_arguments(task: re.Match[str], tool: Mapping[str, Any], slips: _Slips) -> str:
    """Return the arguments for a task as JSON text, including the mistakes."""
    properties = tool["parameters"]["properties"]
    says_how = re.search(r"\d{4}-\d\d-\d\d", str(properties["due_before"].get("description", "")))
    status = task["status"]
    arguments = {
        "customer": task["customer"],
        "status": status,
        "due_before": write_date(task["said"]),
        "limit": int(task["limit"]),
    }
    if slips.happens("date", SHOWN_FORMAT_SLIP if says_how else DATE_SLIP):
        arguments["due_before"] = task["said"]
    if "enum" not in properties["status"] and slips.happens("status", STATUS_SLIP):
        arguments["status"] = f"{status} orders"
    if slips.happens("number", NUMBER_SLIP):
        arguments["limit"] = task["limit"]
    written = json.dumps(arguments)
    return f"{written[:-1]},}}" if slips.happens("comma", COMMA_SLIP) else written


def write_date(text: str) -> str:
    """Return a day such as `3 March 2027` in ISO 8601."""
    day, month, year = text.split()
    return f"{year}-{MONTHS.index(month) + 1:02}-{int(day):02}"


def _find_tool(body: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    offered = (tool["function"] for tool in body.get("tools") or ())
    return next((function for function in offered if function["name"] == name), None)


def _was_refused(result: str) -> bool:
    return not result.startswith("orders ")


def _reply(body: Mapping[str, Any], text: str, calls: Sequence[tuple[str, str]] = ()) -> dict[str, Any]:
    number = len(body["messages"])
    made = [
        {
            "id": f"call_toy{number}_{place}",
            "type": "function",
            "function": {"name": name, "arguments": arguments},
        }
        for place, (name, arguments) in enumerate(calls)
    ]
    message = {"role": "assistant", "content": text or None, **({"tool_calls": made} if made else {})}
    length = len(text) + sum(len(arguments) for _, arguments in calls)
    usage = {"prompt_tokens": len(json.dumps(body)) // 4, "completion_tokens": max(1, length // 4)}
    reason = "tool_calls" if made else "stop"
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {"id": "toy", "model": body["model"], "choices": [choice], "usage": usage}


@contextmanager
def serve_toy(port: int = 0) -> Iterator[int]:
    """Serve the toy model on the loopback address during the `with` block. Yield the port. Raises OSError."""
    with ThreadingHTTPServer(("127.0.0.1", port), _Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, name="toy model", daemon=True)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_arguments: object) -> None:
        """Print nothing."""

    def do_POST(self) -> None:
        try:
            answer, status = (
                answer_chat(json.loads(self.rfile.read(int(self.headers["Content-Length"])))),
                200,
            )
        except (ValueError, KeyError, TypeError) as problem:
            answer, status = {"error": {"message": f"the toy cannot read this: {problem!r}"}}, 400
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

"""A hand-written MCP server on stdin and stdout that needs no package. The first argument selects a fault.

The faults are `plain` (none), `rubbish` (prints invalid messages), `dies` (at the first call), `silent`
(never responds), `endless` (endless pages), `invalid` (bytes that are not UTF-8), and `quits` (prints to
standard error and ends before it responds).
"""

import json
import os
import sys
import time

KIND = sys.argv[1]
CALLS: list[str] = []
TOOL = {
    "name": "echo",
    "description": "Says it again.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
}


def answer(request: dict) -> None:  # type: ignore[type-arg]
    method, params = request.get("method"), request.get("params") or {}
    reply: dict[str, object]
    if method == "initialize":
        info = {"name": "raw", "version": "1"}
        reply = {
            "result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
        }
    elif method == "tools/list":
        page = int(params.get("cursor") or 0)
        more = KIND == "endless" or page < 1
        listed = {"tools": [{**TOOL, "name": "echo" if not page else f"echo_{page}"}]}
        reply = {"result": listed | ({"nextCursor": str(page + 1)} if more else {})}
    elif method == "tools/call":
        if KIND == "dies":
            os._exit(3)
        text = params["arguments"].get("text", "")
        if text == "environment":
            text = " ".join(f"{name}={value}" for name, value in sorted(os.environ.items()))
        if text == "n":  # the tool returns the number of calls so far
            CALLS.append(text)
            text = f"call {len(CALLS)}"
        if text == "slow":
            time.sleep(60)
        reply = {
            "result": {
                "content": [{"type": "text", "text": text if text.startswith("call ") else f"said {text}"}]
            }
        }
    else:
        reply = {"error": {"code": -32601, "message": "Method not found"}}
    write(json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}).encode())


def write(line: bytes) -> None:
    if KIND == "rubbish":
        line = b"Starting up...\n{\n[1, 2]\n" + line
    if KIND == "invalid":
        line = b"\xff\xfe\n" + line
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


if KIND == "quits":
    sys.exit(f"cannot read the configuration of {os.environ.get('SERVER_TOKEN', 'nobody')}")
for read in sys.stdin:
    if KIND != "silent" and "id" in (message := json.loads(read)):
        answer(message)

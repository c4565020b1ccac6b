"""Makes logs in which every field is an attack, and loads them into a store.

Each field starts with a spreadsheet formula sign. Then come `MARK` and the name of the field, so that tests
can find the field. The rest is code that a browser or Streamlit would execute.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ingest.pipeline.load import load

EVIL = "evil.example"
MARK = "zq"  # marks field names in texts; no text of our pages contains it
SIGNS = ("=", "+", "-", "@", "\t=", "\r=")  # each session uses one of these signs
RUNS = 'window.hacked=1;alert("hacked")'
PAYLOADS = (
    f"<script>{RUNS}</script>",
    f"<img src=x onerror='{RUNS}'>",
    f'<img src="http://{EVIL}/i.png">',
    f"<style>@import 'http://{EVIL}/s.css';*{{display:none}}</style>",
    f"<svg onload='{RUNS}'></svg>",
    f"<iframe src='http://{EVIL}/f'></iframe>",
    f'"><a href="javascript:{RUNS}">',
    f"![x](http://{EVIL}/p.png)",
    f"[a](javascript:{RUNS})",
    f"<http://{EVIL}/auto> http://{EVIL}/bare",
    ":material/bomb: :red[red] :skull: $\\LaTeX$ $$x^2$$ `code` **bold** # head",
    "\x1b[31mansi\x1b]8;;http://" + EVIL + "\x07\u202edlrow\u2066\u200b\ufeff\u00ad",
    f'HYPERLINK("http://{EVIL}")',
    "'; DROP TABLE tool_calls; -- %s {0} ${x}",
)
LONG = 10_000_000
WORDS = 2_000_000  # characters of the long texts; with longer texts, tests would be too slow
SESSIONS = 12  # two sessions for each sign
TURNS = 2
# File systems forbid a slash in a name, and allow at most 255 bytes.
FILE = f"={MARK}file <img src=x onerror=window.hacked=1>:red[x]$\\int$**b**\u202e\u200b\x1b[31m"


def hostile(field: str, nth: int = 0) -> str:
    """Return the hostile content of `field` in session `nth`. The sign and the order of the attacks depend on
    `nth`.
    """
    turned = nth * 3 % len(PAYLOADS)
    words = " ".join(PAYLOADS[turned:] + PAYLOADS[:turned])
    return f"{SIGNS[nth % len(SIGNS)]}{MARK}{field} {words}"


def big(sign: str, length: int = WORDS) -> str:
    unit = f"{sign}{MARK}big {' '.join(PAYLOADS)}\n"
    return (unit * (length // len(unit) + 1))[:length]


def write(folder: Path) -> None:
    """Write session histories, a log of another format with a task, and a file that is not a log."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [line for nth in range(SESSIONS) for line in _session(nth)] + _long_session()
    timeless = {"ts": hostile("reason"), "sessionId": "s", "type": "final"}
    broken = [f'{{"ts": {hostile("snippet")}', json.dumps(timeless)]
    text = "\n".join([json.dumps(line) for line in lines] + broken) + "\n"
    (folder / f"{FILE}.jsonl").write_text(text, encoding="utf-8")
    (folder / f"{FILE}.traj.json").write_text(json.dumps(_run()), encoding="utf-8")
    (folder / f"{FILE}.refused.jsonl").write_text(f"{hostile('nolog')}\n", encoding="utf-8")


def publish_hostile(folder: Path) -> Path:
    """Load these logs into a store as usual. Return the folder of the store."""
    write(folder / "logs")
    report = load([folder / "logs"], folder / "store", workers=1)
    assert (report.loaded, len(report.rejected)) == (2, 1), report
    return folder / "store"


Line = dict[str, Any]


def _session(nth: int) -> list[Line]:
    session = f"{hostile('session', nth)} {nth}"
    lines = [_start(session, nth)]
    for turn in range(1, TURNS + 1):
        lines += _turn(session, nth, turn)
    return lines


def _line(session: str, kind: str, nth: int, content: str | None = None, **fields: Any) -> Line:
    meta = fields.pop("meta", {})
    minute, day = fields.get("turn", 0), 1 + nth
    ts = f"2026-11-{day:02}T10:{minute:02}:{fields.get('step', 0):02}.000Z"
    return {"ts": ts, "sessionId": session, "type": kind, "content": content, "meta": meta, **fields}


def _start(session: str, nth: int, **meta: Any) -> Line:
    facts = {
        "harness": {"name": hostile("harness", nth), "version": hostile("harnessversion", nth)},
        "user": hostile("user", nth),
        "provider": hostile("provider", nth),
        "model": hostile("model", nth % 6),  # each of the six models runs on two hosts
        "parent_session_id": f"{hostile('session', nth - 1)} {nth - 1}" if nth else None,
        "prompt": {"name": hostile("prompt", nth % 2), "version": hostile("promptversion", nth)},
        "tools": [_definition(nth)],
        "probe": {"ok": nth % 3 == 0, "error": hostile("probe", nth), "model": hostile("probed", nth)},
    }
    return _line(session, "session_start", nth, hostile("prompttext", nth), meta=facts | meta)


def _definition(nth: int) -> Line:
    properties = {
        hostile("parameter"): {"type": "integer", "description": hostile("describes", nth)},
        hostile("choice"): {"type": "string", "enum": [hostile("chosen"), hostile("otherwise")]},
        "path": {"type": "string"},
    }
    schema = {"type": "object", "properties": properties, "required": [hostile("parameter")]}
    return {"name": hostile("tool", nth % 2), "description": hostile("does", nth), "input_schema": schema}


def _turn(session: str, nth: int, turn: int) -> list[Line]:
    wanted, path = hostile("parameter"), hostile("path", nth)
    other = {wanted: hostile("sent", nth), hostile("more", nth): 1}
    coerced = {wanted: "7", hostile("choice"): hostile("CHOSEN", nth)}
    good = json.dumps({wanted: 7, "path": path})
    made: list[tuple[str, str, str]] = [
        ("tool", hostile("broken", nth) + " {", "input_unparsable"),
        ("tool", json.dumps(other), "input_invalid"),
        ("tool", json.dumps(coerced), "success"),
        ("tool", f"{good},", "execution_failed"),
        ("tool", good, "tool_rejected"),
        ("nosuch", "{}", hostile("resultstatus", nth)),
    ]
    lines = [_line(session, "turn_start", nth, hostile("asks", nth), turn=turn)]
    for step, (tool, raw, status) in enumerate(made):
        name = hostile(tool, nth % 2)
        lines += _step(session, nth, turn, step, (name, raw, status), before=step - 1 if step == 1 else None)
    return lines + _end(session, nth, turn, len(made))


def _step(
    session: str, nth: int, turn: int, step: int, call: Sequence[str], *, before: int | None = None
) -> list[Line]:
    def made(kind: str, content: str | None, **meta: Any) -> Line:
        return _line(session, kind, nth, content, turn=turn, step=step, meta=meta)

    def named(number: int) -> str:
        return f"{hostile('callid', nth)} {turn} {number}"

    tool, raw, status = call
    block: Line = {"id": named(step), "name": tool, "raw": raw}
    if before is not None:
        block["retry_of"] = named(before)
    if status == "input_unparsable":
        block["parse_error"] = {"mode": "tool_use", "error": hostile("enginesaid", nth), "snippet": raw[:40]}
    tokens = {"prompt": 3200, "completion": 41, "total": 3241}
    return [
        made("assistant", hostile("steptext", nth), tokens=tokens, latency_ms=800),
        made("action", None, toolBlocks=[block]),
        made(
            "observation",
            hostile("result", nth),
            tool=tool,
            action_id=named(step),
            status=status,
            duration_ms=9,
        ),
    ]


def _end(session: str, nth: int, turn: int, step: int) -> list[Line]:
    plain = {"protocol_violation": True, "tool": hostile("leaked", nth)}
    return [
        _line(session, "assistant", nth, hostile("leakedtext", nth), turn=turn, step=step, meta=plain),
        _line(session, "final", nth, hostile("answer", nth), turn=turn, step=step + 1),
        _line(
            session,
            "turn_end",
            nth,
            turn=turn,
            meta={"status": hostile("turnstatus", nth) if nth % 2 else "ok"},
        ),
    ]


def _long_session() -> list[Line]:
    """Return a session with long messages. The arguments and the result of the first tool call are ten
    megabytes long together.
    """
    nth, session, turn = 1, hostile("long"), 1
    prompt = {"name": hostile("prompt", nth), "version": hostile("longversion")}
    lines = [_start(session, nth, prompt=prompt) | {"content": big("=")}]
    lines.append(_line(session, "turn_start", nth, big("+"), turn=turn))
    wanted = hostile("parameter")
    calls = (
        (json.dumps({wanted: 7, "path": big("-", LONG)}), "success", LONG),
        (json.dumps({wanted: big("-"), "path": 7})[:-1], "input_invalid", WORDS),
        (big("@"), "input_unparsable", WORDS),
    )
    for step, (raw, status, length) in enumerate(calls):
        made = _step(session, nth, turn, step, (hostile("tool", nth), raw, status))
        made[0]["content"], made[2]["content"] = big("\t="), big("\t=", length)
        lines += made
    lines.append(_line(session, "final", nth, big("\r="), turn=turn, step=4))
    return [*lines, _line(session, "turn_end", nth, turn=turn, meta={"status": "ok"})]


def _run() -> Line:
    agent = {"agent_type": "minisweagent.agents.default.DefaultAgent"}
    info = {
        "exit_status": hostile("exit"),
        "mini_version": hostile("harnessversion"),
        "config": {"agent": agent, "model": {"model_name": hostile("model")}},
    }
    messages = [
        {"role": "system", "content": hostile("prompttext")},
        {"role": "user", "content": hostile("asks")},
        {"role": "assistant", "content": f"{hostile('says')}\n```bash\n{hostile('command')}\n```"},
        {"role": "user", "content": f"<returncode>1</returncode>\n<output>{hostile('result')}</output>"},
    ]
    return {
        "trajectory_format": "mini-swe-agent-1",
        "instance_id": hostile("task"),
        "info": info,
        "messages": messages,
    }

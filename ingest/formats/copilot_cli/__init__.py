"""Copilot CLI sessions: one event a line, `~/.copilot/session-state/<session>/events.jsonl`.

Undocumented; these notes come from a session of 1.0.64 (2026-06) and the types of GitHub's Copilot SDK.

**Shape.** `{type, data, id, timestamp, parentId}`. Read are `session.start` (id, version, model),
`session.model_change`, `system.message` (the prompt), `user.message`, `assistant.message` (`content`,
`toolRequests[].{toolCallId, name, arguments, type}`, `model`, `outputTokens`), `tool.execution_start`,
`tool.execution_complete` (`success`, `result.content`, `error.{message, code}`, `model`), `subagent.*`,
`abort`, `session.error`, `session.shutdown` (`modelMetrics`, `currentModel`). Other types pass silently.

**Turns.** A `user.message` that is answered, up to the next; what the log calls a turn is one model call: a
step.

**Traps.**
- `hook.start` repeats each call and each result and is half of the file; `toolArgs` in it is written by the
  CLI.
- `success` is true for a shell command that ran, whatever it exited with: the code stands at the end of the
  content, `<shellId: 6 completed with exit code 1>`.
- `arguments` is the decoded object; as text it is the model's own, except for `type: custom`
  (`apply_patch`), which is free text, no JSON.
- What a sub-agent says carries the id of the call that started it (`parentToolCallId`): it becomes the
  session `<session>/<call id>`.
- Version 1.0.20 names the model only behind the calls, in `tool.execution_complete`, or at the end in
  `session.shutdown`: the events before wait for it, at most 1,000.
- `abort` ends the turn (status `cancelled`); a call that was made until then has no result.

**Cannot tell.** Tool definitions, input tokens, what the model wrote where arguments were not JSON.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ingest.decoding.fields import read_text
from ingest.decoding.lines import Line, decode_object
from ingest.events import Rejected
from ingest.formats.copilot_cli.copilot_session import CopilotSession
from ingest.log_format import About, Source, Translator

SOURCE = Source(
    name="copilot_cli",
    title="Copilot CLI sessions",
    raw_arguments="no: the decoded object, except where a call's arguments are text",
    argument_failures="partly: known sentences in the error; text that is not JSON is not marked",
    error_flag="yes: success, and the exit code in the text of shell results",
    definitions="no: supply them with --tools",
    system_prompt="yes: system.message",
    model="yes: per step; not who served it",
    turn_end="partly: the answer, abort and session.error, without a verdict",
    cannot_tell="Clean and mended arguments cannot be told apart without the model's own text.",
)

_SPOKEN = ("session.", "assistant.", "user.message", "tool.execution")
_UNUSED = re.compile(rb'\{"type":"(?:hook\.|assistant\.turn_|assistant\.reasoning|session\.(?:info|usage))')
_NOTHING: Mapping[str, Any] = {}


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(
        (read_text(record.get("type")) or "").startswith(
            ("session.", "assistant.", "user.message", "tool.execution")
        )
        and isinstance(record.get("data"), dict)
        and {"id", "timestamp", "parentId"} <= record.keys()
        for record in head
    )


def decode(line: Line) -> Mapping[str, Any] | Rejected:
    """Return the record of a line; an empty mapping for a line of which nothing is used."""
    data = line.data
    return _NOTHING if _UNUSED.match(data) and data.endswith(b"}") else decode_object(line)


def translator(about: About) -> Translator:
    return CopilotSession(about.identity)

"""Codex rollouts: one record per line, `~/.codex/sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl`.

Declared unstable by its makers; these notes come from rollouts of 0.140 and 0.142 (2026-06) and from the
sources (openai/codex, `codex-rs/protocol`).

**Shape.** `{timestamp, type, payload}`. `session_meta` (id, cli_version, model_provider,
base_instructions), `turn_context` (model), `response_item` (what the model and the tools said, as OpenAI's
Responses API has it), `event_msg` (what the harness tells its screen), `compacted`. Other types pass
silently.

**Turns.** From `task_started` to `task_complete` or `turn_aborted` (also called `turn_started`,
`turn_complete`). A message that a person sends in between steers the turn and begins none. Older rollouts
have no such events; there each `user_message` that is answered is a turn. A task of which no end is written
did not end.

**Steps.** No record frames a model call: a step begins with the first message or call after a result or
after a `token_count` with usage. That one comes after the results of the step it counts, and may be
repeated.

**Traps.**
- `response_item` also contains what the harness says as user or developer; prompts are read from
  `user_message`.
- `custom_tool_call.input` (`apply_patch`) is free text by design, no JSON. It is kept as `{"input": text}`,
  `reserialised`, and its syntax is not judged.
- Results have no flag: `success` is not serialised. The exit code is in prose (`Process exited with code
  1`, `Exit code: 1`, before 2025-09 `{"output", "metadata": {"exit_code"}}`), only in the head of a result:
  what the command printed may say the same. A process that still runs has no status. `patch_apply_end`,
  `mcp_tool_call_end` and `exec_command_end`, where written, come before the result and are explicit;
  `invocation.server` names the MCP server.
- `failed to parse function arguments: …` is both syntax and schema: serde's words tell them apart.
- `compacted.replacement_history` and the head of a forked rollout repeat what was said. The first is skipped;
  the second has the same turn and call ids, and counts once, in the session that is not a fork: its lines
  have the time of the fork. A file's session is that of its first `session_meta`, and its parent is
  `forked_from_id`, else the session of the second one.
- The model may change with each `turn_context`.
- `namespace` contains the server of an MCP tool; the tool's name is `<namespace>__<name>` as it was before.
- `tool_search_output` lists some of the tools offered. It is not read as definitions: a call of a tool that
  is not in an incomplete list would look like one of an unknown tool.

**Side files.** In `~/.codex`: `history.jsonl` (what users typed), `session_index.jsonl`, settings. None
contains a call.

**Cannot tell.** Tool definitions; the outcome of most calls that are neither commands nor patches.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ingest.decoding.fields import read_text
from ingest.decoding.lines import Line, decode_object
from ingest.events import Rejected
from ingest.formats.codex.rollout import Rollout
from ingest.log_format import About, Source, Translator

SOURCE = Source(
    name="codex",
    title="Codex rollouts",
    raw_arguments="yes: of function calls; the input of custom tools (apply_patch) is free text, not JSON",
    argument_failures="yes: in the result's text",
    error_flag="partly: exit codes and known sentences in the text; explicit for patches and MCP tools",
    definitions="no: supply them with --tools",
    system_prompt="yes: base_instructions",
    model="yes: per turn",
    turn_end="yes: task_complete and turn_aborted, without a verdict; older rollouts only the latter",
    cannot_tell="Results of tools that run no command carry no sign of success: they stay unknown.",
)

_SIDE_FILE = re.compile(
    r"(?:.*[/!])?\.codex/(?:(?:history|session_index)\.jsonl|(?:auth|version)\.json|config\.toml|log/.+)"
)
_TYPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
# These lines are not used, and they are a quarter of a rollout. A line that does not end like an object
# is decoded anyway, so that a torn line is reported.
_UNUSED = re.compile(
    rb'\{"timestamp":"[^"\\]{1,40}",(?:"ordinal":\d{1,12},)?"type":'
    rb'(?:"compacted"|"event_msg","payload":\{"type":"(?:agent_message|agent_reasoning\w*|item_started|\w*_begin'
    rb'|\w*_delta|context_compacted)"|"response_item","payload":\{"type":"(?:reasoning|ghost_snapshot)")'
)
_NOTHING: Mapping[str, Any] = {}


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(
        read_text(record.get("type")) in _TYPES
        and isinstance(record.get("payload"), dict)
        and isinstance(record.get("timestamp"), str)
        for record in head
    )


def decode(line: Line) -> Mapping[str, Any] | Rejected:
    """Return the record of a line; an empty mapping for an unused line."""
    data = line.data
    return _NOTHING if _UNUSED.match(data) and data.endswith(b"}}") else decode_object(line)


def side_file(about: About) -> str | None:
    """Return a description of a file that Codex keeps next to its sessions; None for others."""
    return "a side file of Codex" if _SIDE_FILE.fullmatch(about.path) else None


def translator(about: About) -> Translator:
    return Rollout(about.identity)

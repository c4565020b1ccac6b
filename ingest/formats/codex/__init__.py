"""Codex rollouts: one record per line, `~/.codex/sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl`.

The format is unstable. These notes are based on rollouts of 0.140 and 0.142 (2026-06) and on the sources
(openai/codex, `codex-rs/protocol`).

**Fields.** `{timestamp, type, payload}`. Types: `session_meta` (id, cli_version, model_provider,
base_instructions), `turn_context` (model), `response_item` (messages, calls and results in the format of
OpenAI's Responses API), `event_msg` (events for Codex's screen), `compacted`. Other types are skipped.

**Turns.** A turn lasts from `task_started` to `task_complete` or `turn_aborted` (also called `turn_started`,
`turn_complete`). A user message in between belongs to the same turn. In older rollouts without these events,
each answered `user_message` begins a turn.

**Steps.** No record marks the beginning of a model reply. A step begins with the first message or call after
a result or after a `token_count` with usage. The `token_count` of a step comes after its results and may be
repeated.

**Rules.**
- `response_item` also contains texts that Codex itself writes as user or developer, so prompts are read from
  `user_message`.
- `custom_tool_call.input` (`apply_patch`) is free text, not JSON. It is kept as `{"input": text}`,
  `reserialised`, and its syntax is not checked.
- Results have no error flag, because `success` is not written. The exit code is in the text (`Process exited
  with code 1`, `Exit code: 1`, before 2025-09 `{"output", "metadata": {"exit_code"}}`). Only the beginning of
  a result is searched, because a command's output may contain the same words. A process that is still running
  has no status.
- `patch_apply_end`, `mcp_tool_call_end` and `exec_command_end` come before the result and state the outcome
  explicitly. `invocation.server` names the MCP server.
- `failed to parse function arguments: …` covers syntax and schema failures. The rest of serde's message
  distinguishes the two.
- The beginning of a forked rollout repeats its parent, with the same turn and call ids. These calls count
  once, in the parent session. The session of a file is its first `session_meta`. Its parent is
  `forked_from_id`. If this field is missing, the parent is the second `session_meta`.
- The `namespace` of a call contains the MCP server. The tool's name becomes `<namespace>__<name>`, as in
  older versions.
- `tool_search_output` lists only some of the offered tools. It is not read as definitions, because calls of
  the other tools would count as calls of unknown tools.

**Side files.** These files in `~/.codex` contain no calls: `history.jsonl` (typed prompts),
`session_index.jsonl` and settings.

**Not in the log.** Tool definitions, and the outcome of most calls that are neither commands nor patches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ingest.decoding.fields import read_text
from ingest.decoding.lines import Line, decode_object
from ingest.events import Rejected
from ingest.formats.codex.rollout import Rollout
from ingest.log_format import About, Source, Translator
from lenient.regex import compile_regex

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

_SIDE_FILE = compile_regex(
    r"(?:.*[/!])?\.codex/(?:(?:history|session_index)\.jsonl|(?:auth|version)\.json|config\.toml|log/.+)"
)
_TYPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
# A quarter of a rollout consists of these unused lines. A line without a closing brace is decoded anyway, so
# that a torn line is reported.
_UNUSED = compile_regex(
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
    """Return the record of a line. Return an empty mapping for a line that is not used."""
    data = line.data
    return _NOTHING if _UNUSED.match(data) and data.endswith(b"}}") else decode_object(line)


def side_file(about: About) -> str | None:
    """Describe a file that Codex keeps next to its sessions. Return None for other files."""
    return "a side file of Codex" if _SIDE_FILE.fullmatch(about.path) else None


def translator(about: About) -> Translator:
    return Rollout(about.identity)

"""Kimi Code (Kimi CLI) agents: one record a line, `sessions/<workspace>/<session>/agents/<agent>/wire.jsonl`.

Protocol 1.4 (2026-07). Sources: MoonshotAI/kimi-code; samples of jazzyalex/agent-sessions.

**Shape.** First `{type: metadata, protocol_version, created_at}`, then flat records with `type` and `time`
(milliseconds): `config.update` and `profile.bind` (`systemPrompt`), `llm.tools_snapshot` (`tools`: the
definitions), `llm.request` (`provider`, `model`), `turn.prompt`, `turn.cancel`, `turn.ended`,
`context.append_loop_event` with `event.type` step.begin, content.part, tool.call, tool.result, step.end
(`usage`, `finishReason`, `llmFirstTokenLatencyMs`, `llmStreamDurationMs`). Other types pass silently.

**Sessions.** A file is one agent; the file does not name its session, nor a sub-agent its parent. Session
and parent are in the folders' names and `state.json`.

**Turns.** A `turn.prompt` that is answered. `turn.steer` is part of the turn it interrupts.

**Traps.**
- A request that failed is repeated (`attempt` 2/10): a step without any content made no answer and counts
  as none.
- Results may come before the step's end, which has its tokens: steps are held until then.
- `context.append_message` repeats the prompts; `context.apply_compaction` and `context.undo` change what
  the model is shown, not what was said.
- Ids of calls are counted (`Bash_1`), so copies are told by session and place.
- `isError` is absent on success.
- A `llm.tools_snapshot` without one of the tools of `tools.set_active_tools` is not whole: it is not taken
  for the list of tools, or the others would be unknown ones.

**Cannot tell.** The model's own text of arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ingest.formats.kimi_code.wire import KimiAgent
from ingest.log_format import About, Source, Translator

SOURCE = Source(
    name="kimi_code",
    title="Kimi Code agents",
    raw_arguments="no: the decoded object",
    argument_failures="yes: told in the result's text",
    error_flag="yes: isError, the layer told from the text",
    definitions="yes: llm.tools_snapshot",
    system_prompt="yes",
    model="yes: per step, with its provider",
    turn_end="yes: turn.ended and turn.cancel; older ones by finishReason",
    cannot_tell="A sub-agent's file does not name the session that started it.",
)


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(
        record.get("type") == "metadata" and {"protocol_version", "created_at"} <= record.keys()
        for record in head[:3]
    ) or any(record.get("type") == "context.append_loop_event" for record in head)


def translator(about: About) -> Translator:
    return KimiAgent(about.identity)

"""OpenHands conversations: its event streams (before and since 1.0) and the output of its evaluations.

**Files.** A trajectory exported from the app or by `--trajectory` (a JSON array of events); or the output of
evaluations, `output.jsonl`, with `history` in each line. These notes are based on arrays of release 0.21 and,
since 1.0, on the source code (github.com/OpenHands/software-agent-sdk). The app itself keeps one file per
event (`events/event-00007-….json`). Such a file would become a separate session, so export the conversation
instead.

**Fields before 1.0.** `{id, timestamp, source, action | observation, args | content, extras, cause,
tool_call_metadata}`. The metadata of an action contain the model's whole response: its text, its calls with
the model's own argument text, its usage. Actions with the same response id are one step. An observation names
its action in `cause`.

**Fields since 1.0.** `{kind, id, timestamp, source, …}`: SystemPromptEvent, MessageEvent, ActionEvent
(`tool_call.arguments` is the model's own text, `llm_response_id` identifies the step), ObservationEvent,
AgentErrorEvent, UserRejectObservation.

**Rules.**
- `action: null` in an ActionEvent means that the call could not run. The reason is in the AgentErrorEvent
  with the same `tool_call_id`: an unknown tool or an invalid value (schema), or text that is not JSON
  (syntax).
- Before 1.0 such a call has no action, only an `error` observation without a cause. "Failed to parse tool
  call arguments: <raw>" contains the whole text. "Missing required argument … in tool call <name>" and "Tool
  <name> is not registered" contain only the name.
- `finish` is a call without a result. It ends the turn, and its message is the answer. `task_completed` is
  the agent's own opinion, not a verdict.
- Editors report failures as text that begins with `ERROR:`, shells as an exit code (`success` is the same
  code).
- Agents without native calls write actions as text. These have no `tool_call_metadata`, so only decoded
  arguments are known.
- A line of an evaluation is a trial of its `instance_id` (if that is a number, with `metadata.dataset`). Its
  verdict `report.resolved` is written by `update_output_with_eval.py` and stored with the last turn.

**Not in the log.** Silent repairs of arguments by OpenHands (control characters, lists written as text, other
names); the raw text is known, so lenient checks it. Since 1.0 the model is known only if a state event names
it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from ingest.decoding.fields import read_object, read_objects, read_text
from ingest.events import Event, Rejected, SessionSeen, TurnEnded, TurnStarted
from ingest.formats.conversations.session_per_record import RecordIds
from ingest.formats.conversations.task_names import task_name
from ingest.formats.openhands.sdk import KINDS, SdkEvents
from ingest.formats.openhands.stream import StreamEvents
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="openhands",
    title="OpenHands conversations",
    raw_arguments="yes: of native calls",
    argument_failures="yes",
    error_flag="yes: events of errors and rejections, exit codes; before 1.0 editors' failures as text",
    definitions="partly: since 1.0 and in late 0.x, with the system prompt",
    system_prompt="partly: since 1.0 and in late 0.x",
    model="partly: per response before 1.0",
    turn_end="partly: finish and answers, without a verdict; report.resolved of evaluations",
    cannot_tell="Which arguments the agent repaired silently before it ran them.",
)

_NAMED = ("action", "observation")


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return bool(head) and all(_is_event(record) or _is_evaluation(record) for record in head)


def _is_event(record: dict[str, Any]) -> bool:
    if not {"id", "timestamp", "source"} <= record.keys():
        return False
    if read_text(record.get("kind")) in KINDS:
        return True
    return "kind" not in record and any(isinstance(record.get(name), str) for name in _NAMED)


def _is_evaluation(record: dict[str, Any]) -> bool:
    history = record.get("history")
    return (
        "instance_id" in record
        and isinstance(history, list)
        and all(map(_is_event, read_objects(history)[:3]))
    )


def translator(about: About) -> Translator:
    return _Conversations(about.identity)


def _was_resolved(instance: dict[str, Any]) -> bool | None:
    """Return the benchmark's verdict on the patch.

    Return None when the log has no verdict or the benchmark's tests could not be run.
    """
    report = read_object(instance.get("report")) or read_object(
        read_object(instance.get("test_result")).get("report")
    )
    verdict = report.get("resolved")
    return verdict if isinstance(verdict, bool) and report.get("error_eval") is not True else None


class _Conversations:
    """Translator of one file.

    The file is an array with the events of one conversation, or has one conversation per line.
    """

    def __init__(self, identity: str) -> None:
        self._ids = RecordIds(identity)
        self._stream = StreamEvents(identity)
        self._sdk = SdkEvents(identity)

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        history = record.value.get("history")
        if not isinstance(history, list):
            yield from self._take_event(record.value, record)
            return
        session_id = f"{self._ids.make(record)}/{record.value.get('instance_id')}"
        self._stream, self._sdk = StreamEvents(session_id), SdkEvents(session_id)
        metadata = read_object(record.value.get("metadata"))
        llm = read_object(metadata.get("llm_config")) or read_object(metadata.get("llm"))
        shared: dict[str, Any] = {"session_id": session_id, "where": record.where}
        task = task_name(metadata.get("dataset"), record.value.get("instance_id"))
        yield SessionSeen(**shared, harness="OpenHands", model=read_text(llm.get("model")), task=task)
        ended = TurnEnded(**shared)
        for event in read_objects(history):
            for made in self._take_event(event, record):
                ended = made if isinstance(made, TurnEnded) else ended
                ended = TurnEnded(**shared) if isinstance(made, TurnStarted) else ended
                yield made
        if (resolved := _was_resolved(record.value)) is not None:
            yield replace(ended, recorded_ok=resolved)

    def finish(self) -> Iterator[Event | Rejected]:
        yield from ()

    def close(self) -> None:
        """Do nothing: no file is open."""

    def _take_event(self, event: dict[str, Any], record: Record) -> Iterator[Event]:
        reader = self._sdk if "kind" in event else self._stream
        yield from reader.take(event, record.where)

"""OpenHands conversations: its event stream, of both generations, and the output of its evaluations.

**On disk.** A trajectory that was exported from the app or by `--trajectory` (a JSON array of events); the
output of evaluations, `output.jsonl`, with `history` in each line. Seen: two arrays of release 0.21; the
events of the agent SDK (1.x) are from its source (github.com/OpenHands/software-agent-sdk). The app itself
keeps one file an event (`events/event-00007-….json`): such a file is a session of its own, since its folder
is not known here; export the conversation instead.

**Shape to 0.6x.** `{id, timestamp, source, action | observation, args | content, extras, cause,
tool_call_metadata}`. The metadata of an action contain the whole response of the model: its text, its calls
with the model's own argument text, its usage; those of one response share its id and are one step. An
observation names its action as `cause`.

**Shape since 1.0.** `{kind, id, timestamp, source, …}`: SystemPromptEvent, MessageEvent, ActionEvent
(`tool_call.arguments` is the model's own text, `llm_response_id` the step), ObservationEvent,
AgentErrorEvent, UserRejectObservation.

**Traps.**
- `action: null` on an ActionEvent means that the call could not be made executable; why is in the
  AgentErrorEvent with its `tool_call_id`: unknown tool or a value that does not fit (schema), text that is
  not JSON (syntax).
- Before 1.0 such a call leaves no action at all but an `error` observation without a cause: "Failed to parse
  tool call arguments: <raw>" has the whole text, "Missing required argument … in tool call <name>" and "Tool
  <name> is not registered" only the name.
- `finish` is a call without a result: it ends the turn, its message is the answer. `task_completed` is the
  agent's own opinion, no verdict.
- Editors report failure as text that begins with `ERROR:`, shells as an exit code (`success` is the same
  code).
- Agents without native calls write actions as text: those have no `tool_call_metadata`; only decoded
  arguments are left.
- A line of an evaluation is a trial of its `instance_id` (with `metadata.dataset`, where that is a number).
  Its verdict, `report.resolved`, is there once `update_output_with_eval.py` has written it; it is on the last
  turn.
- State changes, recalls and condensations are not calls.

**Cannot tell.** What the harness mended silently in arguments (control characters, lists written as text,
other names): the raw text is there, so lenient judges it. The model since 1.0, unless a state event names
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
    """Return the benchmark's verdict on the patch; None without one, or when its test run failed."""
    report = read_object(instance.get("report")) or read_object(
        read_object(instance.get("test_result")).get("report")
    )
    verdict = report.get("resolved")
    return verdict if isinstance(verdict, bool) and report.get("error_eval") is not True else None


class _Conversations:
    """Translator of one file: an array of events is one conversation, an evaluation has one per line."""

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
        """Do nothing: no file or other resource is open."""

    def _take_event(self, event: dict[str, Any], record: Record) -> Iterator[Event]:
        reader = self._sdk if "kind" in event else self._stream
        yield from reader.take(event, record.where)

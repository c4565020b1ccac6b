"""tau-bench results (airline and retail): one JSON array in which each element is an attempt at a task.

**Files.** `<log_dir>/<strategy>-<model>-<temperature>_range_…_user-<model>-<strategy>_<time>.json`. `run.py`
(github.com/sierra-research/tau-bench) writes the file.

**Fields.** `{task_id, reward, info, traj, trial}`. `traj` contains OpenAI chat messages; the first is the
system prompt. Each attempt (`task_id` and `trial`) is a session. The arguments are the text that LiteLLM
passed on: the model's own text if the provider has OpenAI's API. The task's name is the domain and `task_id`.
All attempts in a file have the same domain, which is in the first line of the policy.

**Rules.**
- A model plays the user. Each of its messages begins a turn, except the last (`###STOP###`), which nobody
  answers. The reward judges the attempt, so it is stored with the last turn: 1 is a success, and any other
  value is a failure.
- If arguments cannot be parsed, the agent raises an exception. The attempt has `traj: []`, reward 0 and the
  exception. If the traceback contains `message_to_action`, the exception is read as one call without name and
  text. Any other exception (rate limits, the user's model) is not a verdict on the model.
- If a message has several calls, tau-bench runs and keeps only the first.
- Tools report failures as text: `Error: …` for every exception, and `Unknown action …` for an unknown tool.
  Any other result counts as successful.
- With the strategies `act` and `react`, calls are text (`Action: {…}`) and results are user messages (`API
  output: …`). They are read as steps and turns without calls.

**Not in the log.** The model, its provider and the tool definitions; how many calls of a message were
dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ingest.decoding.fields import read_number, read_object, read_objects, read_text
from ingest.events import (
    ArgsSource,
    CallMade,
    Event,
    FaultLayer,
    FlagSource,
    ResultStatus,
    SessionSeen,
    StepMade,
    TurnEnded,
)
from ingest.formats.conversations.result_layers import failed_flag
from ingest.formats.conversations.session_per_record import SessionPerRecord
from ingest.formats.conversations.task_names import policy_domain, task_name
from ingest.formats.conversations.trial_messages import TrialMessages, python_fault_layer
from ingest.formats.provider_messages.chat_messages import ResultFlag, join_content
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="tau_bench",
    title="tau-bench results",
    raw_arguments="yes: as LiteLLM passed them on",
    argument_failures="partly: an attempt that died of unparsable arguments is one call without text",
    error_flag="partly: every exception of a tool is a text that begins with Error:",
    definitions="no: supply them with --tools",
    system_prompt="yes",
    model="no",
    turn_end="yes: the reward, on the last turn of an attempt; the user is simulated",
    cannot_tell=(
        "Of an attempt whose arguments did not parse nothing but the exception is kept: its other calls are "
        "missing from every rate. Only the first of several calls in one message is in the file."
    ),
)

_KEYS = {"task_id", "reward", "info", "traj", "trial"}


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return bool(head) and all(record.keys() >= _KEYS for record in head)


def translator(about: About) -> Translator:
    return _AttemptTranslator(about)


class _AttemptTranslator(SessionPerRecord):
    """Translator of one file.

    `_waiting` contains attempts without messages, until the first attempt with messages shows the benchmark's
    domain. Afterwards `_waiting` is None.
    """

    def __init__(self, about: About) -> None:
        super().__init__(about, self._take_attempt)
        self._domain: str | None = None
        self._waiting: list[tuple[Record, str]] | None = []

    def finish(self) -> Iterator[Event]:
        yield from self._take_waiting()

    def _take_attempt(self, record: Record, session_id: str) -> Iterator[Event]:
        messages = read_objects(record.value.get("traj"))
        if self._waiting is not None:
            if not messages:
                self._waiting.append((record, session_id))
                return
            self._domain = policy_domain(join_content(messages[0].get("content")))
            yield from self._take_waiting()
        yield from _take_attempt(record, session_id, self._domain)

    def _take_waiting(self) -> Iterator[Event]:
        waiting, self._waiting = self._waiting, None
        for record, session_id in waiting or ():
            yield from _take_attempt(record, session_id, self._domain)


def _take_attempt(record: Record, session_id: str, domain: str | None) -> Iterator[Event]:
    value = record.value
    session_id = f"{session_id}/task {value.get('task_id')}/trial {value.get('trial')}"
    shared: dict[str, Any] = {"session_id": session_id, "where": record.where}
    yield SessionSeen(**shared, harness="tau-bench", task=task_name(domain, value.get("task_id")))
    info, messages = read_object(value.get("info")), read_objects(value.get("traj"))
    error = read_text(info.get("error"))
    if error is not None and not messages:
        yield from _take_dead_attempt(error, read_text(info.get("traceback")) or "", shared)
        return
    reward = read_number(value.get("reward"))
    verdict = None if reward is None or error is not None else abs(reward - 1) < 1e-6
    yield from TrialMessages(session_id, record, flag=_read_flag).to_events(
        messages, status="error" if error is not None else None, recorded_ok=verdict
    )


def _take_dead_attempt(error: str, traceback: str, shared: dict[str, Any]) -> Iterator[Event]:
    """Yield the events of an attempt that has only an exception in the log.

    If the exception shows that a tool call's arguments were not JSON, a step with this call comes first.
    """
    of_arguments = "message_to_action" in traceback and "JSONDecodeError" in traceback
    if of_arguments:
        yield StepMade(**shared)
        yield CallMade(
            **shared,
            tool=None,
            args_source=ArgsSource.MISSING,
            refused_by_harness=FaultLayer.SYNTAX,
            harness_message=error,
        )
    yield TurnEnded(**shared, status="error", recorded_ok=False if of_arguments else None)


def _read_flag(message: Mapping[str, Any]) -> ResultFlag:
    text = join_content(message.get("content")) or ""
    layer = None
    if text.startswith("Unknown action "):
        layer = FaultLayer.SCHEMA
    elif text.startswith("Error:"):
        layer = python_fault_layer(text) or FaultLayer.EXECUTION
    if layer is None:
        return ResultFlag(ResultStatus.OK, FlagSource.DERIVED_TEXT)
    return failed_flag(text, layer, FlagSource.DERIVED_TEXT)

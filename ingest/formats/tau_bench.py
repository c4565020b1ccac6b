"""tau-bench results: one JSON array, an attempt at a task each; airline and retail.

**On disk.** `<log_dir>/<strategy>-<model>-<temperature>_range_…_user-<model>-<strategy>_<time>.json`,
written by `run.py` (github.com/sierra-research/tau-bench) and rewritten after each attempt.

**Shape.** `{task_id, reward, info, traj, trial}`: `traj` are OpenAI chat messages, the first the system
prompt. Each attempt (`task_id` and `trial`) is a session. The arguments are the text that LiteLLM passed on:
the model's own where the provider speaks OpenAI's API. The domain, which makes `task_id` a name, is in
the first line of the policy; it is that of all attempts in the file.

**Traps.**
- The user is played by a model. Each of its messages is a turn, except the last (`###STOP###`), which nobody
  answers. The reward is given to the attempt, so to its last turn: 1 is a success, anything else is none.
- Arguments that do not parse raise out of the agent: the attempt is kept with `traj: []`, reward 0 and the
  exception. The traceback names `message_to_action`; it is read as one call without name and text. Any other
  exception (rate limits, the user's model) is no verdict on the model.
- Of several calls in one message only the first is made and kept.
- Tools report failure as text: `Error: …`, and `Unknown action …` for a tool that does not exist. The
  harness writes the first for every exception, so any other result is taken as good.
- In the strategies `act` and `react` calls are text (`Action: {…}`) and results are user messages (`API
  output: …`): they are shown as steps and turns without calls.

**Cannot tell.** The model, its provider and the tool definitions; how many calls of a message were dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

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
from ingest.fields import number, table, tables, text
from ingest.formats import About, Source, Translator
from ingest.records import Record
from ingest.shapes.chat import Flag, content_text
from ingest.shapes.separate import Separate
from ingest.shapes.tasks import domain_of, task_name
from ingest.shapes.trials import Trial, argument_layer
from ingest.shapes.verdicts import failed

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
    return _Attempts(about)


class _Attempts(Separate):
    """`_waiting`: attempts of which only the exception is kept, until another tells the domain; then None."""

    def __init__(self, about: About) -> None:
        super().__init__(about, self._attempt)
        self._domain: str | None = None
        self._waiting: list[tuple[Record, str]] | None = []

    def finish(self) -> Iterator[Event]:
        yield from self._those_that_wait()

    def _attempt(self, record: Record, session_id: str) -> Iterator[Event]:
        messages = tables(record.value.get("traj"))
        if self._waiting is not None:
            if not messages:
                self._waiting.append((record, session_id))
                return
            self._domain = domain_of(content_text(messages[0].get("content")))
            yield from self._those_that_wait()
        yield from _attempt(record, session_id, self._domain)

    def _those_that_wait(self) -> Iterator[Event]:
        waiting, self._waiting = self._waiting, None
        for record, session_id in waiting or ():
            yield from _attempt(record, session_id, self._domain)


def _attempt(record: Record, session_id: str, domain: str | None) -> Iterator[Event]:
    value = record.value
    session_id = f"{session_id}/task {value.get('task_id')}/trial {value.get('trial')}"
    shared: dict[str, Any] = {"session_id": session_id, "where": record.where}
    yield SessionSeen(**shared, harness="tau-bench", task=task_name(domain, value.get("task_id")))
    info, messages = table(value.get("info")), tables(value.get("traj"))
    error = text(info.get("error"))
    if error is not None and not messages:
        yield from _died(error, text(info.get("traceback")) or "", shared)
        return
    reward = number(value.get("reward"))
    verdict = None if reward is None or error is not None else abs(reward - 1) < 1e-6
    yield from Trial(session_id, record, flag=_flag).events(
        messages, status="error" if error is not None else None, recorded_ok=verdict
    )


def _died(error: str, traceback: str, shared: dict[str, Any]) -> Iterator[Event]:
    """An attempt of which only its exception is kept."""
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


def _flag(message: Mapping[str, Any]) -> Flag:
    said = content_text(message.get("content")) or ""
    layer = None
    if said.startswith("Unknown action "):
        layer = FaultLayer.SCHEMA
    elif said.startswith("Error:"):
        layer = argument_layer(said) or FaultLayer.EXECUTION
    if layer is None:
        return Flag(ResultStatus.OK, FlagSource.DERIVED_TEXT)
    return failed(said, layer, FlagSource.DERIVED_TEXT)

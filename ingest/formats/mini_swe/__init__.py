"""mini-swe-agent trajectories: one JSON document a run, `<instance>.traj.json`.

**On disk.** Beside SWE-bench predictions, or wherever `--output` says; rewritten after every step. Seen:
1.15 and 1.17, from two forks; the shapes of 2.x are from its source (github.com/SWE-agent/mini-swe-agent).

**Shape.** `trajectory_format` `mini-swe-agent-1` (1.1 since 2.0), `info.{exit_status, submission,
mini_version, config.{agent, model}}`, `messages[]` in chat shape with `extra.response`, the provider's whole
answer, and `timestamp` in seconds (since 1.16; before that the answer's `created` is all there is). A run is
a session of one turn, its task the `instance_id`, or the instance of SWE-bench that the file is named after.

**What a call is.** Up to 1.17 the action is the one bash block in the reply: tool `bash`, strategy
`json_fallback`, the block as `command`. It is no JSON, so nothing about syntax or schema can be seen of it;
what can go wrong is that there is not exactly one block. Such a reply is answered by the harness with its
`format_error_template` and counts as an emission fault, its call without a name. Since 2.0 calls are native:
`tool_calls` with the model's own text.

**Traps.**
- The result has no id: it is the user message after the reply. `<returncode>` tells its status; a timeout
  has a template of its own; the last one of a submitted run is the submission itself.
- A fork runs the reply as a Python program instead of a block: an answer that is no refusal means that the
  whole reply was the action.
- Since 2.0 a refused reply is not kept as a message: only the harness's answer is (`extra.interrupt_type`
  FormatError), in later versions with the response in `extra`.
- A user message that follows a result is the harness speaking (a limit, a reminder), no result.
- `action_regex` of the log is not run: a pattern out of a log may never end. The blocks of both known
  languages, `bash` and `mswea_bash_command`, are found without one.

**Cannot tell.** Whether the patch solves the task: `Submitted` is no verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from ingest.events import (
    ArgsSource,
    CallMade,
    Event,
    FaultLayer,
    FlagSource,
    PromptSeen,
    ResultSeen,
    ResultStatus,
    SessionSeen,
    StepMade,
    Strategy,
    TurnEnded,
    TurnStarted,
)
from ingest.fields import epoch_ms, number, table, tables, text, whole
from ingest.formats import About, Source, Translator
from ingest.formats.mini_swe.replies import blocks, layer_of, refusals, response_calls, return_code
from ingest.records import Record
from ingest.shapes.chat import call_made, calls_of, content_text
from ingest.shapes.separate import Separate
from ingest.shapes.tasks import instance_in, task_name
from ingest.shapes.verdicts import MESSAGE

SOURCE = Source(
    name="mini_swe",
    title="mini-swe-agent trajectories",
    raw_arguments="partly: since 2.0; before that the action is a bash block, which is no JSON",
    argument_failures="yes: the harness's answer to a reply without exactly one action",
    error_flag="yes: the return code",
    definitions="no: supply them with --tools; up to 1.17 there are none",
    system_prompt="yes",
    model="yes: per message",
    turn_end="partly: exit_status, without a verdict on the patch",
    cannot_tell=(
        "A bash block has no arguments that could be malformed: its failures are emission faults, replies "
        "without exactly one block. A share of parse errors cannot be read from runs before 2.0."
    ),
)

_TIMED_OUT = "The last command <command>"


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    first = head[0] if head else {}
    named = str(first.get("trajectory_format")).startswith("mini-swe-agent")
    agent = str(table(table(first.get("info")).get("config")).get("agent_type"))
    return isinstance(first.get("messages"), list) and (named or agent.startswith("minisweagent."))


def translator(about: About) -> Translator:
    return Separate(about, partial(_run, about.name))


def _run(file: str, record: Record, session_id: str) -> Iterator[Event]:
    return _Run(session_id, record).events(file)


class _Run:
    """The messages of one trajectory in order."""

    def __init__(self, session_id: str, record: Record) -> None:
        self._session_id = session_id
        self._record = record
        self._info = table(record.value.get("info"))
        config = table(self._info.get("config"))
        self._model = text(table(config.get("model")).get("model_name"))
        self._format_errors = tuple(refusals(config))
        self._submitted = self._info.get("exit_status") == "Submitted"
        self._asked = False
        self._step = -1
        self._awaited = 0  # calls of the newest reply whose results have not come
        self._where = record.where
        self._ts: datetime | None = None

    def events(self, file: str) -> Iterator[Event]:
        messages = tables(self._record.value.get("messages"))
        yield SessionSeen(
            **self._here(),
            harness="mini-swe-agent",
            harness_version=text(self._info.get("mini_version")),
            model=self._model,
            task=task_name(None, self._record.value.get("instance_id")) or instance_in(file),
        )
        for at, message in enumerate(messages):
            extra = table(message.get("extra"))
            self._ts = _time_of(message, extra) or self._ts
            following = messages[at + 1] if at + 1 < len(messages) else {}
            yield from self._message(message, extra, following, last=at + 1 == len(messages))
        yield TurnEnded(
            **self._here(),
            status=text(self._info.get("exit_status")),
            answer=text(self._info.get("submission")) or "",
        )

    def _message(
        self,
        message: Mapping[str, Any],
        extra: Mapping[str, Any],
        following: Mapping[str, Any],
        *,
        last: bool,
    ) -> Iterator[Event]:
        role, words = message.get("role"), content_text(message.get("content"))
        if role == "system":
            yield PromptSeen(**self._here(), text=words)
        elif role == "assistant" or message.get("object") == "response":
            yield from self._reply(message, extra, words, following)
        elif not self._asked and role == "user" and extra.get("interrupt_type") is None:
            self._asked = True
            yield TurnStarted(**self._here(), text=words)
        elif self._refuses(message, extra):
            yield from self._lost_reply(extra, words or "")
        elif role in ("user", "tool") and self._awaited:
            self._awaited -= 1
            yield self._result(message, extra, words or "", last=last)

    def _reply(
        self,
        message: Mapping[str, Any],
        extra: Mapping[str, Any],
        words: str | None,
        following: Mapping[str, Any],
    ) -> Iterator[Event]:
        native = list(calls_of(message)) or list(response_calls(message))
        yield self._step_made(table(extra.get("response")) or message, words, native=bool(native))
        self._awaited = len(native)
        for call in native:
            yield call_made(call, self._here(), step=self._step, strategy=Strategy.TOOL_USE)
        if not native and following.get("role") == "user":
            refused = self._refuses(following, table(following.get("extra")))
            self._awaited = 0 if refused else 1
            yield self._block_made(words or "", content_text(following.get("content")) if refused else None)

    def _block_made(self, words: str, refusal: str | None) -> CallMade:
        """The action of a reply, or what the harness says of a reply that has none."""
        shared: dict[str, Any] = {**self._here(), "step": self._step, "strategy": Strategy.JSON_FALLBACK}
        if refusal is not None:
            return CallMade(
                **shared,
                tool=None,
                args_source=ArgsSource.MISSING,
                refused_by_harness=FaultLayer.EMISSION,
                harness_message=refusal.split("\n", 1)[0],
            )
        found = blocks(words)
        command = found[0] if len(found) == 1 else words
        return CallMade(
            **shared, tool="bash", arguments={"command": command}, args_source=ArgsSource.RESERIALISED
        )

    def _lost_reply(self, extra: Mapping[str, Any], refusal: str) -> Iterator[Event]:
        """A refused reply of 2.x, of which at most the provider's response is kept.

        Where the reply itself is in the log, its call has been made with this answer in view.
        """
        if extra.get("interrupt_type") is None:
            return
        response = table(extra.get("response")) or table(extra.get("model_response"))
        choices = tables(response.get("choices"))
        said = table(choices[0].get("message")) if choices else response
        calls = list(calls_of(said)) or list(response_calls(said))
        layer = layer_of(refusal)
        yield self._step_made(response, content_text(said.get("content")), native=True)
        facts: dict[str, Any] = {
            **self._here(),
            "step": self._step,
            "refused_by_harness": layer,
            "harness_message": refusal[:MESSAGE],
        }
        if calls and layer is not FaultLayer.EMISSION:
            yield call_made(calls[-1], facts, strategy=Strategy.TOOL_USE)
        else:
            yield CallMade(**facts, tool=None, args_source=ArgsSource.MISSING)

    def _result(
        self, message: Mapping[str, Any], extra: Mapping[str, Any], words: str, *, last: bool
    ) -> ResultSeen:
        code = whole(extra.get("returncode"))
        code = return_code(words) if code is None else code
        facts: dict[str, Any] = {"status": ResultStatus.UNKNOWN, "flag_source": FlagSource.ABSENT}
        if code is not None:
            good = code == 0
            facts = {
                "status": ResultStatus.OK if good else ResultStatus.ERROR,
                "flag_source": FlagSource.DERIVED_EXIT_CODE,
                "fault_layer": None if good else FaultLayer.EXECUTION,
            }
        elif words.startswith(_TIMED_OUT) or text(extra.get("exception_info")):
            facts = {
                "status": ResultStatus.ERROR,
                "flag_source": FlagSource.DERIVED_TEXT,
                "fault_layer": FaultLayer.EXECUTION,
            }
        elif last and self._submitted:
            facts = {"status": ResultStatus.OK, "flag_source": FlagSource.EXPLICIT}
        call_id = text(message.get("tool_call_id"))
        if facts.get("fault_layer"):
            facts["message"] = words[:MESSAGE]
        return ResultSeen(**self._here(), step=self._step, tool_call_id=call_id, content=words, **facts)

    def _step_made(self, response: Mapping[str, Any], words: str | None, *, native: bool) -> StepMade:
        self._step += 1
        response_id = text(response.get("id"))
        self._where = self._record.place(f'"{response_id}"') if response_id else self._where
        usage = table(response.get("usage"))
        sent, received = (("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens"))
        return StepMade(
            **self._here(),
            step=self._step,
            text=words,
            provider=text(response.get("provider")),
            model=text(response.get("model")) or self._model,
            strategy=Strategy.TOOL_USE if native else Strategy.JSON_FALLBACK,
            input_tokens=next((whole(usage[name]) for name in sent if name in usage), None),
            output_tokens=next((whole(usage[name]) for name in received if name in usage), None),
        )

    def _refuses(self, message: Mapping[str, Any], extra: Mapping[str, Any]) -> bool:
        """True when this message is the harness's answer to a reply without exactly one action."""
        if extra.get("interrupt_type") == "FormatError":
            return True
        words = content_text(message.get("content")) or ""
        return message.get("role") == "user" and words.startswith(self._format_errors)

    def _here(self) -> dict[str, Any]:
        return {"session_id": self._session_id, "where": self._where, "ts": self._ts}


def _time_of(message: Mapping[str, Any], extra: Mapping[str, Any]) -> datetime | None:
    """When a message was written; of a reply before 1.16, which has no time, when its provider began it."""
    response = table(extra.get("response"))
    told = (
        message.get("timestamp"),
        extra.get("timestamp"),
        response.get("created"),
        response.get("created_at"),
    )
    seconds = next((known for known in map(number, told) if known is not None), None)
    return epoch_ms(seconds * 1000) if seconds is not None else None

"""mini-swe-agent trajectories: one JSON document per run, `<instance>.traj.json`.

**Files.** Next to SWE-bench predictions, or where `--output` says. These notes are based on files of 1.15 and
1.17 from two forks and, for 2.x, on the source code (github.com/SWE-agent/mini-swe-agent).

**Fields.** `trajectory_format` `mini-swe-agent-1` (1.1 since 2.0), `info.{exit_status, submission,
mini_version, config.{agent, model}}`, and `messages[]` in chat format. `extra.response` is the provider's
whole reply. `timestamp` is in seconds (since 1.16; before that only the reply's `created`). A run is a
session of one turn. Its task is the `instance_id`, or the SWE-bench instance in the file's name. Before 1.0
the file is an array of messages; no such file was available.

**Calls.** Up to 1.17 the action is the one bash block in the reply. It is read as a call of `bash` with the
block as `command` (strategy `json_fallback`). The block is not JSON, so it has no syntax or schema to check.
If a reply does not have exactly one block, the agent answers with its `format_error_template`. This is an
emission failure, and the call has no name. Since 2.0 calls are native: `tool_calls` with the model's text.

**Rules.**
- The result is the user message after the reply; it has no id. `<returncode>` contains the exit code. A
  timeout has its own template. The last result of a submitted run is the submission.
- Since 2.0 a rejected reply is not stored as a message. Only the agent's answer is stored
  (`extra.interrupt_type` FormatError), in later versions with the response in `extra`.
- A user message after a result comes from the agent program (a limit, a reminder) and is not a result.
- An array of messages contains neither the model nor the end of the run. Its results may begin with
  `Observation:` instead of the exit code; then their status is unknown.

**Not in the log.** Whether the patch solves the task: `Submitted` is not a verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import pairwise
from typing import Any

from ingest.decoding.fields import (
    read_count,
    read_epoch_ms,
    read_number,
    read_object,
    read_objects,
    read_text,
)
from ingest.events import (
    MESSAGE_READ,
    ArgsSource,
    CallMade,
    Event,
    FaultLayer,
    FlagSource,
    LogLine,
    PromptSeen,
    Rejected,
    ResultSeen,
    ResultStatus,
    StepMade,
    Strategy,
    TurnStarted,
)
from ingest.formats.conversations.session_per_record import SessionPerRecord
from ingest.formats.conversations.swe_run import SweRun, take_run
from ingest.formats.provider_messages.chat_messages import join_content, list_calls, make_call
from ingest.formats.provider_messages.openai_chat import count_input
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="mini_swe",
    title="mini-swe-agent trajectories",
    raw_arguments="partly: since 2.0; before that the action is a bash block, which is not JSON",
    argument_failures="yes: the harness's answer to a reply without exactly one action",
    error_flag="yes: the return code",
    definitions="no: supply them with --tools; versions up to 1.17 have none",
    system_prompt="yes",
    model="yes: per message",
    turn_end="partly: exit_status, without a verdict on the patch",
    cannot_tell=(
        "A bash block has no arguments that could be malformed: its failures are missing calls (replies "
        "without exactly one block). Runs before 2.0 have no rate of parse errors."
    ),
)

_TIMED_OUT = "The last command <command>"
_FENCES = ("```bash", "```mswea_bash_command")
_ROLES = ("system", "user", "assistant")
_KEYS = frozenset(("role", "content", "timestamp", "extra"))
_ANSWERS = ("<returncode>", "Observation:")
_NOT_ONE = "Please always provide EXACTLY ONE action"


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    if _is_old_list(head):
        return True
    first = head[0] if head else {}
    named = str(first.get("trajectory_format")).startswith("mini-swe-agent")
    agent = str(read_object(read_object(first.get("info")).get("config")).get("agent_type"))
    return isinstance(first.get("messages"), list) and (named or agent.startswith("minisweagent."))


def translator(about: About) -> Translator:
    return _MiniSweRuns(about)


class _MiniSweRuns(SessionPerRecord):
    """Translator of one file.

    Each record is an agent run or, in an old file, one message of the only agent run.
    """

    def __init__(self, about: About) -> None:
        super().__init__(about, partial(take_run, _MiniSweRun, about.name))
        self._about = about
        self._old: list[tuple[LogLine, dict[str, Any]]] = []

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        if "messages" in record.value or "role" not in record.value:
            yield from super().take(record)
        else:
            self._old.append((record.where, record.value))

    def finish(self) -> Iterator[Event | Rejected]:
        if self._old:
            messages = [message for _, message in self._old]
            record = Record(self._old[0][0], {"messages": messages}, b"", 0)
            run = _MiniSweRun(self._about.identity, record, [where for where, _ in self._old])
            yield from run.events(self._about.name)


class _MiniSweRun(SweRun):
    """One trajectory, whose messages are read in order."""

    harness = "mini-swe-agent"

    def __init__(self, session_id: str, record: Record, places: Sequence[LogLine] = ()) -> None:
        super().__init__(session_id, record)
        self._places = places  # the line of each message, if each message is a separate record
        config = read_object(self.info.get("config"))
        self._model = read_text(read_object(config.get("model")).get("model_name"))
        self._format_errors = tuple(_find_refusal_openings(config))
        self._submitted = self.info.get("exit_status") == "Submitted"
        self._turn_started = False
        self._step = -1
        self._awaited = 0  # number of calls in the latest reply that have no result

    def events(self, file: str) -> Iterator[Event]:
        messages = read_objects(self.record.value.get("messages"))
        task = self.record.value.get("instance_id")
        yield self.make_session(file, version="mini_version", model=self._model, task=task)
        for at, message in enumerate(messages):
            extra = read_object(message.get("extra"))
            self.ts = _find_time(message, extra) or self.ts
            self.where = self._places[at] if self._places else self.where
            following = messages[at + 1] if at + 1 < len(messages) else {}
            yield from self._take_message(message, extra, following, last=at + 1 == len(messages))
        if self.info:  # Old files have no `info` and do not show whether the run ended.
            yield self.make_end()

    def _take_message(
        self,
        message: Mapping[str, Any],
        extra: Mapping[str, Any],
        following: Mapping[str, Any],
        *,
        last: bool,
    ) -> Iterator[Event]:
        role, words = message.get("role"), join_content(message.get("content"))
        if role == "system":
            yield PromptSeen(**self.event_place(), text=words)
        elif role == "assistant" or message.get("object") == "response":
            yield from self._take_reply(message, extra, words, following)
        elif not self._turn_started and role == "user" and extra.get("interrupt_type") is None:
            self._turn_started = True
            yield TurnStarted(**self.event_place(), text=words)
        elif self._refuses(message, extra):
            yield from self._take_lost_reply(extra, words or "")
        elif role in ("user", "tool") and self._awaited:
            self._awaited -= 1
            yield self._make_result(message, extra, words or "", last=last)

    def _take_reply(
        self,
        message: Mapping[str, Any],
        extra: Mapping[str, Any],
        words: str | None,
        following: Mapping[str, Any],
    ) -> Iterator[Event]:
        native = list(list_calls(message)) or list(_find_response_calls(message))
        yield self._make_step(read_object(extra.get("response")) or message, words, native=bool(native))
        self._awaited = len(native)
        for call in native:
            yield make_call(call, self.event_place(), step=self._step, strategy=Strategy.TOOL_USE)
        if not native and following.get("role") == "user":
            refused = self._refuses(following, read_object(following.get("extra")))
            self._awaited = 0 if refused else 1
            yield self._make_block_call(
                words or "", join_content(following.get("content")) if refused else None
            )

    def _make_block_call(self, words: str, refusal: str | None) -> CallMade:
        """Return the bash call of a reply.

        `refusal` is the agent's answer to a reply without exactly one action. The call is then recorded as
        failed.
        """
        shared: dict[str, Any] = {
            **self.event_place(),
            "step": self._step,
            "strategy": Strategy.JSON_FALLBACK,
        }
        if refusal is not None:
            return CallMade(
                **shared,
                tool=None,
                args_source=ArgsSource.MISSING,
                refused_by_harness=FaultLayer.EMISSION,
                harness_message=refusal.split("\n", 1)[0],
            )
        blocks = find_bash_blocks(words)
        command = blocks[0] if len(blocks) == 1 else words
        return CallMade(
            **shared, tool="bash", arguments={"command": command}, args_source=ArgsSource.RESERIALISED
        )

    def _take_lost_reply(self, extra: Mapping[str, Any], refusal: str) -> Iterator[Event]:
        """Yield the step and tool call of a rejected reply that is not in the log (version 2.x).

        `extra` may contain the provider's response. If the reply is in the log, yield nothing.
        """
        if extra.get("interrupt_type") is None:
            return
        response = read_object(extra.get("response")) or read_object(extra.get("model_response"))
        choices = read_objects(response.get("choices"))
        message = read_object(choices[0].get("message")) if choices else response
        calls = list(list_calls(message)) or list(_find_response_calls(message))
        layer = _refusal_layer(refusal)
        yield self._make_step(response, join_content(message.get("content")), native=True)
        facts: dict[str, Any] = {
            **self.event_place(),
            "step": self._step,
            "refused_by_harness": layer,
            "harness_message": refusal[:MESSAGE_READ],
        }
        if calls and layer is not FaultLayer.EMISSION:
            yield make_call(calls[-1], facts, strategy=Strategy.TOOL_USE)
        else:
            yield CallMade(**facts, tool=None, args_source=ArgsSource.MISSING)

    def _make_result(
        self, message: Mapping[str, Any], extra: Mapping[str, Any], words: str, *, last: bool
    ) -> ResultSeen:
        code = read_count(extra.get("returncode"))
        code = _parse_return_code(words) if code is None else code
        facts: dict[str, Any] = {"status": ResultStatus.UNKNOWN, "flag_source": FlagSource.ABSENT}
        if code is not None:
            good = code == 0
            facts = {
                "status": ResultStatus.OK if good else ResultStatus.ERROR,
                "flag_source": FlagSource.DERIVED_EXIT_CODE,
                "fault_layer": None if good else FaultLayer.EXECUTION,
            }
        elif words.startswith(_TIMED_OUT) or read_text(extra.get("exception_info")):
            facts = {
                "status": ResultStatus.ERROR,
                "flag_source": FlagSource.DERIVED_TEXT,
                "fault_layer": FaultLayer.EXECUTION,
            }
        elif last and self._submitted:
            facts = {"status": ResultStatus.OK, "flag_source": FlagSource.EXPLICIT}
        call_id = read_text(message.get("tool_call_id"))
        if facts.get("fault_layer"):
            facts["message"] = words[:MESSAGE_READ]
        return ResultSeen(**self.event_place(), step=self._step, tool_call_id=call_id, content=words, **facts)

    def _make_step(self, response: Mapping[str, Any], words: str | None, *, native: bool) -> StepMade:
        self._step += 1
        response_id = read_text(response.get("id"))
        self.where = self.record.find_line(f'"{response_id}"') if response_id else self.where
        usage = read_object(response.get("usage"))
        received = ("completion_tokens", "output_tokens")
        return StepMade(
            **self.event_place(),
            step=self._step,
            text=words,
            provider=read_text(response.get("provider")),
            model=read_text(response.get("model")) or self._model,
            strategy=Strategy.TOOL_USE if native else Strategy.JSON_FALLBACK,
            **count_input(usage),
            output_tokens=next((read_count(usage[name]) for name in received if name in usage), None),
        )

    def _refuses(self, message: Mapping[str, Any], extra: Mapping[str, Any]) -> bool:
        """Return True when this message is the agent's answer to a reply without exactly one action."""
        if extra.get("interrupt_type") == "FormatError":
            return True
        words = join_content(message.get("content")) or ""
        return message.get("role") == "user" and words.startswith(self._format_errors)


def _find_time(message: Mapping[str, Any], extra: Mapping[str, Any]) -> datetime | None:
    """Return the time of a message. Return None when the log has no time.

    A reply before version 1.16 has no time. The provider's time of the response is used instead.
    """
    response = read_object(extra.get("response"))
    times = (
        message.get("timestamp"),
        extra.get("timestamp"),
        response.get("created"),
        response.get("created_at"),
    )
    seconds = next((number for number in map(read_number, times) if number is not None), None)
    return read_epoch_ms(seconds * 1000) if seconds is not None else None


def _is_old_list(head: Sequence[Mapping[str, Any]]) -> bool:
    """Return True for a list of messages that mini-swe-agent wrote before version 1.0.

    In such a list, a reply that contains exactly one bash block is followed by the agent's answer.
    """
    if not all(message.get("role") in _ROLES and message.keys() <= _KEYS for message in head):
        return False
    for reply, answer in pairwise(head):
        words, answer_text = reply.get("content"), answer.get("content")
        if not isinstance(words, str) or not isinstance(answer_text, str) or reply["role"] != "assistant":
            continue
        if (
            answer["role"] == "user"
            and len(find_bash_blocks(words)) == 1
            and answer_text.startswith(_ANSWERS)
        ):
            return True
    return False


def _find_refusal_openings(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield the beginnings of the agent's answers to malformed replies.

    Each beginning is the part of a message template before its first variable.
    """
    yield _NOT_ONE
    for part in ("agent", "model"):
        template = read_text(read_object(config.get(part)).get("format_error_template")) or ""
        begin = template.split("{", 1)[0].strip()
        if len(begin) > 10:
            yield begin


def _refusal_layer(refusal: str) -> FaultLayer:
    if "Error parsing tool call arguments" in refusal:
        return FaultLayer.SYNTAX
    if "Unknown tool '" in refusal or "Missing 'command' argument" in refusal:
        return FaultLayer.SCHEMA
    return FaultLayer.EMISSION


def find_bash_blocks(words: str) -> list[str]:
    """Return the contents of the bash blocks in a reply."""
    blocks: list[str] = []
    position = 0
    while True:
        starts = [(at, fence) for fence in _FENCES if (at := words.find(fence, position)) >= 0]
        if not starts:
            return blocks
        at, fence = min(starts)
        line = words.find("\n", at)
        end = words.find("\n```", line + 1) if line >= 0 else -1
        if end < 0:
            return blocks
        if words[at + len(fence) : line].strip():
            position = line
            continue
        blocks.append(words[line:end].strip())
        position = end + 4


def _find_response_calls(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the tool calls of a message in the format of OpenAI's Responses API."""
    for item in read_objects(message.get("output")):
        if item.get("type") == "function_call":
            yield {"id": item.get("call_id"), "name": item.get("name"), "arguments": item.get("arguments")}


def _parse_return_code(words: str) -> int | None:
    code, closed, _ = words.removeprefix("<returncode>").partition("</returncode>")
    if not words.startswith("<returncode>") or not closed:
        return None
    return int(code) if code.lstrip("-").isdecimal() and len(code) < 8 else None

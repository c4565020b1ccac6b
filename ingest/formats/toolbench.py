"""ToolBench answer trees: one JSON document per question, with the search for its answer as a tree.

**Files.** `data/answer/<group>/<n>_<method>.json` (github.com/OpenBMB/ToolBench). These notes are based on
files of ChatGPT with depth-first search.

**Fields.** `tree.tree` contains nodes with `node_type` Thought, Action or Action Input, `description` (the
thought, the function's name or the raw arguments), `observation` and `observation_code` (on Action Inputs),
and `children`. `answer_generation.{query, function, finish_type, final_answer, train_messages}`; `win`.

**Steps.** A model reply is a sequence of nodes: a Thought (optional), an Action, an Action Input. A Thought
without an Action below it is a reply without a call. The search is depth-first, so the nodes in preorder are
the replies in order of time. The whole search is one turn, because later branches see the earlier calls.

**Rules.**
- `compare_candidates` and `train_messages` repeat the calls of the winning path. Only the tree is read.
- Failures are stored as observations with a code (rapidapi.py): 0 a response, 1 unknown function, 2 wrong
  input of Finish, 3 the final answer, 4 the model gave up, 5 to 10 and 12 the API did not answer (timeout,
  404, not subscribed, unauthorised, too many requests, rate limit, request failed), 11 an error message. A
  response with code 0 may still be `{"error": "…"}`. Its text shows whether the arguments did not fit the
  function ("missing 1 required positional argument").
- `Finish` is a function of ToolBench that is not in `function`. It is added to the offered tools with its two
  parameters.
- `win` means that an answer was given (`finish_type` give_answer), not that it is right.

**Not in the log.** The model (only in the file's name), tokens and times per reply.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from ingest.decoding.fields import read_count, read_object, read_objects, read_text
from ingest.events import (
    MESSAGE_READ,
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
    ToolsOffered,
    TurnEnded,
    TurnStarted,
)
from ingest.formats.conversations.session_per_record import SessionPerRecord
from ingest.formats.conversations.task_names import question_task
from ingest.formats.conversations.trial_messages import python_fault_layer
from ingest.formats.provider_messages.chat_messages import join_content
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="toolbench",
    title="ToolBench answer trees",
    raw_arguments="yes",
    argument_failures="yes",
    error_flag="yes: observation_code, and the error text of a response",
    definitions="yes",
    system_prompt="yes",
    model="no: only in the file's name",
    turn_end="yes: win, which means that there is an answer, not that it is right",
    cannot_tell="The model. A search is one turn: calls of other branches count as tries of the same thing.",
)

_OK_CODES = (0, 3, 4)
_FINISH: Mapping[str, Any] = {
    "name": "Finish",
    "description": "Give the final answer, or give up and restart.",
    "parameters": {
        "type": "object",
        "properties": {
            "return_type": {"type": "string", "enum": ["give_answer", "give_up_and_restart"]},
            "final_answer": {"type": "string"},
        },
        "required": ["return_type"],
    },
}


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    first = head[0] if len(head) == 1 else {}
    root = read_object(read_object(first.get("tree")).get("tree"))
    return "node_type" in root and isinstance(first.get("answer_generation"), dict)


def translator(about: About) -> Translator:
    return SessionPerRecord(about, _search)


def _search(record: Record, session_id: str) -> Iterator[Event]:
    value = record.value
    shared: dict[str, Any] = {"session_id": session_id, "where": record.where}
    answer = read_object(value.get("answer_generation"))
    yield SessionSeen(**shared, harness="ToolBench", task=question_task(answer.get("query")))
    prompt = _first_message(answer, "system")
    if prompt:
        yield PromptSeen(**shared, text=prompt)
    functions = tuple(read_objects(answer.get("function")))
    if functions:
        named_finish = any(function.get("name") == "Finish" for function in functions)
        yield ToolsOffered(**shared, definitions=functions if named_finish else (*functions, _FINISH))
    yield TurnStarted(**shared, text=read_text(answer.get("query")) or _first_message(answer, "user"))
    thoughts: list[str] = []
    tool: str | None = None
    for node in _preorder(read_object(read_object(value.get("tree")).get("tree"))):
        kind, text = node.get("node_type"), read_text(node.get("description")) or ""
        if kind == "Thought":
            if not _leads_to_action(node):
                yield StepMade(**shared, text="\n".join([*thoughts, text]))
                thoughts = []
            else:
                thoughts.append(text)
        elif kind == "Action":
            tool = text
        elif kind == "Action Input" and tool is not None:
            shared["where"] = record.find_line(json.dumps(text), past=True)
            yield StepMade(**shared, text="\n".join(thoughts) or None, strategy=Strategy.TOOL_USE)
            yield _make_call(shared, tool, text)
            yield _make_observation(shared, node)
            thoughts, tool = [], None
    won = value.get("win")
    yield TurnEnded(
        **shared,
        status=read_text(answer.get("finish_type")),
        recorded_ok=won if isinstance(won, bool) else None,
        answer=_final_answer(answer.get("final_answer")),
    )


def _preorder(root: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    waiting = read_objects(root.get("children"))[::-1]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(read_objects(node.get("children"))[::-1])


def _leads_to_action(node: Mapping[str, Any]) -> bool:
    return any(
        child.get("node_type") in ("Thought", "Action") for child in read_objects(node.get("children"))
    )


def _make_call(shared: dict[str, Any], tool: str, raw: str) -> CallMade:
    return CallMade(
        **shared, tool=tool, raw_arguments=raw, args_source=ArgsSource.RAW, strategy=Strategy.TOOL_USE
    )


def _make_observation(shared: dict[str, Any], node: Mapping[str, Any]) -> ResultSeen:
    content, code = read_text(node.get("observation")), read_count(node.get("observation_code"))
    layer, source = _find_layer(code, content or "")
    unknown = ResultStatus.UNKNOWN if source is FlagSource.ABSENT else ResultStatus.OK
    return ResultSeen(
        **shared,
        status=ResultStatus.ERROR if layer else unknown,
        flag_source=source,
        fault_layer=layer,
        message=(content or "")[:MESSAGE_READ] if layer else None,
        content=content,
    )


def _find_layer(code: int | None, content: str) -> tuple[FaultLayer | None, FlagSource]:
    """Return the failure stage of a tool call, and the source of this information.

    The stage is None for a call that did not fail or whose outcome is unknown.
    """
    if code in (1, 2):
        return FaultLayer.SCHEMA, FlagSource.EXPLICIT
    if code is not None and code not in _OK_CODES:
        return FaultLayer.EXECUTION, FlagSource.EXPLICIT
    error = _error_in(content)
    if error:
        unread = FaultLayer.SYNTAX if "input parse error" in error else None
        return python_fault_layer(error) or unread or FaultLayer.EXECUTION, FlagSource.DERIVED_TEXT
    return None, FlagSource.ABSENT if code is None else FlagSource.EXPLICIT


def _error_in(content: str) -> str | None:
    """Return the `error` of a response. Return '' when the response reports no error.

    Return None when the content is not a JSON object with `error`.
    """
    if not content.startswith("{"):
        return None
    try:
        return read_text(read_object(orjson.loads(content)).get("error"))
    except orjson.JSONDecodeError:
        return None


def _first_message(answer: Mapping[str, Any], role: str) -> str | None:
    sequences = answer.get("train_messages")
    first = read_objects(sequences[0]) if isinstance(sequences, list) and sequences else []
    return next(
        (join_content(message.get("content")) for message in first if message.get("role") == role), None
    )


def _final_answer(stated: Any) -> str:
    """Return the `final_answer` that the model passed to Finish. Return '' when the model gave up."""
    if not isinstance(stated, str):
        return ""
    try:
        return read_text(read_object(orjson.loads(stated)).get("final_answer")) or ""
    except orjson.JSONDecodeError:
        return stated

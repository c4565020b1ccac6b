"""Captured text replies: a JSON file with the request, next to a text file with the model's reply.

**Files.** `captures/raw/<day>/<model>/<batch>/<n>-<prompt>.json` and `.txt`
(github.com/cameronqj/toolcall-repair-bench). These notes are based on 47 pairs of small models on Ollama.

**Fields.** JSON: `{case_id, prompt_id, model, runtime, harness, request_tools, prompt, raw_path,
natural_output_class, ollama_response_metadata.{created_at, done_reason, eval_count, …}, elapsed_seconds}`.
The text file has the same name with `.txt`, or the name in `raw_path`. Each pair is a session of one turn.
Its task is `prompt_id`.

**Calls.** The prompts asked the models to write calls as text. `lenient.calls.extract_tool_calls` finds the
calls with the offered tools (strategy `json_fallback`). Raw arguments are known if the call's notation writes
them as one piece of text. The file does not state whether a call was expected, so a reply without a call is
not a failure.

**Rules.**
- A `.txt` file contains no model, tools or prompt, so it is read only together with its `.json`. Without the
  JSON file it is rejected.
- `natural_output_class` is the benchmark's class of the reply (`no_tool`, `semi_structured_repairable` …). It
  becomes the turn's status, but is not a verdict.

**Not in the log.** Whether a call was expected, and tool results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from ingest.decoding.fields import read_count, read_number, read_object, read_objects, read_text, read_time
from ingest.decoding.lines import Line, decode_object, make_snippet
from ingest.events import (
    ArgsSource,
    CallMade,
    Event,
    LogLine,
    Rejected,
    SessionSeen,
    StepMade,
    Strategy,
    ToolsOffered,
    TurnEnded,
    TurnStarted,
)
from ingest.formats.conversations.task_names import task_name
from ingest.log_format import About, Record, Source, Translator
from lenient.calls import TextCall, extract_tool_calls
from lenient.definitions.declarations import ToolDefinitionError
from lenient.definitions.tools import ToolCatalog, ToolDefinition

SOURCE = Source(
    name="text_captures",
    title="Captured text replies",
    raw_arguments="yes: as in the reply",
    argument_failures="yes",
    error_flag="no: nothing is run",
    definitions="yes",
    system_prompt="no: it is part of the prompt",
    model="yes",
    turn_end="partly: the class that the bench gave to the reply, without a verdict",
    cannot_tell="Whether a call was due: a reply without a call may be a denial, a question or the answer.",
)

_KEYS = {"request_tools", "prompt", "raw_path"}
_REQUEST, _REPLY = ".json", ".txt"


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return bool(head) and all(record.keys() >= _KEYS for record in head)


def translator(about: About) -> Translator:
    return _CaptureTranslator(about)


def read_with(about: About) -> str | None:
    """Return the name of the JSON file that belongs to a captured reply (`.txt`).

    Return None for any other file, and when the JSON file is missing.
    """
    request = _request_name(about)
    data = about.read_sibling(request) if request else None
    if data is None:
        return None
    value = decode_object(Line(LogLine(1, 0), data, True))
    return None if isinstance(value, Rejected) or not recognise([value]) else request


def explain(about: About) -> str | None:
    """Return a sentence about the missing JSON file of a captured reply (`.txt`).

    Return None for any other file, and when the JSON file exists.
    """
    request = _request_name(about)
    if request is None or about.read_sibling(request) is not None:
        return None
    return f"if it is a captured reply: {request}, which is needed to read it, is not next to it"


def _request_name(about: About) -> str | None:
    return about.name.removesuffix(_REPLY) + _REQUEST if about.name.endswith(_REPLY) else None


class _CaptureTranslator:
    def __init__(self, about: About) -> None:
        self._about = about

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        value = record.value
        reply = _reply_beside(self._about.name, read_text(value.get("raw_path")), self._about.read_sibling)
        if isinstance(reply, str):
            yield Rejected(record.where, "missing_field", reply, make_snippet(record.data))
            return
        try:
            words = reply.decode("utf-8")
        except UnicodeDecodeError as error:
            reason = f"the reply is not UTF-8: {error.reason} at byte {error.start + 1:,} of its file"
            yield Rejected(record.where, "not_utf8", reason, make_snippet(reply))
            return
        session_id = read_text(value.get("case_id")) or self._about.identity
        yield from _pair(value, words, {"session_id": session_id, "where": record.where})

    def finish(self) -> Iterator[Event | Rejected]:
        yield from ()

    def close(self) -> None:
        """Do nothing: no file is open."""


def _reply_beside(name: str, path: str | None, read_sibling: Callable[[str], bytes | None]) -> bytes | str:
    """Return the bytes of the reply file, or a string with the reason why the file was not found."""
    names = [name.removesuffix(_REQUEST) + _REPLY if name else "", PurePosixPath(path or "").name]
    for reply_name in filter(None, names):
        if (sibling := read_sibling(reply_name)) is not None:
            return sibling
    return f"the reply is not next to this file ({' or '.join(dict.fromkeys(filter(None, names)))})"


def _pair(value: Mapping[str, Any], words: str, shared: dict[str, Any]) -> Iterator[Event]:
    metadata = read_object(value.get("ollama_response_metadata"))
    shared["ts"] = read_time(metadata.get("created_at"))
    yield SessionSeen(
        **shared,
        harness=read_text(value.get("harness")),
        provider=read_text(value.get("runtime")),
        model=read_text(value.get("model")),
        task=task_name(None, value.get("prompt_id")),
    )
    definitions = tuple(read_objects(value.get("request_tools")))
    if definitions:
        yield ToolsOffered(**shared, definitions=definitions)
    yield TurnStarted(**shared, text=read_text(value.get("prompt")))
    calls = extract_tool_calls(words, ToolCatalog.from_definitions(_readable(definitions)))
    took = read_number(value.get("elapsed_seconds"))
    beside_calls = _missing_field(words, calls)
    yield StepMade(
        **shared,
        text=beside_calls,
        strategy=Strategy.JSON_FALLBACK if calls else None,
        input_tokens=read_count(metadata.get("prompt_eval_count")),
        output_tokens=read_count(metadata.get("eval_count")),
        latency_ms=took * 1000 if took is not None else None,
    )
    for call in calls:
        yield CallMade(**shared, tool=call.name, strategy=Strategy.JSON_FALLBACK, **_arguments(call))
    yield TurnEnded(
        **shared, status=read_text(value.get("natural_output_class")), answer=None if calls else words
    )


def _readable(definitions: Sequence[Mapping[str, Any]]) -> Iterator[ToolDefinition]:
    """Yield the tool definitions that are valid."""
    for definition in definitions:
        try:
            yield from ToolCatalog.load(definition)
        except ToolDefinitionError:
            continue


def _arguments(call: TextCall) -> dict[str, Any]:
    if call.offset is None:
        return {"arguments": call.request.arguments, "args_source": ArgsSource.RESERIALISED}
    return {"raw_arguments": call.request.raw_arguments, "args_source": ArgsSource.RAW}


def _missing_field(words: str, calls: Sequence[TextCall]) -> str | None:
    """Return the text of the reply outside its tool calls. Return None when there is no such text."""
    rest, position = [], 0
    for call in calls:
        rest.append(words[position : call.start])
        position = call.end
    return "".join([*rest, words[position:]]).strip() or None
